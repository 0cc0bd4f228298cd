// The seed's 29 events: each is fired in some run, by what the seed says fires it, and `event_log`
// holds no other.

import * as v from "valibot";
import { beforeAll, describe, expect, test } from "vitest";
import { type RoadmapEventName, roadmapEventNames } from "../../src/contracts/roadmap-events.ts";
import { RoadmapState } from "../../src/contracts/roadmap-state.ts";
import { roadmapEventSources } from "../../src/playbooks/roadmap/views/roadmap-event-sources.ts";
import { autopilot, type Ended, type Entry, journal } from "../support/autopilot.ts";
import {
  artifact,
  audit,
  has,
  json,
  names,
  plan,
  planned,
  project,
  quiet,
  read,
  turnsOf,
  goArgs,
} from "./project.ts";

type Log = RoadmapState["event_log"];
const stateIn = (folder: string): RoadmapState => {
  const [archived] = names(folder, ".autopilot/archive").filter((name) => name.startsWith("run-"));
  const path = has(folder, ".autopilot/state.json")
    ? ".autopilot/state.json"
    : `.autopilot/archive/${archived}`;
  return v.parse(RoadmapState, json(folder, path));
};
const resume = (folder: string, ...args: readonly string[]): Promise<Ended> =>
  autopilot(folder, ["resume", "--json", ...args], quiet);

/** Two phases that a person must look at, one that was done before, a gap that the audit finds. */
async function peopleAndAudit(): Promise<string> {
  const phases = [
    { id: "1", name: "One", human: true },
    { id: "2", name: "Two", human: true },
    { id: "3", name: "Three", checked: true },
  ];
  const walked = phases.slice(0, 2);
  const folder = project(phases, { ...planned(walked), [artifact("3")]: "ready 3\n" });

  const fixed = {
    do: [{ write: { path: artifact("2"), text: "ready 2\nand in colour\n" } }],
    returns: {
      fixed: true,
      changes: [`${artifact("2")} -- the colour`],
      commits: [],
      remaining_issues: [],
      failure_categories: [],
    },
  };

  const again = (step: string): object | undefined =>
    turnsOf(phases[1] ?? { id: "", name: "" }).find(
      ({ when }) => (when as { step: string }).step === step,
    );

  const closed = {
    when: { step: "do", task: "REQ-1" },
    do: [{ append: { path: artifact("1"), text: "a second line\n" } }],
    returns: {
      tasks_completed: "1/1",
      tasks_failed: "0/1",
      commit_shas: [],
      evidence: [
        {
          task_id: "REQ-1",
          criteria_met: [`it has a second line -- ${artifact("1")}:2 -- a second line`],
          commands_run: [],
        },
      ],
      deviations: [],
    },
  };
  const turns = [
    closed,
    ...walked.flatMap((phase) => turnsOf(phase, phase.id === "2" ? { debug: fixed } : {})),
    ...["verify", "judge_blind", "judge"].flatMap((step) => again(step) ?? []),
    audit(walked, ["1"]),
    audit(walked),
  ];
  const first = await autopilot(folder, goArgs(folder, turns, ["--complete"]), quiet);
  expect([first.json.state, first.json.reason_code]).toEqual(["paused", "human_block_open"]);
  await autopilot(folder, ["verdict", "1", "pass", "--json"]);
  await autopilot(folder, [
    "verdict",
    "2",
    "issues_found",
    "--issue",
    "it has no colour",
    "--json",
  ]);

  const second = await resume(folder);
  expect([second.json.state, second.json.reason_code]).toEqual(["paused", "human_block_open"]);
  await autopilot(folder, ["verdict", "2", "pass", "--json"]);
  const third = await resume(folder);
  expect([third.code, third.json.state], third.out).toEqual([0, "completed"]);

  return folder;
}

