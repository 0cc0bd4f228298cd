import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type StagedState, stagedStatuses } from "../../../contracts/staged-state.ts";
import { isStagedState } from "../../../documents/staged-title.ts";
import { parseStagedState } from "./parse-staged-state.ts";
import { renderStagedState } from "./staged-state.ts";
import { tries } from "../../../../test/support/sampled.ts";

const example: StagedState = {
  current: {
    flow: "greenfield",
    step: 3,
    name: "Plan",
    status: "in_progress",
    sub_step: "4 — Architecture Review & Risk Assessment",
    retry_count: 1,
  },
  completed: [
    { step: 1, name: "Problem", completed: "2026-01-01", key_outcome: "Written | with the owner" },
    { step: 2, name: "Research", completed: "2026-01-02", key_outcome: "Two drafts" },
  ],
  decisions: [
    "Tech stack: Python + Rust for perf-critical, Postgres DB",
    "Research decision: go on to planning",
  ],
  last_session: {
    date: "2026-01-02",
    ended_at: "Step 3 Plan — SubStep 4 Architecture Review",
    reason: "context limit",
    notes: "risk table half done",
  },
  retry_log: [
    {
      attempt: 1,
      step: 3,
      name: "Plan",
      sub_step: "4",
      failure_reason: "architecture.md is missing",
      timestamp: "2026-01-02T10:00:00.000Z",
    },
  ],
  blockers: ["the licence is not settled"],
  others: [{ title: "Reading list", lines: ["- the old wiki"] }],
};

test("the file is the format of the seed, section by section and line by line", () => {
  expect(renderStagedState(example)).toBe(`# Autopilot State

## Current Step
flow: greenfield
step: 3
name: Plan
status: in_progress
sub_step: 4 — Architecture Review & Risk Assessment
retry_count: 1

## Completed Steps

| Step | Name | Completed | Key Outcome |
|------|------|-----------|-------------|
| 1 | Problem | 2026-01-01 | Written \\| with the owner |
| 2 | Research | 2026-01-02 | Two drafts |

## Key Decisions
- Tech stack: Python + Rust for perf-critical, Postgres DB
- Research decision: go on to planning

## Last Session
date: 2026-01-02
ended_at: Step 3 Plan — SubStep 4 Architecture Review
reason: context limit
notes: risk table half done

## Retry Log

| Attempt | Step | Name | SubStep | Failure Reason | Timestamp |
|---------|------|------|---------|----------------|-----------|
| 1 | 3 | Plan | 4 | architecture.md is missing | 2026-01-02T10:00:00.000Z |

## Blockers
- the licence is not settled

## Reading list
- the old wiki
`);
});

test("what is written is read back as the same, without a finding", () => {
  const { state, findings } = parseStagedState(renderStagedState(example));
  expect(state).toEqual(example);
  expect(findings).toEqual([]);
});

test("no text of anybody's ends a line, a cell or a section", () => {
  const words = fc.string({
    minLength: 1,
    maxLength: 40,
    unit: fc.constantFrom(
      "a",
      "|",
      "\\",
      "#",
      "\n",
      "\r",
      "-",
      " ",
      ":",
      "`",
      "[",
      "\u2028",
      "\u0000",
      "é",
    ),
  });
  fc.assert(
    fc.property(
      words,
      words,
      words,
      fc.constantFrom(...stagedStatuses),
      (outcome, decision, blocker, status) => {
        const state = {
          ...example,
          current: { ...example.current, status },
          completed: [{ step: 1, name: "Problem", completed: "2026-01-01", key_outcome: outcome }],
          decisions: [`x${decision}`],
          blockers: [`y${blocker}`],
        };

        const { state: read } = parseStagedState(renderStagedState(state));
        expect(read.current?.status).toBe(status);
        expect([
          read.completed.length,
          read.decisions.length,
          read.blockers.length,
          read.retry_log.length,
        ]).toEqual([1, 1, 1, 1]);

        expect(read.others).toEqual(example.others);
      },
    ),
    { numRuns: tries(300) },
  );
});

