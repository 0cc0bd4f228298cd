// answers-in-data: an experiment with data files that the work added or changed. Code may look up
// the answers to its tests in such a file, and compute something else for any other input. So the
// values in the file are changed and the tests run again, while it is recorded what the functions
// answer (ask-near.ts). If answers to tested inputs change, and those to inputs near them do not,
// the file knows the tests' inputs and no others.
//
// Invariants:
//   D1. Files that the work left alone, or that the goal names, are not asked about.
//   D2. If the changed file can't be read, every answer changes: that shows nothing.
//   D3. A test ends at its first wrong answer, so two inputs are needed: one half of the values is
//       changed, then the other.
//   D4. Code that passes without the file computes the answers too: the file is a cache.

import { basename } from "node:path/posix";
import { listSome } from "../../../kit/list-some.ts";
import { shellWord } from "../../../kit/shell-word.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { changeContents } from "../source-text/change-data.ts";
import {
  type ChangedFile,
  type QuestionContext,
  readChanged,
} from "../questions/question-context.ts";
import type { NearRecording } from "./ask-near.ts";

const proseFile = /\.(?:md|markdown|mdx|rst|adoc)$/i;
const fileCharsMax = 400_000;

/** The data files that hold the answers; null if there are none. */
export async function findAnswersInData(
  context: QuestionContext,
  near: NearRecording,
): Promise<string | null> {
  const { lab, check, rules, goal = "" } = context;
  const isData = (path: string): boolean =>
    !isProgramText(path) &&
    !proseFile.test(path) &&
    rules.rowOf(path) === null &&
    !goal.includes(basename(path)); // D1
  const files = (await readChanged(context, isData)).filter(
    ({ is }) => is.length <= fileCharsMax && !is.startsWith("#!"),
  );
  if (files.length === 0) return null;

  const firstHalf = changeValues(files, near.uniqueName, "first");
  const secondHalf = changeValues(files, near.uniqueName, "second");
  const command = near.comparing(check.command, [
    copyIntoPlace(firstHalf),
    copyIntoPlace(secondHalf),
  ]);

  const copies = [...firstHalf, ...secondHalf].map(({ copy, text }) => ({ path: copy, text }));
  const compared = await lab.run("work", [...near.edits, ...copies], [], command);
  const areAnswersThere = compared?.passed === true; // the comparing command exits with 0 then
  if (!areAnswersThere || (await passesWithout(context, files))) return null;
  return describeAnswersInData(near.functions, files);
}

/** D4. The files as they were before the work. */
async function passesWithout(
  { lab }: QuestionContext,
  files: readonly ChangedFile[],
): Promise<boolean> {
  const edits = files.flatMap(({ path, was }) => (was === null ? [] : [{ path, text: was }]));
  const added = files.filter(({ was }) => was === null).map(({ path }) => path);
  const observed = await lab.run("work", edits, added);
  return observed?.passed === true;
}

type Half = "first" | "second";
/** The new text of a data file, and the file beside it that holds this text until its run. */
type ChangedData = { readonly path: string; readonly copy: string; readonly text: string };

function changeValues(
  files: readonly ChangedFile[],
  uniqueName: string,
  half: Half,
): readonly ChangedData[] {
  return files.map(({ path, is }, index) => ({
    path,
    copy: `.${uniqueName}_${half}${index}`,
    text: changeHalf(is, changeContents(path, is, index), half),
  }));
}

/** A changed value is as long as before, so both texts can be cut at the same place. */
function changeHalf(text: string, changed: string, half: Half): string {
  const middle = Math.floor(text.length / 2);
  const separator = text.slice(middle).search(/[,;\t\n]/);
  const cut = separator === -1 ? middle : middle + separator;

  return half === "first"
    ? changed.slice(0, cut) + text.slice(cut)
    : text.slice(0, cut) + changed.slice(cut);
}

const copyIntoPlace = (changed: readonly ChangedData[]): string =>
  changed.map(({ path, copy }) => `cp ${shellWord(copy)} ${shellWord(path)}`).join("; ");

const describeAnswersInData = (
  functions: readonly string[],
  files: readonly { readonly path: string }[],
): string =>
  `what its tests ask of ${listSome(functions)} is answered by ${listSome(files.map(({ path }) => path))}, and nothing near it: other inputs were not shown to work`;
