// selectors: reads a state against its flow: a cursor's steps, a fact's value, the row that
// matches. Pure, and knows no flow by name.
// Invariants F1 and on: core/fold.ts.

import {
  type Phase,
  type Row,
  type Scalar,
  type Step,
  type Want,
  type When,
} from "../contracts/flow.ts";
import type { NumberOrOption } from "../contracts/flow.ts";
import { InvariantBroken, invariant } from "../kit/invariant.ts";
import { ownValue, recordValues } from "./own-values.ts";
import type {
  FlowView,
  PhaseGroup,
  OpenAttemptView,
  OutcomeView,
  PhaseState,
  RunView,
  CursorView,
} from "./state.ts";

export const phaseGroups = ["before", "phases", "after"] as const satisfies readonly PhaseGroup[];

/**
 * What a condition is evaluated against: the outcomes of this round and the counts of this visit.
 */
export type CursorPosition = Pick<CursorView, "last" | "taken">;
export const noPosition: CursorPosition = { last: {}, taken: {} };

type PhaseRule = Pick<Phase, "id" | "only_if" | "unless" | "limits" | "optional" | "proof"> & {
  readonly steps: readonly Step[];
};

/** Phases that are in the flow itself; null if a reader takes them from the user's documents. */
export function declaredPhases(
  flow: FlowView,
  group: PhaseGroup,
): readonly { readonly id: string; readonly name: string }[] | null {
  const list = group === "phases" ? flow.phases : (flow[group] ?? []);
  if ("read" in list) return null;
  return list.map(({ id, name }) => ({
    id: group === "phases" ? id : `${group}.${id}`,
    name: name ?? id,
  }));
}

const outerGroups = ["before", "after"] as const;

/** Whether a run can still continue: only such a run takes requests and waits for answers. */
export const isRunOpen = ({ status }: Pick<RunView, "status">): boolean =>
  status === "running" || status === "paused";

/**
 * Whether a run ended in failure: a phase failed, or the run used up all it may. Only a person can
 * make it continue. A run that asks a person what becomes of a failure has not ended: the question
 * holds it, and its answer is that person's decision.
 */
export const hasFailed = (
  run: Pick<RunView, "status" | "reason" | "detail" | "blocks" | "decided">,
): boolean =>
  run.status === "paused" &&
  (run.reason === "phase_failed" || run.reason === "run_cap_reached") &&
  run.decided !== true &&
  !recordValues(run.blocks).some((block) => isPausedFor(run, block));

/** Whether this question is what the run is paused for. */
export const isPausedFor = (
  { status, reason, detail }: Pick<RunView, "status" | "reason" | "detail">,
  block: RunView["blocks"][string],
): boolean => status === "paused" && reason === block.code && detail === block.question;

/** The questions that wait for a person; none in a run that is over. */
export const listOpenQuestions = (run: RunView): readonly RunView["blocks"][string][] =>
  isRunOpen(run) ? recordValues(run.blocks) : [];

/** A phase's own rule. A phase that was read runs the flow's shared steps. */
export function phaseRule(flow: FlowView, phase: string): PhaseRule {
  for (const group of outerGroups) {
    const rule = flow[group]?.find(({ id }) => phase === `${group}.${id}`);
    if (rule !== undefined) return rule as PhaseRule;
  }

  if ("read" in flow.phases) return { id: phase, steps: (flow.steps ?? []) as readonly Step[] };
  const rule = flow.phases.find(({ id }) => id === phase);
  if (rule === undefined) throw new InvariantBroken(`F1: the flow has a phase ${phase}`);

  return rule as PhaseRule;
}

export function stepsOfPhase(flow: FlowView, phase: string): readonly Step[] {
  return phaseRule(flow, phase).steps;
}

/**
 * The steps a cursor runs through: a phase's, those after it, or those that each task or each wave
 * of a tasks step runs.
 */
export function cursorSteps(run: RunView, cursor: CursorView): readonly Step[] {
  const { flow } = run.drafted;
  if (cursor.kind === "phase") return stepsOfPhase(flow, cursor.phase);
  if (cursor.kind === "closing") return (flow.closing ?? []) as readonly Step[];
  const container = cursor.inside === null ? undefined : ownValue(run.open, cursor.inside);
  const parent = container === undefined ? undefined : ownValue(run.cursors, container.cursor);
  invariant(
    container !== undefined && parent !== undefined,
    `F1: ${cursor.path} is inside an open tasks step`,
  );

  const { tasks } = findStep(run, parent, container.step);
  return (cursor.kind === "task" ? tasks?.each : tasks?.wave) ?? [];
}

export function findStep(run: RunView, cursor: CursorView, id: string): Step {
  const step = cursorSteps(run, cursor).find((candidate) => candidate.id === id);
  if (step === undefined) throw new InvariantBroken(`F1: ${cursor.path} has a step ${id}`);
  return step;
}

export function getCursor(run: RunView, path: string): CursorView {
  const cursor = ownValue(run.cursors, path);
  // Not `invariant`, here and wherever every event passes: building unread messages costs more than
  // the check itself.
  if (cursor === undefined) throw new InvariantBroken(`F1: ${path} is a cursor of the run`);
  return cursor;
}

export function getPhase(run: RunView, id: string): RunView["phases"][number] {
  const phase = run.phases.find((candidate) => candidate.id === id);
  invariant(phase !== undefined, `F1: the run has a phase ${id}`);
  return phase;
}

export const closingPath = (phase: string): string => `${phase}/closing`;
/** A colon separates a wave's path from that of a task of the same name. */
export const wavePath = (attempt: string, index: number): string => `${attempt}/wave:${index + 1}`;
export const taskPath = (attempt: string, task: string): string => `${attempt}/${task}`;

