// Pause, stop, signals and deaths, from outside, while an agent hangs and will not hear. Afterwards
// no process of the run is alive.

import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  autopilot,
  begin,
  type Ended,
  eventsOf,
  gateBeside,
  goArgs,
  journal,
  processesOf,
  until,
} from "../support/autopilot.ts";
import {
  git,
  scratchCheckedOnce as scratch,
  scratchFolder,
  write,
} from "../support/scratch-repository.ts";
import { once } from "../support/rewind.ts";
import { aFew } from "../support/sampled.ts";

const promise = { say: "<promise>DONE</promise>" };
const makeB = { write: { path: "src/b.txt", text: "b\n" } };
const bExists = ["--done-criteria", "b is there :: test -f src/b.txt"];
/**
 * Writes something, leaves a process in its own session behind, hears neither cancel nor TERM, and
 * never answers.
 */
const deaf = {
  do: [
    makeB,
    { run: "setsid sh -c 'trap \"\" TERM HUP INT; sleep 300' >/dev/null 2>&1 & sleep 0.2" },
    { ignore_term: true },
    { say: "hanging" },
    { hang: true },
  ],
  repeat: 0,
};
const honest = { do: [makeB, promise] };

type Working = {
  readonly folder: string;
  readonly run: string;
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
};

/**
 * A run whose agent is in the middle of its turn: the agent lives, and so do two processes it
 * started.
 */
async function working(
  turns: readonly object[] = [deaf],
  atLeast = 3,
  args: readonly string[] = [],
  folder = scratch(),
): Promise<Working> {
  const { child, ended } = begin(folder, goArgs(folder, turns, [...bExists, ...args]));
  const run = await until(
    "the agent's session",
    () => eventsOf(folder, "session_opened").length > 0 && String(journal(folder)[0]?.["run_id"]),
    60_000,
  );
  await until("its processes", () => processesOf(run, folder).length >= atLeast);

  return { folder, run, child, ended };
}

async function measured<Value>(what: string, work: () => Promise<Value>): Promise<Value> {
  const before = performance.now();
  const value = await work();
  console.log(`${what}: ${Math.round(performance.now() - before)} ms`);

  return value;
}

/** The whole process tree is gone at once, not soon. */
const nobodyIsLeft = (run: string, folder: string): void =>
  expect(processesOf(run, folder)).toEqual([]);

