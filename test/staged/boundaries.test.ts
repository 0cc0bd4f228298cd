// The session boundaries and the retries: what pauses, what is shown, and who decides.

import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, journal } from "../support/autopilot.ts";
import { git, scratch } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";
import {
  codeBase,
  commit,
  decomposing,
  documented,
  draft,
  existingCode,
  goStaged,
  greenfield,
  oneRow,
  plan,
  problem,
  rows,
  specified,
  stateOf,
  stateText,
  tasksOf,
  type Turn,
  turn,
  twoRows,
} from "./project.ts";

const upTo = (folder: string, ...files: readonly Readonly<Record<string, string>>[]): string => {
  commit(folder, Object.assign({}, ...files) as Record<string, string>);
  return folder;
};
const planned = (): string => upTo(scratch(), problem, draft, plan);
const box = [
  "══════════════════════════════════════",
  "DECISION REQUIRED: Decompose complete — start implementation?",
  "A) Start a new conversation for implementation (recommended for context freshness)",
  "B) Continue implementation in this conversation",
  "Recommendation: A — implementation is the longest phase, fresh context helps",
];

describe.concurrent("a boundary", () => {
  test("after greenfield 5: the box with tasks, batches and points; answer A leaves it, and the next go begins a fresh session", async () => {
    const folder = planned();
    await goStaged(folder, "greenfield", decomposing(twoRows));
    const again = await autopilot(folder, ["go"]); // nobody has decided, so it only asks again

    for (const line of [
      ...box,
      "  tasks: 2",
      "  batches: 2",
      "  points: 4",
      "  sessions: each task has an agent session of its own",
    ]) {
      expect(again.out).toContain(line);
    }

    expect(again.out.split("\n").filter((line) => line === box[0])).toHaveLength(5);
    expect(eventsOf(folder, "tasks_read")).toEqual([]);
    const given = await autopilot(folder, ["answer", "A", "--json"]);
    expect(given.json).toMatchObject({
      result: "PASS",
      reason_code: "block_answered",
      state: "paused",
    });

    expect(eventsOf(folder, "tasks_read")).toEqual([]);
    const before = new Set(eventsOf(folder, "session_opened").map(({ session }) => session));
    const { json } = await autopilot(folder, ["go", "--json"]);
    expect(json).toMatchObject({ state: "completed" });
    const after = eventsOf(folder, "session_opened").find(({ attempt }) =>
      String(attempt).startsWith("6@1/"),
    );
    expect(after).toMatchObject({ how: "new" });
    expect(before.has(after?.["session"])).toBe(false);
  });

  test("after existing-code 3 answer B goes on, and --continue passes the one after 7 without a question", async () => {
    const folder = upTo(scratch({ files: codeBase }), documented, specified);
    const first = await goStaged(folder, "existing-code", existingCode);
    expect(first.json).toMatchObject({ reason_code: "session_boundary" });
    await autopilot(folder, ["answer", "B", "--json"]);
    const { json } = await autopilot(folder, ["go", "--continue", "--json"]);
    expect(json).toMatchObject({ state: "completed" });
    expect(eventsOf(folder, "run_paused")).toHaveLength(1);
    expect(
      eventsOf(folder, "block_answered").filter(({ block }) => String(block).includes("boundary")),
    ).toMatchObject([
      { answer: "B", block: "block:4@1/boundary#1" },
      { answer: "B", block: "block:8@1/boundary#1" },
    ]);
  });

  longTest(
    "--continue answers a boundary that is already open, and only in its own invocation",
    "test/staged/boundaries.test.ts › after existing-code 3 answer B goes on, and --continue passes the one after 7 without a question",
    async () => {
      const folder = planned();
      await goStaged(folder, "greenfield", greenfield);
      expect(stateOf(folder).last_session).toMatchObject({ reason: "session boundary" });
      const { json } = await autopilot(folder, ["go", "--continue", "--json"]);
      expect(json).toMatchObject({ state: "completed" });
      const elsewhere = scratch();

      const refused = await autopilot(elsewhere, [
        "go",
        "tidy up",
        "--continue",
        "--yes",
        "--json",
        "--isolation",
        "clone",
      ]);
      expect(refused.json).toMatchObject({ result: "FAIL" });
    },
  );
});

const bad = (times: number): Turn => ({
  ...turn("3", { "_docs/01_solution/solution.md": "# Half a solution\n\nThe rest is missing.\n" }),
  repeat: times,
});

