// A roadmap in the middle of it, as status, watch and report tell it. The pages are golden files,
// and were read.

import { expect, test } from "vitest";
import type { Draft, Entry } from "../contracts/event.ts";
import type { RunView } from "../core/state.ts";
import { renderRunBoard } from "./run-board.ts";
import { listNextActions } from "./next-actions.ts";
import { describePhaseEnding } from "./progress.ts";
import { listPhaseRows } from "./phase-rows.ts";
import { phaseTable } from "./phase-table.ts";
import { story, reported } from "./phase-story.test-support.ts";
import { reportPage } from "./report-page.ts";
import { buildReportView } from "./report.ts";
import { statusPage } from "./status-page.ts";
import { buildStatusView } from "./status.ts";
import { listOpenVerdicts } from "./verdicts.ts";

const { run, entries } = reported();
const owner = { pid: 4711 };
const page = (lines: readonly string[]): string => `${lines.join("\n")}\n`;
const golden = (name: string): string => `../../test/golden/pages/${name}.txt`;

test("status has a row a phase: how it stands, its score, what it used, where it is", () => {
  const rows = buildStatusView(run, owner).phases;
  expect(rows.map(({ id, status, score, tokens }) => [id, status, score, tokens])).toEqual([
    ["1", "completed", 9, 48_000],
    ["2", "failed", null, 27_000],
    ["2.1", "skipped", null, 0],
    ["3", "needs_human_verification", 8, 17_000],
    ["4", "in_progress", null, 7_000],
    ["5", "not_started", null, 0],
  ]);

  expect(rows.find(({ id }) => id === "4")).toMatchObject({
    step: "execute",
    tasks: { done: 1, failed: 0, total: 3 },
  });

  expect(rows.find(({ id }) => id === "5")?.waits_for).toEqual(["4", "3"]);
  expect(rows.every(({ duration_minutes }) => duration_minutes >= 0)).toBe(true);
});

test("its page is a table, with the breaker, what is spent, what is in the way and what to do", async () => {
  await expect(page(statusPage(run, owner))).toMatchFileSnapshot(golden("status-phases"));
});

test("the report says of each phase what was proved by which command, what is not so, and why it failed", async () => {
  const view = buildReportView(run, entries, { owner });
  const failed = view.phases.find(({ id }) => id === "2");
  expect(failed).toMatchObject({
    post_mortem: { category: "acceptance_criteria_unmet" },
    attempts: { debug: 1, replan: 0 },
    rolled_back_to: "autopilot-diagnostic-phase-2",
    false_claims: [{ agent: "scripted", text: "All tests pass now." }],
  });

  expect(failed?.proof).toEqual([
    {
      id: "criterion:2.1",
      title: "readings survive a restart",
      command: "npm test -- keep",
      status: "failed",
      exit_code: 1,
    },
  ]);

  expect(view.phases.find(({ id }) => id === "1")?.commits).toHaveLength(2);
  await expect(page(reportPage(view))).toMatchFileSnapshot(golden("report-phases"));
});

test("only a verdict is reported as one: an answer to another question of the phase isn't", () => {
  const answered = (answer: string) =>
    reported([
      ...story,
      {
        event: "block_answered",
        block: "block:3@1/human_check#1",
        request: "r1",
        answer,
        actor: "operator:kim",
      },
    ]);

  const verdictOf = ({ run: view, entries: lines }: ReturnType<typeof reported>) =>
    buildReportView(view, lines, { owner }).phases.find(({ id }) => id === "3")?.verdict;
  expect(verdictOf(answered("pass"))).toMatchObject({ verdict: "pass", by: "operator:kim" });
  expect(verdictOf(answered("A"))).toBe(null);
});

test("what was judged on the way is no judgement of phases that are not done, and the goal is no criterion that lacks a check", () => {
  const view = buildReportView({ ...run, judged: { verdict: "verified", gaps: [] } }, entries, {
    owner,
  });
  expect(view.judgement).toMatchObject({
    verdict: "unverified",
    gaps: ["not completed: 5 phases (2, 2.1, 3, 4, 5)"],
  });

  expect(
    buildReportView({ ...run, judged: { verdict: "refuted", gaps: [] } }, entries).judgement
      .verdict,
  ).toBe("refuted");

  expect([
    view.criteria,
    view.recommendations.filter((action) => action.includes("--done-criteria")),
  ]).toEqual([[], []]);
});

