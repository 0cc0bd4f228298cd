// A phase's own pages: EXECUTION-LOG.md, VERIFICATION.md, TRIAGE.json; and what a run learns on its
// way. All from the journal alone.

import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { roadmapStories } from "../../../../test/simulation/support/roadmap-stories.ts";
import { live, type Scenario } from "../../../../test/simulation/support/scenarios.ts";
import type { Draft } from "../../../contracts/event.ts";
import type { CheckResult } from "../../../contracts/evidence.ts";
import { PostMortem, TriageFile } from "../../../contracts/roadmap-reports.ts";
import {
  ended,
  failed,
  journal,
  passed,
  result,
  sha,
  started,
  turned,
} from "../../../insight/entries.test-support.ts";
import { RoadmapProjections, type ProjectionsOptions } from "./roadmap-projections.ts";
import { drafted } from "../../../views/run-view.test-support.ts";

const said = "b".repeat(64);
const begun = (attempt: string): Draft => {
  const [, walk = "", step = ""] = /^(.*)@\d+\/([^/]+)#\d+$/.exec(attempt) ?? [];
  return { event: "step_started", walk, step, attempt, kind: "agent", try: 1 };
};
const checked = (
  title: string,
  command: string,
  status: CheckResult["status"] = "passed",
): CheckResult => {
  const made = result("criterion", command, status);
  return { ...made, check: { ...made.check, title } };
};
const read: Draft = {
  event: "phases_read",
  phases: [{ id: "1", name: "The | parser", after: [] }],
};
const task = "1@1/execute#1/03-01";
const booksOf = (drafts: readonly Draft[], extra: ProjectionsOptions = {}) => {
  const books = new RoadmapProjections(extra);
  for (const entry of journal(drafted(), ...drafts)) books.apply(entry);
  return books;
};
const page = (name: string, drafts: readonly Draft[], extra: ProjectionsOptions = {}): string =>
  booksOf(drafts, extra)
    .renderPages("1")
    .find((phasePage) => phasePage.name === name)?.text ?? "";

const execution: readonly Draft[] = [
  read,
  started,
  begun("1@1/execute#1"),
  {
    event: "tasks_read",
    attempt: "1@1/execute#1",
    waves: [
      [{ id: "03-01", files: ["src/a.ts"], after: [], title: "Write the lexer" }],
      [{ id: "03-02", files: [], after: ["03-01"] }],
    ],
    left: ["03-09"],
  },
  begun(`${task}@1/do#1`),
  {
    ...turned("do", "end_turn", "all green, trust me"),
    attempt: `${task}@1/do#1`,
    confidence: 8,
  } as Draft,
  {
    event: "changes_applied",
    attempt: `${task}@1/do#1`,
    commit: sha(10),
    parent: sha(1),
    tree: sha(11),
    paths: ["src/a.ts", "src/b.ts"],
    not_applied: 0,
  },
  {
    event: "step_failed",
    attempt: `${task}@1/do#1`,
    facts: {},
    fingerprint: "f",
    reason_code: "criterion_failed",
    checks: [result("proof", "npm test -- lexer")],
  },
  { event: "step_retried", walk: task, step: "do", n: 1 },
  begun(`${task}@1/do#2`),
  {
    event: "step_completed",
    attempt: `${task}@1/do#2`,
    facts: {},
    checks: [result("proof", "npm test -- lexer", "passed")],
  },
  { event: "task_completed", walk: task },
  { event: "task_skipped", walk: "1@1/execute#1/03-02", because: "blocked" },
  { event: "step_completed", attempt: "1@1/execute#1", facts: {} },
];

