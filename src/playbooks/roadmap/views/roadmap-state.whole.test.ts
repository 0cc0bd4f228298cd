// state.json, drawn from journals: of whole roadmaps as they are lived in the simulation, and of
// any run of any flow.

import * as fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { flows } from "../../../../test/simulation/support/flows.ts";
import { roadmapStories } from "../../../../test/simulation/support/roadmap-stories.ts";
import {
  answer,
  type Lived,
  live,
  resume,
  type Scenario,
} from "../../../../test/simulation/support/scenarios.ts";
import type { Plan } from "../../../../test/simulation/support/stage.ts";
import type { Entry } from "../../../contracts/event.ts";
import { roadmapEventNames } from "../../../contracts/roadmap-events.ts";
import { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { fold } from "../../../core/fold.ts";
import type { Run, RunView } from "../../../core/state.ts";
import { roadmapEventSources } from "./roadmap-event-sources.ts";
import {
  buildBreakerConfig,
  hasRoadmapState,
  openRoadmapState,
  buildRoadmapState,
  toStateStatus,
} from "./roadmap-state.ts";
import { pipelineSteps } from "./roadmap-steps.ts";
import { drafted, runView } from "../../../views/run-view.test-support.ts";

const problems = (state: RoadmapState) =>
  v
    .safeParse(RoadmapState, JSON.parse(JSON.stringify(state)))
    .issues?.map(({ message }) => message);
const drawn = ({ tape }: Lived): RoadmapState => buildRoadmapState(tape.run, tape.entries);
const stories = new Map<string, Lived>();
/** Lived through once, whoever looks at it. */
const story = (name: string): Lived => {
  const lived = stories.get(name) ?? live(roadmapStories[name] as Scenario);
  stories.set(name, lived);
  return lived;
};
const events = (state: RoadmapState, phase?: string) =>
  state.event_log
    .filter((line) => phase === undefined || line.phase === phase)
    .map(({ event }) => event);

/** A number from a seed and a place: the same place always gets the same. */
function pick(seed: number, place: string, below: number): number {
  let mixed = seed ^ 0x9e3779b9;
  for (const character of place) {
    mixed = Math.imul(mixed ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }

  return ((mixed ^ (mixed >>> 15)) >>> 0) % below;
}

function anyRun(flow: string, seed: number): Scenario {
  const words = [true, false, "proceed", "debug", "halt", 0, 1, 5, 9, 42];
  const word = (place: string) => words[pick(seed, place, words.length)] ?? true;
  let rests = 0;

  return {
    flow,
    drafted: { run: { tokens: 4_000, retries: 12 }, phase: { tokens: 2_000 } },
    script: {
      phases: [
        { id: "1", after: [] },
        {
          id: "2",
          after: ["1"],
          ...(pick(seed, "skip", 3) === 0 ? { skip: "already_completed" } : {}),
        },
        { id: "2.1", after: ["1"] },
      ],
      plan: ({ phase, step, n, task, visit }): Plan => {
        const place = `${phase}.${step}.${n}.${task}.${visit}`;
        const named = (names: string) =>
          Object.fromEntries(names.split(" ").map((name) => [name, word(`${place}.${name}`)]));
        return {
          facts: named("gaps route plan_exists complete"),
          says: named("pass confidence recommendation alignment_score"),
          tasks: ["a", "b"]
            .slice(0, pick(seed, `${place}.tasks`, 3))
            .map((id) => ({ id, files: [`${id}.md`], after: [] })),
          left: pick(seed, `${place}.left`, 3) === 0 ? ["h1"] : [],
          progress: pick(seed, `${place}.progress`, 5) > 0,
          ...(pick(seed, `${place}.fails`, 4) === 0
            ? { fail: `failed_${pick(seed, place, 3)}` }
            : {}),
          ...(pick(seed, `${place}.cut`, 9) === 0 ? { interrupt: "provider" as const } : {}),
        };
      },
    },
    user: (run, why) => {
      if (rests++ > 10) return null;
      if (why === "human_block_open") {
        return answer(
          run,
          ({ options }) =>
            Object.keys(options)[pick(seed, `${rests}`, Object.keys(options).length || 1)] ??
            "words",
          ["i"],
        );
      }

      return run.status === "paused" ? [resume(run)] : null;
    },
  };
}

describe("whatever the run", () => {
  test("state.json drawn from any prefix of any journal of any flow is valid against its own schema", () => {
    const names = Object.keys(flows);
    let halted = 0;
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1e9 }),
        fc.nat(names.length - 1),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (seed, nth, share) => {
          const { tape } = live(anyRun(names[nth] ?? "roadmap", seed));
          expect(problems(buildRoadmapState(tape.run, tape.entries))).toBeUndefined();
          const entries = tape.entries.slice(0, 1 + Math.floor(share * (tape.entries.length - 1)));
          const state = buildRoadmapState(fold(entries) as Run, entries);
          expect(problems(state)).toBeUndefined();
          if (events(state).includes("run_halted")) halted++;
        },
      ),
      // The example surely halts, whatever else is drawn.
      { numRuns: 25, examples: [[11, names.indexOf("gates"), 1]] },
    );

    expect(halted).toBeGreaterThan(0);
  });

  test.each(Object.keys(roadmapStories))(
    "%s: valid at every entry, and the same whether drawn at once or kept up with",
    (name) => {
      const { tape } = story(name);
      const book = openRoadmapState();
      tape.entries.forEach((entry, index) => {
        book.apply(entry);
        if (index % 25 !== 0 && index !== tape.entries.length - 1) return;
        const entries = tape.entries.slice(0, index + 1);
        const run = fold(entries) as Run;
        expect(book.buildState(run)).toEqual(buildRoadmapState(run, entries));
        expect(JSON.parse(book.renderText(run))).toEqual(
          JSON.parse(JSON.stringify(book.buildState(run))),
        );

        expect(problems(book.buildState(run))).toBeUndefined();
      });
    },
  );

  test("every event of the log is one of the 29, and every one of the 29 has a source", () => {
    const seen = new Set(Object.keys(roadmapStories).flatMap((name) => events(drawn(story(name)))));
    for (const event of seen) expect(roadmapEventNames).toContain(event);
    expect(Object.keys(roadmapEventSources).toSorted()).toEqual([...roadmapEventNames].toSorted());
    const unseen = roadmapEventNames.filter((event) => !seen.has(event));
    // The rate and the report follow below.
    expect(unseen).toEqual(["high_defer_rate_warning", "batch_completion_report"]);
  });
});

