import { expect, test } from "vitest";
import type { Draft, Entry } from "../../../contracts/event.ts";
import type { Flow, Step } from "../../../contracts/flow.ts";
import { StagedHistory } from "./staged-history.ts";
import { parseStagedState } from "./parse-staged-state.ts";
import { renderStagedState } from "./staged-state.ts";

const agent = (id: string): Step => ({
  id,
  agent: "planner",
  prompt: "p.md",
  proof: [{ file: `_docs/${id}.md`, non_empty: true }],
});
const flow: Flow = {
  flow: "greenfield",
  version: 1,
  playbook: "staged",
  phases: [
    { id: "1", name: "Problem", steps: [agent("do")] },
    {
      id: "2",
      name: "Research",
      steps: [
        { id: "look", run: "state_file" },
        agent("do"),
        { id: "decision", human: { question: "On?", options: { A: "another round", B: "go on" } } },
      ],
    },
    {
      id: "3",
      name: "Plan",
      steps: [
        {
          id: "boundary",
          human: { question: "Begin?", options: { A: "a", B: "b" }, code: "session_boundary" },
        },
        agent("do"),
      ],
    },
  ],
};
const base = { actor: "system", reason_code: "ok", epoch: 1, active_ms: 0, prev: "", crc: "" };
const story = (...events: readonly Draft[]): readonly Entry[] =>
  events.map((event, index) => ({
    ...base,
    seq: index + 1,
    ts: `2026-02-0${Math.min(9, 1 + Math.floor(index / 5))}T10:00:00.000Z`,
    ...event,
  }));
const historyOf = (
  entries: readonly Entry[],
  before: string | null = null,
  sub_step: string | null = null,
) => {
  const claim = { summary: "Written.", decisions: ["Language: Node"], sub_step };
  const history = new StagedHistory(
    flow,
    before === null ? null : parseStagedState(before).state,
    () => claim,
  );
  for (const entry of entries) history.add(entry);

  return history;
};
const reported = (...of: Parameters<typeof historyOf>) => historyOf(...of).state;
const started = (phase: string): Draft => ({ event: "phase_started", walk: phase });
const began = (phase: string, n = 1): Draft => ({
  event: "step_started",
  walk: phase,
  step: "do",
  attempt: `${phase}@1/do#${n}`,
  kind: "agent",
  try: 1,
});
const failed = (
  phase: string,
  n: number,
  detail = "exists _docs/do.md: found nothing there",
): Draft => ({
  event: "step_failed",
  attempt: `${phase}@1/do#${n}`,
  facts: {},
  fingerprint: "x",
  detail,
});
const passed = (phase: string, n = 1): readonly Draft[] => [
  {
    event: "turn_ended",
    attempt: `${phase}@1/do#${n}`,
    agent: "a",
    stop: "end",
    says: {},
    claim: "c".repeat(64),
    returned: true,
    said: "",
    promised: false,
    announced_more: false,
    confidence: null,
    usage: { tokens: 1, calls: 1, minutes: 0, source: "reported" },
  },
  { event: "step_completed", attempt: `${phase}@1/do#${n}`, facts: {} },
  { event: "phase_completed", walk: phase },
];
const house: Draft = {
  event: "block_opened",
  block: "b",
  walk: "1",
  step: "do",
  hold: true,
  house: true,
  question: "Step do of 1 failed (proof_missing: nothing there). What now?",
  options: { A: "retry the step", C: "stop the run" },
  code: "phase_failed",
};

test("a step that is done has its row, with what its agent says of it, and the next one has not started", () => {
  expect(reported(story(started("1"), began("1"), ...passed("1")))).toMatchObject({
    current: { step: 2, name: "Research", status: "not_started", retry_count: 0 },
    completed: [{ step: 1, name: "Problem", completed: "2026-02-01", key_outcome: "Written." }],
    decisions: ["Problem: Language: Node"],
  });
});

test("a row and one on the count for each retry that failed: the first try is no retry, one under way has not failed", () => {
  const retried = (n: number): Draft => ({ event: "step_retried", walk: "1", step: "do", n });
  const tries = [1, 2, 3].flatMap((n): Draft[] => [began("1", n), failed("1", n), retried(n)]);
  const countAfter = (...events: readonly Draft[]): readonly number[] => {
    const { current, retry_log } = reported(story(started("1"), ...events));
    return [current.retry_count, retry_log.length];
  };
  expect(countAfter(...tries.slice(0, 2))).toEqual([0, 0]);
  expect(countAfter(...tries.slice(0, 3), began("1", 2))).toEqual([0, 0]);
  expect(countAfter(...tries.slice(0, 5))).toEqual([1, 1]);
  expect(countAfter(...tries, began("1", 4))).toEqual([2, 2]);
  expect(countAfter(...tries, began("1", 4), failed("1", 4))).toEqual([3, 3]);
});