describe.concurrent("a step that fails", () => {
  longTest(
    "is retried three times by itself, a row in the Retry Log each, and then it is done and the log is empty",
    "test/staged/boundaries.test.ts › and fails four times: failed, a blocker, paused; not retried on re-entry; answer skip is refused, answer retry begins anew",
    async () => {
      const folder = upTo(scratch(), problem, draft);
      const late = { ...turn("3", plan), when: { phase: "3", step: "do", attempt: 4 } };

      const turns = [
        late,
        bad(3),
        ...greenfield.filter(({ when }) => JSON.stringify(when) !== '{"phase":"3","step":"do"}'),
      ];
      await goStaged(folder, "greenfield", turns, ["--option", "research=decided"]);
      expect(eventsOf(folder, "step_retried").map(({ n }) => n)).toEqual([1, 2, 3]);
      expect(eventsOf(folder, "step_failed")).toHaveLength(3);
      expect(stateOf(folder)).toMatchObject({
        current: { step: 6, retry_count: 0 },
        retry_log: [],
        blockers: [],
      });
    },
  );

  test("and fails four times: failed, a blocker, paused; not retried on re-entry; answer skip is refused, answer retry begins anew", async () => {
    const folder = upTo(scratch(), problem, draft);
    const late = { ...turn("3", plan), when: { phase: "3", step: "do", attempt: 6 } };

    const turns = [
      late,
      bad(5),
      ...greenfield.filter(({ when }) => JSON.stringify(when) !== '{"phase":"3","step":"do"}'),
    ];
    const first = await goStaged(folder, "greenfield", turns, ["--option", "research=decided"]);
    expect(first.json).toMatchObject({
      result: "FAIL",
      reason_code: "phase_failed",
      state: "paused",
    });

    const failed = stateOf(folder);
    expect(failed.current).toMatchObject({
      step: 3,
      name: "Plan",
      status: "failed",
      sub_step: "1 — do",
      retry_count: 3,
    });

    expect(failed.retry_log.map(({ attempt, step, name }) => [attempt, step, name])).toEqual([
      [1, 3, "Plan"],
      [2, 3, "Plan"],
      [3, 3, "Plan"],
    ]);

    expect(failed.retry_log[0]?.failure_reason).toContain("architecture.md");
    expect(failed.blockers).toEqual([
      expect.stringMatching(
        /^Step 3 Plan failed after 3 consecutive retries at 1 — do: .*architecture\.md/,
      ) as string,
    ]);

    const turnsBefore = eventsOf(folder, "turn_ended").length;
    for (const verb of ["go", "resume"]) {
      const again = await autopilot(folder, [verb, "--json"]);
      expect(again.json).toMatchObject({
        result: "FAIL",
        reason_code: "phase_failed",
        state: "paused",
      });

      expect(again.err).toContain("! Step 3 Plan failed after 3 consecutive retries"); // the blocker is shown first
    }

    expect(eventsOf(folder, "turn_ended")).toHaveLength(turnsBefore);

    const skip = await autopilot(folder, ["answer", "skip", "--json"]);
    expect(skip.json).toMatchObject({
      result: "FAIL",
      remediation: [
        expect.stringContaining("autopilot answer A") as string,
        expect.stringContaining("autopilot answer C") as string,
      ],
    });

    expect((await autopilot(folder, ["answer", "retry", "--json"])).json).toMatchObject({
      reason_code: "block_answered",
      answer: "A",
    });

    expect(stateOf(folder)).toMatchObject({ current: { status: "in_progress" }, blockers: [] });
    const { json } = await autopilot(folder, ["go", "--json"]);
    expect(json).toMatchObject({ reason_code: "session_boundary" });
    expect(stateOf(folder)).toMatchObject({
      current: { step: 6, retry_count: 0 },
      retry_log: [],
      blockers: [],
    });
  });

  longTest(
    "and is optional may be skipped: answer skip, and the record says so",
    "test/staged/boundaries.test.ts › and fails four times: failed, a blocker, paused; not retried on re-entry; answer skip is refused, answer retry begins anew",
    async () => {
      const folder = planned();
      const ui = { ...turn("4", { "notes.txt": "no design\n" }), repeat: 0 };
      const first = await goStaged(folder, "greenfield", [ui, ...greenfield], ["--with", "ui"]);
      expect(first.json).toMatchObject({ result: "FAIL", reason_code: "phase_failed" });
      expect(stateOf(folder).current).toMatchObject({ step: 4, status: "failed", retry_count: 3 });
      expect((await autopilot(folder, ["answer", "skip", "--json"])).json).toMatchObject({
        answer: "B",
      });

      expect((await autopilot(folder, ["go", "--json"])).json).toMatchObject({
        reason_code: "session_boundary",
      });

      expect(stateText(folder)).toMatch(
        /- UI Design: skip the step \(after its retries were used up\)/,
      );

      expect(
        stateOf(folder).completed.map(({ step, key_outcome }) => [step, key_outcome === "skipped"]),
      ).toEqual([
        [1, false],
        [2, false],
        [3, false],
        [4, true],
        [5, false],
      ]);
    },
  );

  longTest(
    "in another tool's hands is not retried either: failed with retry_count 3 in the state file waits for a person",
    "test/staged/failed-before.test.ts › is asked about; a stop leaves the file byte for byte as it was, and the next run asks again",
    async () => {
      const folder = upTo(scratch(), problem, draft);
      commit(folder, {
        "_docs/_autopilot_state.md":
          "# Autopilot State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: failed\nsub_step: 4 — Architecture Review\nretry_count: 3\n\n## Completed Steps\n| Step | Name | Completed | Key Outcome |\n|---|---|---|---|\n| 1 | Problem | 2026-01-01 | written |\n| 2 | Research | 2026-01-02 | one draft |\n\n## Key Decisions\n- Research decision: proceed to planning\n\n## Last Session\ndate: 2026-01-02\nended_at: Step 3 Plan\nreason: context limit\nnotes: the diagram tool was missing\n\n## Retry Log\n\n## Blockers\n- plan failed 3 times: no diagram tool\n",
      });

      const asked = await autopilot(folder, ["status"]);
      expect(asked.out).toContain(
        "it failed and its retries are used up (plan failed 3 times: no diagram tool)",
      );

      const first = await goStaged(folder, "greenfield", greenfield);
      expect(first.json).toMatchObject({
        result: "FAIL",
        reason_code: "phase_failed",
        state: "paused",
      });

      expect(first.err).toContain("! plan failed 3 times: no diagram tool");
      expect(first.json["questions"]).toMatchObject([
        {
          show: {
            failed_step: "greenfield step 3 Plan, at 4 — Architecture Review",
            blocker: "plan failed 3 times: no diagram tool",
          },
        },
      ]);

      expect(eventsOf(folder, "turn_ended")).toEqual([]);
      await autopilot(folder, ["answer", "retry", "--json"]);
      expect((await autopilot(folder, ["go", "--json"])).json).toMatchObject({
        reason_code: "session_boundary",
      });

      expect(eventsOf(folder, "turn_ended")).toHaveLength(2);
      expect(journal(folder).some(({ event }) => event === "run_completed")).toBe(false);
      expect(git(folder, "status", "--porcelain")).toBe(" M _docs/_autopilot_state.md"); // theirs to commit
    },
  );
});

