// Where a person, or another agent, must look before a run continues alone.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, goScripted, journal } from "../support/autopilot.ts";
import { git, scratchCheckedOnce as scratch } from "../support/scratch-repository.ts";
import { aFew } from "../support/sampled.ts";

const promise = { say: "<promise>DONE</promise>" };
const makeB = { write: { path: "src/b.txt", text: "b\n" } };
const bExists = ["--done-criteria", "b is there :: test -f src/b.txt"];
const roles = (folder: string): readonly string[] =>
  journal(folder).flatMap(({ event, step, kind }) =>
    event === "step_started" && kind === "agent" ? [String(step)] : [],
  );

describe.concurrent("confidence", () => {
  test("low confidence pauses for a hand-off in manual mode, and resume completes without another turn", async () => {
    const folder = scratch();
    const { code, json } = await goScripted(
      folder,
      [{ do: [makeB, promise], confidence: 0.3 }],
      bExists,
    );
    expect(json).toMatchObject({
      result: "FAIL",
      reason_code: "confidence_drop_requires_handoff",
      state: "paused",
    });

    expect(code).toBe(1);
    expect(existsSync(join(folder, "src/b.txt"))).toBe(false);
    const resumed = await autopilot(folder, ["resume", "--json"]);
    expect(resumed.json).toMatchObject({ reason_code: "completion_verified", state: "completed" });
    expect(roles(folder)).toEqual(["execute"]);
  });

  aFew(2).each([
    ["low", 0.55, "completed"],
    ["low", 0.45, "paused"],
    ["medium", 0.55, "paused"],
    ["medium", 0.65, "completed"],
    ["high", 0.7, "paused"],
  ])("risk level %s with confidence %d: the run is %s", async (risk, confidence, state) => {
    const folder = scratch();
    const { json } = await goScripted(
      folder,
      [{ do: [makeB, promise], confidence }],
      [...bExists, "--risk-level", risk],
    );
    expect(json.state).toBe(state);
    if (state === "paused") expect(json.reason_code).toBe("confidence_drop_requires_handoff");
  });

  test("confidence told in the return counts like confidence reported with the turn", async () => {
    const folder = scratch();
    const returns = { status: "done", summary: "made b", confidence: 0.2 };
    const { json } = await goScripted(folder, [{ do: [makeB, promise], returns }], bExists);
    expect(json).toMatchObject({
      reason_code: "confidence_drop_requires_handoff",
      state: "paused",
    });
  });

  test("an agent that tells no confidence is neutral", async () => {
    const folder = scratch();
    const { json } = await goScripted(
      folder,
      [{ do: [makeB, promise] }],
      [...bExists, "--risk-level", "high", "--approval-policy", "none"],
    );
    expect(json).toMatchObject({ reason_code: "completion_verified", state: "completed" });
  });

  test("in auto mode a drop first gets one review turn by the judge, whose word lets it go on", async () => {
    const folder = scratch();
    const turns = [
      { when: { role: "executor" }, do: [makeB, promise], confidence: 0.3 },
      {
        when: { role: "judge", step: "review" },
        returns: { pass: true, confidence: 0.9, issues: [] },
      },
    ];

    const { json } = await goScripted(folder, turns, [...bExists, "--handoff-mode", "auto"]);
    expect(json).toMatchObject({ reason_code: "completion_verified", state: "completed" });
    expect(roles(folder)).toEqual(["execute", "review"]);
  });

  test("in auto mode a judge that is not sure either leaves it to a person", async () => {
    const folder = scratch();
    const turns = [
      { when: { role: "executor" }, do: [makeB, promise], confidence: 0.3 },
      {
        when: { role: "judge" },
        returns: { pass: true, confidence: 0.2, issues: ["a.ts: unclear"] },
      },
    ];

    const { json } = await goScripted(folder, turns, [...bExists, "--handoff-mode", "auto"]);
    expect(json).toMatchObject({
      result: "FAIL",
      reason_code: "confidence_drop_requires_handoff",
      state: "paused",
    });
  });

  test("in auto mode a judge that rejects the work sends it back, though every check passes", async () => {
    const folder = scratch();
    const turns = [
      { when: { role: "executor", attempt: 1 }, do: [makeB, promise], confidence: 0.3 },
      {
        when: { role: "judge" },
        returns: { pass: false, confidence: 0.9, issues: ["src/b.txt: too short"] },
      },
      {
        when: { role: "executor" },
        do: [{ append: { path: "src/b.txt", text: "more\n" } }, promise],
        confidence: 0.9,
      },
    ];

    const { json } = await goScripted(folder, turns, [...bExists, "--handoff-mode", "auto"]);
    expect(json).toMatchObject({ reason_code: "completion_verified", state: "completed" });
    expect(roles(folder)).toEqual(["execute", "review", "execute"]);
    expect(git(folder, "show", "HEAD:src/b.txt")).toBe("b\nmore");
  });
});