test("three failed retries are three rows and a blocker; a reset and a success clear the log", () => {
  const retries = [1, 2, 3].flatMap((n): Draft[] => [
    began("1", n),
    failed("1", n, `try ${n}`),
    { event: "step_retried", walk: "1", step: "do", n },
  ]);
  const spent = [started("1"), ...retries, began("1", 4), failed("1", 4, "try 4"), house];
  const state = reported(story(...spent));
  expect(state.current).toMatchObject({ status: "failed", sub_step: "1 — do", retry_count: 3 });
  expect(state.retry_log.map(({ attempt, failure_reason }) => [attempt, failure_reason])).toEqual(
    [1, 2, 3].map((n) => [n, `try ${n + 1}`]),
  );

  expect(state.blockers).toEqual([
    "Step 1 Problem failed after 3 consecutive retries at 1 — do: proof_missing: nothing there",
  ]);

  const reset: Draft[] = [
    { event: "block_answered", request: "r", block: "b", answer: "A" },
    { event: "step_retried", walk: "1", step: "do", n: 4, reset: true },
  ];
  expect(reported(story(...spent, ...reset))).toMatchObject({
    current: { status: "in_progress", retry_count: 0 },
    retry_log: [],
    blockers: [],
    decisions: ["Problem: retry the step (after its retries were used up)"],
  });
});

const midStep = (status: string, step = 2): string =>
  `# Autopilot State\n\n## Current Step\nflow: greenfield\nstep: ${step}\nname: Research\nstatus: ${status}\nsub_step: 4 — Architecture Review & Risk Assessment\nretry_count: 1\n\n## Key Decisions\n- Tech stack: Python + Rust, Postgres\n\n## Last Session\ndate: 2026-01-02\nended_at: Step 2 Research\nreason: context limit\nnotes: the risk table is half done\n`;

test("a step that an earlier session stopped in goes on at its sub-step, which stands until the step has passed", () => {
  const sub = "4 — Architecture Review & Risk Assessment";
  const entered = historyOf(story(started("2"), began("2")), midStep("in_progress"));
  expect(entered.state.current).toMatchObject({ step: 2, status: "in_progress", sub_step: sub });

  const again = reported(
    story(started("2"), began("2"), failed("2", 1), {
      event: "step_retried",
      walk: "2",
      step: "do",
      n: 1,
    }),
    midStep("in_progress"),
  );
  expect(again.current.sub_step).toBe(sub);
  expect(entered.notesFor("2")).toBe(
    [
      "Key decisions of this project so far:",
      "- Tech stack: Python + Rust, Postgres",
      `This step was begun before and stopped at its sub-step: ${sub}. What it left lies in the folders; go on from there.`,
      "Notes of the last session: the risk table is half done",
    ].join("\n"),
  );

  const later = historyOf(
    story(started("2"), began("2"), ...passed("2"), started("3"), began("3")),
    midStep("in_progress"),
  );
  expect(later.notesFor("3")).not.toMatch(/stopped at|Notes of/);
  expect(later.state.current.sub_step).toBe("2 — do");
});

test("a record that stands at another step, or had not begun, gives its notes and its decisions and no sub-step", () => {
  for (const before of [midStep("in_progress", 1), midStep("not_started")]) {
    const entered = historyOf(story(started("2"), began("2")), before);
    expect(entered.state.current).toMatchObject({ step: 2, sub_step: "1 — do" });
    expect(entered.notesFor("2")).toMatch(
      /Tech stack[\s\S]*Notes of the last session: the risk table is half done$/,
    );
  }
});

test("an agent names the step of its own work, and the file shows it until the step has passed", () => {
  const [turn] = passed("2");
  const own = "4 — Architecture Review";

  const stopped = [
    started("2"),
    began("2"),
    turn as Draft,
    failed("2", 1),
    { event: "step_retried", walk: "2", step: "do", n: 1 } as Draft,
  ];
  expect(reported(story(...stopped), null, own).current).toMatchObject({
    status: "in_progress",
    sub_step: own,
  });

  expect(reported(story(...stopped, began("2", 2), failed("2", 2)), null, own)).toMatchObject({
    retry_log: [{ attempt: 1, sub_step: own }],
  });

  expect(
    reported(story(...stopped, began("2", 2), ...passed("2", 2)), null, own).current,
  ).toMatchObject({ step: 3, sub_step: null });
});

