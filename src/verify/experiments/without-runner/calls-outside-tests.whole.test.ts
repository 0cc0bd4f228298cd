import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { shortenedRepeats } from "../../../../test/support/short-repeats.ts";
import { buildPlainCalls } from "./calls-outside-tests.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Whether the program shows that an answer is another one outside its test. */
function differs(files: Readonly<Record<string, string>>, test: string): boolean | null {
  const plain = buildPlainCalls(test, files[test] ?? "", "n0");
  if (plain === null) return null;
  const folder = mkdtempSync(join(tmpdir(), "plain-"));
  folders.push(folder);

  for (const [path, text] of Object.entries({
    ...files,
    [plain.path]: shortenedRepeats(plain.text),
  })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }

  try {
    execFileSync("/bin/sh", ["-c", plain.command], { cwd: folder, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const esm =
  "import test from 'node:test';\nimport assert from 'node:assert/strict';\nimport { mul } from '../src/mul.mjs';\n";
const asks = "test('two', () => { assert.equal(mul(2, 3), 6); });\n";

describe("what a test asks is asked outside it", () => {
  test.each([
    ["an answer that stays the same", "export const mul = (a, b) => a * b;\n", false],
    [
      "an answer that goes by who runs it",
      "import { executionAsyncId } from 'node:async_hooks';\nexport const mul = (a, b) => (executionAsyncId() > 99999 ? a * b : 0);\n",
      true,
    ],
    ["a call that fails", "export const mul = () => { throw new Error('no'); };\n", false],
    [
      "a module that cannot be loaded",
      "import './gone.mjs';\nexport const mul = () => 0;\n",
      false,
    ],
  ])("%s", (_what, source, is) =>
    expect(
      differs({ "src/mul.mjs": source, "test/mul.test.mjs": esm + asks }, "test/mul.test.mjs"),
    ).toBe(is),
  );

  test("also of modules that are required, and in the manner of expect", () => {
    const text =
      "const { slug } = require('../src/slug');\ntest('x', () => { expect(slug('A b')).to.equal('a-b'); });\n";
    const files = (body: string) => ({
      "src/slug.js": `exports.slug = (s) => ${body};\n`,
      "test/slug.js": text,
    });
    expect(differs(files("s"), "test/slug.js")).toBe(true);
    expect(differs(files("'a-b'"), "test/slug.js")).toBe(false);
  });

  test("also what only has to be true, and what is asked of an answer", () => {
    const text = `${esm}test('x', () => { assert.ok(mul(2, 3) > 5); });\ntest('y', () => { assert.equal(String(mul(2, 3)).length, 1); });\n`;
    const files = (body: string) => ({
      "src/mul.mjs": `export const mul = (a, b) => ${body};\n`,
      "test/mul.test.mjs": text,
    });

    expect(buildPlainCalls("test/mul.test.mjs", text, "n0")?.calls).toEqual([
      "mul(2, 3) > 5",
      "String(mul(2, 3)).length",
    ]);

    expect(differs(files("a"), "test/mul.test.mjs")).toBe(true);
    expect(differs(files("a * b"), "test/mul.test.mjs")).toBe(false);
  });

  test.each([
    ["an object that tests change", "shared.add(2);\n  assert.equal(shared.size(), 1);"],
    ["a value set in one", "shared.limit = 4;\n  assert.equal(shared.size(), 1);"],
    ["a module that remembers", "remember(2);\n  assert.equal(recall(), 2);"],
  ])("not what depends on what tests did: %s", (_what, body) => {
    const imports = "import { shared, remember, recall, half } from '../src/mul.mjs';\n";
    const text = `${esm}${imports}test('x', () => {\n  ${body}\n});\ntest('y', () => {\n  assert.throws(() => {\n    half(0);\n  });\n  assert.equal(half(4), 2);\n});\ntest('z', () => assert.equal(new Cart(2).size(), 1));\n`;
    expect(buildPlainCalls("test/mul.test.mjs", text, "n0")?.calls).toEqual(["half(4)"]);
  });

  test("also with a constant at the top of a test in Python", () => {
    const text =
      'from slug import slug\n\nCASE = "A b"\n\n\ndef test_one():\n    assert slug(CASE) == "a-b"\n';
    expect(buildPlainCalls("tests/test_slug.py", text, "n0")?.calls).toEqual(["slug(CASE)"]);
  });

  test("a value that only pretends to be one is another one", () => {
    const files = (body: string) => ({
      "src/mul.mjs": `export const mul = () => (${body});\n`,
      "test/mul.test.mjs": esm + asks,
    });
    expect(differs(files("{ valueOf: () => 6 }"), "test/mul.test.mjs")).toBe(true);
    const text = 'from slug import slug\n\n\ndef test_one():\n    assert slug("A b") == "a-b"\n';
    const pretends =
      "class Text(str):\n    def __eq__(self, other):\n        return True\n\n\ndef slug(s):\n    return Text(s)\n";
    expect(differs({ "slug.py": pretends, "tests/test_slug.py": text }, "tests/test_slug.py")).toBe(
      true,
    );
  });

  test("another number is another answer, whatever its type", () => {
    const text = "from work import half\n\n\ndef test_one():\n    assert half(4) == 2\n";
    const files = (body: string) => ({
      "work.py": `def half(n):\n    return ${body}\n`,
      "tests/test_work.py": text,
    });
    expect(differs(files("n / 2"), "tests/test_work.py")).toBe(false);
    expect(differs(files("n / 4"), "tests/test_work.py")).toBe(true);
  });

  test("also in Python", () => {
    const text = 'from slug import slug\n\n\ndef test_one():\n    assert slug("A b") == "a-b"\n';
    expect(
      differs(
        { "slug.py": "def slug(s):\n    return s\n", "tests/test_slug.py": text },
        "tests/test_slug.py",
      ),
    ).toBe(true);

    expect(
      differs(
        { "slug.py": "def slug(s):\n    return 'a-b'\n", "tests/test_slug.py": text },
        "tests/test_slug.py",
      ),
    ).toBe(false);

    expect(
      differs(
        { "slug.py": "import nothing_here\n", "tests/test_slug.py": text },
        "tests/test_slug.py",
      ),
    ).toBe(false);
  });

  test.each([
    [
      "JavaScript",
      "test/mul.test.mjs",
      esm + asks,
      "src/mul.mjs",
      "let n = 0;\nexport const mul = (a, b) => ((n += 1) > 12 ? 0 : a * b);\n",
    ],
    [
      "Python",
      "tests/test_slug.py",
      'from slug import slug\n\n\ndef test_one():\n    assert slug("A b") == "a-b"\n',
      "slug.py",
      "n = 0\ndef slug(s):\n    global n\n    n += 1\n    return s if n > 12 else 'a-b'\n",
    ],
  ])(
    "asked often enough, code that counts its calls answers otherwise: %s",
    (_what, path, text, source, code) =>
      expect(differs({ [source]: code, [path]: text }, path)).toBe(true),
  );

  test("asked in another folder, code that looks around where it is started answers otherwise", () => {
    const looks =
      "import { existsSync } from 'node:fs';\nexport const mul = (a, b) => (existsSync('src') ? a * b : 0);\n";
    const knows =
      "import { existsSync } from 'node:fs';\nexport const mul = (a, b) => (existsSync(new URL('mul.mjs', import.meta.url)) ? a * b : 0);\n";
    expect(
      differs({ "src/mul.mjs": looks, "test/mul.test.mjs": esm + asks }, "test/mul.test.mjs"),
    ).toBe(true);

    expect(
      differs({ "src/mul.mjs": knows, "test/mul.test.mjs": esm + asks }, "test/mul.test.mjs"),
    ).toBe(false);

    const text = 'from slug import slug\n\n\ndef test_one():\n    assert slug("A b") == "a-b"\n';
    const python =
      "import os\n\n\ndef slug(s):\n    return 'a-b' if os.path.exists('slug.py') else s\n";
    expect(differs({ "slug.py": python, "tests/test_slug.py": text }, "tests/test_slug.py")).toBe(
      true,
    );
  });

  test.each([
    [
      "JavaScript",
      "test/mul.test.mjs",
      esm + asks,
      "src/mul.mjs",
      "let isFresh = true;\nsetTimeout(() => { isFresh = false; }, 4000).unref();\nexport const mul = (a, b) => (isFresh ? a * b : 0);\n",
    ],
    [
      "Python",
      "tests/test_slug.py",
      'from slug import slug\n\n\ndef test_one():\n    assert slug("A b") == "a-b"\n',
      "slug.py",
      "import threading\n\nold = []\nlater = threading.Timer(4, old.append, [1])\nlater.daemon = True\nlater.start()\n\n\ndef slug(s):\n    return s if old else 'a-b'\n",
    ],
  ])(
    "asked after its timers, code that is right for a while answers otherwise: %s",
    (_what, path, text, source, code) =>
      expect(differs({ [source]: code, [path]: text }, path)).toBe(true),
  );

  test("code that waits or keeps answers for a while is the same", () => {
    const kept =
      "const known = new Map();\nexport const mul = async (a, b) => {\n  const key = `${a},${b}`;\n  if (!known.has(key)) {\n    await new Promise((done) => setTimeout(done, 5));\n    known.set(key, a * b);\n    setTimeout(() => known.delete(key), 4000).unref();\n  }\n  return known.get(key);\n};\n";
    const awaited = `${esm}test('two', async () => { assert.equal(await mul(2, 3), 6); });\n`;
    expect(
      differs({ "src/mul.mjs": kept, "test/mul.test.mjs": awaited }, "test/mul.test.mjs"),
    ).toBe(false);
  });

  test("what names a path is asked in the project's folder", () => {
    const text = `${esm}test('x', () => { assert.equal(mul('src/mul.mjs'), 1); });\n`;
    expect(buildPlainCalls("test/mul.test.mjs", text, "n0")).not.toHaveProperty("commandHere");

    const files = {
      "src/mul.mjs":
        "import { existsSync } from 'node:fs';\nexport const mul = (a) => Number(existsSync(a));\n",
      "test/mul.test.mjs": text,
    };
    expect(differs(files, "test/mul.test.mjs")).toBe(false);
  });

  test("what a skipped test expects is not asked", () => {
    const text = `${esm}${asks}test('light', { skip: 'no clock' }, () => { assert.equal(mul(1, 1), 2); });\n`;
    expect(buildPlainCalls("test/mul.test.mjs", text, "n0")?.calls).toEqual(["mul(2, 3)"]);
  });

  test("what has no arguments is asked once: it may give another answer each time", () => {
    const text = `${esm.replace("mul }", "nextId }")}test('id', () => { assert.equal(nextId(), 1); });\n`;
    expect(
      differs(
        {
          "src/mul.mjs": "let id = 0;\nexport const nextId = () => (id += 1);\n",
          "test/mul.test.mjs": text,
        },
        "test/mul.test.mjs",
      ),
    ).toBe(false);
  });

  test.each([
    ["what is set up first", `${esm}import { mock } from 'node:test';\n${asks}`],
    [
      "arguments that are computed",
      `${esm}test('two', () => { assert.equal(mul(two, 3), 6); });\n`,
    ],
    [
      "answers that are computed",
      `${esm}test('two', () => { assert.equal(mul(2, 3), 2 * three); });\n`,
    ],
    [
      "functions from elsewhere",
      "import { mul } from 'mul';\ntest('two', () => { assert.equal(mul(2, 3), 6); });\n",
    ],
  ])("but not %s", (_what, text) =>
    expect(buildPlainCalls("test/mul.test.mjs", text, "n0")).toBeNull(),
  );
});