test("what was to be taken back and could not be is told, in the report and by status, until the phase is run again", () => {
  const detail = "Later work changed a.js too, and cannot be told apart: nothing was taken back.";
  const index = entries.findIndex(
    (entry) => entry.event === "step_completed" && entry.attempt.startsWith("2@1/undo#"),
  );

  const failedUndo = {
    ...entries[index],
    event: "step_failed",
    facts: { rollback_performed: false },
    detail,
  } as unknown as Entry;
  const reported = buildReportView(run, entries.with(index, failedUndo));
  expect(reported.phases.find(({ id }) => id === "2")).toMatchObject({
    rolled_back_to: null,
    left_behind: detail,
  });

  expect(reportPage(reported).join("\n")).toContain(
    `    left     what it did is still there: ${detail}`,
  );

  const undo = {
    kind: "failed",
    facts: { rollback_performed: false },
    reason: "merge_conflict",
    detail,
  };

  const cursor = { ...run.cursors["2"], last: { undo } } as unknown as RunView["cursors"][string];
  const standing = statusPage({ ...run, cursors: { ...run.cursors, "2": cursor } }, owner).join(
    "\n",
  );
  expect(standing).toContain("its changes could not be undone");
});

test("what comes after the phases is ticked only where it came to the end that was wanted", () => {
  const after = (status: string, because: string | null) => ({
    name: "Self-audit",
    status,
    because,
  });

  const view = {
    ...buildReportView(run, entries),
    afterwards: [
      after("completed", null),
      after("completed", "audit_failed"),
      after("failed", null),
    ],
  };
  const lines = reportPage(view).filter((line) => line.includes("Self-audit"));
  expect(lines).toEqual([
    "  ✓ Self-audit: completed",
    "  ! Self-audit: completed (audit failed)",
    "  ✗ Self-audit: failed",
  ]);
});

test("where something must come first, `resume` is said with it and not again without it", () => {
  const next = (reason: string): readonly string[] =>
    listNextActions({ ...run, status: "paused", reason, blocks: {} });
  expect(next("retry_limit_reached")).toEqual([
    "autopilot budget raise retries=+5, then autopilot resume",
    "autopilot stop",
  ]);

  expect(next("operator_paused")).toEqual(["autopilot resume", "autopilot stop"]);
  const paused = buildReportView(
    { ...run, status: "paused", reason: "phase_failed", blocks: {} },
    entries,
  );
  expect(paused.recommendations).toEqual(["autopilot resume", "autopilot stop"]); // whoever reads the report need not be sent to it
});

test("the board shows phases, steps, tasks, spend, the breaker and the agent's last words, in the room there is", async () => {
  const board = (rowsMax: number): readonly string[] =>
    renderRunBoard(run, {
      owner,
      liveLine: "  “I am reading predict.ts”",
      rowsMax,
      sinceMinutes: 1.5,
    });
  await expect(page(board(30))).toMatchFileSnapshot(golden("board"));
  for (const rowsMax of [3, 8, 12, 30]) expect(board(rowsMax).length).toBeLessThanOrEqual(rowsMax);
  expect(board(14).join("\n")).toContain("I am reading predict.ts");
});

test("a phase that ends is told with its score and its cost", () => {
  const upTo = story.findIndex((draft) => draft.event === "phase_completed") + 1;
  const ended = reported(story.slice(0, upTo));
  const last = ended.entries.at(-1);
  expect(last === undefined ? null : describePhaseEnding(last, ended.run)).toBe(
    "  score 9, 48,000 tokens, 12 min, $0.48, 1 of 6 phases over",
  );
});

test("a phase that waits for a verdict is asked for by name", () => {
  expect(listOpenVerdicts(run).map(({ phase }) => phase)).toEqual(["3"]);
  expect(listNextActions(run, null)[0]).toBe(
    'autopilot verdict 3 pass|fail|issues_found [--issue "…"]',
  );

  expect(listNextActions(run, null, { isCurrent: false })[0]).toMatch(
    /^autopilot verdict --run run-\S+ 3 pass/,
  );
});

test("a long roadmap shows where something happens, and counts the rest", () => {
  const [first] = listPhaseRows(run);
  if (first === undefined) throw new Error("the story has phases");

  const rows = Array.from({ length: 500 }, (_, index) => ({
    ...first,
    id: String(index + 1),
    name: `Part ${index + 1}`,
    status:
      index === 250
        ? ("in_progress" as const)
        : index === 17
          ? ("failed" as const)
          : index < 250
            ? ("completed" as const)
            : ("not_started" as const),
  }));
  const lines = phaseTable(rows, 12);
  expect(lines.length).toBeLessThanOrEqual(12 + 5);

  for (const id of ["18", "250", "251", "252"]) {
    expect(lines.join("\n")).toMatch(new RegExp(`^. +${id} `, "m"));
  }

  expect(lines.join("\n")).toMatch(/… +17 completed/);
  expect(lines.at(-1)).toMatch(/… +\d+ to do/);
});

test("whatever the point of the story, every page can be made", () => {
  const drafts: Draft[] = [];
  for (const draft of story) {
    drafts.push(draft);
    const now = reported(drafts);
    expect(statusPage(now.run, null).length).toBeGreaterThan(5);
    expect(reportPage(buildReportView(now.run, now.entries, {})).length).toBeGreaterThan(5);
    expect(
      renderRunBoard(now.run, { owner: null, liveLine: "", rowsMax: 20, sinceMinutes: 0 }).length,
    ).toBeLessThanOrEqual(20);
  }
});
