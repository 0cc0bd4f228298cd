// staged-state: schema of the content of `_docs/_autopilot_state.md`, a Markdown file that people,
// other tools and the runner share.

import * as v from "valibot";

export const stagedStatePath = "_docs/_autopilot_state.md";

/** The sections of the file, in their order. */
export const stagedSections = [
  "Current Step",
  "Completed Steps",
  "Key Decisions",
  "Last Session",
  "Retry Log",
  "Blockers",
] as const;

export const stagedStatuses = [
  "not_started",
  "in_progress",
  "completed",
  "skipped",
  "failed",
] as const;
export const StagedStatus = v.picklist(stagedStatuses);
export type StagedStatus = v.InferOutput<typeof StagedStatus>;

/** Why a session ended, in the file's own terms. */
export const sessionReasons = [
  "completed step",
  "session boundary",
  "user paused",
  "context limit",
] as const;

/** How often a step may be tried again, as the file's format says. */
export const retriesMax = 3;

const text = v.string();
const StepNumber = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(99));
const Retries = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(retriesMax));

export const CurrentStep = v.strictObject({
  flow: text,
  step: v.union([StepNumber, v.literal("done")]),
  name: text,
  status: StagedStatus,
  sub_step: v.nullable(text),
  retry_count: Retries,
});
export type CurrentStep = v.InferOutput<typeof CurrentStep>;

export const CompletedStep = v.strictObject({
  step: StepNumber,
  name: text,
  completed: text,
  key_outcome: text,
});
export type CompletedStep = v.InferOutput<typeof CompletedStep>;

export const RetryRow = v.strictObject({
  attempt: v.pipe(v.number(), v.integer(), v.minValue(1)),
  step: StepNumber,
  name: text,
  sub_step: text,
  failure_reason: text,
  timestamp: text,
});
export type RetryRow = v.InferOutput<typeof RetryRow>;

export const LastSession = v.strictObject({
  date: text,
  ended_at: text,
  reason: text,
  notes: text,
});
export type LastSession = v.InferOutput<typeof LastSession>;

export const StagedState = v.strictObject({
  current: CurrentStep,
  completed: v.array(CompletedStep),
  decisions: v.array(text),
  last_session: v.nullable(LastSession),
  retry_log: v.array(RetryRow),
  blockers: v.array(text),
  /**
   * Content that is not part of the format: whole sections, and lines inside one of its sections.
   * It is preserved.
   */
  others: v.array(v.strictObject({ title: text, lines: v.array(text) })),
});
export type StagedState = v.InferOutput<typeof StagedState>;
