// Every field, word and nested shape of the roadmap's state.json and its other files, by name: what
// must be there, and what is refused.

import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { roadmapEventNames, roadmapEventSchemas, RoadmapEvent } from "./roadmap-events.ts";
import {
  CompletionReport,
  MetricsFile,
  PostMortem,
  SelfAuditSummary,
  TraceSpan,
  TrendSummary,
  TriageFile,
} from "./roadmap-reports.ts";
import { RoadmapState } from "./roadmap-state.ts";
import {
  seedCompletion,
  seedMetrics,
  seedPostMortem,
  seedSelfAudit,
  seedSpan,
  seedState,
  seedTrend,
  seedTriage,
} from "./roadmap.test-support.ts";
import { circuitBreakerDefaults, failureCategories } from "./roadmap-values.ts";

const fits = (schema: v.GenericSchema, value: unknown): boolean =>
  v.safeParse(schema, value).success;

/** The value with what is at a path set, or left out where nothing is given. */
function withAt(value: unknown, path: string, set?: { readonly to: unknown }): unknown {
  const copy = structuredClone(value);
  const parts = path.split("/");
  let at = copy as Record<string, unknown>;
  for (const part of parts.slice(0, -1)) at = at[part] as Record<string, unknown>;
  const last = parts.at(-1) ?? "";
  if (set === undefined) delete at[last];
  else at[last] = set.to;

  return copy;
}

/** Every path to a field below a value: mappings by name, lists by their first item. */
function pathsIn(value: unknown, path: readonly string[] = []): readonly string[] {
  if (typeof value !== "object" || value === null) return path.length === 0 ? [] : [path.join("/")];
  const inner = Object.entries(value).flatMap(([name, part]) =>
    Array.isArray(value) && name !== "0" ? [] : pathsIn(part, [...path, name]),
  );
  return [...(path.length === 0 ? [] : [path.join("/")]), ...inner];
}

describe("state.json", () => {
  test("the published format's own example is valid", () =>
    expect(v.safeParse(RoadmapState, seedState).issues).toBeUndefined());

  const free =
    /^circuit_breaker_config|\/details(\/|$)|^phases\/phase_6\.1(\/steps(\/[a-z_]+)?)?$|tasks\/task_0\d$|automated\/build|\/0$|^event_log\/0\/(phase|step)$/;
  const needed = pathsIn(seedState).filter((path) => !free.test(path));
  test.each(needed)("the field %s must be there", (path) =>
    expect(fits(RoadmapState, withAt(seedState, path))).toBe(false),
  );

  test("nothing was passed over: the table of fields is that of the seed", () =>
    expect(needed.length).toBeGreaterThan(60));

  const mappings = [
    "_meta",
    "spec",
    "circuit_breaker",
    "metrics",
    "phases/phase_6.1",
    "phases/phase_6.1/steps",
    "event_log/0",
  ];
  test.each(mappings)("an unknown field in %s is refused", (path) =>
    expect(fits(RoadmapState, withAt(seedState, `${path}/invented`, { to: 1 }))).toBe(false),
  );

  test.each(["preflight", "research", "plan", "plan_check", "execute", "verify", "judge"])(
    "the step %s is known and strict",
    (step) => {
      const path = `phases/phase_6.1/steps/${step}`;
      expect(fits(RoadmapState, withAt(seedState, path))).toBe(true);
      expect(fits(RoadmapState, withAt(seedState, `${path}/invented`, { to: 1 }))).toBe(false);
    },
  );

  const words: readonly (readonly [string, readonly unknown[]])[] = [
    ["_meta/version", ["1.0"]],
    ["_meta/status", ["running", "paused", "failed", "completed"]],
    ["phases/phase_6.1/phase_type", ["ui", "protocol", "data", "mixed"]],
    [
      "phases/phase_6.1/status",
      ["not_started", "in_progress", "completed", "failed", "needs_human_verification"],
    ],
    ["phases/phase_6.1/steps/preflight/status", ["in_progress", "pass", "fail", "skipped"]],
    ["phases/phase_6.1/steps/research/status", ["in_progress", "completed", "failed", "skipped"]],
    ["phases/phase_6.1/steps/plan/status", ["in_progress", "completed", "failed", "skipped"]],
    ["phases/phase_6.1/steps/plan_check/status", ["in_progress", "pass", "fail", "skipped"]],
    [
      "phases/phase_6.1/steps/execute/status",
      ["in_progress", "completed", "partial", "failed", "skipped"],
    ],
    [
      "phases/phase_6.1/steps/execute/tasks/task_01/status",
      ["pending", "in_progress", "completed", "failed", "skipped"],
    ],
    ["phases/phase_6.1/steps/verify/status", ["in_progress", "pass", "fail", "skipped"]],
    ["phases/phase_6.1/steps/verify/automated/compile", [true, false, "n/a"]],
    ["phases/phase_6.1/steps/verify/automated/tests", [true, false, "n/a"]],
    ["phases/phase_6.1/steps/verify/automated/lint", [true, false, "n/a"]],
    ["phases/phase_6.1/steps/judge/recommendation", ["proceed", "debug", "rollback", "halt", null]],
    [
      "phases/phase_6.1/human_verdict",
      ["pass", "fail", "issues_found"].map((verdict) => ({
        verdict,
        timestamp: "2026-02-09T14:31:00Z",
        issues: ["x"],
      })),
    ],
    ["circuit_breaker/state", ["closed", "open", "half_open"]],
  ];
  test.each(words)("%s takes the published format's words and no other", (path, all) => {
    for (const word of all) {
      expect(fits(RoadmapState, withAt(seedState, path, { to: word })), String(word)).toBe(true);
    }

    expect(fits(RoadmapState, withAt(seedState, path, { to: "invented" }))).toBe(false);
  });

  test.each(["6.1", "phase_"])("a phase key %j is refused", (key) =>
    expect(
      fits(RoadmapState, { ...seedState, phases: { [key]: seedState.phases["phase_6.1"] } }),
    ).toBe(false),
  );

  test.each([0, 11, "8"])("an alignment of %j is none", (score) =>
    expect(
      fits(
        RoadmapState,
        withAt(seedState, "phases/phase_6.1/steps/judge/alignment", { to: score }),
      ),
    ).toBe(false),
  );
});

