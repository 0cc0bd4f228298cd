// phase-story: a roadmap in progress, as events: one phase completed, one failed and taken back,
// one blocked by it, one that waits for a verdict, one under way, one to come. Folded as any
// journal is.

import type { Draft, Entry } from "../contracts/event.ts";
import type { CheckResult, CheckStatus } from "../contracts/evidence.ts";
import type { Flow } from "../contracts/flow.ts";
import { openFold } from "../core/fold.ts";
import type { RunView } from "../core/state.ts";
import { formatIsoTime } from "../kit/iso-time.ts";
import { drafted, hash, overlay, runId, sha } from "./run-view.test-support.ts";

export const flow: Flow = {
  flow: "roadmap",
  version: 1,
  playbook: "roadmap",
  phases: { read: "roadmap", order: "dependencies", needs: "completed", parallel: 2 },
  counts: { debug: { at_most: 1, per: "phase", retry: true, spent: { go: "undo" } } },
  limits: { run: { tokens: 5_000_000, minutes: 1_440 } },
  when_phase_fails: [{ finish: "phase_failed" }],
  lands_nothing: true,
  steps: [
    { id: "triage", run: "triage" },
    {
      id: "execute",
      tasks: {
        read: "plan",
        parallel: 2,
        each: [{ id: "do", agent: "executor", prompt: "do.md" }],
      },
      otherwise: [{ go: "checks" }],
    },
    { id: "checks", check: ["criteria"], otherwise: [{ go: "debug", count: "debug" }] },
    {
      id: "judge",
      agent: "judge",
      prompt: "judge.md",
      then: [{ when: { "execute.left": { min: 1 } }, go: "human_check" }, { end: "completed" }],
    },
    {
      id: "human_check",
      human: {
        question: "Look at what only a person can judge.",
        options: { pass: "good", fail: "not good", issues_found: "has issues" },
        takes: "issues",
        meanwhile: "go_on",
      },
      then: [{ end: "completed" }],
    },
    { id: "debug", agent: "debugger", prompt: "debug.md", then: [{ go: "checks" }] },
    {
      id: "undo",
      run: "rollback",
      then: [{ end: "failed", because: "acceptance_criteria_unmet" }],
    },
  ],
};

const usage = (tokens: number, minutes: number, usd: number) => ({
  tokens,
  calls: 4,
  minutes,
  usd,
  source: "reported" as const,
});
const at = (phase: string, step: string, n = 1): string => `${phase}@1/${step}#${n}`;

const result = (
  phase: string,
  title: string,
  command: string,
  status: CheckStatus,
): CheckResult => ({
  check: { id: `criterion:${phase}.1`, kind: "criterion", title, command, source: "roadmap" },
  status,
  exit_code: status === "passed" ? 0 : 1,
  duration_ms: 420,
  evidence: hash(phase),
});

const run = (
  phase: string,
  step: string,
  facts: Readonly<Record<string, string | number | boolean>> = {},
): Draft[] => [
  { event: "step_started", walk: phase, step, attempt: at(phase, step), kind: "run", try: 1 },
  { event: "step_completed", attempt: at(phase, step), facts: { ...facts } },
];

function checks(phase: string, n: number, results: CheckResult[]): Draft[] {
  const attempt = at(phase, "checks", n);
  const isRed = results.some(({ status }) => status !== "passed");
  return [
    { event: "step_started", walk: phase, step: "checks", attempt, kind: "check", try: 1 },
    isRed
      ? {
          event: "step_failed",
          attempt,
          facts: {},
          checks: results,
          fingerprint: "red",
          reason_code: "criterion_failed",
          detail: "it is red",
        }
      : { event: "step_completed", attempt, facts: {}, checks: results },
  ];
}

