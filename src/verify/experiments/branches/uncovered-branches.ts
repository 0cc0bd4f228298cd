// uncovered-branches: finds the branches of the work that no check covers. Code that answers otherwise
// when it is tested has one: nobody has seen what it does there.
//
// Invariants:
//   U1. A gap names a branch only if all checks pass with an error in its place that ends the
//       process: a mark may be lost, an error is not.
//   U2. Nothing is said if no branch of the work was covered at all: then the check runs none of it.

import { listSome } from "../../../kit/list-some.ts";
import type { QuestionContext } from "../questions/question-context.ts";
import type { BranchMarks, MarkedOutcome } from "./branch.ts";
import { isReadOnly } from "../../protected/programs.ts";
import { joinCommands } from "../join-commands.ts";

const shownMax = 3;

export async function findUncoveredBranches(context: QuestionContext): Promise<string | null> {
  const { branches } = context;
  if (branches === null) return null;
  const { marks, covered } = branches;
  const commands = new Set(context.passingCommands.filter((one) => !isReadOnly(one)));
  if (commands.size === 0) return null;
  const command = joinCommands([...commands]);
  const first = covered === null ? null : await confirm(context, command, marks, covered);
  if (first !== null) return first.text;

  const observed = await context.runWith(null, {
    edits: marks.edits(),
    command: marks.wrap(command),
  });
  const all = observed?.passed === true ? marks.read(observed) : null;
  const second = all === null ? null : await confirm(context, command, marks, all);
  return second?.text ?? null;
}

/**
 * The gap about what has no mark; null if a check meets some of it after all, or that is unknown (U1,
 * U2).
 */
async function confirm(
  { runWith }: QuestionContext,
  command: string,
  marks: BranchMarks,
  covered: ReadonlySet<string>,
): Promise<{ readonly text: string | null } | null> {
  const uncovered = marks.outcomes.filter(({ mark }) => !covered.has(mark));
  if (uncovered.length === 0) return { text: null };
  if (covered.size === 0) return null; // U2
  const observed = await runWith(null, { edits: marks.traps(uncovered), command });
  return observed?.passed === true ? { text: describeUncovered(uncovered, covered) } : null;
}

/** Those whose other outcome was met say most; the others stand inside of them. */
function describeUncovered(
  uncovered: readonly MarkedOutcome[],
  covered: ReadonlySet<string>,
): string {
  const isReached = ({ branch, mark }: MarkedOutcome): boolean =>
    branch.kind !== "condition" && branch.kind !== "nullish"
      ? true
      : covered.has(mark.endsWith("T") ? `${mark.slice(0, -1)}F` : `${mark.slice(0, -1)}T`);
  const reached = uncovered.filter(isReached);
  const shown = (reached.length > 0 ? reached : uncovered).map(describeOutcome);
  return `no check covers these branches: ${listSome([...new Set(shown)], shownMax)}`;
}

function describeOutcome({ branch: { kind, text, path, line }, outcome }: MarkedOutcome): string {
  const place = `(${path}:${line})`;
  if (kind === "arm") return `\`${text}\` ${place}`;
  if (kind === "default") return `the default \`${text}\` ${place}`;
  if (kind === "nullish")
    return `\`${text}\` is ${outcome === "true" ? "given" : "missing"} ${place}`;
  return `\`${text}\` is ${outcome} ${place}`;
}
