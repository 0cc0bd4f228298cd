// One file of every format that validate knows, in order, under a name that says nothing.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  seedCompletion,
  seedMetrics,
  seedPostMortem,
  seedSpan,
  seedState,
  seedTriage,
} from "../../src/contracts/roadmap.test-support.ts";
import {
  wholeCycle,
  wholeRun,
} from "../../src/playbooks/quality/views/quality-log-rules.test-support.ts";

const fixtures = join(import.meta.dirname, "../fixtures");
export const fixture = (path: string): string => readFileSync(join(fixtures, path), "utf8");

export const lines = (records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");
const page = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

export const portfolioEvent = {
  ts: "2026-02-27T09:30:00Z",
  event_type: "task_status_changed",
  project_id: "proj-web",
  task_id: "task-login-4f9k2a",
  block_id: null,
  from_status: "ready",
  to_status: "running",
  actor: "planner",
  summary: "dispatched",
  evidence: [],
};
export const portfolioCheckpoint = {
  ts: "2026-02-27T09:30:00Z",
  scope: "portfolio",
  scope_id: "portfolio",
  window_start: "2026-02-27T09:00:00Z",
  window_end: "2026-02-27T09:30:00Z",
  summary: "one of three done",
  key_metrics: {},
};
export const taskSnapshot =
  "---\ntask_id: task-login-4f9k2a\nproject_id: proj-web\nstatus: running\n---\n# Login\n";
export const projectSnapshot = "---\nproject_id: proj-web\nname: Web\npriority: 1\n---\n# Web\n";
export const portfolioSnapshot =
  "---\nplanner_heartbeat_at: 2026-02-27T09:30:00Z\n---\n# Portfolio\n";

export const stagedState = `# Autopilot State

## Current Step
flow: greenfield
step: 3
name: Plan
status: in_progress
sub_step: 4 — Architecture Review & Risk Assessment
retry_count: 0

## Completed Steps

| Step | Name | Completed | Key Outcome |
|------|------|-----------|-------------|
| 1 | Problem | 2026-03-01 | problem stated |
| 2 | Research | 2026-03-02 | two drafts |

## Key Decisions
- Tech stack: Python + Rust

## Last Session
date: 2026-03-02
ended_at: Step 2 Research — SubStep 4 draft
reason: completed step
notes: none

## Retry Log
| Attempt | Step | Name | SubStep | Failure Reason | Timestamp |
|---------|------|------|---------|----------------|-----------|

## Blockers
- none
`;

/** By format, as validate calls it. */
export const samples: Readonly<Record<string, string>> = {
  "quality run_state": lines(wholeRun),
  "calibration run_state": lines(wholeCycle),
  "portfolio events": lines([portfolioEvent]),
  "portfolio checkpoints": lines([portfolioCheckpoint]),
  trace: lines([seedSpan]),
  "roadmap state": page(seedState),
  metrics: page(seedMetrics),
  "post-mortem": page(seedPostMortem),
  triage: page(seedTriage),
  "completion report": page(seedCompletion),
  "portfolio snapshot": taskSnapshot,
  "staged state": stagedState,
  roadmap: fixture("roadmap/traps.md"),
  plan: fixture("roadmap/PLAN.md"),
  script: "turns:\n  - do: [{ say: hello }]\n",
  config: "version: 1\nagent: scripted\n",
};

/** The same with one fault, and where it is: a line and a rule. */
export const broken: Readonly<Record<string, { readonly text: string; readonly at: string }>> = {
  "quality run_state": {
    text: lines(wholeRun.with(4, { ...wholeRun[4], pattern: 8 })),
    at: "5 RS-enum",
  },
  "calibration run_state": {
    text: lines(wholeCycle.with(3, { ...wholeCycle[3], recall: 2 })),
    at: "4 RS-field",
  },
  "portfolio events": {
    text: lines([portfolioEvent, { ...portfolioEvent, actor: "robot" }]),
    at: "2 PF-enum",
  },
  "portfolio checkpoints": {
    text: lines([portfolioCheckpoint, { ...portfolioCheckpoint, summary: 1 }]),
    at: "2 PF-field",
  },
  trace: { text: lines([seedSpan, { ...seedSpan, status: "fine" }]), at: "2 TR-enum" },
  "roadmap state": {
    text: page(seedState).replace('"status": "running"', '"status": "busy"'),
    at: "7 wrong_type",
  },
  metrics: { text: page([{ ...seedMetrics[0], success_rate: 7 }]), at: "18 wrong_value" },
  "post-mortem": { text: page({ ...seedPostMortem, status: "fine" }), at: "5 wrong_type" },
  triage: { text: page({ ...seedTriage, routing_decision: "guess" }), at: "wrong_type" },
  "completion report": {
    text: page({ ...seedCompletion, completion_percentage: 700 }),
    at: "completion_percentage: found 700",
  },
  "portfolio snapshot": { text: taskSnapshot.replace("running", "busy"), at: "4 PF-field" },
  "staged state": { text: stagedState.replace("status: in_progress", "status: busy"), at: "7 " },
  roadmap: { text: fixture("roadmap/broken.md"), at: "15 unknown_dependency" },
  plan: { text: fixture("roadmap/PLAN-broken.md"), at: "19 duplicate_task" },
  script: { text: "turns:\n  - dance: yes\n", at: "2 unknown_key" },
  config: { text: "version: 1\nagnet: scripted\n", at: "2 unknown_key" },
};