describe("everything at once", () => {
  const state = drawn(story("roadmap: everything at once"));
  const phase = (id: string) => state.phases[`phase_${id}`];

  test("phases are keyed phase_<id>, those done before count as completed, the others as they ended", () => {
    expect(Object.keys(state.phases)).toEqual(
      ["0", "1", "2", "3", "4", "4.1", "5", "6"].map((id) => `phase_${id}`),
    );

    expect(
      Object.fromEntries(Object.entries(state.phases).map(([key, { status }]) => [key, status])),
    ).toMatchObject({
      phase_0: "completed",
      phase_1: "completed",
      phase_2: "completed",
      phase_3: "failed",
      phase_4: "not_started",
      "phase_4.1": "not_started",
      phase_5: "completed",
    });

    expect(phase("0")?.started_at).toBeNull();
    expect(phase("1")?.completed_at).not.toBeNull();
  });

  test("the scores stand under steps.verify.alignment_score and steps.judge.alignment", () => {
    expect(phase("1")?.steps.judge).toEqual({ alignment: 8, recommendation: "proceed" });
    expect(phase("1")?.steps.verify).toMatchObject({
      status: "pass",
      alignment_score: null,
      scope_creep: [],
    });
  });

  test("steps tell what they came to: rounds of the plan, its confidence, tasks with commits and retries", () => {
    expect(phase("1")?.steps.plan_check).toEqual({ status: "pass", confidence: 8 });
    expect(phase("1")?.steps.plan).toMatchObject({
      status: "completed",
      output: ".planning/phases/1/PLAN.md",
    });

    expect(phase("1")?.steps.plan?.validation_rounds).toBeGreaterThan(1);
    expect(phase("1")?.steps.preflight).toMatchObject({ status: "pass" });
    expect(Object.keys(phase("1")?.steps.execute?.tasks ?? {})).toEqual(
      ["task_01", "task_02", "task_03", "task_04"].toSorted((a, b) => (a < b ? -1 : 1)),
    );

    expect(phase("1")?.steps.execute?.tasks["task_02"]).toMatchObject({
      status: "completed",
      commit: expect.stringMatching(/^[0-9a-f]{40}$/) as unknown,
    });

    expect(phase("2")?.steps.research).toBeUndefined();
  });

  test("debug attempts and replans are counted by what was taken", () => {
    expect(phase("1")?.debug_attempts).toBe(3);
    expect(phase("1")?.replan_attempts).toBe(1);
    expect(state.metrics.debug_loops_total).toBe(
      Object.values(state.phases).reduce((sum, { debug_attempts }) => sum + debug_attempts, 0),
    );

    expect(events(state, "1").filter((event) => event === "debug_attempt")).toHaveLength(3);
    expect(events(state, "1").filter((event) => event === "replan_attempt")).toHaveLength(1);
  });

  test("what a failed phase blocks is skipped with the reason and the phase that blocks", () => {
    const skipped = state.event_log
      .filter(({ event }) => event === "phase_skipped")
      .map(({ details }) => details);
    expect(skipped).toContainEqual({ phase_id: "0", reason: "already_completed" });
    expect(skipped).toContainEqual({
      phase_id: "4",
      reason: "blocked_by_phase_3",
      blocking_phase: "3",
    });

    expect(skipped).toContainEqual({
      phase_id: "4.1",
      reason: "blocked_by_phase_3",
      blocking_phase: "3",
    });
  });

  test("a person's verdict and what they were asked are kept", () => {
    expect(phase("5")?.human_verdict).toMatchObject({ verdict: "pass" });
    expect(phase("5")?.human_verify_justification).toMatchObject({
      checkpoint_task_id: "h1",
      auto_tasks_passed: 2,
      auto_tasks_total: 2,
    });

    expect(state._meta.human_deferred_count).toBe(1);
    expect(
      state.event_log
        .filter(({ event }) => event === "human_verdict_recorded")
        .map(({ details }) => details),
    ).toMatchObject([
      { verdict: "issues_found", issues: ["wrong colour"] },
      { verdict: "pass", issues: ["wrong colour"] },
    ]);

    expect(events(state, "5")).toContain("unnecessary_deferral_warning");
  });

  test("a step bears the pipeline's name, and ours is in the details", () => {
    const stepped = state.event_log.filter(({ step }) => step !== undefined);
    expect(stepped.filter(({ step }) => !pipelineSteps.some((name) => name === step))).toEqual([]);
    const ours = (name: string) =>
      stepped.filter(({ details }) => details["step"] === name).map(({ step }) => step);
    expect(new Set(ours("checks"))).toEqual(new Set(["verify"]));
    expect(new Set(ours("judge_blind"))).toEqual(new Set(["judge"]));
    expect(new Set([...ours("undo"), ...ours("human_check"), ...ours("land")])).toEqual(
      new Set(["gate"]),
    );

    expect(
      state.event_log.filter(({ event, step }) => event.startsWith("step_") && step === undefined),
    ).toEqual([]);
  });

  test("the self-audit is told from its beginning to its end, gap by gap, and again once the failed phase was run again", () => {
    const audit = state.event_log.filter(({ event }) => event.startsWith("self_audit"));
    const once = [
      "self_audit_started",
      "self_audit_gap_found",
      "self_audit_gap_fixed",
      "self_audit_completed",
    ];

    expect(audit.map(({ event }) => event)).toEqual([...once, ...once]);
    expect(audit[0]?.details).toMatchObject({
      phases_to_audit: ["1", "2", "5", "6"],
      spec_path: ".planning/ROADMAP.md",
    });

    expect(audit[2]?.details).toMatchObject({
      requirement_id: "gap-1",
      fix_commit: expect.stringMatching(/^[0-9a-f]{40}$/) as unknown,
      re_verified: true,
    });

    expect(audit.at(-1)?.details).toMatchObject({
      gaps_found: 1,
      gaps_fixed: 1,
      gaps_remaining: 0,
      audit_cycles: 1,
    });
  });

  test("rolling back is told twice: begun and done", () => {
    expect(events(state, "3").filter((event) => event.startsWith("rollback"))).toEqual(
      events(state, "3")
        .filter((event) => event.startsWith("rollback"))
        .map((_, index) => (index % 2 === 0 ? "rollback_initiated" : "rollback_completed")),
    );

    expect(events(state, "3")).toContain("rollback_completed");
  });

  test("a failed phase says why in one of the ten categories", () => {
    const failed = state.event_log.filter(({ event }) => event === "phase_failed");
    expect(failed.length).toBeGreaterThan(0);
    for (const { details } of failed) expect(details["category"]).toBe("acceptance_criteria_unmet");
  });

  test("what happens before and after the roadmap's phases appears in no phase", () =>
    expect(state.event_log.filter(({ phase: at }) => at?.startsWith("after.") === true)).toEqual(
      [],
    ));
});

