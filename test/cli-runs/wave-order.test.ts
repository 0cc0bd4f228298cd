// Tasks of one wave work side by side; what they change is committed in the wave's order, whoever
// is done first.

import { describe, expect, test } from "vitest";
import { autopilot, begin, eventsOf, gateBeside, goArgs, until } from "../support/autopilot.ts";
import { git, scratchCheckedOnce as scratch, write } from "../support/scratch-repository.ts";

const flow = `flow: waves
version: 1
about: Does two tasks side by side.
phases:
  - id: build
    steps:
      - id: do
        tasks:
          read: tasks_file
          from: plan/tasks.yaml
          parallel: 2
          failed: go_on
          each:
            - { id: make, agent: executor, prompt: make.md, retry: 1, proof: [{ file: "out/{task}.txt", non_empty: true }] }
        otherwise: [{ end: failed, because: outcome }]
      - { id: prove, check: ["test -d out"] }
after:
  - id: land
    steps: [{ id: merge, run: land }]
`;
const list = `- { id: first, files: [out/first.txt] }\n- { id: second, files: [out/second.txt] }\n`;

function place(): string {
  const folder = scratch({ files: { "plan/tasks.yaml": list, "shared.txt": "as it was\n" } });
  write(folder, {
    ".autopilot/flows/waves/flow.yaml": flow,
    ".autopilot/flows/waves/prompts/make.md": "Do task {task} for: {goal}\n",
  });

  return folder;
}

const made = (task: string, ...before: readonly object[]) => ({
  when: { task },
  do: [...before, { write: { path: `out/${task}.txt`, text: `${task}\n` } }],
});
/** The tasks whose event this is, in the journal's order. */
const orderOf = (folder: string, event: string): readonly string[] =>
  eventsOf(folder, event).flatMap(
    ({ attempt }) => /\/(first|second)@/.exec(String(attempt))?.[1] ?? [],
  );
/**
 * Starts a run whose first task works only when the gate is open, and waits for the end of the
 * second's turn.
 */
async function beginFirstHeld(folder: string, turns: (held: object) => readonly object[]) {
  const gate = gateBeside(folder);
  const begun = begin(folder, goArgs(folder, turns(gate.waits), ["--flow", "waves"]));
  await until("the second task's turn", () => orderOf(folder, "turn_ended").includes("second"));

  return { ...begun, letFirstWork: gate.open };
}

const committed = (folder: string): readonly string[] =>
  git(folder, "log", "--reverse", "--format=", "--name-only", "HEAD", "--", "out")
    .split("\n")
    .filter((line) => line !== "");

describe.concurrent("a wave's order", () => {
  test("the second task is done long before the first, and committed after it", async () => {
    const folder = place();
    const { ended, letFirstWork } = await beginFirstHeld(folder, (held) => [
      made("first", held),
      made("second"),
    ]);
    letFirstWork();
    expect((await ended).json).toMatchObject({ state: "completed" });
    expect(orderOf(folder, "turn_ended")).toEqual(["second", "first"]); // it did end first
    expect(orderOf(folder, "changes_applied")).toEqual(["first", "second"]);
    expect(committed(folder)).toEqual(["out/first.txt", "out/second.txt"]);
  });

  test("two that change one file: the later fails as a conflict, and is done again on what the earlier left", async () => {
    const folder = place();
    const touches = (task: string) => ({ write: { path: "shared.txt", text: `by ${task}\n` } });

    const { ended, letFirstWork } = await beginFirstHeld(folder, (held) => [
      made("first", held, touches("first")),
      made("second", touches("second")),
      {
        when: { task: "second", attempt: 2 },
        do: [{ run: "mkdir -p out && cat shared.txt > out/second.txt" }],
      },
    ]);
    letFirstWork();
    expect((await ended).json).toMatchObject({ state: "completed" });
    expect(eventsOf(folder, "step_failed")).toMatchObject([
      {
        attempt: expect.stringContaining("/second@1/make#1") as string,
        reason_code: "merge_conflict",
        detail: expect.stringContaining("shared.txt") as string,
      },
    ]);

    expect(orderOf(folder, "changes_applied")).toEqual(["first", "second"]);
    expect(git(folder, "show", "HEAD:out/second.txt")).toBe("by first");
    expect(git(folder, "show", "HEAD:shared.txt")).toBe("by first");
  });

  test("kill -9 while the second waits for the first: its paid turn is kept, and the order is the same", async () => {
    const folder = place();
    const { child, ended, letFirstWork } = await beginFirstHeld(folder, (held) => [
      made("first", held),
      made("second"),
    ]);
    child.kill("SIGKILL");
    await ended;
    letFirstWork();
    expect(orderOf(folder, "changes_applied")).toEqual([]); // it was waiting
    const { json } = await autopilot(folder, ["resume", "--json"]);
    expect(json).toMatchObject({ state: "completed" });
    expect(orderOf(folder, "turn_ended")).toEqual(["second", "first"]);
    expect(orderOf(folder, "changes_applied")).toEqual(["first", "second"]);
    expect(committed(folder)).toEqual(["out/first.txt", "out/second.txt"]);
  });

  test("a pause while the second waits ends with the first's turn; resumed, nothing is done twice", async () => {
    const folder = place();
    const { ended, letFirstWork } = await beginFirstHeld(folder, (held) => [
      made("first", held),
      made("second"),
    ]);

    const asked = await autopilot(folder, ["pause", "--json"]);
    letFirstWork();
    expect(asked.json).toMatchObject({ result: "PASS" });
    expect((await ended).json).toMatchObject({ reason_code: "operator_paused", state: "paused" });
    const { json } = await autopilot(folder, ["resume", "--json"]);
    expect(json).toMatchObject({ state: "completed" });
    expect(orderOf(folder, "turn_ended")).toEqual(["second", "first"]);
    expect(orderOf(folder, "changes_applied")).toEqual(["first", "second"]);
  });
});
