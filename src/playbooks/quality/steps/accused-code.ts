// accused-code: what a bug accuses, and that code with the answers its regression test asks for: a test that fails because of the bug passes
// with one of them. A test that fails whatever the code answers shows no bug. Pure.
//
// Invariants:
//   A1. Only functions that the test names, or that the bug's own position lies in, are changed.
//   A2. An answer is an expression of the test's own: something it expects. Or an error, for a test that expects one.

import { languageOf, isTest } from "../../../verify/protected/kinds.ts";
import { withAnswer } from "../../../verify/experiments/questions/mutations.ts";
import { findCitations } from "../../../verify/gates/citations.ts";

export type PatchedFile = {
  readonly path: string;
  readonly isNew: boolean;
  readonly removesLines: boolean;
  readonly added: readonly string[];
};
export type Accused = { readonly path: string; readonly lines: readonly number[] };
export type Answered = { readonly answer: string; readonly path: string; readonly text: string };

const valuesMax = 4;

/** The files of a patch. */
export function readPatch(patch: string): readonly PatchedFile[] {
  const parts = patch.split(/^diff --git /m.test(patch) ? /^(?=diff --git )/m : /^(?=--- \S+.*\n\+\+\+ )/m);
  return parts.flatMap((part) => {
    const [, path] = /^\+\+\+ (?:b\/)?(\S+)/m.exec(part) ?? [];
    const [, old] = /^--- (?:a\/)?(\S+)/m.exec(part) ?? [];
    if (path === undefined || old === undefined) return [];
    const lines = part.slice(part.indexOf("@@")).split("\n");
    return [
      {
        path: path === "/dev/null" ? old : path,
        isNew: old === "/dev/null",
        removesLines: lines.some((line) => line.startsWith("-")),
        added: lines.filter((line) => line.startsWith("+")).map((line) => line.slice(1)),
      },
    ];
  });
}

/** Why patches cannot show a bug, by what they touch; null if they can. */
export function whyUnfit(test: readonly PatchedFile[], fix: readonly PatchedFile[]): string | null {
  // Rust keeps tests inside its sources: there a patch may add lines.
  const code = test.find(
    ({ path, isNew, removesLines }) => !isNew && languageOf(path) !== null && !isTest(path) && !(path.endsWith(".rs") && !removesLines),
  );
  if (code !== undefined) return `its regression test changes ${code.path}, which it is to judge`;
  const judge = fix.find(({ path }) => !path.endsWith(".rs") && (isTest(path) || test.some((one) => one.path === path)));
  return judge === undefined ? null : `its fix changes ${judge.path}, which is to judge it`;
}

/** The code that a bug's section of BUGS.md or its write-up names, of these files. */
export function findAccused(texts: readonly string[], paths: readonly string[]): readonly Accused[] {
  const existing = new Set(paths);
  const cited = texts.flatMap(findCitations).map(({ path, lines }) => ({ path: path.replace(/^\.\//, ""), lines }));
  const isCode = (path: string): boolean => existing.has(path) && languageOf(path) !== null && !isTest(path) && isPlainPath(path);
  return [...new Set(cited.map(({ path }) => path))]
    .filter(isCode)
    .map((path) => ({ path, lines: cited.filter((one) => one.path === path).flatMap(({ lines }) => lines) }));
}

/** A path that needs no quoting. */
const isPlainPath = (path: string): boolean => /^[\w@+./-]+$/.test(path);

/** The accused file with each answer that the test may ask for, the likeliest first. */
export function answerAsExpected({ path, lines }: Accused, text: string, test: readonly PatchedFile[]): readonly Answered[] {
  const added = test.flatMap((file) => file.added);
  const isNamed = (name: string): boolean =>
    added.some((line) => new RegExp(`(?<![\\w$])${name.replaceAll("$", "\\$")}\\s*\\(`).test(line));
  const isMeant = (name: string, from: number, to: number): boolean => isNamed(name) || lines.some((line) => line >= from && line <= to); // A1
  const isPython = languageOf(path) === "py";
  const others = isPython
    ? ["True", "False", "(_ for _ in ()).throw(ValueError())"]
    : ["true", "false", '(() => { throw new Error("") })()'];
  return [...new Set([...expectedValues(added).slice(0, valuesMax), ...others])].flatMap((answer) => {
    const changed = withAnswer(path, text, answer, isMeant);
    return changed === null ? [] : [{ answer, path, text: changed }];
  });
}

const literal = String.raw`-?\d+(?:\.\d+)?(?:e-?\d+)?n?|"[^"\n]*"|'[^'\n]*'|\b(?:true|false|null|undefined|None|True|False)\b`;
const values = new RegExp(
  String.raw`(?<![\w.$])(?:\[\s*(?:(?:${literal})\s*,?\s*)*\]|\{\s*(?:["']?\w+["']?\s*:\s*(?:${literal})\s*,?\s*)*\}|${literal})(?![\w$])`,
  "g",
);

/** The plain values in lines that assert something, the last of a line first (A2). */
function expectedValues(added: readonly string[]): readonly string[] {
  const asserting = added.filter(
    (line) => /assert|expect|should|equal|\bis\b|==|\bok\b|raises|throws/i.test(line) && !/^\s*(?:import|from)\b/.test(line),
  );
  const found = asserting.flatMap((line) => [...line.matchAll(values)].map(([value]) => value).toReversed());
  return [...new Set(found)];
}