type Turn = {
  readonly says?: Readonly<Record<string, number | string | boolean>>;
  readonly tokens: number;
  readonly said?: string;
};
function turn(
  path: string,
  step: string,
  attempt: string,
  { says = {}, tokens, said = "Done." }: Turn,
): Draft[] {
  return [
    { event: "step_started", walk: path, step, attempt, kind: "agent", try: 1 },
    { event: "session_opened", attempt, session: `s-${attempt}`, agent: "scripted" },
    {
      event: "turn_ended",
      attempt,
      agent: "scripted",
      stop: "end_turn",
      says: { ...says },
      said,
      promised: false,
      announced_more: false,
      confidence: null,
      usage: usage(tokens, tokens / 10_000, tokens / 100_000),
    },
  ];
}

const commit = (attempt: string, digit: string, paths: string[]): Draft => ({
  event: "changes_applied",
  attempt,
  commit: sha(digit),
  parent: sha("a"),
  tree: sha(digit),
  paths,
  not_applied: 0,
});
const passed = (attempt: string): Draft => ({
  event: "step_completed",
  attempt,
  facts: { changed: true },
  progress: true,
});

/** Tasks of a plan, one after the other, each with its commit. */
function execute(
  phase: string,
  tasks: readonly string[],
  { digit, tokens, left = [] }: { digit: string; tokens: number; left?: string[] },
): Draft[] {
  const attempt = at(phase, "execute");
  return [
    { event: "step_started", walk: phase, step: "execute", attempt, kind: "tasks", try: 1 },
    {
      event: "tasks_read",
      attempt,
      waves: [tasks.map((id) => ({ id, files: [`${id}.ts`], after: [] }))],
      left,
    },
    ...tasks.flatMap((task) => {
      const walk = `${attempt}/${task}`;
      const own = `${walk}@1/do#1`;
      return [
        ...turn(walk, "do", own, { tokens }),
        commit(own, digit, [`src/${task}.ts`]),
        passed(own),
        { event: "task_completed" as const, walk },
      ];
    }),
    {
      event: "step_completed",
      attempt,
      facts: { done: tasks.length, failed: 0, left: left.length },
    },
  ];
}

const judged = (phase: string, score: number): Draft[] => [
  ...turn(phase, "judge", at(phase, "judge"), {
    says: { alignment_score: score, recommendation: "proceed" },
    tokens: 8_000,
  }),
  { event: "step_completed", attempt: at(phase, "judge"), facts: {}, progress: true },
];

/** The text in place of criteria if none were given. */
const goal = "6 phases of .planning/ROADMAP.md: 1, 2, 3, 4, 5, 6";