describe("EXECUTION-LOG.md", () => {
  const log = page("EXECUTION-LOG.md", execution);
  test.each([
    "# Execution log: phase 1, The \\| parser",
    "agents do not write it",
    "2 tasks in 2 waves. Left for a person: 03-09.",
    "### Task 03-01: Write the lexer -- COMPLETED",
    "- Retries: 1",
    "Try 1: failed: criterion_failed.",
    "Try 2: passed.",
    `- Commit: \`${sha(10)}\``,
    "- Files changed: `src/a.ts`, `src/b.ts`",
    "| `npm test -- lexer` | failed, exit 1 | 1 ms |",
    "| `npm test -- lexer` | passed, exit 0 | 1 ms |",
    "- Confidence: 8, by the agent's own word",
    "### Task 03-02 -- SKIPPED: blocked",
  ])("it says: %s", (line) => expect(log).toContain(line));

  test("what the agent said about its work is not in it", () =>
    expect(log).not.toContain("trust me"));
  test("a phase in which nothing was begun has none", () =>
    expect(page("EXECUTION-LOG.md", [read])).toBe(""));
  test("a way back adds a second execution below the first", () => {
    const again = execution
      .slice(2)
      .map(
        (draft) => JSON.parse(JSON.stringify(draft).replaceAll("execute#1", "execute#2")) as Draft,
      );
    const both = page("EXECUTION-LOG.md", [...execution, ...again]);
    expect(both.indexOf("## Execution 1")).toBeLessThan(both.indexOf("## Execution 2"));
    expect(both.match(/### Task 03-01/g)).toHaveLength(2);
  });
});

describe("VERIFICATION.md", () => {
  const claim = {
    pass: true,
    automated_checks: { compile: { status: "pass", detail: "clean" }, lint: true },
    criteria_results: [
      { criterion: "The lexer reads numbers.", status: "verified", evidence: "src/a.ts:3" },
      { criterion: "It is fast", status: "verified", evidence: "felt so" },
    ],
    alignment_score: 8,
    commands_run: ["npm test -> ok"],
    failures: [],
    scope_creep: ["a colour theme"],
  };

  const looked = (pass: boolean): Draft =>
    ({ ...turned("verify", "end_turn"), claim: said, says: { pass, alignment_score: 8 } }) as Draft;
  const checks = [
    result("project", "npx tsc", "passed"),
    result("project", "npm run lint", "passed"),
    checked("the lexer reads numbers", "test -f a"),
  ];

  const round = (pass: boolean): readonly Draft[] => [
    read,
    started,
    begun("1@1/checks#1"),
    passed("checks", 1, checks),
    begun("1@1/verify#1"),
    looked(pass),
    {
      event: "claims_checked",
      attempt: "1@1/verify#1",
      agent: "scripted",
      role: "verifier",
      claims: [
        {
          kind: "command",
          text: "npm test -> ok",
          verdict: "false",
          why: "the runner's own run of npm test failed",
        },
        { kind: "file_line", text: "src/a.ts:3", verdict: "true", why: "there" },
      ],
    },
    passed("verify"),
  ];
  const drawn = (pass: boolean) =>
    page("VERIFICATION.md", round(pass), {
      readClaim: (hash) => (hash === said ? { ...claim, pass } : undefined),
    });
  test.each([
    "# Verification: phase 1, The \\| parser",
    "| compile | pass | pass: clean |",
    "| lint | pass | pass |",
    "| build | n/a | – |",
    "| the lexer reads numbers | `test -f a` | passed | verified | src/a.ts:3 |",
    "| It is fast | – | nothing to run | verified | felt so |",
    "| `npx tsc` | passed, exit 0 | 1 ms | `aaaaaaaaaaaa` |",
    "- `npm test -> ok`",
    "- a colour theme",
    "| scripted as verifier, verify \\#1 (phase 1) | npm test -\\> ok | the runner's own run of npm test failed |",
    "| 1 | 2026-01-01T00:03:00.000Z | pass | pass | pass |",
  ])("it shows side by side what the runner found and what the verifier says: %s", (line) =>
    expect(drawn(true)).toContain(line),
  );

  test("a claim that was found true is not among the false ones", () =>
    expect(drawn(true)).not.toContain("| src/a.ts:3 | there |"));
  test("a reader finds in its first lines when it was verified", () =>
    expect(drawn(true).split("\n").slice(0, 5)).toEqual([
      "---",
      'phase: "1"',
      "verified: 2026-01-01T00:08:00.000Z",
      "status: pass",
      "alignment_score: 8",
    ]));

  test("the verifier's no is a no, though every command passes", () =>
    expect(drawn(false).split("\n").slice(2, 4)).toEqual(["verified: no", "status: fail"]));
  test("red commands are a no, whatever anybody says", () => {
    const text = page("VERIFICATION.md", [
      read,
      started,
      begun("1@1/checks#1"),
      failed("checks", "criterion_failed", checks),
    ]);
    expect(text).toContain("verified: no\nstatus: fail");
  });

  test("without the verifier's look nothing is verified", () => {
    const text = page("VERIFICATION.md", [
      read,
      started,
      begun("1@1/checks#1"),
      passed("checks", 1, checks),
    ]);
    expect(text).toContain("verified: no\nstatus: in_progress");
    expect(text).toContain("| the verifier | – | not yet |");
  });

  test("each round is kept in the list of rounds, the newest is told at length", () => {
    const text = page("VERIFICATION.md", [
      read,
      started,
      begun("1@1/checks#1"),
      failed("checks", "criterion_failed", [checked("old", "test -f old", "failed")]),
      begun("1@1/checks#2"),
      passed("checks", 2, checks),
    ]);
    expect(text).toContain("| 1 | 2026-01-01T00:03:00.000Z | fail | – | fail |");
    expect(text).toContain("| 2 | 2026-01-01T00:05:00.000Z | pass | – | in_progress |");
    expect(text).not.toContain("test -f old");
  });
});

describe("TRIAGE.json", () => {
  const triage = (
    facts: Record<string, string | number | boolean>,
    checks: CheckResult[],
    detail?: string,
  ): TriageFile => {
    const drafts: readonly Draft[] = [
      read,
      started,
      begun("1@1/triage#1"),
      {
        event: "step_completed",
        attempt: "1@1/triage#1",
        facts,
        checks,
        ...(detail === undefined ? {} : { detail }),
      },
    ];

    const evidenceOf = () => ({
      at: "2026-01-01T00:00:00.000Z",
      output_excerpt: `${"x".repeat(500)}\nthe end\n`,
    });

    return JSON.parse(page("TRIAGE.json", drafts, { readEvidence: evidenceOf })) as TriageFile;
  };

  const five = [1, 2, 3, 4, 5].map((n) =>
    checked(`criterion ${n}`, `test -f ${n}`, n === 5 ? "failed" : "passed"),
  );

  test("it lists every criterion that was tried, with the command, the result and the end of the output", () => {
    const file = triage({ route: "verify_only", total_criteria: 5 }, five);
    expect(v.safeParse(TriageFile, file).issues).toBeUndefined();
    expect(file).toMatchObject({
      phase_id: "1",
      criteria_source: "roadmap",
      total_criteria: 5,
      passed_criteria: 4,
      pass_ratio: 0.8,
      routing_decision: "verify_only",
      skipped_steps: ["research", "plan", "plan_check", "execute"],
      note: "4 of 5 criteria hold; 5 of them have a command and were run.",
    });

    expect(file.criteria_checked[4]).toMatchObject({
      criterion: "criterion 5",
      command: "test -f 5",
      result: "fail",
    });

    expect(file.criteria_checked[4]?.output).toMatch(/^x{192} the end$/);
  });

  test("criteria without a command count as not passed", () =>
    expect(triage({ route: "full_pipeline", total_criteria: 10 }, five)).toMatchObject({
      total_criteria: 10,
      pass_ratio: 0.4,
      routing_decision: "full_pipeline",
      skipped_steps: [],
    }));

  test("where a plan is there, its steps are skipped and it is where the criteria come from", () =>
    expect(triage({ plan_exists: true, criteria_source: "plan" }, five)).toMatchObject({
      criteria_source: "plan",
      skipped_steps: ["research", "plan"],
    }));

  test("nothing to try is no reason to skip anything", () =>
    expect(triage({}, [], "no criterion has a command")).toMatchObject({
      criteria_source: "none",
      pass_ratio: 0,
      routing_decision: "full_pipeline",
      note: "no criterion has a command",
    }));
});

describe("what a run learns", () => {
  const question: Draft = {
    event: "block_opened",
    block: "block:1@1/human_check#1",
    walk: "1",
    step: "human_check",
    hold: false,
    question: "Look",
    options: { pass: "good", fail: "bad", issues_found: "so so" },
  };

  test("a phase that fails leaves a post-mortem and a rule that names it", () => {
    const books = booksOf([
      read,
      started,
      begun("1@1/checks#1"),
      failed("checks", "criterion_failed", [checked("c", "test -f a", "failed")]),
      ended(),
    ]);
    expect(v.safeParse(PostMortem, books.postMortems.get("1")).issues).toBeUndefined();
    expect(books.learnings).toMatchObject([
      { kind: "failure", category: "acceptance_criteria_unmet", recheck: "! (\ntest -f a\n)" },
    ]);

    expect(books.learnings[0]?.provenance.source).toBe("phase-1-postmortem.json");
  });

  test("a phase that fails a second time has one post-mortem, the newest, and two learnings", () => {
    const fail = [begun("1@1/checks#1"), failed("checks", "criterion_failed"), ended()];
    const books = booksOf([
      read,
      started,
      ...fail,
      { event: "phase_reopened", walk: "1", visit: 2, because: "resume" },
      ...fail,
    ]);
    expect(books.postMortems.size).toBe(1);
    expect(books.learnings).toHaveLength(2);
    expect(books.postMortems.get("1")?.timestamp).toBe("2026-01-01T00:09:00.000Z");
  });

  test.each(["pass", "fail", "issues_found"])(
    "a person's verdict %s is kept for calibration",
    (answer) => {
      const answered: Draft = {
        event: "block_answered",
        request: "r",
        block: "block:1@1/human_check#1",
        answer,
        issues: ["wrong colour"],
      };
      expect(booksOf([read, started, question, answered]).learnings).toMatchObject([
        { kind: "verdict", verdict: answer, issues: ["wrong colour"] },
      ]);
    },
  );

  test("an answer to another question is no verdict", () => {
    const other: Draft = { ...question, step: "approve" };
    const answered: Draft = {
      event: "block_answered",
      request: "r",
      block: "block:1@1/human_check#1",
      answer: "pass",
    };
    expect(booksOf([read, started, other, answered]).learnings).toEqual([]);
  });
});

test.each(Object.keys(roadmapStories))(
  "%s: the same pages whether the journal is read at once or in pieces",
  (name) => {
    const { tape } = live(roadmapStories[name] as Scenario);
    const [once, pieces] = [new RoadmapProjections(), new RoadmapProjections()];
    for (const entry of tape.entries) once.apply(entry);
    tape.entries.forEach((entry, index) => {
      pieces.apply(entry);
      if (index % 40 === 0) for (const phase of pieces.takeChanged()) pieces.renderPages(phase);
    });

    const phases = once.takeChanged();
    expect(phases.length).toBeGreaterThan(0);
    for (const phase of phases) expect(pieces.renderPages(phase)).toEqual(once.renderPages(phase));
    expect(pieces.learnings).toEqual(once.learnings);
  },
);
