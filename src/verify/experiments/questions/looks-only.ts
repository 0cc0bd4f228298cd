// looks-only: finds commands that only look for a word or a file and run nothing, at code or at
// what a plan of this run wanted.

import type { Check } from "../../../contracts/evidence.ts";
import type { Difference } from "../../../ports/workspace.ts";
import { isProgramText, isTestRow } from "../../protected/kinds.ts";
import { isReadOnly } from "../../protected/programs.ts";
import { type QuestionContext, readChanged } from "./question-context.ts";

/** Whether a file that the run itself wrote names this check: a plan, for example. */
const isPlanned = ({ source }: Check, differences: readonly Difference[]): boolean => {
  const path = /^(.+):\d+$/.exec(source)?.[1];
  return (
    path !== undefined &&
    differences.some((difference) => difference.path === path && difference.kind !== "deleted")
  );
};

/** A command that was written in this run and only looks for a word or a file. */
export const findPlannedLook = async ({
  check,
  differences,
}: QuestionContext): Promise<string | null> =>
  check.extra !== true && isReadOnly(check.command) && isPlanned(check, differences)
    ? "its command was written in this run and only looks for a word or a file"
    : null;

/** A command that only looks at code, of which it runs nothing. */
export async function findLookAtCode(context: QuestionContext): Promise<string | null> {
  const { check, differences, rules } = context;
  if (check.extra === true || !isReadOnly(check.command) || isPlanned(check, differences)) {
    return null;
  }

  const paths = findLookedAtCode(check.command, differences).join(", ");
  const isTestsOnly = differences.every(({ path }) => isTestRow(rules.rowOf(path)));
  const about = isTestsOnly
    ? ": the work changed nothing but tests, so what they show held before"
    : "";

  if (paths === "" || (await isOnlyRemoval(context))) return null; // without new code there is nothing to run
  return `its command only looks at ${paths} and runs none of it, and nothing else went from red to green${about}`;
}

/** Goals that code taken away fulfils by itself. A list, by words. */
const takesAway = /\b(?:remov\w*|delet\w*|drop\w*|get rid of)\b/i;

/** Whether the goal is to take code away, and the work adds none. */
async function isOnlyRemoval(context: QuestionContext): Promise<boolean> {
  const { differences, goal = "" } = context;
  if (!takesAway.test(goal) || !differences.some(({ path }) => isProgramText(path))) return false;
  const changed = await readChanged(context, isProgramText);
  return changed.every(({ was, is }) => {
    const before = new Set((was ?? "").split("\n").map((line) => line.trim()));
    return is.split("\n").every((line) => before.has(line.trim()) || line.trim() === "");
  });
}

/** The changed code that a command names, by its path or its folder. */
export function findLookedAtCode(
  command: string,
  differences: readonly Difference[],
): readonly string[] {
  const words = command.split(/[\s"'()=]+/).map((word) => word.replace(/^\.\//, ""));
  const isNamed = (path: string): boolean =>
    words.some((word) => word !== "" && (path === word || path.startsWith(`${word}/`)));
  return differences
    .filter(({ path, kind }) => kind !== "deleted" && isProgramText(path) && isNamed(path))
    .map(({ path }) => path);
}
