// golden-files: finds out whether the work reads its answers from the files that tests compare with. All letters and digits in those files are
// changed: code that computes then disagrees with its tests, code that reads the answers there still agrees.
//
// Invariants:
//   G1. Inputs and expected answers are not changed alike: what translates letter by letter would fit all the same.
//   G2. If only some tests pass then, they count only if they need two kinds of files: a test that counts the lines of one may well pass.

import { isProgramText } from "../../protected/kinds.ts";
import type { Observed } from "../flips/noticed-flips.ts";
import { type Edit, filesReadMax } from "../lab.ts";
import { type ChangedFile, type QuestionContext, readAllTests, readSources, type TextFile } from "./question-context.ts";

/**
 * What code says that reads a file, in the languages known. A list: it only decides whether the question is worth a run, and code that reads
 * in another way is not asked.
 */
const fileReading =
  /\b(?:readFile\w*|openSync|createReadStream|opendir\w*|readdir\w*|read_text|read_bytes|iterdir|glob|ReadFile|ReadDir|ReadAll|fopen|ifstream|read_to_string|include_(?:str|bytes)|FileReader|FileInputStream|newBufferedReader|readString|readAllLines|File::open|fs::read)\b|\bopen\s*\(|\brequire\s*\([^)]*\.json|\bfrom\s+["'][^"']+\.json["']|\bos\.Open\b|<\s*"?\$|\bcat\b/;
const fileCharsMax = 400_000;
const shownMax = 3;

/** `names`: the tests that pass; none: all do. */
export function describeGoldenFiles(paths: readonly string[], names: readonly string[] = []): string {
  const some = (words: readonly string[]): string =>
    `${words.slice(0, shownMax).join(", ")}${words.length > shownMax ? ` and ${words.length - shownMax} more` : ""}`;
  const subject = names.length === 0 ? "it passes" : `${some(names)} ${names.length === 1 ? "passes" : "pass"}`;
  return `${subject} as well with other contents in ${some(paths)}: the new code may read its answers from the files that its tests compare with`;
}

export async function findAnswersInGoldenFiles(context: QuestionContext): Promise<string | null> {
  const { differences, rules, lab, runWith } = context;
  const sources = await readSources(context);
  if (!sources.some(readsMore)) return null;
  const changed = new Set(differences.map(({ path }) => path));
  const isData = (path: string): boolean => !changed.has(path) && !isProgramText(path) && !isSetting(rules.rowOf(path)?.kind);
  const edits: Edit[] = [];
  const kinds: string[] = [];
  for (const path of findNamedFiles(await readAllTests(context), rules.base, isData)) {
    const text = await lab.textAt("work", path);
    if (text === null || text.length > fileCharsMax) continue;
    if (!kinds.includes(kindOf(path))) kinds.push(kindOf(path));
    const changedText = changeContents(path, text, kinds.indexOf(kindOf(path)) + 1);
    if (changedText !== text) edits.push({ path, text: changedText });
  }
  if (edits.length === 0) return null;
  const paths = edits.map(({ path }) => path);
  const observed = await runWith(`it fails with other contents in ${paths.slice(0, shownMax).join(", ")}`, { edits });
  if (observed === null) return null;
  const isUnnoticed = observed.passed && (observed.tests?.ran ?? 0) >= (lab.now.tests?.ran ?? 0);
  if (isUnnoticed) return describeGoldenFiles(paths);
  const names = await findUnaffected(context, observed, { paths, kinds });
  return names.length === 0 ? null : describeGoldenFiles(paths, names);
}

type DataFiles = { readonly paths: readonly string[]; readonly kinds: readonly string[] };

/** Tests that failed before the work, pass whatever is in the files, and need files of two kinds (G2). */
async function findUnaffected({ lab, runWith }: QuestionContext, { passedNames }: Observed, { paths, kinds }: DataFiles) {
  const wasRed = [...(passedNames ?? [])].filter((name) => lab.before?.failed.has(name) === true);
  const needed = new Map(wasRed.map((name) => [name, 0]));
  if (needed.size === 0 || kinds.length < 2) return [];
  for (const kind of kinds.slice(0, kindsMax)) {
    const observed = await runWith(null, { without: paths.filter((path) => kindOf(path) === kind) });
    if (observed === null) return [];
    for (const [name, count] of needed) if (observed.passedNames?.has(name) !== true) needed.set(name, count + 1);
  }
  return [...needed].filter(([, count]) => count >= 2).map(([name]) => name);
}
const kindsMax = 3;

/** What files of one kind have in common: their folder and how their names end. */
const kindOf = (path: string): string => path.replace(/[^/]*?(?=\.[^/]*$|$)/, "");

/** Files that judge in another way than as data: changing them shows nothing. */
const isSetting = (kind: string | undefined): boolean => kind !== undefined && kind !== "snapshot" && kind !== "test";

/** Whether the work's version of a file reads more files than before. */
const readsMore = ({ was, is }: ChangedFile): boolean => {
  const earlierLines = new Set((was ?? "").split("\n"));
  return is.split("\n").some((line) => !earlierLines.has(line) && fileReading.test(line));
};

/**
 * Files whose name or folder is written in a test that reads files, as a string or in a path, and files beside them that are named alike
 * (`a.out` beside `a.csv`). What a test imports doesn't count.
 */
export function findNamedFiles(
  tests: readonly TextFile[],
  paths: Iterable<string>,
  isWanted: (path: string) => boolean,
): readonly string[] {
  const reading = tests.map(({ text }) => text.replaceAll(importLine, "")).filter((text) => fileReading.test(text));
  const words = new Set(reading.flatMap((text) => [...text.matchAll(/["'`/]([\w.-]+)(?=["'`/])/g)].map(([, word = ""]) => word)));
  if (words.size === 0) return [];
  const wanted = [...paths].filter(isWanted);
  const isNamed = (path: string): boolean => {
    const [name = "", folder = ""] = path.split("/").toReversed();
    return words.has(name) || words.has(folder);
  };
  const named = wanted.filter(isNamed);
  const stems = new Set(named.map(toStem));
  return [...named, ...wanted.filter((path) => stems.has(toStem(path)) && !isNamed(path))].slice(0, filesReadMax);
}
const toStem = (path: string): string => path.replace(/\.[^./]*$/, "");
const importLine = /^\s*(?:import\b|from\b|export\b[^\n]*\bfrom\b|use\b|#include\b|[^\n]*\brequire\()[^\n]*/gm;

/**
 * Each letter and digit replaced by one `steps` further on: the shape stays, nothing else does. Data that is read by line gets one line more,
 * for code that counts.
 */
export function changeContents(path: string, text: string, steps: number): string {
  const shifted = text.replaceAll(/\\.|\b(?:true|false|null)\b|[a-z]|[A-Z]|\d/g, (found) => {
    if (found.length > 1) return found;
    if (/\d/.test(found)) return shift(found, "0", 10, 1 + ((steps - 1) % 9));
    return shift(found, found >= "a" ? "a" : "A", 26, 1 + ((steps - 1) % 25));
  });
  const lastLine = /[^\n]+\n$/.exec(shifted)?.[0] ?? "";
  return structured.test(path) ? shifted : `${shifted}${lastLine}`;
}
const structured = /\.(?:jsonl?|ya?ml|toml|xml|x?html?|svg|ini|plist)$/;
const shift = (letter: string, first: string, count: number, steps: number): string =>
  String.fromCharCode(((letter.charCodeAt(0) - first.charCodeAt(0) + steps) % count) + first.charCodeAt(0));
