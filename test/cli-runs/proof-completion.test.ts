// What completes a run, and what does not: the runner's own proof, never the agent's word.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, type Entry, eventsOf, goScripted, runFolderOf } from "../support/autopilot.ts";
import { git, scratch, scratchCheckedOnce } from "../support/scratch-repository.ts";
import { aFew } from "../support/sampled.ts";

const promise = { say: "All of it is finished.\n<promise>DONE</promise>" };
const makeB = { write: { path: "src/b.txt", text: "b\n" } };
const bExists = ["--done-criteria", "b is there :: test -f src/b.txt"];

const ended = (folder: string, step: string): readonly Entry[] =>
  eventsOf(folder, "step_completed").filter(({ attempt }) => String(attempt).includes(`/${step}#`));

describe.concurrent("completion", () => {
  test("an agent that does nothing and promises never completes a run whose check fails: cycle cap, WARN, still running", async () => {
    const folder = scratchCheckedOnce();
    const { code, json } = await goScripted(
      folder,
      [{ do: [promise], repeat: 0 }],
      [...bExists, "--max-cycles", "2"],
    );
    expect(json).toMatchObject({
      result: "WARN",
      reason_code: "cycle_cap_reached",
      state: "running",
    });

    expect(json.remediation.length).toBeGreaterThan(0);
    expect(code).toBe(0);
    expect(eventsOf(folder, "turn_ended").map(({ promised }) => promised)).toEqual([true, true]);
    const status = await autopilot(folder, ["status", "--json"]);
    expect(status.json).toMatchObject({
      state: "running",
      verdict: null,
      reason_code: "cycle_cap_reached",
    });

    expect(status.json.objective).toMatchObject({ done_criteria: [{ proved: false }] });
  });

  test("three turns without progress open the breaker, which pauses the run and names the cooldown", async () => {
    const folder = scratchCheckedOnce();
    const { code, json } = await goScripted(folder, [{ do: [promise], repeat: 0 }], bExists);
    expect(json).toMatchObject({ result: "FAIL", reason_code: "breaker_open", state: "paused" });
    expect(code).toBe(1);
    expect(eventsOf(folder, "turn_ended")).toHaveLength(3);
    expect(eventsOf(folder, "circuit_breaker_opened")).toMatchObject([{ because: "no_progress" }]);
    expect(
      readdirSync(join(runFolderOf(folder), "layers")),
      "the folders of the turns before went with them",
    ).toHaveLength(1);

    const early = await autopilot(folder, ["resume", "--json"]);
    expect(early.json).toMatchObject({
      result: "FAIL",
      reason_code: "breaker_open",
      state: "paused",
    });

    expect(early.json["cooldown_until"]).toMatch(/^\d{4}-/);
    const forced = await autopilot(folder, ["resume", "--now", "--json"]);
    expect(forced.json).toMatchObject({ reason_code: "breaker_open", state: "paused" });
    expect(eventsOf(folder, "turn_ended")).toHaveLength(4); // half open means one attempt
  });

  test("work that fails together with what the user committed meanwhile stays on its branch", async () => {
    const folder = scratch({ files: { "check.sh": "test -f src/b.txt && ! test -f user.txt\n" } });
    // The user commits while the turn lasts: this scripted agent is not held in a box, so it can
    // play both.
    const commits = `cd '${folder}' && echo u > user.txt && git add user.txt && git -c user.name=u -c user.email=u@u commit -qm user`;

    const { json } = await goScripted(
      folder,
      [{ do: [makeB, { run: commits }, promise] }],
      ["--done-criteria", "together :: sh check.sh"],
    );

    expect(git(folder, "log", "--format=%s", "-1")).toBe("user"); // it did happen
    expect(json).toMatchObject({ state: "completed", verdict: "verified" });
    expect(json.remediation.join(" ")).toContain(
      `git merge autopilot/${json.run_id}, then mend what fails`,
    );

    expect(eventsOf(folder, "step_failed").map(({ reason_code }) => reason_code)).toContain(
      "merge_unproved",
    );

    expect(existsSync(join(folder, "src/b.txt"))).toBe(false);
  });

  test.each(["promise", "objective"])(
    "an agent that does the work completes the run in %s mode, verified, and it lands",
    async (mode) => {
      const folder = scratch();
      const { code, json } = await goScripted(
        folder,
        [{ do: mode === "promise" ? [makeB, promise] : [makeB] }],
        [...bExists, "--completion-mode", mode],
      );
      expect(json).toMatchObject({
        result: "PASS",
        reason_code: "completion_verified",
        state: "completed",
        verdict: "verified",
      });

      expect(code).toBe(0);
      expect(readFileSync(join(folder, "src/b.txt"), "utf8")).toBe("b\n");
      expect(git(folder, "status", "--porcelain")).toBe("");
    },
  );

  test("work without the promise is asked for it once, then waits for a person, who lands it without another turn", async () => {
    const folder = scratchCheckedOnce();
    const { json } = await goScripted(folder, [{ do: [makeB], repeat: 0 }], bExists);
    expect(json).toMatchObject({
      result: "WARN",
      reason_code: "completion_promise_missing",
      state: "paused",
    });

    expect(json.remediation).toContain("autopilot answer A && autopilot resume");
    const missing = { reason_code: "completion_promise_missing" };
    expect(ended(folder, "judged")).toMatchObject([missing, missing]);
    expect(eventsOf(folder, "turn_ended")).toHaveLength(2); // the work, and the one question
    expect(existsSync(join(folder, "src/b.txt"))).toBe(false); // nothing lands before completion
    await autopilot(folder, ["answer", "A", "--json"]);
    const resumed = await autopilot(folder, ["resume", "--json"]);
    expect(resumed.json).toMatchObject({
      reason_code: "completion_verified",
      state: "completed",
      verdict: "verified",
    });

    expect(eventsOf(folder, "turn_ended")).toHaveLength(2);
    expect(existsSync(join(folder, "src/b.txt"))).toBe(true);
  });

  aFew(1).each([
    ["a code block", "I would say:\n```\n<promise>DONE</promise>\n```\n"],
    ["inline code", "Then I write `<promise>DONE</promise>` here."],
    ["a quotation", "> <promise>DONE</promise>\n"],
    [
      "an echo of its prompt",
      "5. Only when every done criterion is met and nothing is left to do, say <promise>DONE</promise> on a line of its own, outside any code block.",
    ],
    ["another word", "<promise>NEARLY</promise>"],
  ])("the promise inside %s does not count", async (_what, say) => {
    const folder = scratchCheckedOnce();
    const { json } = await goScripted(
      folder,
      [{ do: [makeB, { say }] }],
      [...bExists, "--max-cycles", "1"],
    );
    expect(json).toMatchObject({ reason_code: "completion_promise_missing", state: "paused" });
    expect(eventsOf(folder, "turn_ended")).toMatchObject([
      { promised: false },
      { promised: false },
    ]);
  });

  test("where only the word is missing it is asked for once in the same session, and no new cycle is bought", async () => {
    const folder = scratchCheckedOnce();
    const turns = [
      { do: [makeB, { say: "All done." }] },
      { when: { step: "confirm" }, do: [promise, { usage: { input: 90, output: 10 } }] },
    ];

    const { json } = await goScripted(folder, turns, [...bExists, "--max-cycles", "1"]);
    expect(json).toMatchObject({
      result: "PASS",
      reason_code: "completion_verified",
      state: "completed",
    });

    const [first, second] = eventsOf(folder, "session_opened");
    expect(second).toMatchObject({ session: first?.["session"] });
    expect(eventsOf(folder, "step_started").filter(({ step }) => step === "execute")).toHaveLength(
      1,
    );

    expect(eventsOf(folder, "step_started").find(({ step }) => step === "confirm")).toMatchObject({
      need: { tokens: 2_000 },
    });
  });

  test("the promise token is the user's own, in whatever case the agent writes it", async () => {
    const folder = scratchCheckedOnce();
    const args = [...bExists, "--completion-promise", "Ship it"];

    const { json } = await goScripted(
      folder,
      [{ do: [makeB, { say: "<promise>SHIP IT</promise>" }] }],
      args,
    );
    expect(json).toMatchObject({ reason_code: "completion_verified", state: "completed" });
  });

  test("a promise with more work announced behind it is a continuation, not a completion", async () => {
    const folder = scratchCheckedOnce();
    const say = "<promise>DONE</promise>\nNext I will add the tests that are still missing.";

    const { json } = await goScripted(
      folder,
      [{ do: [makeB, { say }] }],
      [...bExists, "--max-cycles", "1"],
    );
    expect(json).toMatchObject({ result: "WARN", state: "running" });
    expect(ended(folder, "judged")).toMatchObject([
      { reason_code: "continuation_pending", facts: { complete: false } },
    ]);
  });

  test("with nothing runnable a run that changed something completes unverified, with a warning", async () => {
    const folder = scratchCheckedOnce();
    const { code, json } = await goScripted(
      folder,
      [{ do: [makeB, promise] }],
      ["--done-criteria", "it looks nice"],
    );
    expect(json).toMatchObject({
      result: "WARN",
      reason_code: "completion_unverified",
      state: "completed",
      verdict: "unverified",
    });

    expect(code).toBe(0);
    expect(json.remediation.length).toBeGreaterThan(0);
  });

  test("with nothing runnable a run that changed nothing stays running, whatever is promised", async () => {
    const folder = scratchCheckedOnce();
    const { json } = await goScripted(
      folder,
      [{ do: [promise], repeat: 0 }],
      ["--done-criteria", "it looks nice", "--max-cycles", "2"],
    );
    expect(json).toMatchObject({
      result: "WARN",
      reason_code: "cycle_cap_reached",
      state: "running",
    });
  });

  aFew(1).each(["promise", "objective"])(
    "a criterion that held already, with no change made, ends verified with gaps in %s mode",
    async (mode) => {
      const folder = scratch({ files: { "src/b.txt": "b\n" } });
      const { code, json } = await goScripted(
        folder,
        [{ do: [promise], repeat: 0 }],
        [...bExists, "--completion-mode", mode],
      );
      expect(json).toMatchObject({
        result: "WARN",
        reason_code: "completion_with_gaps",
        state: "completed",
        verdict: "verified_with_gaps",
      });

      expect(json["gaps"]).toEqual([expect.stringContaining("held before")]);
      expect(code).toBe(0);
    },
  );

  test("half a lie is a lie: one of two criteria met, both promised, is not completed, and the other is worked on next", async () => {
    const folder = scratchCheckedOnce();
    const criteria = [...bExists, "--done-criteria", "c is there :: test -f src/c.txt"];

    const half = await goScripted(
      folder,
      [{ do: [makeB, promise] }, { do: [{ write: { path: "src/c.txt", text: "c\n" } }, promise] }],
      [...criteria, "--max-cycles", "1"],
    );
    expect(half.json).toMatchObject({ reason_code: "cycle_cap_reached", state: "running" });
    const whole = await autopilot(folder, ["go", "--json"]);
    expect(whole.json).toMatchObject({ reason_code: "completion_verified", state: "completed" });
    // The last pick of the first invocation met the cap, so the next invocation picks once more.
    expect(
      ended(folder, "pick").map(({ facts }) => (facts as { criterion: string }).criterion),
    ).toEqual(["c1", "c2", "c2"]);
  });
});
