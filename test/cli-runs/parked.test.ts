// A run whose provider would not answer: parked, heard from other terminals, and gone on by itself.

import { describe, expect, test } from "vitest";
import {
  autopilot,
  begin,
  eventsOf,
  goScripted,
  goArgs,
  scripted,
  until,
} from "../support/autopilot.ts";
import { git, scratchCheckedOnce as scratch } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";

const bExists = ["--done-criteria", "b is there :: test -f src/b.txt"];
const work = {
  do: [{ write: { path: "src/b.txt", text: "b\n" } }, { say: "<promise>DONE</promise>" }],
};
const limitedUntil = (at: Date) => ({
  do: [{ error: { code: 429, message: `usage limit reached, resets at ${at.toISOString()}` } }],
});
/** Counted from when it is said, however long a busy machine takes to get there. */
const limitedFor = (seconds: number) => ({
  do: [{ error: { code: 429, message: `usage limit reached, try again in ${seconds} seconds` } }],
});
const soon = (ms: number) => new Date(Date.now() + ms);

describe.concurrent("a run whose role names agents in order", () => {
  const script = (folder: string, name: string, turns: readonly object[]): string => {
    const [, agent = ""] = scripted(folder, turns, name);
    return agent;
  };

  const go = (folder: string, agents: string): ReturnType<typeof autopilot> =>
    autopilot(folder, [
      "go",
      "make b",
      "--yes",
      "--json",
      "--isolation",
      "clone",
      "--agent",
      agents,
      ...bExists,
    ]);

  test("goes on with the next at a provider's limit, and with the first again at its reset", async () => {
    const folder = scratch();
    const first = script(folder, "first", [limitedFor(10), { ...work, repeat: 0 }]);
    const second = script(folder, "second", [
      { do: [{ run: "sleep 11" }, { write: { path: "src/c.txt", text: "c\n" } }] },
    ]);

    const ended = await go(folder, `${first},${second}`);
    expect(ended.json, ended.err.slice(-2000)).toMatchObject({
      result: "PASS",
      state: "completed",
    });

    expect(
      eventsOf(folder, "agent_switched").map(({ until: reported }) => reported !== undefined),
    ).toEqual([true, false]);

    expect(eventsOf(folder, "run_resumed")).toMatchObject([
      { actor: "system", reason_code: "agent_switched" },
    ]);

    expect(git(folder, "ls-tree", "-r", "--name-only", "HEAD").split("\n")).toEqual(
      expect.arrayContaining(["src/b.txt", "src/c.txt"]),
    );
  });

  test("waits where all of them are at their limits, and a refused key lets nobody else go on", async () => {
    const [folder, other] = [scratch(), scratch()];
    const limited = limitedUntil(soon(3_600_000));

    const { child, ended } = begin(folder, [
      "go",
      "make b",
      "--yes",
      "--json",
      "--isolation",
      "clone",
      "--agent",
      `${script(folder, "first", [limited])},${script(folder, "second", [limited, limited])}`,
      ...bExists,
    ]);

    await until(
      "both to be at their limits",
      () => eventsOf(folder, "step_interrupted").length === 2,
    );

    await until("the run to park", () => eventsOf(folder, "run_paused").length === 2);
    child.kill("SIGINT");
    await ended;
    expect(eventsOf(folder, "agent_switched")).toHaveLength(1);
    const refused = { do: [{ error: { code: 401, message: "invalid api key" } }] };
    await go(
      other,
      `${script(other, "first", [refused])},${script(other, "second", [work, work])}`,
    );

    expect(eventsOf(other, "agent_switched")).toEqual([]);
  });

  test("names each agent once", async () => {
    const folder = scratch();
    const one = script(folder, "first", [work]);
    expect((await go(folder, `${one},${one}`)).json).toMatchObject({
      reason_code: "agent_unavailable",
      message: expect.stringContaining("twice") as string,
    });
  });
});

