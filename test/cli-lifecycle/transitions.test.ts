// The lifecycle of a run, as its commands and its journal tell it.

import { userInfo } from "node:os";
import { beforeAll, describe, expect, test } from "vitest";
import { autopilot, begin, type Entry, eventsOf, journal, until } from "../support/autopilot.ts";
import { scratchCheckedOnce as scratch } from "../support/scratch-repository.ts";
import { inTwoTurns, makesOut, objective } from "./stories.ts";

type Change = {
  readonly event: string;
  readonly from: unknown;
  readonly to: unknown;
  readonly reason: string;
  readonly actor: string;
};

const operator = `operator:${userInfo().username}`;
const states = ["draft", "running", "paused", "stopped", "completed"] as const;
type State = (typeof states)[number];

/** A run in each state, none of them with a process at work. */
const folders = new Map<State, string>();
const folderOf = (state: State): string => folders.get(state) ?? "";

beforeAll(async () => {
  await Promise.all(
    states.map(async (state) => {
      const folder = scratch();
      folders.set(state, folder);
      await autopilot(folder, [
        "start",
        ...objective(folder, state === "completed" ? makesOut : inTwoTurns),
      ]);

      if (state === "draft") return;
      await autopilot(folder, ["go", "--yes", "--json", "--max-cycles", "1"]);
      if (state === "paused") await autopilot(folder, ["pause", "--json"]);
      if (state === "stopped") await autopilot(folder, ["stop", "--json", "--reason", "enough"]);
    }),
  );
});

async function changesOf(folder: string): Promise<readonly Change[]> {
  const { json } = await autopilot(folder, ["log", "--json"]);
  const changes = (json["events"] as readonly Entry[]).filter((entry) => "from_state" in entry);
  for (const entry of changes) {
    expect(entry["ts"], entry.event).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
    expect(entry.actor, entry.event).toMatch(/^(system|operator:.+|agent:.+)$/);
    expect(entry.reason_code, entry.event).not.toBe("");
  }

  return changes.map((entry) => ({
    event: entry.event,
    from: entry["from_state"],
    to: entry["to_state"],
    reason: entry.reason_code,
    actor: entry.actor,
  }));
}

describe("the six transitions of the lifecycle", () => {
  test("draft to running, running to paused, paused to running and running to completed are each one event with time, actor, reason and both states", async () => {
    const folder = scratch();
    await autopilot(folder, ["start", ...objective(folder, inTwoTurns)]);
    const went = await autopilot(folder, ["go", "--yes", "--json", "--max-cycles", "1"]);
    expect({
      code: went.code,
      result: went.json.result,
      reason: went.json.reason_code,
      state: went.json.state,
    }).toEqual({
      code: 0,
      result: "WARN",
      reason: "cycle_cap_reached",
      state: "running",
    });

    const paused = await autopilot(folder, ["pause", "--json"]);
    expect({ code: paused.code, state: paused.json.state }).toEqual({ code: 0, state: "paused" });
    const resumed = await autopilot(folder, ["resume", "--json"]);
    expect({
      code: resumed.code,
      reason: resumed.json.reason_code,
      state: resumed.json.state,
    }).toEqual({
      code: 0,
      reason: "completion_verified",
      state: "completed",
    });

    expect(await changesOf(folder)).toEqual([
      {
        event: "run_started",
        from: "draft",
        to: "running",
        reason: "run_started",
        actor: operator,
      },
      {
        event: "run_paused",
        from: "running",
        to: "paused",
        reason: "operator_paused",
        actor: operator,
      },
      {
        event: "run_resumed",
        from: "paused",
        to: "running",
        reason: "operator_resumed",
        actor: operator,
      },
      {
        event: "run_completed",
        from: "running",
        to: "completed",
        reason: "completion_verified",
        actor: "system",
      },
    ]);
  });

  test("running to stopped is the operator's, with the reason given", async () => {
    const changes = await changesOf(folderOf("stopped"));
    expect(changes.at(-1)).toEqual({
      event: "run_stopped",
      from: "running",
      to: "stopped",
      reason: "operator_stopped",
      actor: operator,
    });

    expect(eventsOf(folderOf("stopped"), "run_stopped")[0]?.["detail"]).toBe("enough");
  });

  test("paused to stopped happens, and stop itself passes", async () => {
    const folder = scratch();
    await autopilot(folder, ["go", ...objective(folder, inTwoTurns), "--yes", "--max-cycles", "1"]);
    await autopilot(folder, ["pause", "--json"]);
    const { code, json } = await autopilot(folder, ["stop", "--json"]);
    expect({ code, result: json.result, state: json.state }).toEqual({
      code: 0,
      result: "PASS",
      state: "stopped",
    });

    expect((await changesOf(folder)).at(-1)).toMatchObject({
      from: "paused",
      to: "stopped",
      actor: operator,
    });
  });

  test("pause and stop reach a run that another process works on, and its own go answers with what became of it", async () => {
    const folder = scratch();
    const at = begin(folder, ["go", ...objective(folder, [{ do: [{ hang: true }] }]), "--yes"]);
    await until("the agent's turn", () => eventsOf(folder, "session_opened").length > 0);
    const second = await autopilot(folder, ["go", "--json"]);
    expect({ code: second.code, reason: second.json.reason_code, pid: second.json["pid"] }).toEqual(
      {
        code: 1,
        reason: "run_locked",
        pid: at.child.pid,
      },
    );

    expect((await autopilot(folder, ["status", "--json"])).json).toMatchObject({
      state: "running",
      reason_code: "run_in_progress",
    });

    const paused = await autopilot(folder, ["pause", "--now", "--json"]);
    expect({ code: paused.code, state: paused.json.state }).toEqual({ code: 0, state: "paused" });
    const went = await at.ended;
    expect({ code: went.code, result: went.json.result, reason: went.json.reason_code }).toEqual({
      code: 0,
      result: "WARN",
      reason: "operator_paused",
    });

    const again = begin(folder, ["resume", "--json"]);
    await until("the turn again", () => eventsOf(folder, "session_opened").length > 1);
    const stopped = await autopilot(folder, ["stop", "--json"]);
    expect({ code: stopped.code, state: stopped.json.state }).toEqual({
      code: 0,
      state: "stopped",
    });

    const ended = await again.ended;
    expect({
      code: ended.code,
      result: ended.json.result,
      reason: ended.json.reason_code,
      state: ended.json.state,
    }).toEqual({
      code: 1,
      result: "FAIL",
      reason: "operator_stopped",
      state: "stopped",
    });
  });

  test("a run that says running and has no owner is taken up by go without a transition", async () => {
    const folder = scratch();
    await autopilot(folder, ["go", ...objective(folder, inTwoTurns), "--yes", "--max-cycles", "1"]);
    expect((await autopilot(folder, ["go", "--json"])).json.state).toBe("completed");
    expect(
      (await changesOf(folder)).map(({ from, to }) => `${String(from)} ${String(to)}`),
    ).toEqual(["draft running", "running completed"]);
  });
});

