// attempt-commit-subject: builds the subject line of an attempt's commit. A fast-forward brings it to
// the user's branch, so it says what the work is for; which run and attempt it came from is in the
// trailers. What a merge says is in playbooks/registry/land-step.ts.

import { listSome } from "../kit/list-some.ts";
import type { RunView } from "../core/state.ts";

/**
 * The subject of one attempt's commit: the goal; if several steps do the work, the phase with its
 * step, and what was changed.
 */
export function buildCommitSubject(input: {
  readonly phase: string;
  /** The phase's name, if it has one besides its id. */
  readonly name: string | undefined;
  /** Whether no other phase or step does the work, so that the goal says it all. */
  readonly isOnly: boolean;
  /** The step or the task. */
  readonly step: string;
  readonly paths: readonly string[];
  readonly goal: string;
}): string {
  const { phase, name, isOnly, step, paths } = input;
  const goal = (input.goal.trim().split("\n", 1)[0] ?? "").trim();
  if (isOnly && goal !== "") return truncate(goal, subjectCharsMax);
  const hasOwnName = name !== undefined && name.toLowerCase() !== phase.toLowerCase();
  const place = `${hasOwnName ? `${phase} ${name}` : phase}/${step}`;
  const work = paths.length === 0 ? goal : `change ${listSome(paths, pathsShownMax)}`;

  return truncate(`${place}: ${work}`, subjectCharsMax);
}

/** The phase of a cursor as the subject names it. */
export function describePhase(
  run: RunView,
  phase: string,
): Pick<Parameters<typeof buildCommitSubject>[0], "phase" | "name" | "isOnly"> {
  const { phases } = run.drafted.flow;
  const isOnly =
    !("read" in phases) &&
    phases.length === 1 &&
    (phases[0]?.steps ?? []).filter(alwaysChanges).length <= 1;

  return { phase, name: run.phases.find(({ id }) => id === phase)?.name, isOnly };
}

/** Whether a step always runs and its changes are kept. */
const alwaysChanges = (step: {
  readonly agent?: string | undefined;
  readonly tasks?: unknown;
  readonly flow?: string | undefined;
  readonly only_if?: unknown;
  readonly keeps?: readonly string[] | undefined;
}): boolean =>
  step.only_if === undefined &&
  (step.tasks !== undefined ||
    step.flow !== undefined ||
    (step.agent !== undefined && step.keeps?.includes("!**") !== true));

const subjectCharsMax = 72;
const pathsShownMax = 2;

/** Cut between words if that leaves most of it. */
function truncate(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const prefix = text.slice(0, charactersMax);
  const end = prefix.lastIndexOf(" ");

  return `${(end > charactersMax / 2 ? prefix.slice(0, end) : prefix.slice(0, -1)).replace(/[\s,;:]+$/, "")}…`;
}
