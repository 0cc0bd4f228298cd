// untaken-branches: finds the branches of the work that no check takes. Code that answers otherwise
// when it is tested has one: nobody has seen what it does there.
//
// Invariants:
//   U1. A gap names a branch only if all checks pass with an error in its place that ends the
//       process: a mark may be lost, an error is not.
//   U2. Nothing is said if no branch of the work was taken at all: then the check runs none of it.

import { listSome } from "../../../kit/list-some.ts";
import type { QuestionContext } from "../questions/question-context.ts";
import type { BranchMarks, MarkedWay } from "./branch.ts";
import { isReadOnly } from "../../protected/programs.ts";
import { joinCommands } from "../join-commands.ts";

const shownMax = 3;

export async function findUntakenBranches(context: QuestionContext): Promise<string | null> {
  const { branches } = context;
  if (branches === null) return null;
  const { marks, taken } = branches;
  const commands = new Set(context.passingCommands.filter((one) => !isReadOnly(one)));
  if (commands.size === 0) return null;
  const command = joinCommands([...commands]);
  const first = taken === null ? null : await confirm(context, command, marks, taken);
  if (first !== null && first !== "taken") return first.text;

  const observed = await context.runWith(null, {
    edits: marks.edits(),
    command: marks.wrap(command),
  });
  const all = observed?.passed === true ? marks.read(observed) : null;
  const second = all === null ? null : await confirm(context, command, marks, all);
  return second === null || second === "taken" ? null : second.text;
}

/** The gap about what has no mark; `taken` if a check takes some of it after all (U1, U2). */
async function confirm(
  { runWith }: QuestionContext,
  command: string,
  marks: BranchMarks,
  taken: ReadonlySet<string>,
): Promise<{ readonly text: string | null } | "taken" | null> {
  const untaken = marks.ways.filter(({ mark }) => !taken.has(mark));
  if (untaken.length === 0) return { text: null };
  if (taken.size === 0) return null; // U2
  const observed = await runWith(null, { edits: marks.traps(untaken), command });
  if (observed === null) return null;
  return observed.passed ? { text: describeUntaken(untaken, taken) } : "taken";
}

/** Those whose other way was taken say most; the others stand inside of them. */
function describeUntaken(untaken: readonly MarkedWay[], taken: ReadonlySet<string>): string {
  const isReached = ({ branch, mark }: MarkedWay): boolean =>
    branch.kind !== "condition" && branch.kind !== "nullish"
      ? true
      : taken.has(mark.endsWith("T") ? `${mark.slice(0, -1)}F` : `${mark.slice(0, -1)}T`);
  const reached = untaken.filter(isReached);
  const shown = (reached.length > 0 ? reached : untaken).map(describeWay);
  return `no check covers these branches: ${listSome([...new Set(shown)], shownMax)}`;
}

function describeWay({ branch: { kind, text, path, line }, outcome }: MarkedWay): string {
  const place = `(${path}:${line})`;
  if (kind === "arm") return `\`${text}\` ${place}`;
  if (kind === "default") return `the default \`${text}\` ${place}`;
  if (kind === "nullish")
    return `\`${text}\` is ${outcome === "true" ? "given" : "missing"} ${place}`;
  return `\`${text}\` is ${outcome} ${place}`;
}