describe.concurrent("a batch that its review refuses", () => {
  const tasks = tasksOf(rows);
  const judged = (attempt: number, isGood: boolean): Turn => ({
    when: { phase: "6", step: "review", attempt },
    do: [],
    returns: {
      confidence: 0.9,
      pass: isGood,
      issues: isGood ? [] : ["package.json: the name is wrong"],
    },
  });

  const fix: Turn = {
    when: { phase: "6", step: "fix" },
    do: [{ append: { path: "NOTES.md", text: "fixed\n" } }],
    returns: { summary: "The name in package.json is fixed." },
    repeat: 0,
  };

  test("is fixed and looked at again, and then closed", async () => {
    const folder = upTo(scratch(), problem, draft, plan, tasksOf(oneRow));
    const { json } = await goStaged(folder, "greenfield", [judged(1, false), fix, ...greenfield]);
    expect(json).toMatchObject({ state: "completed" });
    const steps = eventsOf(folder, "step_completed").map(({ attempt }) =>
      String(attempt).replace(/^.*wave:1@1\//, ""),
    );
    expect(steps.filter((step) => /^(?:review|fix|commit)#/.test(step)).slice(0, 4)).toEqual([
      "review#1",
      "fix#1",
      "review#2",
      "commit#1",
    ]);
  });

  longTest(
    "again and again asks a person: stop here fails the step, and its tasks are built anew when it is retried",
    "test/simulation/stories.ts › greenfield: the review of a batch fails and a person stops it",
    async () => {
      const folder = upTo(scratch(), problem, draft, plan, tasks);
      const again = greenfield
        .filter(({ when }) => JSON.stringify(when).includes("01_layout"))
        .map((item) => ({ ...item, repeat: 0 }));

      const never = { ...judged(1, false), when: { phase: "6", step: "review" }, repeat: 3 };
      const first = await goStaged(folder, "greenfield", [
        never,
        fix,
        ...again,
        ...greenfield.filter(({ when }) => !JSON.stringify(when).includes("01_layout")),
      ]);
      expect(first.json).toMatchObject({ result: "WARN", reason_code: "human_block_open" });
      expect(first.json["questions"]).toMatchObject([
        { options: { A: "go on", B: "stop here" }, recommend: "B" },
      ]);

      await autopilot(folder, ["answer", "B", "--json"]);
      const second = await autopilot(folder, ["go", "--json"]);
      expect(second.json).toMatchObject({ result: "FAIL", reason_code: "phase_failed" });
      expect(stateOf(folder).current).toMatchObject({ step: 6, status: "failed" });
      await autopilot(folder, ["answer", "retry", "--json"]);
      expect((await autopilot(folder, ["go", "--json"])).json).toMatchObject({
        state: "completed",
      });

      expect(
        eventsOf(folder, "tasks_read").map(({ waves }) => (waves as unknown[][]).flat().length),
      ).toEqual([3, 3]);
    },
  );
});