describe.concurrent("approval", () => {
  test("required-before-execute: no turn begins before a person approves, then it runs", async () => {
    const folder = scratch();
    const { code, json } = await goScripted(
      folder,
      [{ do: [makeB, promise] }],
      [...bExists, "--approval-policy", "required-before-execute"],
    );
    expect(json).toMatchObject({
      result: "WARN",
      reason_code: "approval_required",
      state: "paused",
    });

    expect(code).toBe(0);
    expect(roles(folder)).toEqual([]);
    const inbox = await autopilot(folder, ["inbox", "--json"]);
    expect(JSON.stringify(inbox.json)).toContain("Execute this objective?");
    const approved = await autopilot(folder, ["approve", "--json"]);
    expect(approved.json).toMatchObject({ result: "PASS", reason_code: "block_answered" });
    expect(eventsOf(folder, "block_answered")).toMatchObject([
      { answer: "A", actor: expect.stringMatching(/^operator:./) as string },
    ]);

    const resumed = await autopilot(folder, ["resume", "--json"]);
    expect(resumed.json).toMatchObject({ reason_code: "completion_verified", state: "completed" });
  });

  test("required-before-execute refused: the run is stopped and nothing was executed", async () => {
    const folder = scratch();
    await goScripted(
      folder,
      [{ do: [makeB, promise] }],
      [...bExists, "--approval-policy", "required-before-execute"],
    );

    const wrong = await autopilot(folder, ["answer", "maybe", "--json"]);
    expect(wrong).toMatchObject({ code: 1 });
    expect(wrong.json.remediation.length).toBeGreaterThan(0);
    await autopilot(folder, ["answer", "b", "--json"]);
    const resumed = await autopilot(folder, ["resume", "--json"]);
    expect(resumed.json).toMatchObject({
      result: "FAIL",
      reason_code: "operator_stopped",
      state: "stopped",
    });

    expect(roles(folder)).toEqual([]);
  });

  aFew(1).each([
    ["required-before-merge", ["--approval-policy", "required-before-merge"]],
    ["risk level high", ["--risk-level", "high"]],
  ])("%s: verified work waits for approval and lands only then", async (_what, args) => {
    const folder = scratch();
    const before = git(folder, "rev-parse", "HEAD");
    const { json } = await goScripted(folder, [{ do: [makeB, promise] }], [...bExists, ...args]);
    expect(json).toMatchObject({
      result: "WARN",
      reason_code: "approval_required",
      state: "paused",
    });

    expect(git(folder, "rev-parse", "HEAD")).toBe(before);
    await autopilot(folder, ["approve", "--json"]);
    const resumed = await autopilot(folder, ["resume", "--json"]);
    expect(resumed.json).toMatchObject({ reason_code: "completion_verified", state: "completed" });
    expect(existsSync(join(folder, "src/b.txt"))).toBe(true);
  });

  test("required-before-merge refused: completed, and the work stays on its branch", async () => {
    const folder = scratch();
    const before = git(folder, "rev-parse", "HEAD");

    const { json } = await goScripted(
      folder,
      [{ do: [makeB, promise] }],
      [...bExists, "--approval-policy", "required-before-merge"],
    );
    await autopilot(folder, ["answer", "B", "--json"]);
    const resumed = await autopilot(folder, ["resume", "--json"]);
    expect(resumed.json).toMatchObject({ state: "completed", verdict: "verified" });
    expect(git(folder, "rev-parse", "HEAD")).toBe(before);
    expect(git(folder, "show", `autopilot/${json.run_id}:src/b.txt`)).toBe("b");
  });
});