const file = (current: string, rest = ""): string =>
  `# Autopilot State\n\n## Current Step\n${current}\n\n## Completed Steps\n## Key Decisions\n## Last Session\n## Retry Log\n## Blockers\n${rest}`;
const whole =
  "flow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\nretry_count: 0";

test.each([
  ["a step that is no number", whole.replace("step: 3", "step: 2b"), 5, "current_step"],
  ["a step beyond the flow", whole.replace("step: 3", "step: 11"), 5, "current_step"],
  ["an unknown status", whole.replace("in_progress", "busy"), 7, "current_status"],
  [
    "a retry_count out of range",
    whole.replace("retry_count: 0", "retry_count: 4"),
    9,
    "current_retry_count",
  ],
  ["a flow that is no name", whole.replace("greenfield", "Green Field"), 4, "current_flow"],
  ["no status at all", whole.replace("status: in_progress\n", ""), 3, "current_status"],
])(
  "%s is an error with its line, and where the project stands is not guessed",
  (_what, current, line, rule) => {
    const { state, findings } = parseStagedState(file(current));
    expect(findings.filter(({ severity }) => severity === "error")).toMatchObject([
      { file: "_docs/_autopilot_state.md", line, rule },
    ]);

    expect(state.current).toBeNull();
  },
);

test.each([
  ["a name of another step", whole.replace("Plan", "Deploy"), 6, "current_name"],
  ["a flow of one's own", whole.replace("greenfield", "ours"), 4, "current_flow"],
  ["no retry_count", whole.replace("\nretry_count: 0", ""), 3, "current_retry_count"],
  [
    "retries spent and not failed",
    whole.replace("retry_count: 0", "retry_count: 3"),
    9,
    "retries_spent",
  ],
])("%s is a warning with its line, and is read all the same", (_what, current, line, rule) => {
  const { state, findings } = parseStagedState(file(current));
  expect(findings).toMatchObject([{ severity: "warning", line, rule }]);
  expect(state.current).toMatchObject({ step: 3 });
});

test("a step that failed three times needs a blocker that says so", () => {
  const current = whole
    .replace("in_progress", "failed")
    .replace("retry_count: 0", "retry_count: 3");
  expect(parseStagedState(file(current)).findings).toMatchObject([
    { rule: "failed_without_blocker", severity: "error" },
  ]);

  expect(parseStagedState(file(current, "- plan failed\n")).findings).toEqual([]);
});

test("a row that cannot be read is told with its line and kept as it is", () => {
  const text = file(whole).replace(
    "## Completed Steps\n",
    "## Completed Steps\n| 1 | Problem | 2026-01-01 | fine |\n| one | Problem | | |\n| 2 | too | few |\n",
  );

  const { state, findings } = parseStagedState(text);
  expect(findings.map(({ line, rule }) => [line, rule])).toEqual([
    [13, "row"],
    [14, "row"],
  ]);

  expect(state.completed).toHaveLength(1);
  expect(renderStagedState({ ...example, ...state, current: example.current })).toContain(
    "| one | Problem | | |\n| 2 | too | few |",
  );
});

test("what people write is understood: remarks behind arrows, points, bold, placeholders, notes over lines, a fence around it all", () => {
  const text =
    "```markdown\n# Autopilot State\n## Current Step\n- **flow**: existing-code   ← active flow\nstep: 2 ← autopilot step\nname: Test Spec\nstatus: not started\nsub_step: [none]\nretry_count: 0\n## Completed Steps\n| Step | Name | Completed | Key Outcome |\n|---|---|---|---|\n| ... | ... | ... | ... |\n## Key Decisions\n- one\n  and a half\n* two\nthree\n- [decision N]\n## Last Session\ndate: 2026-01-01\nreason: user paused\nnotes: first\nsecond line\n## Retry Log\n(Clear this table when the step succeeds.)\n## Blockers\n- [none]\n```\n";
  const { state, findings } = parseStagedState(text);
  expect(findings).toEqual([]);
  expect(state).toMatchObject({
    current: { flow: "existing-code", step: 2, status: "not_started", sub_step: null },
    completed: [],
    decisions: ["one and a half", "two", "three"],
    last_session: { notes: "first second line" },
    blockers: [],
    others: [],
  });
});