describe("the 29 events", () => {
  const seed = [
    ..."run_started run_completed run_halted run_resumed phase_started phase_completed phase_failed step_started step_completed".split(
      " ",
    ),
    ..."step_failed task_completed task_failed task_retried circuit_breaker_opened circuit_breaker_closed checkpoint_written".split(
      " ",
    ),
    ..."debug_attempt replan_attempt rollback_initiated rollback_completed human_verdict_recorded unnecessary_deferral_warning".split(
      " ",
    ),
    ..."high_defer_rate_warning self_audit_started self_audit_completed self_audit_gap_found self_audit_gap_fixed phase_skipped".split(
      " ",
    ),
    "batch_completion_report",
  ];
  test("they are the published format's list, all and only", () => {
    expect(seed).toHaveLength(29);
    expect(roadmapEventNames).toEqual(seed);
  });

  test("another event is refused", () =>
    expect(
      fits(RoadmapEvent, { timestamp: "2026-02-09T14:31:00Z", event: "turn_ended", details: {} }),
    ).toBe(false));

  const details: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    task_completed: { task: "task_01", commit: "abc1234" },
    task_failed: { task: "task_01" },
    task_retried: { task: "task_01" },
    human_verdict_recorded: { verdict: "issues_found", issues: ["wrong colour"] },
    self_audit_started: { phases_to_audit: ["5"], spec_path: ".planning/REQUIREMENTS.md" },
    self_audit_completed: {
      total_requirements_checked: 15,
      passed_on_first_check: 13,
      gaps_found: 2,
      gaps_fixed: 2,
      gaps_remaining: 0,
      audit_cycles: 1,
    },
    self_audit_gap_found: {
      requirement_id: "OBSV-02",
      phase_id: "5",
      gap_description: "missing",
      fix_complexity: "small",
    },
    self_audit_gap_fixed: {
      requirement_id: "OBSV-02",
      phase_id: "5",
      fix_commit: "abc1234",
      re_verified: true,
    },
    phase_skipped: { phase_id: "9", reason: "already_completed" },
    batch_completion_report: {
      phases_attempted: 5,
      phases_succeeded: 3,
      phases_failed: 1,
      phases_skipped: 2,
      completion_percentage: 80,
      report_path: ".autopilot/completion-report.md",
    },
  };

  test.each(roadmapEventNames)("%s carries what the seed says it carries", (event) => {
    const line = {
      timestamp: "2026-02-09T14:31:00Z",
      phase: "5",
      step: "execute",
      event,
      details: details[event] ?? {},
    };
    expect(fits(roadmapEventSchemas[event], line)).toBe(true);
    expect(fits(RoadmapEvent, line)).toBe(true);

    for (const name of Object.keys(details[event] ?? {})) {
      expect(fits(RoadmapEvent, withAt(line, `details/${name}`)), name).toBe(false);
    }
  });
});