/** Nothing fixes it: debugged, planned anew, rolled back, failed; what depends on it is skipped. */
async function nothingFixesIt(): Promise<string> {
  const phases = [
    { id: "1", name: "One" },
    { id: "2", name: "Two", after: ["1"] },
  ];
  const [one] = phases;
  if (one === undefined) throw new Error("there are two phases");
  const folder = project(phases, planned([one]));

  const reported = (n: number) => ({
    tasks_completed: "1/1",
    tasks_failed: "0/1",
    commit_shas: [],
    evidence: [
      {
        task_id: "1-01",
        criteria_met: [`it is there -- ${artifact("1")}:1 -- not ready, for the ${n}. time`],
        commands_run: [],
      },
    ],
    deviations: [],
  });

  const changes = {
    research: [2].map((n) => ({
      do: [
        {
          write: {
            path: ".planning/phases/1/RESEARCH.md",
            text: `# Research\n\nOne file below src decides; looked at for the ${n}. time.\n`,
          },
        },
      ],
      returns: {
        key_findings: [
          `one text file decides, seen ${n} times`,
          "nothing else reads it",
          "grep decides over it",
        ],
        recommended_approach: `Write ${artifact("1")}, try ${n}.`,
        risks: [],
        open_questions: [],
      },
    })),
    plan: [2].map((n) => ({
      do: [{ write: { path: ".planning/phases/1/PLAN.md", text: `${plan(one)}\nTry ${n}.\n` } }],
      returns: {
        plans_created: 1,
        waves: 1,
        total_tasks: 1,
        complexity: "simple",
        dependencies: [],
        concerns: [`try ${n}`],
      },
    })),
    plan_check: [8, 9].map((confidence) => ({
      returns: { pass: true, issues: [], confidence, blocker_count: 0, warning_count: 0 },
    })),
    do: [1, 2, 3, 4].map((n) => ({
      do: [{ write: { path: artifact("1"), text: `not yet, ${n}\n` } }],
      returns: reported(n),
    })),
    debug: [
      {
        do: [{ write: { path: "notes.md", text: "a note\n" } }],
        returns: {
          fixed: false,
          changes: ["notes.md -- a note"],
          commits: [],
          remaining_issues: ["it is not ready"],
          failure_categories: [{ failure: "not ready", category: "executor_incomplete" }],
        },
      },
    ],
  };

  const args = ["1,2", "--option", "max_debug_attempts_per_phase=1"];
  const ended = await autopilot(folder, goArgs(folder, turnsOf(one, changes), args), quiet);
  expect([ended.code, ended.json.reason_code]).toEqual([1, "phase_failed"]);

  return folder;
}

/**
 * A debugger that changes nothing opens the breaker; after it one attempt is let through, and as it
 * fixes the breaker closes.
 */
async function goingInCircles(): Promise<string> {
  const one = { id: "1", name: "One" };
  const folder = project([one], {
    ...planned([one]),
    ".autopilot/config.yaml": "version: 1\nlimits: { no_progress_threshold: 1 }\n",
  });

  const reported = (n: number) => ({
    tasks_completed: "1/1",
    tasks_failed: "0/1",
    commit_shas: [],
    evidence: [
      {
        task_id: "1-01",
        criteria_met: [`it is there -- ${artifact("1")}:1 -- not yet, ${n}`],
        commands_run: [],
      },
    ],
    deviations: [],
  });

  const debugged = (fixed: boolean) => ({
    do: fixed ? [{ write: { path: artifact("1"), text: "ready 1\n" } }] : [],
    returns: {
      fixed,
      changes: fixed ? [`${artifact("1")} -- it says ready now`] : [],
      commits: [],
      remaining_issues: fixed ? [] : ["it is not ready"],
      failure_categories: [],
    },
  });

  const changes = {
    do: [1, 2].map((n) => ({
      do: [{ write: { path: artifact("1"), text: `not yet, ${n}\n` } }],
      returns: reported(n),
    })),
    debug: [debugged(false), debugged(true)],
  };
  const turns = [...turnsOf(one, changes), audit([one])];
  const first = await autopilot(folder, goArgs(folder, turns, ["1"]), quiet);
  expect([first.code, first.json.reason_code]).toEqual([1, "breaker_open"]);
  expect(stateIn(folder)).toMatchObject({
    _meta: { status: "paused" },
    circuit_breaker: { state: "open", consecutive_no_progress: 1 },
  });

  expect((await resume(folder)).json.reason_code).toBe("breaker_open");
  const second = await resume(folder, "--now");
  expect([second.code, second.json.state], second.out).toEqual([0, "completed"]);
  expect(stateIn(folder).circuit_breaker).toMatchObject({
    state: "closed",
    consecutive_no_progress: 0,
  });

  return folder;
}

const runs: { readonly folder: string; readonly log: Log; readonly entries: readonly Entry[] }[] =
  [];
beforeAll(async () => {
  const folders = await Promise.all([peopleAndAudit(), nothingFixesIt(), goingInCircles()]);
  runs.push(
    ...folders.map((folder) => ({
      folder,
      log: stateIn(folder).event_log,
      entries: journal(folder),
    })),
  );
}, 600_000);