test("a step that was passed over has no output; of a plan that was found, its path and hash are told", () => {
  const { tape } = story("roadmap: everything at once");
  const found = {
    plan_exists: true,
    plan_path: ".planning/phases/03-x/PLAN.md",
    output_hash: "a".repeat(64),
  };

  const isTriage = (entry: Entry): boolean =>
    entry.event === "step_completed" && entry.attempt.startsWith("3@1/triage#");
  const entries = tape.entries.slice(0, tape.entries.findIndex(isTriage) + 1);

  const reported = entries.map((entry) =>
    isTriage(entry) && entry.event === "step_completed"
      ? { ...entry, facts: { ...entry.facts, ...found } }
      : entry,
  );

  const skipped = (step: string): Entry =>
    ({ ...entries.at(-1), event: "step_skipped", walk: "3", step }) as unknown as Entry;
  const phase = buildRoadmapState(tape.run, [...reported, skipped("research"), skipped("plan")])
    .phases["phase_3"];
  expect(phase?.steps.research).toEqual({ status: "skipped", output: null, hash: null });
  expect(phase?.steps.plan).toMatchObject({
    status: "skipped",
    output: found.plan_path,
    hash: `sha256:${found.output_hash}`,
  });
});

describe("what a phase is and costs", () => {
  const state = drawn(story("roadmap: a task fails for good, later waves wait, debug fixes"));
  test("tokens used are the ledger's; the estimate follows the published format's formula from the plan's tasks", () => {
    expect(state.phases["phase_1"]?.tokens_used).toBeGreaterThan(0);
    expect(state.phases["phase_1"]?.estimated_tokens).toBe((50_000 + 3 * 15_000) * 1.2);
    expect(state.phases["phase_1"]?.phase_type).toBe("mixed");
  });

  test("an execution of which only a part succeeded is partial", () =>
    expect(state.phases["phase_1"]?.steps.execute?.status).toBe("partial"));
});