describe.concurrent("a run parked at its provider's limit", () => {
  test("says until when, waits, goes on by itself, and nothing is counted against the agent", async () => {
    const folder = scratch();
    const { child, ended } = begin(
      folder,
      goArgs(folder, [limitedFor(20)], [...bExists, "--max-cycles", "1"]),
    );

    await until("the run to park", () => eventsOf(folder, "run_paused").length > 0);
    const [interrupted] = eventsOf(folder, "step_interrupted");
    expect(interrupted).toMatchObject({
      by: "provider",
      fault: "limit",
      reason_code: "provider_limit_reached",
    });

    const waitMs =
      Date.parse(String(interrupted?.["until"])) - Date.parse(String(interrupted?.["ts"]));
    expect([waitMs > 0, waitMs <= 20_000]).toEqual([true, true]);
    expect((await autopilot(folder, ["status", "--json"])).json).toMatchObject({
      state: "paused",
      reason_code: "provider_limit_reached",
    });

    await until("the run to go on", () => eventsOf(folder, "run_resumed").length > 0);
    expect(eventsOf(folder, "run_resumed")[0]).toMatchObject({
      actor: "system",
      reason_code: "provider_reset",
    });

    child.kill("SIGINT");
    await ended;
    expect(eventsOf(folder, "step_failed")).toEqual([]);
  });

  test("can be stopped from another terminal while it waits", async () => {
    const folder = scratch();
    const { ended } = begin(folder, goArgs(folder, [limitedUntil(soon(3_600_000))], bExists));
    await until("the run to park", () => eventsOf(folder, "run_paused").length > 0);
    const stopped = await autopilot(folder, ["stop", "--json"]);
    expect(stopped.json).toMatchObject({ state: "stopped" });
    expect((await ended).json).toMatchObject({ state: "stopped" });
  });

  test("a pause asked for while it waits keeps it from going on", async () => {
    const folder = scratch();
    const { ended } = begin(folder, goArgs(folder, [limitedUntil(soon(3_600_000))], bExists));
    await until("the run to park", () => eventsOf(folder, "run_paused").length > 0);
    await autopilot(folder, ["pause", "--json"]);
    expect((await ended).json).toMatchObject({
      state: "paused",
      reason_code: "provider_limit_reached",
    });
  });

  test("a provider that is out of order is told apart from one whose limit is used up, and a refused call costs nothing", async () => {
    const folder = scratch();
    const broken = { do: [{ error: { code: 500, message: "Internal server error" } }] };
    const { json } = await goScripted(folder, [broken], bExists, {
      env: { AUTOPILOT_ON_LIMIT: "never" },
    });
    expect(json).toMatchObject({ result: "FAIL", reason_code: "provider_failed", state: "paused" });
    expect(eventsOf(folder, "step_interrupted")).toMatchObject([
      { by: "provider", fault: "service" },
    ]);

    expect(eventsOf(folder, "step_interrupted")[0]).not.toHaveProperty("usage");
    const { counters } = (await autopilot(folder, ["budget", "--json"])).json["budget"] as {
      readonly counters: Record<string, number>;
    };
    expect([counters["tokens"], counters["calls"]]).toEqual([0, 0]);
    expect(eventsOf(folder, "step_failed")).toEqual([]);
  });

  longTest(
    "stays paused where the policy says never",
    "test/cli-runs/odd-agents.test.ts › a provider's limit pauses with its own reason, keeps the attempt's number, and resume plays the turn again",
    async () => {
      const folder = scratch();
      const { json } = await goScripted(folder, [limitedUntil(soon(3_600_000))], bExists, {
        env: { AUTOPILOT_ON_LIMIT: "never" },
      });
      expect(json).toMatchObject({
        result: "FAIL",
        reason_code: "provider_limit_reached",
        state: "paused",
      });

      expect(json.message).toContain("resets at");
    },
  );
});

longTest(
  "an agent's question waits for a person, and the answer reaches the next attempt",
  "test/cli-runs/own-flow.test.ts › questions of a child, of its flow and of its agent, wait in its parent's inbox; answered, the same child goes on and pays once",
  async () => {
    const folder = scratch();
    const asking = {
      when: { attempt: 1 },
      do: [{ ask: "Which port?" }, { say: "I need to know the port." }],
    };

    const { json } = await goScripted(folder, [asking, { ...work, when: { attempt: 2 } }], bExists);
    expect(json).toMatchObject({
      result: "WARN",
      reason_code: "human_block_open",
      state: "paused",
    });

    expect((await autopilot(folder, ["inbox", "--json"])).out).toContain("Which port?");
    const answered = await autopilot(folder, ["answer", "8080", "--json"]);
    expect(answered.json).toMatchObject({ result: "PASS" });
    const resumed = await autopilot(folder, ["resume", "--json"]);
    expect(resumed.json).toMatchObject({ reason_code: "completion_verified" });
    expect(eventsOf(folder, "turn_ended")[0]).toMatchObject({ question: "Which port?" });
  },
);