describe("the log of real runs", () => {
  test.each(roadmapEventNames)("%s is fired", (name) => {
    const lines = runs.flatMap(({ log }) => log).filter(({ event }) => event === name);
    expect(lines.length, roadmapEventSources[name]).toBeGreaterThan(0);
  });

  test("it holds the 29 and no other, in the order of the journal", () => {
    for (const { log } of runs) {
      for (const { event } of log) expect(roadmapEventNames).toContain(event);
      expect(log.map(({ timestamp }) => timestamp)).toEqual(
        log.map(({ timestamp }) => timestamp).toSorted(),
      );
    }
  });

  test("each line bears the time of the entry that fired it", () => {
    for (const { log, entries } of runs) {
      const times = new Set(entries.map(({ ts }) => ts as string));
      for (const { timestamp } of log) expect(times.has(timestamp)).toBe(true);
    }
  });

  const fired = (name: RoadmapEventName): readonly (readonly [string, string])[] =>
    runs.flatMap(({ log, entries }) =>
      log
        .filter(({ event }) => event === name)
        .map(({ timestamp, phase }) => {
          const source = entries.filter((entry) => entry["ts"] === timestamp);
          return [phase ?? "", source.map(({ event }) => event).join(" ")] as const;
        }),
    );

  const sources: readonly (readonly [RoadmapEventName, RegExp])[] = [
    ["run_halted", /run_paused/],
    ["run_resumed", /run_resumed/],
    ["task_retried", /step_retried/],
    ["checkpoint_written", /step_completed|step_failed/],
    ["debug_attempt", /route_taken/],
    ["replan_attempt", /route_taken/],
    ["rollback_initiated", /step_started/],
    ["rollback_completed", /step_completed/],
    ["human_verdict_recorded", /block_answered/],
    ["unnecessary_deferral_warning", /block_opened/],
    ["self_audit_started", /step_started/],
    ["self_audit_gap_found", /step_completed/],
    ["self_audit_gap_fixed", /step_completed/],
    ["self_audit_completed", /phase_completed/],
    ["phase_skipped", /phases_read|phase_skipped/],
    ["batch_completion_report", /step_completed/],
  ];
  test.each(sources)("%s comes from %s", (name, source) => {
    const seen = fired(name);
    expect(seen.length).toBeGreaterThan(0);
    for (const [, events] of seen) expect(events).toMatch(source);
  });

  test("there is one checkpoint for each step that ended, tasks' steps not counted", () => {
    for (const { log, entries } of runs) {
      const ended = entries.filter(
        ({ event, attempt }) =>
          /^step_(?:completed|failed)$/.test(event) && !/#\d+\/[^/]+@\d+\//.test(String(attempt)),
      );

      expect(log.filter(({ event }) => event === "checkpoint_written")).toHaveLength(ended.length);
    }
  });
});

describe("people", () => {
  const people = () => runs[0] ?? { folder: "", log: [], entries: [] };
  test("verdicts are in the state and in the learnings, as the seed words them", () => {
    const state = stateIn(people().folder);
    expect(state.phases["phase_1"]).toMatchObject({
      status: "completed",
      human_verdict: { verdict: "pass" },
    });

    expect(state._meta).toMatchObject({ human_deferred_count: 2, total_phases_processed: 2 });
    const page = read(people().folder, ".autopilot/learnings.md");
    expect(page).toContain("### Human Verdict: Phase 1 -- PASS (confidence calibration)");
    expect(page).toContain("was deferred to human review but passed without issues.");
    expect(page).toContain("### Human Verdict: Phase 2 -- ISSUES_FOUND (confidence calibration)");
    expect(page).toContain("Specific issues to watch for: it has no colour.");
  });

  test("the report warns of it, and tells of the gap that was closed", () => {
    const page = read(people().folder, ".autopilot/completion-report.md");
    expect(page).toContain("2 of 2 phases (100 %) were deferred to a person.");
    expect(page).toContain("1 gap found, 1 fixed, 0 remaining, 1 re-audit");
  });
});

describe("a failure", () => {
  const failure = () => runs[1] ?? { folder: "", log: [], entries: [] };
  test("is counted in the metrics and told in the report although the run only pauses", () => {
    const { folder } = failure();
    expect(json(folder, ".autopilot/archive/metrics.json")).toMatchObject([
      {
        phases_attempted: 1,
        phases_failed: 1,
        phases_succeeded: 0,
        success_rate: 0,
        failure_taxonomy_histogram: { executor_incomplete: 1 },
      },
    ]);

    expect(read(folder, ".autopilot/completion-report.md")).toContain("The run is failed.");
    expect(stateIn(folder)._meta.status).toBe("failed");
  });

  test("leaves a diagnostic with what to do, naming the post-mortem", () => {
    const { folder } = failure();
    const [name] = names(folder, ".autopilot/diagnostics").filter((one) =>
      one.startsWith("diagnostic-"),
    );

    const page = read(folder, `.autopilot/diagnostics/${name}`);
    expect(page).toContain("`phase_failed`");
    expect(page).toContain("autopilot resume");
    expect(page).toContain("phase-1-postmortem.json");
  });

  test("its dependents are skipped with the phase that blocks them", () =>
    expect(
      failure()
        .log.filter(({ event }) => event === "phase_skipped")
        .map(({ details }) => details),
    ).toEqual([{ phase_id: "2", reason: "blocked_by_phase_1", blocking_phase: "1" }]));
});