describe("the run's status, in state.json's word for it", () => {
  const rows: readonly (readonly [string, Partial<Run>, string])[] = [
    ["running", { status: "running" }, "running"],
    ["paused by the operator", { status: "paused", reason: "operator_paused" }, "paused"],
    ["paused at a checkpoint", { status: "paused", reason: "checkpoint_reached" }, "paused"],
    ["paused for a person", { status: "paused", reason: "human_block_open" }, "paused"],
    ["paused by the breaker", { status: "paused", reason: "breaker_open" }, "paused"],
    ["paused by the provider", { status: "paused", reason: "provider_limit_reached" }, "paused"],
    [
      "paused by a budget that was given for it",
      { status: "paused", reason: "budget_threshold_reached" },
      "paused",
    ],
    ["paused by a phase's cap", { status: "paused", reason: "phase_cap_reached" }, "paused"],
    ["ended by the run's cap", { status: "paused", reason: "run_cap_reached" }, "failed"],
    [
      "paused because the run's cap was reached",
      { status: "paused", reason: "run_cap_reached" },
      "failed",
    ],
    [
      "paused because a phase's cap was reached",
      { status: "paused", reason: "phase_cap_reached" },
      "paused",
    ],
    ["paused because a phase failed", { status: "paused", reason: "phase_failed" }, "failed"],
    ["stopped", { status: "stopped", reason: "operator_stopped" }, "failed"],
    ["completed", { status: "completed" }, "completed"],
  ];
  test.each(rows)("%s", (_, changes, word) => {
    expect(toStateStatus(runView(changes))).toBe(word);
    expect(hasRoadmapState(runView(changes))).toBe(true);
  });

  test("a draft has no file", () => expect(hasRoadmapState(runView())).toBe(false));
});