describe.concurrent("control from another terminal", () => {
  test("pause --now ends a deaf agent and all it started, and sets the attempt aside", async () => {
    const { folder, run, ended } = await working();
    const paused = await measured("pause --now", () =>
      autopilot(folder, ["pause", "--now", "--json"]),
    );
    expect(paused.json).toMatchObject({
      result: "PASS",
      reason_code: "operator_paused",
      state: "paused",
    });

    nobodyIsLeft(run, folder);
    const answer = await ended;
    expect(answer.json).toMatchObject({
      result: "WARN",
      reason_code: "operator_paused",
      state: "paused",
    });

    expect(answer.code).toBe(0);
    expect(eventsOf(folder, "step_interrupted")).toMatchObject([
      { by: "operator", reason_code: "operator_paused" },
    ]);

    expect(eventsOf(folder, "changes_applied")).toEqual([]);
    expect(git(folder, "status", "--porcelain")).toBe("");
  });

  /** While it works a second go and a resume are tried, then it is stopped. */
  const refusedThenStopped = once(async () => {
    const { folder, run, child, ended } = await working();
    const [go, resume] = [
      await autopilot(folder, ["go", "--json"]),
      await autopilot(folder, ["resume", "--json"]),
    ];

    const other = await autopilot(folder, goArgs(folder, [honest], bExists));
    const stopped = await measured("stop", () =>
      autopilot(folder, ["stop", "--reason", "enough", "--json"]),
    );

    const left = processesOf(run, folder);
    return { folder, pid: child.pid, go, resume, other, stopped, left, answer: await ended };
  });

  test("stop ends a deaf agent and all it started, for good, with the reason in the journal", async () => {
    const { folder, stopped, left, answer } = await refusedThenStopped();
    expect(stopped).toMatchObject({ code: 0 });
    expect(stopped.json).toMatchObject({
      result: "PASS",
      reason_code: "operator_stopped",
      state: "stopped",
    });

    expect(left).toEqual([]);
    expect(answer.json).toMatchObject({
      result: "FAIL",
      reason_code: "operator_stopped",
      state: "stopped",
    });

    expect(answer.code).toBe(1);
    expect(eventsOf(folder, "control_requested")).toMatchObject([
      { control: "stop", detail: "enough" },
    ]);

    expect(eventsOf(folder, "run_stopped")).toMatchObject([
      { from_state: "running", to_state: "stopped" },
    ]);

    for (const verb of ["resume", "pause", "stop"]) {
      const refused = await autopilot(folder, [verb, "--json"]);
      expect(refused.json).toMatchObject({
        result: "FAIL",
        reason_code: "invalid_state_transition",
        state: "stopped",
      });

      expect(refused.json["allowed_from"]).not.toContain("stopped");
    }
  });

  test("plain pause lets the turn end, keeps its work, and resume completes without playing it again", async () => {
    const folder = scratch();
    const gate = gateBeside(folder);

    const { ended } = await working(
      [{ do: [makeB, gate.waits] }, { do: [promise] }],
      1,
      [],
      folder,
    );

    const asked = await autopilot(folder, ["pause", "--json"]);
    expect(asked.json).toMatchObject({ result: "PASS", reason_code: "pause_requested" });
    gate.open();
    const answer = await ended;
    expect(answer.json).toMatchObject({
      result: "WARN",
      reason_code: "operator_paused",
      state: "paused",
    });

    expect(eventsOf(folder, "turn_ended")).toHaveLength(1);
    expect(eventsOf(folder, "changes_applied")).toMatchObject([{ paths: ["src/b.txt"] }]);
    const resumed = await autopilot(folder, ["resume", "--json"]);
    expect(resumed.json).toMatchObject({ reason_code: "completion_verified", state: "completed" });
  });

  test("SIGTERM to the runner pauses the run at once and leaves no process", async () => {
    const { folder, run, child, ended } = await working();
    child.kill("SIGTERM");
    const answer = await measured("SIGTERM", () => ended);
    expect(answer.json).toMatchObject({ reason_code: "operator_paused", state: "paused" });
    nobodyIsLeft(run, folder);
    expect((await autopilot(folder, ["status", "--json"])).json).toMatchObject({
      state: "paused",
      reason_code: "operator_paused",
    });
  });

  test("Ctrl-C lets the turn end, keeps its work and pauses; a hang-up where there is no terminal, as under nohup, changes nothing", async () => {
    const folder = scratch();
    const gate = gateBeside(folder);
    const { child, ended } = await working([{ do: [makeB, gate.waits, promise] }], 1, [], folder);
    child.kill("SIGHUP");
    child.kill("SIGINT");
    await until(
      "the pause to be asked for",
      () => eventsOf(folder, "control_requested").length > 0,
    );

    gate.open();
    expect((await ended).json).toMatchObject({
      result: "WARN",
      reason_code: "operator_paused",
      state: "paused",
    });

    expect(eventsOf(folder, "control_requested")).toMatchObject([{ control: "pause", now: false }]);
    expect(eventsOf(folder, "step_interrupted")).toEqual([]);
    expect(eventsOf(folder, "changes_applied")).toMatchObject([{ paths: ["src/b.txt"] }]);
    const resumed = await autopilot(folder, ["resume", "--json"]);
    expect(resumed.json).toMatchObject({ reason_code: "completion_verified", state: "completed" });
    expect(eventsOf(folder, "turn_ended")).toHaveLength(1);
  });

  test("Ctrl-C twice pauses now, charges what the turn reported, and leaves no process; one resume goes on", async () => {
    const mark = join(scratchFolder(), "hung-once");
    const { folder, run, child, ended } = await working(
      [
        {
          do: [
            { usage: { input: 1000, output: 100 } },
            { run: `[ -e ${mark} ] || { touch ${mark}; sleep 300; }` },
            makeB,
            promise,
          ],
        },
      ],
      2,
    );

    await until("the turn to hang", () => existsSync(mark));
    child.kill("SIGINT");
    await until(
      "the pause to be asked for",
      () => eventsOf(folder, "control_requested").length > 0,
    );

    child.kill("SIGINT");
    expect((await ended).json).toMatchObject({ reason_code: "operator_paused", state: "paused" });
    expect(eventsOf(folder, "step_interrupted")).toMatchObject([
      { by: "operator", usage: { tokens: 1100, source: "reported" } },
    ]);

    await until("the guardian's work", () => processesOf(run, folder).length === 0);
    expect((await autopilot(folder, ["resume", "--json"])).json).toMatchObject({
      reason_code: "completion_verified",
      state: "completed",
    });
  });

  test("an interrupt that comes before the run is in hand is not forgotten", async () => {
    const folder = scratch();
    const { child, ended } = begin(
      folder,
      goArgs(folder, [{ do: [{ sleep: 3000 }] }, honest], bExists),
    );

    await until("the first files", () => existsSync(join(folder, ".autopilot")));
    child.kill("SIGINT");
    expect((await ended).json).toMatchObject({ reason_code: "operator_paused", state: "paused" });
    expect(eventsOf(folder, "changes_applied")).toEqual([]);
  });

  test("kill -9 of the runner leaves no agent alive; resume ends with the tree of an undisturbed run and counts no cycle twice", async () => {
    const mark = join(scratchFolder(), "hung-once");
    const hangsOnce = {
      run: `[ -e ${mark} ] || { touch ${mark}; setsid sh -c 'trap "" TERM; sleep 300' & sleep 300; }`,
    };

    const turns = [{ do: [makeB, { ignore_term: true }, hangsOnce, promise] }];
    const { folder, run, child, ended } = await working(turns);
    child.kill("SIGKILL");
    await ended;
    await until("the guardian's work", () => processesOf(run, folder).length === 0);
    expect((await autopilot(folder, ["status", "--json"])).json).toMatchObject({
      state: "running",
      owner: null,
    });

    const resumed = await autopilot(folder, ["resume", "--json"]);
    expect(resumed.json).toMatchObject({
      result: "PASS",
      reason_code: "completion_verified",
      state: "completed",
    });

    nobodyIsLeft(run, folder);
    const begun = journal(folder).filter(
      ({ event, step }) => event === "step_started" && step === "execute",
    );
    expect(new Set(begun.map(({ attempt }) => attempt)).size).toBe(1);
    expect(
      journal(folder).filter(({ event, step }) => event === "step_started" && step === "pick"),
    ).toHaveLength(1);

    const undisturbed = scratch(); // what an undisturbed run lands: what was there, and src/b.txt
    write(undisturbed, { "src/b.txt": "b\n" });
    git(undisturbed, "add", "-A");
    expect(git(folder, "rev-parse", "HEAD^{tree}")).toBe(git(undisturbed, "write-tree"));
  });

  test("a second go or resume while one works is refused with the first one's pid", async () => {
    const { pid, go, resume, other } = await refusedThenStopped();
    for (const second of [go, resume]) {
      expect(second.json).toMatchObject({ result: "FAIL", reason_code: "run_locked", pid });
    }

    expect(other.json).toMatchObject({ result: "FAIL", reason_code: "run_open" });
  });

  test("pause --now and stop work on a run that a crash left without an owner", async () => {
    const { folder, run, child, ended } = await working();
    child.kill("SIGKILL");
    await ended;
    const paused = await autopilot(folder, ["pause", "--now", "--json"]);
    expect(paused.json).toMatchObject({ result: "PASS", state: "paused" });
    nobodyIsLeft(run, folder);
    const stopped = await autopilot(folder, ["stop", "--json"]);
    expect(stopped.json).toMatchObject({ result: "PASS", state: "stopped" });
    expect(journal(folder).filter(({ event }) => event === "turn_ended")).toEqual([]);
    expect(existsSync(join(folder, "src/b.txt"))).toBe(false);
  });

  test("stop while a check hangs ends the check and all it started", async () => {
    const folder = scratch();
    const args = [
      "--done-criteria",
      "slow :: setsid sleep 300 & trap '' TERM; sleep 300; test -f src/b.txt",
    ];

    const { ended } = begin(folder, goArgs(folder, [honest], args));
    const run = await until(
      "the baseline",
      () => eventsOf(folder, "step_started").length > 0 && String(journal(folder)[0]?.["run_id"]),
      60_000,
    );
    await until("the check's processes", () => processesOf(run, folder).length >= 2);
    const stopped = await measured("stop in a check", () => autopilot(folder, ["stop", "--json"]));
    expect(stopped.json).toMatchObject({ result: "PASS", state: "stopped" });
    nobodyIsLeft(run, folder);
    expect((await ended).json).toMatchObject({ state: "stopped" });
  });

  aFew(1).each([
    ["stop", "stopped"],
    ["pause --now", "paused"],
  ])("%s reaches through to the agent of a child run", async (command, state) => {
    const folder = scratch();
    const flow =
      'flow: parent\nversion: 1\nlands_nothing: true\nphases:\n  - id: call\n    steps:\n      - { id: child, flow: objective }\n      - { id: after, check: ["test -d ."] }\n';
    write(folder, { ".autopilot/flows/parent/flow.yaml": flow });
    const { ended } = begin(folder, goArgs(folder, [deaf], [...bExists, "--flow", "parent"]));
    const run = await until(
      "the parent's journal",
      () => journal(folder)[0]?.["run_id"] as string | undefined,
    );
    await until("the child's processes", () => processesOf(run, folder).length >= 3);
    const answer = await measured(`${command} through a child`, () =>
      autopilot(folder, [...command.split(" "), "--json"]),
    );
    expect(answer.json).toMatchObject({ result: "PASS", state });
    nobodyIsLeft(run, folder);
    expect((await ended).json).toMatchObject({ state });
  });
});