test("nothing that somebody wrote is lost: words at the top, code in sections of their own, a section twice or in other letters", () => {
  const text = renderStagedState(example)
    .replace("# Autopilot State\n", "# Autopilot State\n\nAnn: not on Fridays.\n")
    .replace(
      "- the old wiki\n",
      "```sh\n## no heading\nmake all\n```\n\n### Deeper\nwords\n\n## Key Decisions\n- Twice told\n\n## last session\ndate: 1999\n",
    );

  const { state, findings } = parseStagedState(text);
  expect(findings.map(({ rule }) => rule)).toEqual(["section_twice", "section_twice"]);
  expect(state.last_session).toEqual(example.last_session); // the first one counts
  const written = renderStagedState({ ...state, current: example.current });
  expect(written).toMatch(/^# Autopilot State\n\nAnn: not on Fridays\.\n\n## Current Step\n/);
  expect(written).toContain(
    "## Reading list\n```sh\n## no heading\nmake all\n```\n\n### Deeper\nwords\n",
  );

  expect(written).toContain("- Twice told\n\n## Last Session\n");
  expect(written).toContain(`notes: ${example.last_session?.notes ?? ""}\ndate: 1999\n`);
  expect(renderStagedState({ ...parseStagedState(written).state, current: example.current })).toBe(
    written,
  ); // and stays so
});

test("nothing is lost of a very long file: rows beyond those that are read are kept and reported, and what follows them is read", () => {
  const row = (n: number): string => `| 1 | Problem | 2026-01-01 | outcome ${n} |`;
  const rows = Array.from({ length: 6_000 }, (_, n) => row(n));
  const notes = Array.from({ length: 15_000 }, (_, n) => `note ${n}`);
  const text = renderStagedState({ ...example, completed: [], others: [] })
    .replace(/(## Completed Steps\n\n.*\n.*\n)/, `$1${rows.join("\n")}\n`)
    .replace(/(notes: .*\n)/, `$1${notes.join("\n")}\n`);

  const { state, findings } = parseStagedState(text);
  expect(state.completed).toHaveLength(5_000);
  expect(state.others).toEqual([{ title: "Completed Steps", lines: rows.slice(5_000) }]);
  expect(findings.map(({ rule, line }) => `${rule} ${text.split("\n")[line - 1] ?? ""}`)).toEqual([
    `too_many_rows ${row(5_000)}`,
  ]);

  expect(state.last_session?.notes).toMatch(/^risk table half done note 0 .* note 14999$/);
  expect(state.blockers).toEqual(example.blockers);
  expect(
    parseStagedState(renderStagedState({ ...state, current: example.current })).state.others,
  ).toEqual(state.others);
});

test("done has no number, and a section that is missing is told", () => {
  const { state, findings } = parseStagedState(
    "# Autopilot State\n## Current Step\nflow: greenfield\nstep: done\nname: Deploy\nstatus: completed\nretry_count: 0\n",
  );
  expect(state.current).toMatchObject({ step: "done" });
  expect(findings.map(({ rule }) => rule)).toEqual(
    Array.from({ length: 5 }, () => "section_missing"),
  );
});

test("whatever the text is, it is an answer: junk, a very long line, very many lines, names of prototypes", () => {
  const hostile = [
    "",
    "\u0000".repeat(1000),
    "x".repeat(2_000_000),
    "## Current Step\n".repeat(5000),
    "| ".repeat(100_000),
    "## Key Decisions\n- __proto__: 1\n- constructor: 2\n",
    "\uD800 lone",
  ];
  for (const text of hostile) {
    const { state, findings } = parseStagedState(text);
    expect(state.current).toBeNull();
    expect(findings.length).toBeGreaterThan(0);
    expect(findings.length).toBeLessThanOrEqual(200);
  }

  expect(isStagedState("# Autopilot State\n")).toBe(true);
  expect(isStagedState("## Current Step\nflow: greenfield\n")).toBe(true);
  expect(isStagedState("# Roadmap\n")).toBe(false);
});