describe("meta, spec and breaker", () => {
  const entry = (event: object, seq: number): Entry =>
    ({
      actor: "system",
      reason_code: "ok",
      ...event,
      seq,
      epoch: 0,
      ts: `2026-03-01T10:00:0${seq}.000Z`,
      active_ms: 0,
      prev: "",
      crc: "",
    }) as Entry;

  const hash = "c".repeat(64);
  const options = {
    spec_path: ".planning/REQUIREMENTS.md",
    spec_hash: hash,
    roadmap_path: "ROADMAP.md",
  };

  const run = (changes: Partial<Run> = {}): RunView =>
    runView({ drafted: drafted({ options }), status: "running", ...changes });

  test("deciding takes no context, and the version is the published format's", () =>
    expect(buildRoadmapState(run(), [])._meta).toMatchObject({
      version: "1.0",
      orchestrator_context_pct: 0,
    }));

  test("the spec is locked to what the run began with", () =>
    expect(buildRoadmapState(run(), []).spec).toMatchObject({
      path: ".planning/REQUIREMENTS.md",
      hash: `sha256:${hash}`,
    }));

  test("a changed spec that was accepted is locked anew", () => {
    const found = "d".repeat(64);
    const changed = entry(
      {
        event: "policy_changed",
        path: ".planning/REQUIREMENTS.md",
        recorded: hash,
        found,
        adopted: true,
      },
      1,
    );
    expect(buildRoadmapState(run(), [changed]).spec).toEqual({
      path: ".planning/REQUIREMENTS.md",
      hash: `sha256:${found}`,
      locked_at: changed.ts,
    });
  });

  test("the roadmap's own path is kept", () =>
    expect(buildRoadmapState(run(), []).roadmap_path).toBe("ROADMAP.md"));
  test("a run that is known to be alive is no crash, however long its step takes", () =>
    expect(
      buildRoadmapState(run(), [], { aliveAt: "2030-01-01T00:00:00.000Z" })._meta.last_checkpoint,
    ).toBe("2030-01-01T00:00:00.000Z"));

  test("the breaker's state is told with its counters and until when it rests", () => {
    const breaker = {
      ...run().breaker,
      state: "open" as const,
      no_progress: 3,
      same: 2,
      last_error: "x",
      cooldown_until: "2026-03-01T10:05:00.000Z",
    };

    expect(buildRoadmapState(run({ breaker }), []).circuit_breaker).toEqual({
      state: "open",
      consecutive_no_progress: 3,
      consecutive_same_error: 2,
      last_error: "x",
      cooldown_until: "2026-03-01T10:05:00.000Z",
    });
  });

  test("all eleven thresholds in force are told, raised ones included", () => {
    const limits = {
      run: { tokens: 7, minutes: 8, retries: 9, no_progress_threshold: 4 },
      phase: { tokens: 5, minutes: 6 },
    };

    expect(buildBreakerConfig(run({ limits }))).toEqual({
      no_progress_threshold: 4,
      same_error_threshold: 5,
      output_degradation_pct: 70,
      max_debug_attempts_per_phase: 3,
      max_replan_attempts_per_phase: 1,
      max_total_retries_per_run: 9,
      cooldown_minutes: 5,
      cost_cap_tokens_per_phase: 5,
      cost_cap_tokens_total: 7,
      wall_clock_timeout_minutes_per_phase: 6,
      wall_clock_timeout_minutes_total: 8,
    });
  });

  const lines: readonly (readonly [string, object, readonly string[]])[] = [
    [
      "the breaker opens",
      {
        event: "circuit_breaker_opened",
        because: "no_progress",
        cooldown_until: "2026-03-01T10:05:00.000Z",
      },
      ["circuit_breaker_opened"],
    ],
    ["the breaker closes", { event: "circuit_breaker_closed" }, ["circuit_breaker_closed"]],
    ["the run halts", { event: "run_paused", reason_code: "breaker_open" }, ["run_halted"]],
    ["the operator pauses", { event: "run_paused", reason_code: "operator_paused" }, []],
    [
      "the operator stops",
      { event: "run_stopped", reason_code: "operator_stopped" },
      ["run_halted"],
    ],
    ["the run is resumed", { event: "run_resumed" }, ["run_resumed"]],
    [
      "a step ends",
      { event: "step_completed", attempt: "1@1/plan#1", facts: {} },
      ["step_completed", "checkpoint_written"],
    ],
    [
      "a step fails",
      {
        event: "step_failed",
        attempt: "1@1/plan#1",
        facts: {},
        fingerprint: "",
        reason_code: "agent_failed",
      },
      ["step_failed", "checkpoint_written"],
    ],
    [
      "a task's step ends",
      { event: "step_completed", attempt: "1@1/execute#1/01@1/do#1", facts: {} },
      [],
    ],
    [
      "a step after the phases ends",
      { event: "step_completed", attempt: "after.integration@1/check#1", facts: {} },
      ["checkpoint_written"],
    ],
    [
      "the report of a whole roadmap is written",
      {
        event: "step_completed",
        attempt: "after.wrap_up@1/report#1",
        facts: {
          phases_attempted: 1,
          completion_percentage: 50,
          report_path: ".autopilot/completion-report.md",
        },
      },
      ["batch_completion_report", "checkpoint_written"],
    ],
    [
      "the report of some phases is written",
      {
        event: "step_completed",
        attempt: "after.wrap_up@1/report#1",
        facts: { report_path: ".autopilot/completion-report.md" },
      },
      ["checkpoint_written"],
    ],
    [
      "an agent's turn ends",
      { event: "session_opened", attempt: "1@1/plan#1", session: "s", agent: "a" },
      [],
    ],
  ];
  test.each(lines)(
    "when %s, the log says so in the published format's words, or nothing",
    (_, event, reported) =>
      expect(events(buildRoadmapState(run(), [entry(event, 1)]))).toEqual(reported),
  );
});