describe("the breaker's eleven thresholds", () => {
  test.each([
    ["no_progress_threshold", 3],
    ["same_error_threshold", 5],
    ["output_degradation_pct", 70],
    ["max_debug_attempts_per_phase", 3],
    ["max_replan_attempts_per_phase", 1],
    ["max_total_retries_per_run", 10],
    ["cooldown_minutes", 5],
    ["cost_cap_tokens_per_phase", 500_000],
    ["cost_cap_tokens_total", 5_000_000],
    ["wall_clock_timeout_minutes_per_phase", 120],
    ["wall_clock_timeout_minutes_total", 1_440],
  ] as const)("%s is %d unless somebody says otherwise", (name, value) =>
    expect(circuitBreakerDefaults[name]).toBe(value),
  );

  test("they are eleven", () => expect(Object.keys(circuitBreakerDefaults)).toHaveLength(11));
});

const files = [
  ["TraceSpan", TraceSpan, seedSpan],
  ["PostMortem", PostMortem, seedPostMortem],
  ["MetricsFile", MetricsFile, seedMetrics],
  ["TrendSummary", TrendSummary, seedTrend],
  ["SelfAuditSummary", SelfAuditSummary, seedSelfAudit],
  ["CompletionReport", CompletionReport, seedCompletion],
  ["TriageFile", TriageFile, seedTriage],
] as const;
describe.each(files)("%s", (name, schema, example) => {
  test(`the published format's example of ${name} is valid`, () =>
    expect(v.safeParse(schema as v.GenericSchema, example).issues).toBeUndefined());
  const open = /failure_taxonomy_histogram\/|\/(original_run_timestamp|blocking_phase)$|(^|\/)\d+$/;
  const paths = pathsIn(example).filter((path) => !open.test(path));
  test.each(paths)(`${name} must have %s`, (path) =>
    expect(fits(schema as v.GenericSchema, withAt(example, path))).toBe(false),
  );
});

const choices: readonly (readonly [string, v.GenericSchema, unknown, string, readonly string[]])[] =
  [
    [
      "trace step",
      TraceSpan,
      seedSpan,
      "step",
      ["research", "plan", "plan_check", "execute", "verify", "judge", "debug", "phase_runner"],
    ],
    [
      "trace action",
      TraceSpan,
      seedSpan,
      "action",
      ["file_read", "file_write", "command_run", "tool_call", "agent_spawn", "decision"],
    ],
    ["trace status", TraceSpan, seedSpan, "status", ["success", "failure", "skipped"]],
    [
      "timeline status",
      PostMortem,
      seedPostMortem,
      "timeline/0/status",
      ["success", "failure", "skipped", "partial"],
    ],
    ["root cause", PostMortem, seedPostMortem, "root_cause/category", failureCategories],
    ["criteria source", TriageFile, seedTriage, "criteria_source", ["plan", "roadmap", "none"]],
    ["routing", TriageFile, seedTriage, "routing_decision", ["full_pipeline", "verify_only"]],
    ["mode", CompletionReport, seedCompletion, "mode", ["--complete"]],
  ];
test.each(choices)("the %s takes its own words only", (_, schema, example, path, all) => {
  for (const word of all) {
    expect(fits(schema, withAt(example, path, { to: word })), word).toBe(true);
  }

  expect(fits(schema, withAt(example, path, { to: "invented" }))).toBe(false);
});

test("a trace's summaries are cut at 200 characters", () => {
  for (const field of ["input_summary", "output_summary"]) {
    expect(fits(TraceSpan, withAt(seedSpan, field, { to: "x".repeat(200) }))).toBe(true);
    expect(fits(TraceSpan, withAt(seedSpan, field, { to: "x".repeat(201) }))).toBe(false);
  }
});
test("there are ten failure categories", () => expect(failureCategories).toHaveLength(10));
test.each([
  ["RoadmapState", RoadmapState] as const,
  ...files.map(([name, schema]) => [name, schema] as const),
])("%s can be drawn as a JSON Schema without loss", (_, schema) =>
  expect(toJsonSchema(schema as v.GenericSchema, { errorMode: "throw" })).toHaveProperty("type"),
);
