// New files that take the place of older ones, found by breaking these in real folders.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { findProtectionRow } from "../../protected/kinds.ts";
import type { Observed } from "../broken-expectations/noticed-flips.ts";
import { findDisplacedFiles } from "./displaced-files.ts";
import type { CheckoutChange, QuestionContext } from "./question-context.ts";

type Tree = Readonly<Record<string, string>>;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function run(tree: Tree, command: string): Observed {
  const folder = mkdtempSync(join(tmpdir(), "displaced-"));
  folders.push(folder);

  for (const [path, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }

  const { status, stdout } = spawnSync("/bin/sh", ["-c", `exec 2>&1; ${command}`], {
    cwd: folder,
    encoding: "utf8",
  });
  return { passed: status === 0, failed: new Set(), tests: null, readOutput: () => stdout };
}

type Work = Readonly<Record<string, string | null>>;

/** What is told of a work that passes, and how many runs that took; null: deleted. */
async function ask(base: Tree, work: Work, command: string) {
  const tree: Record<string, string> = { ...base };
  for (const [path, text] of Object.entries(work)) {
    if (text === null) delete tree[path];
    else tree[path] = text;
  }
  const now = run(tree, command);
  expect(now.passed).toBe(true);
  let runs = 0;

  const context = {
    differences: Object.entries(work).map(([path, text]) => ({
      path,
      kind: text === null ? "deleted" : path in base ? "changed" : "added",
    })),
    rules: { base: new Set(Object.keys(base)), rowOf: findProtectionRow },
    lab: {
      now,
      textAt: async (side: string, path: string) => (side === "base" ? base : tree)[path] ?? null,
    },
    runWith: async (_: string | null, { edits = [], without = [] }: CheckoutChange) => {
      runs += 1;
      const changed = { ...tree };
      for (const { path, text } of edits) changed[path] = text;
      for (const path of without) delete changed[path];
      return run(changed, command);
    },
  };
  return { gap: await findDisplacedFiles(context as unknown as QuestionContext), runs };
}

const python = {
  command: "PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=helpers:src python3 check.py",
  base: {
    "check.py": "from luhn import digit\n\nassert digit() == 7\n",
    "src/luhn.py": "def digit():\n    raise NotImplementedError\n",
  },
};
const answer = "def digit():\n    return 7\n";

describe("is told", () => {
  test("a file of the same name that is found first", async () => {
    expect(await ask(python.base, { "helpers/luhn.py": answer }, python.command)).toEqual({
      gap: "helpers/luhn.py takes the place of src/luhn.py, which is not read any more",
      runs: 3,
    });
  });

  test("also if the older one was touched", async () => {
    const { base, command } = python;
    const touched = `# to be done\n${base["src/luhn.py"]}`;
    const work = { "helpers/luhn.py": answer, "src/luhn.py": touched };
    expect((await ask(base, work, command)).gap).toContain("takes the place of src/luhn.py");
  });

  test("in a shell", async () => {
    const base = {
      "check.sh":
        'for file in parts/*.sh lib/*.sh; do\n  [ -f "$file" ] && . "./$file" && break\ndone\n[ "$(bump)" = 2 ]\n',
      "lib/bump.sh": "bump() { return 1; }\n",
    };
    expect((await ask(base, { "parts/bump.sh": "bump() { echo 2; }\n" }, "sh check.sh")).gap).toBe(
      "parts/bump.sh takes the place of lib/bump.sh, which is not read any more",
    );
  });

  test("code in the place of what its tests are helped by", async () => {
    const helped = {
      "check.py": "import luhn, want\n\nwant.equal(luhn.digit(), 7)\n",
      "test/want.py": "def equal(got, wanted):\n    assert got == wanted\n",
      "src/luhn.py": "def digit():\n    return 0\n",
    };
    const command = "PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=src:test python3 check.py";
    const work = { "src/want.py": "def equal(got, wanted):\n    return None\n" };
    expect((await ask(helped, work, command)).gap).toContain("takes the place of test/want.py");
  });

  test("a file of another name that defines the module", async () => {
    const base = {
      "check.pl":
        "require $_ for glob './parts/*.pm';\nrequire Luhn;\ndie unless Luhn::digit() == 7;\n",
      "lib/Luhn.pm": "package Luhn;\nsub digit { die }\n1;\n",
    };
    const work = {
      "parts/All.pm": "package Luhn;\n$INC{'Luhn.pm'} = 1;\nsub digit { 7 }\n1;\n",
    };
    expect((await ask(base, work, "perl -Ilib check.pl")).gap).toContain("place of lib/Luhn.pm");
  });
});

describe("is not told", () => {
  test("a file beside an older one that is still read", async () => {
    const { base, command } = python;
    const work = { "src/luhn.py": answer, "tools/luhn.py": answer };
    expect(await ask(base, work, command)).toEqual({ gap: null, runs: 1 });
  });

  test("a file that the code asks for by its own path", async () => {
    const base = {
      "check.cjs": "if (require('./index.cjs').parse() !== 1) throw new Error('no');\n",
      "index.cjs": "exports.parse = require('./src/parse.cjs');\n",
      "src/parse.cjs": "module.exports = () => 0;\n",
    };
    const work = {
      "index.cjs": "exports.parse = require('./src/v2/parse.cjs');\n",
      "src/v2/parse.cjs": "module.exports = () => 1;\n",
    };
    expect(await ask(base, work, "node check.cjs")).toEqual({ gap: null, runs: 2 });
  });

  test("a file that was moved", async () => {
    const { base, command } = python;
    const work = { "helpers/luhn.py": answer, "src/luhn.py": null };
    expect(await ask(base, work, command)).toEqual({ gap: null, runs: 0 });
  });

  test("a name that several files have", async () => {
    const base = { ...python.base, "a/luhn.py": "", "b/luhn.py": "" };
    expect((await ask(base, { "helpers/luhn.py": answer }, python.command)).runs).toBe(0);
  });
});
