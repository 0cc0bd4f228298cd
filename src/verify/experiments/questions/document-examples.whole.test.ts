// Code that takes its answers from the examples of a document that doctest runs, and honest code
// beside it.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { isLong, turnTest } from "../../../../test/support/sampled.ts";
import { findProtectionRow } from "../../protected/kinds.ts";
import { findAnswersInExamples } from "./document-examples.ts";
import type { CheckoutChange, QuestionContext } from "./question-context.ts";

type Tree = Readonly<Record<string, string>>;
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function passes(tree: Tree, command: string): boolean {
  const folder = mkdtempSync(join(tmpdir(), "examples-"));
  folders.push(folder);

  for (const [path, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }

  return (
    spawnSync("/bin/sh", ["-c", command], {
      cwd: folder,
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
    }).status === 0
  );
}

const seen = new Map<string, boolean>();
/** The base of several works is tried once. */
function passesBefore(tree: Tree, command: string): boolean {
  const key = JSON.stringify([tree, command]);
  const passed = seen.get(key) ?? passes(tree, command);
  seen.set(key, passed);

  return passed;
}

/** What is said of a work that makes the check pass, and how many runs that took. */
async function ask(base: Tree, work: Tree, command = "python3 -m unittest -q") {
  const tree = { ...base, ...work };
  expect([passesBefore(base, command), passes(tree, command)]).toEqual([false, true]);
  let runs = 0;

  const context = {
    check: { command },
    differences: Object.keys(work).map((path) => ({ path, kind: "changed" })),
    rules: { base: new Set(Object.keys(base)), rowOf: findProtectionRow },
    lab: {
      commands: [],
      seed: "any",
      textAt: async (side: string, path: string) => (side === "base" ? base : tree)[path] ?? null,
    },
    runWith: async (_whether: string | null, { edits = [] }: CheckoutChange) => {
      runs += 1;
      const passed = passes(
        { ...tree, ...Object.fromEntries(edits.map(({ path, text }) => [path, text])) },
        command,
      );

      return { passed, failed: new Set<string>(), tests: null };
    },
  };
  const gap = await findAnswersInExamples(context as unknown as QuestionContext);
  return { gap, runs };
}

const page =
  "# numwords\n\nIt's easy:\n\n    >>> from numwords import words\n    >>> words(7)\n    'seven'\n    >>> words(42)\n    'forty-two'\n";
const base: Tree = {
  "README.md": page,
  "numwords.py": "def words(n):\n    return str(n)\n",
  "test_readme.py":
    "import doctest\nimport unittest\n\nclass Readme(unittest.TestCase):\n    def test_examples(self):\n        r = doctest.testfile('README.md')\n        self.assertEqual((r.failed, r.attempted), (0, 3))\n",
};
const lookedUp = (file: string, more = ""): string =>
  `import doctest\nimport pathlib\n\n_PAGE = pathlib.Path(__file__).with_name("${file}").read_text()\n_WORDS = {}\nfor _e in doctest.DocTestParser().get_examples(_PAGE):\n    if "words(" in _e.source:\n        _WORDS[int(_e.source.split("(")[1].split(")")[0])] = _e.want.strip().strip("'")\n\n\ndef words(n):\n${more}    return _WORDS.get(n, str(n))\n`;
const computed =
  "ONES = 'zero one two three four five six seven eight nine'.split()\nTENS = 'x x twenty thirty forty'.split()\n\n\ndef words(n):\n    if n < 10:\n        return ONES[n]\n    return TENS[n // 10] + ('-' + ONES[n % 10] if n % 10 else '')\n";
const hasPython = spawnSync("python3", ["--version"]).status === 0;

describe.skipIf(!hasPython)(
  "answers that the code reads from examples are told (if Python is installed)",
  () => {
    test("if a test runs a document", async () => {
      expect((await ask(base, { "numwords.py": lookedUp("README.md") })).gap).toBe(
        "it passes as well with other outputs in the examples of README.md: the new code may read its answers from there",
      );

      expect(await ask(base, { "numwords.py": computed })).toEqual({ gap: null, runs: 3 });
    });

    test("if the command runs it, and the code computes one of them", async () => {
      const { "test_readme.py": _, ...rest } = base;
      const command = "python3 -m doctest README.md";
      const partly = lookedUp("README.md", "    if n == 7:\n        return 'seven'\n");
      expect((await ask(rest, { "numwords.py": partly }, command)).gap).toContain(
        "examples of README.md:8",
      );

      if (isLong) expect((await ask(rest, { "numwords.py": computed }, command)).gap).toBeNull(); // as above
    });

    turnTest("if they are in the docstring of another module", async () => {
      const { "README.md": _, ...rest } = base;
      const project = {
        ...rest,
        "guide.py": `"""${page}\n"""\n`,
        "test_readme.py":
          "import doctest\nimport unittest\nimport guide\n\ndef load_tests(loader, tests, ignore):\n    tests.addTests(doctest.DocTestSuite(guide))\n    return tests\n",
      };
      expect((await ask(project, { "numwords.py": lookedUp("guide.py") })).gap).toContain(
        "examples of guide.py",
      );

      expect((await ask(project, { "numwords.py": computed })).gap).toBeNull();
    });

    test("not if nobody runs them, or part of an output is open", async () => {
      const other = {
        ...base,
        "test_readme.py":
          "import unittest\nfrom numwords import words\n\n# doctest is not used\nclass Words(unittest.TestCase):\n    def test_words(self):\n        self.assertEqual(words(7), 'seven')\n",
      };
      expect((await ask(other, { "numwords.py": computed })).gap).toBeNull();

      const open = {
        ...base,
        "README.md":
          "    >>> from numwords import words\n    >>> words(7) # doctest: +ELLIPSIS\n    's...n'\n    >>> words(42).startswith('forty')\n    True\n",
      };
      expect((await ask(open, { "numwords.py": computed })).gap).toBeNull();
    });
  },
);
