// unrun-functions: finds checks that pass without ever running the functions the work wrote, such as
// `tsc && grep parse src/a.ts`. Each of those functions gets an error in its first line; if the check
// still passes, it never runs them.
//
// Invariants:
//   U1. A compiler or type checker that failed before the work has shown something. Its check is
//       asked only if the goal names a function that the work wrote, and speaks of nothing that such a
//       tool shows.

import type { Check } from "../../../contracts/evidence.ts";
import { isReadOnly, splitChain, splitJudgingParts } from "../../protected/programs.ts";
import { findLookedAtCode } from "./looks-only.ts";
import { listFunctions } from "./mutations.ts";
import { type QuestionContext, readSources } from "./question-context.ts";
import { trapFunctions } from "./trapped-functions.ts";

/** Goals that a compiler, a type checker or a linter can show to be reached. A list, by words. */
const toolGoal =
  /\b(?:typ(?:es?|ed|ing|ings|echeck\w*)|lint\w*|compil\w+|builds?|building|vet|clippy|warnings?|format\w*|declar\w+|signatures?|interfaces?|stubs?|headers?|renam\w+|mov(?:e|ed|es|ing)|refactor\w*|deprecat\w+)\b/i;

export async function findUnrunFunctions(context: QuestionContext): Promise<string | null> {
  const { check, lab, goal = "" } = context;
  if (!lab.wasRed || isReadOnly(check.command)) return null;
  const trapped = (await readSources(context)).map(trapFunctions);
  const files = trapped.flatMap((file) => file ?? []);
  const functions = files.flatMap((file) => file.functions);
  if (functions.length === 0 || files.length < trapped.length) return null;
  const isAsked =
    (await hasOnlyLookTurnedGreen(context)) ||
    (!toolGoal.test(goal) && functions.some(({ name }) => isNamedIn(goal, name))); // U1
  if (!isAsked || !isFromUser(check)) return null;
  const observed = await context.runWith(`it runs ${listFunctions(functions)}`, {
    edits: files.flatMap(({ edits }) => edits),
  });

  return observed?.passed === true
    ? `its command never runs ${listFunctions(functions)}: it passes as well with an error in the first line of each`
    : null;
}

const isFromUser = ({ extra }: Check): boolean => extra !== true;
const isNamedIn = (goal: string, name: string): boolean =>
  new Set(goal.match(/[A-Za-z_$][\w$]*/g)).has(name);

/**
 * Whether the parts of a chain that run something passed before the work: what turned green then
 * only looks at changed code.
 */
async function hasOnlyLookTurnedGreen({
  check: { command },
  differences,
  lab,
}: QuestionContext): Promise<boolean> {
  const parts = splitChain(command);
  const judging = splitJudgingParts(command);
  const looking = parts.filter((part) => isReadOnly(part) && !part.startsWith("cd "));
  const isPlainChain = !/\|\||[^&|]\||[;\n]|&\s*$/.test(
    command.replaceAll(/'[^']*'|"(?:[^"\\]|\\.)*"/g, ""),
  );
  if (
    !isPlainChain ||
    judging.length === 0 ||
    !looking.some((part) => findLookedAtCode(part, differences).length > 0)
  ) {
    return false;
  }

  return (
    (await lab.run("base", [], [], judging.map((part) => `(${part})`).join(" && ")))?.passed ===
    true
  );
}