export const story: readonly Draft[] = [
  drafted({
    flow,
    inferred_defaults: ["scope"],
    objective: {
      ...drafted().objective,
      goal,
      done_criteria: [{ id: "c1", text: goal, check: null }],
    },
    limits: {
      run: { tokens: 5_000_000, minutes: 1_440, retries: 10 },
      phase: { tokens: 500_000, minutes: 120 },
    },
  }),
  { event: "preview_acknowledged", ack: hash("3"), actor: "operator:kim" },
  {
    event: "run_started",
    ack: hash("3"),
    from_state: "draft",
    to_state: "running",
    actor: "operator:kim",
  },
  {
    event: "run_opened",
    opening: 1,
    owner: { pid: 4711, host: "here" },
    product: "autopilot 0.1.0",
    isolation: overlay,
  },
  {
    event: "phases_read",
    phases: [
      { id: "1", name: "Read the gauge", after: [] },
      { id: "2", name: "Keep readings", after: ["1"] },
      { id: "2.1", name: "潮位を学習する", after: ["2"] },
      { id: "3", name: "Draw the curve", after: ["1"] },
      { id: "4", name: "Predict", after: ["1"] },
      { id: "5", name: "Sound the alarm", after: ["4", "3"] },
    ],
  },
  { event: "artifacts_surveyed", gone: [], proved: [] },

  { event: "phase_started", walk: "1" },
  ...run("1", "triage"),
  ...execute("1", ["01-01", "01-02"], { digit: "1", tokens: 20_000 }),
  ...checks("1", 1, [result("1", "the gauge is read every minute", "npm test -- gauge", "passed")]),
  ...judged("1", 9),
  { event: "phase_completed", walk: "1" },

  { event: "phase_started", walk: "2" },
  ...run("2", "triage"),
  ...execute("2", ["02-01"], { digit: "2", tokens: 15_000 }),
  ...checks("2", 1, [result("2", "readings survive a restart", "npm test -- keep", "failed")]),
  {
    event: "route_taken",
    walk: "2",
    step: "checks",
    to: "debug",
    count: "debug",
    per: "phase",
    retry: true,
  },
  ...turn("2", "debug", at("2", "debug"), { tokens: 12_000, said: "All tests pass now." }),
  commit(at("2", "debug"), "d", ["src/keep.ts"]),
  passed(at("2", "debug")),
  {
    event: "claims_checked",
    attempt: at("2", "debug"),
    agent: "scripted",
    role: "debugger",
    claims: [
      {
        kind: "done",
        text: "All tests pass now.",
        verdict: "false",
        why: "Autopilot ran `npm test -- keep`: failed (exit 1).",
      },
    ],
  },
  { event: "route_taken", walk: "2", step: "debug", to: "checks" },
  ...checks("2", 2, [result("2", "readings survive a restart", "npm test -- keep", "failed")]),
  { event: "route_taken", walk: "2", step: "checks", to: "undo" },
  ...run("2", "undo", {
    rollback_performed: true,
    diagnostic_branch: "autopilot-diagnostic-phase-2",
  }),
  { event: "phase_failed", walk: "2", because: "acceptance_criteria_unmet" },
  { event: "phase_skipped", walk: "2.1", because: "blocked_by_phase_2" },

  { event: "phase_started", walk: "3" },
  ...run("3", "triage"),
  ...execute("3", ["03-01"], { digit: "4", tokens: 9_000, left: ["03-02"] }),
  ...checks("3", 1, [result("3", "the curve is drawn", "npm test -- curve", "passed")]),
  ...judged("3", 8),
  { event: "route_taken", walk: "3", step: "judge", to: "human_check" },
  {
    event: "block_opened",
    block: "block:3@1/human_check#1",
    walk: "3",
    step: "human_check",
    hold: false,
    question: "Look at what only a person can judge.",
    options: { pass: "good", fail: "not good", issues_found: "has issues" },
  },

  { event: "phase_started", walk: "4" },
  ...run("4", "triage"),
  {
    event: "step_started",
    walk: "4",
    step: "execute",
    attempt: at("4", "execute"),
    kind: "tasks",
    try: 1,
  },
  {
    event: "tasks_read",
    attempt: at("4", "execute"),
    waves: [
      [
        { id: "04-01", files: ["a.ts"], after: [] },
        { id: "04-02", files: ["b.ts"], after: [] },
      ],
      [{ id: "04-03", files: ["a.ts"], after: ["04-01"] }],
    ],
    left: [],
  },
  ...turn(`${at("4", "execute")}/04-01`, "do", `${at("4", "execute")}/04-01@1/do#1`, {
    tokens: 7_000,
  }),
  commit(`${at("4", "execute")}/04-01@1/do#1`, "5", ["a.ts"]),
  passed(`${at("4", "execute")}/04-01@1/do#1`),
  { event: "task_completed", walk: `${at("4", "execute")}/04-01` },
  {
    event: "step_started",
    walk: `${at("4", "execute")}/04-02`,
    step: "do",
    attempt: `${at("4", "execute")}/04-02@1/do#1`,
    kind: "agent",
    try: 1,
    need: { ...usage(30_000, 0, 0), source: "estimated" },
  },
];

/** The story folded, with its entries. */
export function reported(drafts: readonly Draft[] = story): {
  readonly run: RunView;
  readonly entries: readonly Entry[];
} {
  const fold = openFold();
  const entries = drafts.map((draft, seq): Entry => {
    const envelope = {
      seq: seq + 1,
      epoch: 1,
      ts: formatIsoTime(1_772_360_100_000 + seq * 30_000),
      active_ms: seq * 30_000,
      prev: hash("0"),
      crc: "00000000",
    };

    return { actor: "system", reason_code: "ok", ...draft, ...envelope };
  });
  for (const entry of entries) fold.apply(entry);
  if (fold.state.status === "unborn") throw new Error(`${runId} was never drafted`);

  return { run: fold.state, entries };
}
