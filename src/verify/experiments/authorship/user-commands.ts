// user-commands: finds out whether commands that the user gave show the work by themselves, without
// any test (`test "$(greet --shout Ada)" = "HI, ADA!"`). Then tests of the work's own are not the
// only proof.
//
// Invariants:
//   U1. A command counts only if it runs no tests, failed before the work, and fails if what it
//       compares with is changed.
//   U2. Every function that the work wrote or changed has to be run by one of them: each ends the
//       process in its first line, and the command has to fail. Of a program whose other lines
//       changed too, the whole file has to be.

import type { Check } from "../../../contracts/evidence.ts";
import { isReadOnly } from "../../protected/programs.ts";
import { createNonce } from "../broken-expectations/choose-flips.ts";
import { commandWithCode, createCommandVariants } from "../broken-expectations/command-variants.ts";
import type { Edit, Lab } from "../lab.ts";
import type { ChangedFile } from "../questions/question-context.ts";
import { trapEachFunction } from "../questions/trapped-functions.ts";

/** How many commands are tried, how many variants of each, and how many functions. */
const commandsMax = 3;
const variantsMax = 4;
const trapsMax = 8;

export async function areFunctionsShown(
  commands: readonly string[],
  sources: readonly ChangedFile[],
  lab: Pick<Lab, "run" | "seed">,
): Promise<boolean> {
  const asking = commands.filter(
    (command) => commandWithCode.test(command) && !isReadOnly(command),
  );
  const traps = asking.length === 0 ? null : trapEachFunction(sources);
  if (traps === null || traps.length === 0 || traps.length > trapsMax) return false;

  let untouched: readonly (readonly Edit[])[] = traps;
  for (const command of asking.slice(0, commandsMax)) {
    if (!(await showsSomething(command, lab))) continue;

    const left: (readonly Edit[])[] = [];
    for (const edits of untouched) {
      const observed = await lab.run("work", edits, [], command);
      if (observed?.passed !== false) left.push(edits);
    }
    untouched = left; // U2
    if (untouched.length === 0) return true;
  }

  return false;
}

/** U1 */
async function showsSomething(command: string, lab: Pick<Lab, "run" | "seed">): Promise<boolean> {
  const now = await lab.run("work", [], [], command);
  if (now?.passed !== true || (now.tests?.ran ?? 0) > 0) return false;
  if ((await lab.run("base", [], [], command))?.passed !== false) return false;

  for (const variant of createCommandVariants(command, createNonce(lab.seed)).slice(
    0,
    variantsMax,
  )) {
    if ((await lab.run("work", [], [], variant))?.passed === false) return true;
  }

  return false;
}

/** Whether the user gave it, not a plan or a document that the run wrote. */
export const isOfUser = ({ kind, extra, source }: Check): boolean =>
  (kind === "criterion" || kind === "holdout") && extra !== true && !/:\d+$/.test(source);
