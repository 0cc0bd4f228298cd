// roadmap-events: schemas of the 29 events of `event_log` in the roadmap's state.json, each with
// the details it must have. Details that the format leaves open may be anything.

import * as v from "valibot";
import { Time } from "./roadmap-values.ts";

const text = v.string();
const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
const anyDetails = v.record(text, v.unknown());

/** Run, phase, step, task, system and recovery, in the format's order. */
const details = {
  run_started: anyDetails,
  run_completed: anyDetails,
  run_halted: anyDetails,
  run_resumed: anyDetails,
  phase_started: anyDetails,
  phase_completed: anyDetails,
  phase_failed: anyDetails,
  step_started: anyDetails,
  step_completed: anyDetails,
  step_failed: anyDetails,
  task_completed: v.looseObject({ task: text, commit: v.nullable(text) }),
  task_failed: v.looseObject({ task: text }),
  task_retried: v.looseObject({ task: text }),
  circuit_breaker_opened: anyDetails,
  circuit_breaker_closed: anyDetails,
  checkpoint_written: anyDetails,
  debug_attempt: anyDetails,
  replan_attempt: anyDetails,
  rollback_initiated: anyDetails,
  rollback_completed: anyDetails,
  human_verdict_recorded: v.looseObject({
    verdict: v.picklist(["pass", "fail", "issues_found"]),
    issues: v.array(text),
  }),
  unnecessary_deferral_warning: anyDetails,
  high_defer_rate_warning: anyDetails,
  self_audit_started: v.looseObject({ phases_to_audit: v.array(text), spec_path: text }),
  self_audit_completed: v.looseObject({
    total_requirements_checked: Count,
    passed_on_first_check: Count,
    gaps_found: Count,
    gaps_fixed: Count,
    gaps_remaining: Count,
    audit_cycles: Count,
  }),
  self_audit_gap_found: v.looseObject({
    requirement_id: text,
    phase_id: text,
    gap_description: text,
    fix_complexity: v.picklist(["small", "large"]),
  }),
  self_audit_gap_fixed: v.looseObject({
    requirement_id: text,
    phase_id: text,
    fix_commit: v.nullable(text),
    re_verified: v.boolean(),
  }),
  phase_skipped: v.looseObject({
    phase_id: text,
    reason: text,
    original_run_timestamp: v.optional(Time),
    blocking_phase: v.optional(text),
  }),
  batch_completion_report: v.looseObject({
    phases_attempted: Count,
    phases_succeeded: Count,
    phases_failed: Count,
    phases_skipped: Count,
    completion_percentage: v.number(),
    report_path: text,
  }),
} as const satisfies Record<string, v.GenericSchema>;

export type RoadmapEventName = keyof typeof details;
export const roadmapEventNames = Object.keys(details) as RoadmapEventName[];
export const isRoadmapEventName = (name: string): name is RoadmapEventName =>
  Object.hasOwn(details, name);

const detailSchemas: Readonly<Record<RoadmapEventName, v.GenericSchema<Record<string, unknown>>>> =
  details;

/** One line of `event_log`, by the event's name. */
export const roadmapEventSchemas = Object.fromEntries(
  roadmapEventNames.map((name) => [
    name,
    v.strictObject({
      timestamp: Time,
      phase: v.optional(text),
      step: v.optional(text),
      event: v.literal(name),
      details: detailSchemas[name],
    }),
  ]),
) as Readonly<Record<RoadmapEventName, EventSchema>>;

type EventSchema = v.StrictObjectSchema<
  {
    readonly timestamp: typeof Time;
    readonly phase: v.OptionalSchema<v.StringSchema<undefined>, undefined>;
    readonly step: v.OptionalSchema<v.StringSchema<undefined>, undefined>;
    readonly event: v.LiteralSchema<RoadmapEventName, undefined>;
    readonly details: v.GenericSchema<Record<string, unknown>>;
  },
  undefined
>;

export const RoadmapEvent = v.variant(
  "event",
  roadmapEventNames.map((name) => roadmapEventSchemas[name]),
);
export type RoadmapEvent = {
  readonly timestamp: string;
  readonly phase?: string;
  readonly step?: string;
  readonly event: RoadmapEventName;
  readonly details: Readonly<Record<string, unknown>>;
};