/** Every verb that a state refuses, and from where it would be possible. */
const refusals: readonly (readonly [
  verb: string,
  words: readonly string[],
  allowed: readonly State[],
])[] = [
  ["go", ["go", "--run", "RUN"], ["draft", "running", "paused"]],
  ["pause", ["pause"], ["running"]],
  ["pause --now", ["pause", "--now"], ["running"]],
  ["resume", ["resume"], ["paused", "running"]],
  ["stop", ["stop"], ["running", "paused"]],
  ["ack", ["ack", "0123456789ab"], ["draft"]],
  ["budget raise", ["budget", "raise", "tokens=+1k"], ["running", "paused"]],
];

describe.each(refusals)("what every other state answers to", (verb, args, allowed) => {
  test.each(states.filter((state) => !allowed.includes(state)))(
    `${verb} is refused with invalid_state_transition from %s, and nothing is written down`,
    async (state) => {
      const folder = folderOf(state);
      const before = journal(folder).length;
      const run = (await autopilot(folder, ["status", "--json"])).json.run_id ?? "";
      const { code, json } = await autopilot(folder, [
        ...args.map((word) => (word === "RUN" ? run : word)),
        "--json",
      ]);

      expect({
        code,
        result: json.result,
        reason: json.reason_code,
        state: json.state,
        run: json.run_id,
      }).toEqual({
        code: 1,
        result: "FAIL",
        reason: "invalid_state_transition",
        state,
        run,
      });

      expect((json["allowed_from"] as string[]).toSorted()).toEqual(allowed.toSorted());
      expect(json.remediation.length).toBeGreaterThan(0);
      expect(journal(folder)).toHaveLength(before);
    },
  );
});

describe("where there is no run", () => {
  test("status passes, idle, with every field of status and exit 0", async () => {
    const { code, json } = await autopilot(scratch(), ["status", "--json"]);
    expect({ code, result: json.result, state: json.state, run: json.run_id }).toEqual({
      code: 0,
      result: "PASS",
      state: "idle",
      run: null,
    });

    for (const field of [
      "objective",
      "budget",
      "progress",
      "isolation",
      "verdict",
      "next_actions",
    ]) {
      expect(Object.keys({ ...json }), field).toContain(field);
    }
  });

  test.each([
    "pause",
    "resume",
    "stop",
    "report",
    "log",
    "watch",
    "inbox",
    "budget",
    "verify",
    "approve",
  ])("%s answers run_missing, exit 1", async (verb) => {
    const { code, json } = await autopilot(scratch(), [verb, "--json"]);
    expect({
      code,
      result: json.result,
      reason: json.reason_code,
      state: json.state,
      run: json.run_id,
    }).toEqual({
      code: 1,
      result: "FAIL",
      reason: "run_missing",
      state: "idle",
      run: null,
    });

    expect(json.remediation.length).toBeGreaterThan(0);
  });

  test("a run that is named and not there is run_missing for status too", async () => {
    for (const run of ["run-2020-01-01-000000", "../../etc/passwd", "current"]) {
      const { code, json } = await autopilot(scratch(), ["status", "--run", run, "--json"]);
      expect({ code, reason: json.reason_code }).toEqual({ code: 1, reason: "run_missing" });
    }
  });
});
