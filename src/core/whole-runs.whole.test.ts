// Whole runs through the pure core: every flow of the fixtures, with failures, waves, people, and
// the plug pulled at every moment.

import { describe, expect, test } from "vitest";
import { essenceOf, type Lived, live } from "../../test/simulation/support/scenarios.ts";
import { stories } from "../../test/simulation/support/stories.ts";

const storyOf = (name: string): Lived => {
  const story = stories[name];
  if (story === undefined) throw new Error(`no story ${name}`);
  return live(story);
};
const phase = ({ tape }: Lived, id: string) =>
  tape.run.phases.find((candidate) => candidate.id === id);
const happened = ({ tape }: Lived, event: string, path: string): boolean =>
  tape.entries.some((entry) => entry.event === event && "walk" in entry && entry.walk === path);

describe("how each story ends", () => {
  test("objective: three cycles, complete in the third", () => {
    const { tape } = storyOf("objective: three cycles, complete in the third");
    expect(tape.run).toMatchObject({
      status: "completed",
      verdict: "unverified",
      cursors: { 1: { ended: { execute: 3 } } },
    });
  });

  test("objective: the cycle cap rests, and going again goes on", () => {
    const { tape } = storyOf("objective: the cycle cap rests, and going again goes on");
    expect(tape.run).toMatchObject({ status: "completed", opening: 2 });
  });

  test("objective: low confidence, by hand, then a merge that must be approved", () => {
    const { tape } = storyOf(
      "objective: low confidence, by hand, then a merge that must be approved",
    );
    expect(tape.run.status).toBe("completed");
    expect(
      tape.entries
        .filter(({ event }) => event === "run_paused")
        .map(({ reason_code }) => reason_code),
    ).toEqual(["confidence_drop_requires_handoff", "human_block_open"]);
  });

  test("objective: a drop of confidence is reviewed by itself", () => {
    expect(storyOf("objective: a drop of confidence is reviewed by itself").tape.run).toMatchObject(
      {
        status: "completed",
        cursors: { 1: { ended: { review: 2 } } },
      },
    );
  });

  test("objective: a review of an earlier round does not pause again", () => {
    expect(
      storyOf("objective: a review of an earlier round does not pause again").tape.run.status,
    ).toBe("completed");
  });

  test("objective: the scope left twice pauses", () => {
    const { tape } = storyOf("objective: the scope left twice pauses");
    expect(tape.run).toMatchObject({ status: "completed", violations: 2 });
    expect(
      tape.entries
        .filter(({ event }) => event === "run_paused")
        .map(({ reason_code }) => reason_code),
    ).toEqual(["scope_violation_blocked"]);
  });

  test("objective: nothing ever changes, the breaker opens, then it works", () => {
    const { tape } = storyOf("objective: nothing ever changes, the breaker opens, then it works");
    expect(tape.run).toMatchObject({
      status: "completed",
      breaker: { state: "closed", opened: 0 },
    });

    expect(
      tape.entries.flatMap((entry) =>
        entry.event === "circuit_breaker_opened" ? [entry.because] : [],
      ),
    ).toEqual(["no_progress", "probe_failed"]);
  });

  test("roadmap: everything at once", () => {
    const lived = storyOf("roadmap: everything at once");
    const { run } = lived.tape;
    expect(run).toMatchObject({ status: "paused", reason: "phase_failed" });
    expect(["1", "2", "5", "6"].map((id) => phase(lived, id)?.status)).toEqual([
      "completed",
      "completed",
      "completed",
      "completed",
    ]);

    expect(phase(lived, "3")).toMatchObject({ status: "failed", visit: 2 });
    expect(phase(lived, "4.1")?.because).toBe("blocked_by_phase_3");
    expect(run.cursors["1"]?.taken).toMatchObject({ replan: 1, debug: 3 });
    expect(run.cursors["2"]?.ended["plan"]).toBeUndefined();
    expect(run.cursors["after.self_audit"]?.taken["audit"]).toBe(1);
  });

  test("roadmap: a failed phase pauses, resume runs it again, checkpoints", () => {
    const lived = storyOf("roadmap: a failed phase pauses, resume runs it again, checkpoints");
    expect(lived.tape.run.status).toBe("completed");
    expect(phase(lived, "2")?.visit).toBe(2);
    expect(happened(lived, "phase_skipped", "3")).toBe(true);
    expect(phase(lived, "3")?.status).toBe("completed");
  });

  test("roadmap: the judge halts one, a replan is spent, one has only human tasks", () => {
    const lived = storyOf(
      "roadmap: the judge halts one, a replan is spent, one has only human tasks",
    );

    const { run } = lived.tape;
    expect(run).toMatchObject({ status: "paused", reason: "phase_failed" });
    expect(
      run.phases
        .filter(({ group }) => group === "phases")
        .every(({ status }) => status === "failed"),
    ).toBe(true);

    expect(run.cursors["1"]?.because).toBe("judge_rejected");
    expect(run.cursors["2"]?.taken).toMatchObject({ replan: 1, debug: 3 });
    expect(run.cursors["after.self_audit"]?.because).toBe("gaps_remaining");
  });

  test("roadmap: the budget of a phase runs out in a wave and is raised", () => {
    const { tape } = storyOf("roadmap: the budget of a phase runs out in a wave and is raised");
    expect(tape.run.status).toBe("completed");
    expect(
      tape.entries.some(
        ({ event, reason_code }) => event === "run_paused" && reason_code === "phase_cap_reached",
      ),
    ).toBe(true);
  });

  test("roadmap: a task fails for good, later waves wait, debug fixes", () => {
    const lived = storyOf("roadmap: a task fails for good, later waves wait, debug fixes");
    expect(lived.tape.run.status).toBe("completed");
    expect(happened(lived, "task_failed", "1@1/execute#1/01")).toBe(true);
    expect(happened(lived, "step_started", "1@1/execute#1/03")).toBe(false);
    expect(happened(lived, "task_skipped", "after.self_audit@1/fix#1/g2")).toBe(true);
  });

  test("quality: two gates fail, then six phases", () => {
    const { run } = storyOf("quality: two gates fail, then six phases").tape;
    expect(run.status).toBe("completed");
    expect(run.cursors["3"]?.ended["do"]).toBe(3);
  });

  test("quality: documents are required and missing", () => {
    const { tape, disk } = storyOf("quality: documents are required and missing");
    expect(tape.run).toMatchObject({ status: "stopped", reason: "aborted_missing_docs" });
    expect(disk.turns).toEqual([]);
  });

  test("quality: a gate never holds", () => {
    const { run } = storyOf("quality: a gate never holds").tape;
    expect(run).toMatchObject({
      status: "paused",
      reason: "phase_failed",
      cursors: { 2: { ended: { do: 4 } } },
    });
  });

  test("greenfield: rounds, boundary, waves, a batch refused, retries spent", () => {
    const lived = storyOf("greenfield: rounds, boundary, waves, a batch refused, retries spent");
    const { run } = lived.tape;
    expect(run.status).toBe("completed");
    expect([
      run.cursors["1"]?.ended["do"],
      run.cursors["2"]?.ended["do"],
      run.cursors["3"]?.ended["do"],
    ]).toEqual([2, 2, 5]);

    expect(phase(lived, "4")?.status).toBe("skipped");
    expect(
      lived.tape.entries.some(
        (entry) => entry.event === "block_opened" && entry.question === "Which database?",
      ),
    ).toBe(true);
  });

  test("greenfield: the review of a batch fails, a person stops it", () => {
    const { run } = storyOf("greenfield: the review of a batch fails, a person stops it").tape;
    expect(run).toMatchObject({ status: "stopped", reason: "operator_stopped" });
    expect(run.cursors["6"]?.streak["do"]).toBe(4);
  });

  test("greenfield: enters at the first unproved phase", () => {
    const lived = storyOf("greenfield: enters at the first unproved phase");
    expect(lived.tape.run.status).toBe("completed");
    expect(phase(lived, "3")?.because).toBe("already_proved");
    expect([
      phase(lived, "4")?.status,
      phase(lived, "8")?.status,
      phase(lived, "9")?.status,
    ]).toEqual(["completed", "completed", "skipped"]);
  });

  test("existing-code: two tasks, twice round", () => {
    const lived = storyOf("existing-code: two tasks, twice round");
    expect(lived.tape.run.status).toBe("completed");
    expect([phase(lived, "7")?.visit, phase(lived, "12")?.visit, phase(lived, "5")?.visit]).toEqual(
      [2, 2, 1],
    );
  });

  test("calibrate: child runs side by side, one hangs, reverted", () => {
    const { tape, disk } = storyOf("calibrate: child runs side by side, one hangs, reverted");
    expect(tape.run.status).toBe("completed");
    expect([...disk.effects].some((effect) => effect.includes("revert#1"))).toBe(true);
  });

  test("notes: a user's own flow, two rounds of fixing", () => {
    const { tape } = storyOf("notes: a user's own flow, two rounds of fixing");
    expect(tape.run.status).toBe("completed");
    expect(tape.run.cursors["draft"]?.taken["rounds"]).toBe(2);
  });
});

describe("pull the plug here and there, and the run ends the same (test/simulation pulls it at every moment)", () => {
  const cutsMax = 10;
  for (const [name, story] of Object.entries(stories)) {
    if (story.isCrashFree === true) continue; // A crash is a new invocation, and its cap counts anew.
    test(name, { timeout: 60_000 }, () => {
      const whole = live(story);
      const stride = Math.max(1, Math.ceil(whole.ticks / cutsMax));
      for (let cut = 1; cut <= whole.ticks; cut += stride) {
        expectSame(whole, live(story, { cuts: [cut] }), cut);
      }
    });
  }
});

function expectSame(whole: Lived, lived: Lived, cut: number): void {
  expect(lived.crashes, `the cut at ${cut} fired`).toBe(1);
  expect(essenceOf(lived), `cut at ${cut}`).toEqual(essenceOf(whole));
}