test("an answer of none of the options answers nothing", () => {
  expect(
    reported(
      story(started("1"), began("1"), house, {
        event: "block_answered",
        request: "r",
        block: "b",
        answer: "Z",
      }),
    ).current.status,
  ).toBe("failed");
});

test("a boundary is no sub-step: the step it stands before has not started", () => {
  const boundary: Draft = {
    event: "block_opened",
    block: "b",
    walk: "3",
    step: "boundary",
    hold: true,
    question: "Begin?",
    options: { A: "a", B: "b" },
    code: "session_boundary",
  };

  const paused: Draft = {
    event: "run_paused",
    reason_code: "session_boundary",
    from_state: "running",
    to_state: "paused",
  };
  expect(reported(story(started("3"), boundary, paused))).toMatchObject({
    current: { step: 3, status: "not_started", sub_step: null },
    last_session: {
      ended_at: "Step 3 Plan",
      reason: "session boundary",
      notes: "Decompose complete, implementation ready",
    },
    blockers: [],
  });
});

test.each([
  ["operator_paused", "user paused"],
  ["provider_limit_reached", "context limit"],
  ["budget_threshold_reached", "context limit"],
  ["human_block_open", "user paused"],
])("a pause for %s ends the session as %s, and the notes say why", (reason_code, reason) => {
  const { last_session } = reported(
    story(started("1"), began("1"), {
      event: "run_paused",
      reason_code,
      detail: "so it is",
      from_state: "running",
      to_state: "paused",
    }),
  );
  expect(last_session).toMatchObject({
    reason,
    ended_at: "Step 1 Problem — SubStep 1 do",
    notes: expect.stringContaining("so it is") as string,
  });
});

test("what lay there before is where it begins: history, decisions, blockers and sections of others", () => {
  const before = renderStagedState({
    current: {
      flow: "greenfield",
      step: 2,
      name: "Research",
      status: "in_progress",
      sub_step: null,
      retry_count: 0,
    },
    completed: [{ step: 1, name: "Problem", completed: "2025-12-24", key_outcome: "By hand" }],
    decisions: ["No cloud"],
    last_session: null,
    retry_log: [],
    blockers: ["waiting for Ann"],
    others: [{ title: "Mine", lines: ["x"] }],
  });

  const state = reported(
    story({ event: "phase_skipped", walk: "1", because: "already_proved" }, started("2")),
    before,
  );
  expect(state).toMatchObject({
    current: { step: 2, status: "not_started" },
    completed: [{ key_outcome: "By hand" }],
    decisions: ["No cloud"],
    blockers: ["waiting for Ann"],
    others: [{ title: "Mine" }],
  });
});

test("what others wrote holds from the line that tells of it: decisions, blockers, notes and their sections", () => {
  const differed = (field: string, kept: string): Draft => ({
    event: "document_differed",
    path: "_docs/_autopilot_state.md",
    field,
    found: kept,
    kept,
    because: "edited",
  });

  const state = reported(
    story(
      {
        event: "run_paused",
        reason_code: "operator_paused",
        from_state: "running",
        to_state: "paused",
      },
      differed("Key Decisions", "- one\n- two"),
      differed("Blockers", "- their blocker"),
      differed("Last Session notes", "see the wiki"),
      differed("other sections", '[{"title":"Mine","lines":["x"]}]'),
      {
        event: "document_differed",
        path: "other.md",
        field: "Blockers",
        found: "",
        kept: "- not ours",
        because: "",
      },
    ),
  );
  expect(state).toMatchObject({
    decisions: ["one", "two"],
    blockers: ["their blocker"],
    last_session: { notes: "see the wiki" },
    others: [{ title: "Mine", lines: ["x"] }],
  });
});

test("what was decided while somebody edited the file stays beside theirs; what they took out stays out", () => {
  const edit = (field: string, kept: string): Draft => ({ event: "document_differed", path: "_docs/_autopilot_state.md", field, found: "", kept, because: "edited" }); // prettier-ignore
  const before = "# Autopilot State\n\n## Key Decisions\n- No cloud\n- Two clerks\n";

  const { decisions } = reported(
    story(
      started("1"),
      began("1"),
      ...passed("1"),
      edit("Key Decisions taken out", "- Two clerks"),
      edit("Key Decisions", "- No cloud\n- SQLite, says Ann"),
    ),
    before,
  );
  expect(decisions).toEqual(["No cloud", "SQLite, says Ann", "Problem: Language: Node"]);
});
