import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { buildExamplePrograms, readComparisons } from "./example-programs.ts";
import { selectNewExamples } from "./wrong-examples.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const sources = {
  "package.json": '{ "type": "module" }\n',
  "src/stats.js":
    "export const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;\nexport const top = (list) => {\n  if (list.length === 0) throw new RangeError('empty');\n  return Math.max(...list);\n};\nexport const slug = (s) => s.toLowerCase().replaceAll(' ', '-');\nexport const parse = (s) => ({ unit: s.at(-1), n: Number.parseInt(s), at: undefined });\nexport const day = () => new Date(0);\nexport const later = async (n) => n + 1;\n",
  "lib/stats/__init__.py": "",
  "lib/stats/mean.py":
    "from . import __name__ as _package\n\n\ndef mean(xs):\n    return sum(xs) / len(xs)\n\n\ndef pair(a):\n    return (a, a)\n\n\ndef first(xs):\n    return xs[0]\n",
};
const modules = {
  js: new Map(
    ["mean", "top", "slug", "parse", "day", "later"].map((name) => [name, "src/stats.js"]),
  ),
  py: new Map(["mean", "pair", "first"].map((name) => [name, "lib/stats/mean.py"])),
};

/** The calls that give something else than a document says, and what. */
function findOthers(document: string): readonly string[] {
  const blocks = selectNewExamples({ was: null, is: document }, modules, "stats") ?? [];
  const programs = buildExamplePrograms({ blocks, modules, nonce: "n0" });
  const folder = mkdtempSync(join(tmpdir(), "answers-"));
  folders.push(folder);

  for (const [path, text] of [
    ...Object.entries(sources),
    ...programs.edits.map(({ path, text }) => [path, text] as const),
  ]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }

  const output = execFileSync("/bin/sh", ["-c", programs.command], {
    cwd: folder,
    encoding: "utf8",
  });
  const comparisons = readComparisons(output, programs, "n0");
  expect(comparisons.length).toBeGreaterThan(0);

  return comparisons.flatMap(({ block, step, other }) =>
    other === null ? [] : `${blocks[block]?.steps[step]?.code} ${other}`,
  );
}

test("examples are compared with what comes back, by value", () => {
  const right = [
    "mean([1, 2]) // => 1.50",
    "mean([1, 2, 7]) // => 3.33",
    "mean([]) // NaN",
    "top([3, 8]) // => 8",
    "top([]) // throws RangeError",
    "slug('Grand Hotel') // → grand-hotel",
    "slug('A b') // => \"a-b\"",
    "parse('5s') // => { n: 5, unit: 's' }",
    "await later(1) // => 2",
    "day() // => 7",
    "top(null) // => 7",
  ];

  expect(
    findOthers(`\`\`\`js\n${right.join("\n")}\n\`\`\`\n\n\`\`\`ts\nmean([3]) // => 3\n\`\`\`\n`),
  ).toEqual([]);

  const wrong = [
    "mean([1, 2, 7]) // => 3.5",
    "top([3, 8]) // => 3",
    "top([3]) // throws RangeError",
    "top([]) // throws TypeError",
    "slug('Grand Hotel') // → grand_hotel",
    "parse('5s') // => { n: 5 }",
    "later(1) // => 3",
  ];

  expect(findOthers(`\`\`\`js\n${wrong.join("\n")}\n\`\`\`\n`)).toEqual([
    "mean([1, 2, 7]) 3.3333333333333335",
    "top([3, 8]) 8",
    "top([3]) 3",
    "top([]) an error of the type RangeError",
    "slug('Grand Hotel') 'grand-hotel'",
    "parse('5s') { unit: 's', n: 5, at: undefined }",
    "later(1) 3".replace("3", "2"),
  ]);
});

test("also in Python, beside JavaScript", () => {
  const session = (mean: string, pair: string, error: string): string =>
    `\`\`\`js\ntop([1]) // => 1\n\`\`\`\n\n\`\`\`python\n>>> xs = [1, 2]\n>>> mean(xs)\n${mean}\n>>> print(mean([1, 2, 6]))\n3.0\n>>> pair("a")\n${pair}\n>>> first([])\nTraceback (most recent call last):\n  ...\n${error}: list index out of range\n>>> mean([])\n0\n\`\`\`\n`;
  expect(findOthers(session("1.5", "('a', 'a')", "IndexError"))).toEqual([]);
  expect(findOthers(session("2", "('a', 'b')", "KeyError"))).toEqual([
    "mean(xs) 1.5",
    "pair(\"a\") ('a', 'a')",
    "first([]) an error of the type IndexError",
  ]);
});
