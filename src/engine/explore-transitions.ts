// explore-transitions: lists what may happen next at a state of an explored flow: every outcome of
// an attempt, every answer of a person.

import type { Draft } from "../contracts/event.ts";
import type { Step } from "../contracts/flow.ts";
import { evolve } from "../core/fold.ts";
import { findStep, getCursor } from "../core/selectors.ts";
import type { Run } from "../core/state.ts";
import { type Domains, listPossibleReports, type StepReport } from "./explore-domains.ts";
import { exploredEvents, toEntry } from "./explore-draft.ts";
import { describePlace, isGate } from "./explore-findings.ts";
import { copyRun, normalizeState } from "./explore-state.ts";

/** A state in the search: the run, and the cursors whose last turn nothing has proved since. */
export type Node = { readonly run: Run; readonly unproved: Set<string> };
/** Free transitions cost nothing; to a paid node leads a person's answer or a new invocation. */
export type Transitions = {
  readonly place: string;
  readonly freeTransitions: readonly (() => Node)[];
  readonly paidNodes: readonly Node[];
};
/**
 * A possible result of an attempt, and whether that proves its cursor, leaves it unproved, or
 * neither.
 */
type Branch = { readonly drafts: readonly Draft[]; readonly isProved: boolean | null };
/** `isCut`: there are more branches than are explored. */
type Branches = { readonly branches: readonly Branch[]; readonly isCut: boolean };

export function applyEvent(run: Run, draft: Draft): void {
  evolve(run, toEntry(draft, run.seq + 1));
}

/** Every outcome of an attempt that starts here. */
export function listAttemptTransitions(
  { run, unproved }: Node,
  started: Extract<Draft, { event: "step_started" }>,
  domains: Domains,
): { readonly transitions: Transitions; readonly isCut: boolean } {
  const { attempt, walk } = started;
  const step = findStep(run, getCursor(run, walk), started.step);
  applyEvent(run, started);

  const { branches, isCut } =
    step.tasks === undefined
      ? listStepBranches(step, attempt, domains)
      : listTaskBranches(step.tasks, attempt);

  const freeTransitions = branches.map(({ drafts, isProved }, index) => (): Node => {
    // The state is not returned to after its last branch, so that one needs no copy.
    const branchRun = index === branches.length - 1 ? run : copyRun(run);
    for (const draft of drafts) applyEvent(branchRun, draft);
    normalizeState(branchRun);

    return { run: branchRun, unproved: updateUnproved(unproved, walk, isProved) };
  });

  return { transitions: { place: `${walk}/${step.id}`, freeTransitions, paidNodes: [] }, isCut };
}

/** A step passes with every report it may make, and fails too where its rows tell failures apart. */
function listStepBranches(step: Step, attempt: string, domains: Domains): Branches {
  const { reports, isCut } = listPossibleReports(step, domains);
  const areFailuresDistinguished = step.otherwise?.some(({ when }) => when !== undefined) === true;

  const branches = reports.flatMap((report, index): readonly Branch[] => {
    const passed = buildPassedBranch(step, attempt, report);
    const isFailureExplored = index === 0 || areFailuresDistinguished;
    return isFailureExplored ? [passed, buildFailedBranch(step, attempt, report)] : [passed];
  });

  return { branches, isCut };
}

function buildPassedBranch(step: Step, attempt: string, { facts, says }: StepReport): Branch {
  const completed: Draft = { event: "step_completed", attempt, facts, progress: true };
  return {
    drafts: [...turnEvents(step, attempt, says), completed],
    isProved: isGate(step) ? true : proofAfterChange(step),
  };
}

function buildFailedBranch(step: Step, attempt: string, { facts, says }: StepReport): Branch {
  const failed: Draft = {
    event: "step_failed",
    attempt,
    facts,
    progress: true,
    fingerprint: "explored",
    reason_code: "explored",
  };

  return {
    drafts: [...turnEvents(step, attempt, says), failed],
    isProved: proofAfterChange(step),
  };
}

const turnEvents = ({ agent }: Step, attempt: string, says: StepReport["says"]): readonly Draft[] =>
  agent === undefined ? [] : [exploredEvents.turn(attempt, says)];

/** An agent that may change something leaves its cursor unproved; any other step leaves it as is. */
function proofAfterChange({ agent, keeps }: Step): false | null {
  const keepsNothing = keeps?.every((pattern) => pattern === "!**") === true;
  return agent === undefined || keepsNothing ? null : false;
}

/** One task, none, and tasks left to people, where the flow leaves any. */
function listTaskBranches(tasks: NonNullable<Step["tasks"]>, attempt: string): Branches {
  const oneTask = [[{ id: "task", files: [], after: [] }]];
  const leftVariants = tasks.leave === undefined ? [[]] : [[], ["left"]];
  const isProved = areTasksProved(tasks.each);

  const branches = leftVariants.flatMap((left) =>
    [oneTask, []].map((waves): Branch => ({
      drafts: [{ event: "tasks_read", attempt, waves, left }],
      isProved,
    })),
  );

  return { branches, isCut: false };
}

/** Whether tasks leave their phase proved; null if no agent works in them. */
function areTasksProved(each: readonly Step[]): boolean | null {
  return each.some(({ agent }) => agent !== undefined) ? each.some(isGate) : null;
}

function updateUnproved(
  unproved: ReadonlySet<string>,
  cursorPath: string,
  isProved: boolean | null,
): Set<string> {
  const updated = new Set(unproved);
  if (isProved === true) updated.delete(cursorPath);
  if (isProved === false) updated.add(cursorPath);

  return updated;
}

/** What ends a rest: people give every answer they may; a pause is resumed; a rest is continued. */
export function listRestTransitions(node: Node): Transitions {
  const { run } = node;
  const nextDrafts =
    run.status === "running" ? [[exploredEvents.opened(run.opening + 1)]] : listReplies(run);

  return {
    place: describePlace(run),
    freeTransitions: [],
    paidNodes: nextDrafts.map((drafts) => continueRun(node, drafts)),
  };
}

/** Every answer to every open question, each by itself; if nothing is asked, one that says nothing. */
function listReplies({ blocks }: Run): readonly (readonly Draft[])[] {
  const replies = Object.values(blocks).flatMap(({ block, options }) => {
    const answers = Object.keys(options).length === 0 ? ["words"] : Object.keys(options);
    return answers.map((answer): readonly Draft[] => [
      { event: "block_answered", request: "answer", block, answer },
    ]);
  });

  return replies.length === 0 ? [[]] : replies;
}

function continueRun({ run, unproved }: Node, drafts: readonly Draft[]): Node {
  const copy = copyRun(run);
  for (const draft of drafts) applyEvent(copy, draft);
  if (copy.status === "paused") {
    applyEvent(copy, {
      event: "run_resumed",
      request: "resume",
      from_state: "paused",
      to_state: "running",
    });
  }

  normalizeState(copy);
  return { run: copy, unproved: new Set(unproved) };
}
