// answers-in-data: finds out whether the work keeps the answers to its tests in a data file of its
// own. The values in that file are changed: if the answers to what tests ask change with them, and
// those to inputs nearby don't, the file knows the tests' inputs and nothing else.
//
// Invariants:
//   D1. Only files that the work added or changed, and that the goal does not name: others were
//       there before the work, or were asked for.
//   D2. A file whose changed values can't be read shows nothing: then every answer changes.
//   D3. A test ends at its first wrong answer, so one half of the values is changed, and then the
//       other: answers to two of its inputs change.

import { basename } from "node:path/posix";
import { listSome } from "../../../kit/list-some.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { quoteForShell } from "../without-runner/plain-program.ts";
import type { Edit } from "../lab.ts";
import { changeContents } from "../source-text/change-data.ts";
import { type QuestionContext, readChanged } from "../questions/question-context.ts";
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

  const halves = (["first", "second"] as const).map((half) =>
    files.map(({ path, is }, index) => ({
      path,
      copy: `.${near.nonce}_${half}${index}`,
      text: changeHalf(is, changeContents(path, is, index), half),
    })),
  );
  const copies: readonly Edit[] = halves.flat().map(({ copy, text }) => ({ path: copy, text }));
  const changes = halves.map((replaced) =>
    replaced.map(({ path, copy }) => `cp ${quoteForShell(copy)} ${quoteForShell(path)}`).join("; "),
  );

  const command = near.comparing(check.command, changes);
  const observed = await lab.run("work", [...near.edits, ...copies], [], command);
  return observed?.passed === true ? describeAnswersInData(near.functions, files) : null;
}

/** D3. Values keep their length, so that both texts can be cut at the same place. */
function changeHalf(text: string, changed: string, half: "first" | "second"): string {
  const middle = Math.floor(text.length / 2);
  const separator = text.slice(middle).search(/[,;\t\n]/);
  const cut = separator === -1 ? middle : middle + separator;

  return half === "first"
    ? changed.slice(0, cut) + text.slice(cut)
    : text.slice(0, cut) + changed.slice(cut);
}

const describeAnswersInData = (
  functions: readonly string[],
  files: readonly { readonly path: string }[],
): string =>
  `what its tests ask of ${listSome(functions)} is answered by ${listSome(files.map(({ path }) => path))}, and nothing near it: other inputs were not shown to work`;