test("what a verifier handed back is told where the seed puts it: scope creep in the step, categories in the log", () => {
  const text = "b".repeat(64);
  const { tape } = live({
    flow: "roadmap",
    script: {
      phases: [{ id: "1", after: [] }],
      plan: ({ step }) =>
        step === "execute"
          ? { tasks: [] }
          : step === "judge"
            ? { says: { recommendation: "proceed", alignment_score: 8 } }
            : step === "audit"
              ? { facts: { gaps: 0 } }
              : {},
    },
  });

  const entries = tape.entries.map((entry) =>
    entry.event === "turn_ended" && entry.attempt.includes("/verify#")
      ? { ...entry, claim: text }
      : entry,
  );

  const claimOf = (hash: string): unknown =>
    hash === text
      ? {
          scope_creep: ["a button"],
          failure_categories: [{ failure: "x", category: "lint_failure" }],
        }
      : undefined;

  const state = buildRoadmapState(tape.run, entries, { readClaim: claimOf });
  expect(state.phases["phase_1"]?.steps.verify?.scope_creep).toEqual(["a button"]);
  expect(
    state.event_log.find(
      ({ event, step, details }) =>
        event === "step_completed" && step === "verify" && details["step"] === undefined,
    ),
  ).toMatchObject({
    details: { failure_categories: ["lint_failure"] },
  });
});

test("more than half of at least two phases deferred is warned of once, one of one is not", () => {
  const deferring = (ids: readonly string[]): Lived =>
    live({
      flow: "roadmap",
      script: {
        phases: ids.map((id) => ({ id, after: [] })),
        plan: ({ step }) =>
          step === "execute"
            ? { tasks: [], left: ["h1"] }
            : step === "plan_check"
              ? { says: { pass: true, confidence: 9 } }
              : {},
      },
    });

  const rates = (lived: Lived) =>
    drawn(lived).event_log.filter(({ event }) => event === "high_defer_rate_warning");
  expect(rates(deferring(["1"]))).toEqual([]);
  expect(
    rates(deferring(["1", "2", "3"])).map(({ details }) => [
      details["deferred"],
      details["processed"],
    ]),
  ).toEqual([[2, 2]]);

  const state = drawn(deferring(["1", "2"]));
  expect(state._meta).toMatchObject({
    human_deferred_count: 2,
    total_phases_processed: 2,
    status: "paused",
    current_step: "gate",
  });

  expect(state.phases["phase_1"]?.status).toBe("needs_human_verification");
  // Nothing was left to a machine, so asking a person was not unnecessary.
  expect(events(state)).not.toContain("unnecessary_deferral_warning");
});
