// Waves of tasks in a flow of one's own: five agents side by side, each on its own files, and what
// a bad list comes to.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  autopilot,
  begin,
  eventsOf,
  goScripted,
  goArgs,
  journal,
  processesOf,
  until,
  waitsFor,
} from "../support/autopilot.ts";
import { git, scratchCheckedOnce as scratch, write } from "../support/scratch-repository.ts";

const flow = `flow: waves
version: 1
about: Does the tasks of a list side by side.
phases:
  - id: build
    steps:
      - id: do
        tasks:
          read: tasks_file
          from: plan/tasks.yaml
          parallel: 5
          failed: finish_wave
          each:
            - { id: make, agent: executor, prompt: make.md, proof: [{ file: "out/{task}.txt", non_empty: true, fresh: true }] }
        otherwise: [{ end: failed, because: outcome }]
      - { id: prove, check: [criteria, "test -d out"] }
after:
  - id: land
    steps: [{ id: merge, run: land }]
`;
const names = ["a", "b", "c", "d", "e"];
const list = [
  ...names.map((id) => ({ id, files: [`out/${id}.txt`], title: `make ${id}` })),
  { id: "last", files: ["out/last.txt"], after: names },
];
const asYaml = (tasks: readonly object[]): string =>
  tasks.map((task) => `- ${JSON.stringify(task)}\n`).join("");
const makes = (id: string, ...more: readonly object[]) => ({
  when: { task: id },
  do: [{ write: { path: `out/${id}.txt`, text: `${id}\n` } }, ...more],
});

function place(tasks: string): string {
  const folder = scratch({ files: { "plan/tasks.yaml": tasks } });
  write(folder, {
    ".autopilot/flows/waves/flow.yaml": flow,
    ".autopilot/flows/waves/prompts/make.md": "Do task {task} of plan/tasks.yaml for: {goal}\n",
  });

  return folder;
}

/** The most agents' turns that were open at one moment. */
function sideBySide(folder: string): number {
  const open = new Set<unknown>();
  let most = 0;

  for (const { event, kind, attempt } of journal(folder)) {
    if (event === "step_started" && kind === "agent") open.add(attempt);
    if (event === "turn_ended") open.delete(attempt);
    most = Math.max(most, open.size);
  }

  return most;
}

describe.concurrent("tasks", () => {
  test("five tasks are done side by side, what comes after them later, each in a commit of its own, and all of it lands", async () => {
    const folder = place(asYaml(list));
    const begun = (id: string): string => join(dirname(folder), `begun-${id}`);
    const meets = (id: string) =>
      makes(id, { run: `touch '${begun(id)}'` }, waitsFor(...names.map(begun)));

    const { json } = await goScripted(
      folder,
      [...names.map(meets), makes("last")],
      ["--flow", "waves", "--done-criteria", "all :: test -f out/last.txt && test -f out/e.txt"],
    );
    expect(json).toMatchObject({ result: "PASS", state: "completed", verdict: "verified" });
    expect(eventsOf(folder, "tasks_read")).toMatchObject([
      { waves: [names.map((id) => ({ id })), [{ id: "last" }]], left: [] },
    ]);

    expect(sideBySide(folder)).toBe(5);
    expect(eventsOf(folder, "task_completed")).toHaveLength(6);
    expect(eventsOf(folder, "changes_applied")).toHaveLength(6);
    expect(git(folder, "ls-tree", "--name-only", "HEAD", "out/").split("\n")).toEqual(
      [...names, "last"].map((id) => `out/${id}.txt`),
    );
  });

  test("a task that leaves no proof fails its wave: the later ones are not begun, and the run pauses", async () => {
    const folder = place(asYaml(list));
    const { json } = await goScripted(
      folder,
      names.filter((id) => id !== "c").map((id) => makes(id)),
      ["--flow", "waves"],
    );
    expect(json).toMatchObject({ result: "FAIL", reason_code: "phase_failed", state: "paused" });
    expect(eventsOf(folder, "task_failed")).toHaveLength(1);
    const done = eventsOf(folder, "step_failed").find(({ attempt }) =>
      String(attempt).endsWith("/do#1"),
    );
    expect(done).toMatchObject({ facts: { done: 4, failed: 1, not_begun: 1, failed_tasks: "c" } });
    expect(existsSync(join(folder, "out"))).toBe(false); // nothing lands
  });

  test("kill -9 while five tasks are under way: resume plays only what was in flight, and the end is the same", async () => {
    const folder = place(asYaml(list));
    const turns = [...names, "last"].map((id) => makes(id, { sleep: id === "a" ? 0 : 1500 }));
    const { child, ended } = begin(folder, goArgs(folder, turns, ["--flow", "waves"]));
    await until(
      "the first task's end",
      () =>
        eventsOf(folder, "task_completed").length >= 1 &&
        eventsOf(folder, "session_opened").length >= 3,
      60_000,
    );

    child.kill("SIGKILL");
    await ended;
    const paidBefore = eventsOf(folder, "turn_ended").length;
    const { json } = await autopilot(folder, ["resume", "--json"]);
    expect(json).toMatchObject({ state: "completed" });
    expect(eventsOf(folder, "turn_ended")).toHaveLength(6); // what was paid for is never bought again
    expect(paidBefore).toBeLessThan(6);
    expect(git(folder, "ls-tree", "--name-only", "HEAD", "out/").split("\n")).toHaveLength(6);
    expect(processesOf(String(json.run_id), folder)).toEqual([]);
  });

  test.each([
    ["is not there", null, /plan\/tasks\.yaml: found no regular file/],
    ["has a word nobody knows", "- { id: a, fiels: [x] }\n", /plan\/tasks\.yaml:1.*fiels/],
    [
      "goes in a ring",
      "- { id: a, after: [b] }\n- { id: b, after: [a] }\n",
      /wait for each other: a, b/,
    ],
  ])("a list that %s fails the step and says where", async (_what, text, why) => {
    const folder = place(text ?? "");
    if (text === null) {
      git(folder, "rm", "-q", "plan/tasks.yaml");
      git(folder, "commit", "-q", "-m", "no list");
    }

    const { json } = await goScripted(folder, [], ["--flow", "waves"]);
    expect(json).toMatchObject({ result: "FAIL", state: "paused" });
    expect(eventsOf(folder, "step_failed")).toMatchObject([
      { reason_code: "tasks_invalid", detail: expect.stringMatching(why) as string },
    ]);

    expect(eventsOf(folder, "turn_ended")).toEqual([]);
  });

  test("lint wants a file beside the reader tasks_file, and no proof on a tasks step", async () => {
    const folder = place("[]\n");
    write(folder, {
      ".autopilot/flows/waves/flow.yaml": flow
        .replace("          from: plan/tasks.yaml\n", "")
        .replace("        otherwise:", "        proof: [{ any: 'out/*' }]\n        otherwise:"),
    });

    const { json } = await autopilot(folder, ["flow", "lint", "waves", "--json"]);
    expect(json).toMatchObject({ result: "FAIL", reason_code: "flow_invalid" });
    expect((json["findings"] as { rule: string }[]).map(({ rule }) => rule)).toEqual(
      expect.arrayContaining(["tasks_without_file", "word_out_of_place"]),
    );
  });
});