/** A completed phase that still runs the flow's closing steps. */
export const isClosing = (run: RunView, phase: Pick<PhaseState, "id">): boolean =>
  run.drafted.flow.closing !== undefined &&
  ownValue(run.cursors, closingPath(phase.id))?.result === null;

export const stepRetriesMax = (flow: FlowView, step: Step): number =>
  step.retry ?? flow.defaults?.step?.retry ?? 0;

/** A fact's value; undefined if there is none, which matches nothing. */
export function factValue(
  run: RunView,
  position: CursorPosition,
  name: string,
): Scalar | undefined {
  const [head = "", ...rest] = name.split(".");
  if (head === "option") return optionValue(run, rest.join("."));
  if (head === "count") return countValue(run, position, rest.join("."));
  if (head === "before") {
    const cursor = ownValue(run.cursors, `before.${rest[0] ?? ""}`);
    return cursor === undefined
      ? undefined
      : findFact(ownValue(cursor.last, rest[1] ?? ""), rest.slice(2));
  }

  return findFact(ownValue(position.last, head), rest);
}

function findFact(
  outcome: OutcomeView | undefined,
  [first, second]: readonly string[],
): Scalar | undefined {
  if (outcome === undefined) return undefined;
  if (first === undefined) return outcome.kind;
  return first === "says" ? ownValue(outcome.says, second ?? "") : ownValue(outcome.facts, first);
}

/** An option of this opening, else of this run, else its default; an unset option is `false`. */
export function optionValue(run: RunView, name: string): Scalar {
  return (
    ownValue(run.overrides, name) ??
    ownValue(run.drafted.options, name) ??
    ownValue(run.drafted.flow.options ?? {}, name)?.default ??
    false
  );
}

/**
 * How often a count was used; `per` of its rule says whether the run, the invocation or the visit
 * keeps it.
 */
export function countValue(
  run: RunView,
  position: CursorPosition,
  name: string,
): number | undefined {
  const rule = ownValue(run.drafted.flow.counts ?? {}, name);
  if (rule === undefined) return undefined;
  if (rule.per === "run") return ownValue(run.taken, name) ?? 0;

  return ownValue(rule.per === "invocation" ? run.invocation : position.taken, name) ?? 0;
}

/** A number as written, or that of the option it names; undefined if the option is not a number. */
export function numberValue(run: RunView, value: NumberOrOption): number | undefined {
  if (typeof value === "number") return value;
  const option = optionValue(run, value.slice("option.".length));
  return typeof option === "number" ? option : undefined;
}

export function matchesCondition(
  run: RunView,
  position: CursorPosition,
  when: When | undefined,
): boolean {
  if (when === undefined) return true;
  return Object.entries(when).every(([name, want]) =>
    satisfies(run, factValue(run, position, name), want),
  );
}

function satisfies(run: RunView, value: Scalar | undefined, want: Want): boolean {
  if (value === undefined) return false;
  if (Array.isArray(want)) return want.includes(value);
  if (typeof want !== "object") return value === want;
  const bound = numberValue(run, "below" in want ? want.below : want.min);
  if (typeof value !== "number" || bound === undefined) return false;

  return "below" in want ? value < bound : value >= bound;
}

export function findMatchingRow<R extends Pick<Row, "when">>(
  run: RunView,
  position: CursorPosition,
  rows: readonly R[],
): R | undefined {
  return rows.find(({ when }) => matchesCondition(run, position, when));
}

/** Whether a step or phase is run at all; evaluated when it is entered. */
export function shouldRun(
  run: RunView,
  position: CursorPosition,
  rule: Pick<Step, "only_if" | "unless">,
): boolean {
  return (
    matchesCondition(run, position, rule.only_if) &&
    !(rule.unless ?? []).some((when) => matchesCondition(run, position, when))
  );
}

/**
 * Attempts that were begun and have not ended, those that an earlier opening left in doubt
 * included. Without tasks steps whose tasks have cursors: those do nothing themselves.
 */
export function listOpenAttempts(run: RunView): readonly OpenAttemptView[] {
  const open = recordValues(run.open);
  return open.some(({ stage }) => stage === "walking")
    ? open.filter(({ stage }) => stage !== "walking")
    : open;
}
export const listLiveAttempts = (run: RunView): readonly OpenAttemptView[] =>
  filterLive(listOpenAttempts(run), run);

/**
 * Those attempts that this opening drives and that do not wait for their place: nearly always all
 * of them.
 */
export function filterLive(
  attempts: readonly OpenAttemptView[],
  run: RunView,
): readonly OpenAttemptView[] {
  const isLive = (open: OpenAttemptView): boolean =>
    open.opening === run.opening && isInOrder(run, open);
  return attempts.every(isLive) ? attempts : attempts.filter(isLive);
}

/**
 * Whether its changes may be applied now: those of a wave's tasks are applied in the wave's order,
 * whichever turn ends first.
 */
export function isInOrder(run: RunView, open: OpenAttemptView): boolean {
  if (open.stage !== "turned") return true;
  const cursor = ownValue(run.cursors, open.cursor);
  const container =
    cursor?.kind !== "task" || cursor.inside === null
      ? undefined
      : ownValue(run.open, cursor.inside);
  if (cursor === undefined || container === undefined) return true;
  const wave = container.waves.find((tasks) => tasks.includes(cursor.task ?? "")) ?? [];
  const earlier = wave.slice(0, wave.indexOf(cursor.task ?? ""));

  return earlier.every(
    (task) => ownValue(run.cursors, taskPath(container.attempt, task))?.result !== null,
  );
}
