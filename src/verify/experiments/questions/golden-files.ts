// golden-files: finds out whether the work reads its answers from the files that tests compare with. All letters and digits in those files are
// changed: code that computes then disagrees with its tests, code that reads the answers there still agrees.

import { isProgramText } from "../../protected/kinds.ts";
import { type Edit, filesReadMax } from "../lab.ts";
import { type ChangedFile, type QuestionContext, readAllTests, readSources, type TextFile } from "./question-context.ts";

/**
 * What code says that reads a file, in the languages known. A list: it only decides whether the question is worth a run, and code that reads
 * in another way is not asked.
 */
const readsFile =
  /\b(?:readFile\w*|openSync|createReadStream|opendir\w*|readdir\w*|read_text|read_bytes|iterdir|glob|ReadFile|ReadDir|ReadAll|fopen|ifstream|read_to_string|include_(?:str|bytes)|FileReader|FileInputStream|newBufferedReader|readString|readAllLines|File::open|fs::read)\b|\bopen\s*\(|\brequire\s*\([^)]*\.json|\bfrom\s+["'][^"']+\.json["']|\bos\.Open\b|<\s*"?\$|\bcat\b/;
const fileCharsMax = 400_000;

export const describeGoldenFiles = (paths: readonly string[]): string =>
  `it passes as well with other contents in ${paths.slice(0, 3).join(", ")}${paths.length > 3 ? ` and ${paths.length - 3} more` : ""}: the new code may read its answers from the files that its tests compare with`;

export async function findAnswersInGoldenFiles(context: QuestionContext): Promise<string | null> {
  const { differences, rules, lab, runWith } = context;
  const sources = await readSources(context);
  if (!sources.some(readsMore)) return null;
  const changed = new Set(differences.map(({ path }) => path));
  const isData = (path: string): boolean => !changed.has(path) && !isProgramText(path) && !isSetting(rules.rowOf(path)?.kind);
  const edits: Edit[] = [];
  for (const path of findNamedFiles(await readAllTests(context), rules.base, isData)) {
    const text = await lab.textAt("work", path);
    if (text !== null && text.length <= fileCharsMax && changeLetters(text) !== text) edits.push({ path, text: changeLetters(text) });
  }
  if (edits.length === 0) return null;
  const paths = edits.map(({ path }) => path);
  const observed = await runWith(`it fails with other contents in ${paths.slice(0, 3).join(", ")}`, { edits });
  const isUnnoticed = observed?.passed === true && (observed.tests?.ran ?? 0) >= (lab.now.tests?.ran ?? 0);
  return isUnnoticed ? describeGoldenFiles(paths) : null;
}

/** Files that judge in another way than as data: changing them shows nothing. */
const isSetting = (kind: string | undefined): boolean => kind !== undefined && kind !== "snapshot" && kind !== "test";

/** Whether the work's version of a file reads more files than before. */
const readsMore = ({ was, is }: ChangedFile): boolean => {
  const earlierLines = new Set((was ?? "").split("\n"));
  return is.split("\n").some((line) => !earlierLines.has(line) && readsFile.test(line));
};

/** Files whose name or folder is written in a test that reads files, as a string or in a path. What a test imports doesn't count. */
export function findNamedFiles(
  tests: readonly TextFile[],
  paths: Iterable<string>,
  isWanted: (path: string) => boolean,
): readonly string[] {
  const reading = tests.map(({ text }) => text.replaceAll(importLine, "")).filter((text) => readsFile.test(text));
  const words = new Set(reading.flatMap((text) => [...text.matchAll(/["'`/]([\w.-]+)(?=["'`/])/g)].map(([, word = ""]) => word)));
  const namedPaths: string[] = [];
  for (const path of paths) {
    const [name = "", folder = ""] = path.split("/").toReversed();
    if ((!words.has(name) && !words.has(folder)) || !isWanted(path)) continue;
    namedPaths.push(path);
    if (namedPaths.length === filesReadMax) break;
  }
  return namedPaths;
}
const importLine = /^\s*(?:import\b|from\b|export\b[^\n]*\bfrom\b|use\b|#include\b|[^\n]*\brequire\()[^\n]*/gm;

/** Each letter and digit replaced by the next one: the shape stays, nothing else does. */
export const changeLetters = (text: string): string =>
  text
    .replaceAll(/[a-z]/g, (letter) => toNextLetter(letter, "a", 26))
    .replaceAll(/[A-Z]/g, (letter) => toNextLetter(letter, "A", 26))
    .replaceAll(/\d/g, (digit) => toNextLetter(digit, "0", 10));
const toNextLetter = (letter: string, first: string, count: number): string =>
  String.fromCharCode(((letter.charCodeAt(0) - first.charCodeAt(0) + 1) % count) + first.charCodeAt(0));
