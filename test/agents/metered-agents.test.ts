import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TurnLimits } from "../../src/agents/turn/turn-limits.ts";
import type { AgentsOptions } from "../../src/agents/open-agents.ts";
import type { TurnRequest } from "../../src/ports/agent.ts";
import { aFew } from "../support/sampled.ts";
import { type FakeMeter, openFakeMeter } from "./fake-meter.ts";
import { alive, countReturn, fixtureAgent, setTable, type Table, until } from "./table.ts";

const key = "sk-of-the-user-0001";
const contains = (text: string): string => expect.stringContaining(text) as string;
let meter: FakeMeter;
let table: Table;

beforeEach(async () => {
  meter = await openFakeMeter();
});
afterEach(async () => {
  expect(alive(`AUTOPILOT_PLACE=${table.place}`)).toEqual([]);
  expect(meter.seen.closed).toBe(meter.seen.opened);
  await table.clear();
  await meter.stop();
});

const set = async (
  limits: Partial<TurnLimits> = {},
  more: Partial<AgentsOptions> = {},
): Promise<void> => {
  table = await setTable(limits, {
    meter,
    env: { PATH: process.env["PATH"], ANTHROPIC_API_KEY: key },
    ...more,
  });
};
const habit = (
  name: string,
  changes: Partial<TurnRequest> = {},
  ...args: readonly string[]
): TurnRequest =>
  table.command(
    [process.execPath, fixtureAgent("metered.mjs"), name, ...args],
    { like: "claude", mode: "full" },
    changes,
  );

describe("an agent behind the meter", () => {
  test("is given a token in the place of the key, and what it used is what the meter counted", async () => {
    await set();
    const result = await table.agents.turn(habit("honest"));
    expect(result).toMatchObject({
      kind: "ended",
      usage: { tokens: 2000, usd: 1, calls: 2, source: "metered" },
    });

    expect(meter.orders[0]).toMatchObject({
      attempt: "1@1/execute#1",
      upstreams: [{ api: "anthropic", key }],
    });

    expect(meter.seen).toMatchObject({ opened: 1, closed: 1 });
  });

  test("that asks again is charged for each prompt once", async () => {
    await set();
    const result = await table.agents.turn(habit("wrong-return", { returns: countReturn }));
    expect(table.asks).toMatchObject([{ ask: 2, tokens: 1000 }]);
    expect(result).toMatchObject({
      kind: "ended",
      says: { count: 3 },
      usage: { tokens: 1000, calls: 1 },
    });
  });

  aFew(2).each([
    ["429", { kind: "cut", by: "provider", fault: "limit" }],
    ["529", { kind: "cut", by: "provider", fault: "service" }],
    ["400", { kind: "cut", by: "provider", fault: "request" }],
    ["401", { kind: "failed", reason: "agent_unavailable", detail: contains("ANTHROPIC_API_KEY") }],
  ])(
    "that says it is done though its last call got %s has not done a turn",
    async (status, expected) => {
      await set();
      expect(await table.agents.turn(habit("fails", {}, status))).toMatchObject(expected);
    },
  );

  test("whose provider says when its limit is lifted is waited for until then", async () => {
    await set();
    const until = "2026-03-10T15:00:00.000Z";
    expect(await table.agents.turn(habit("fails", {}, "429", until))).toMatchObject({
      by: "provider",
      fault: "limit",
      resetAt: until,
    });
  });

  test("that uses up the budget is cut by it, in the meter's words", async () => {
    await set();
    expect(await table.agents.turn(habit("spends"))).toMatchObject({
      kind: "cut",
      by: "budget",
      detail: "The budget of this run is used up.",
      usage: { tokens: 1000, source: "metered" },
    });
  });

  test("that tries a failing provider again in silence gives no sign of life, and the provider is told", async () => {
    await set({ stallMs: 2_000, giveUpMs: 60_000 });
    expect(await table.agents.turn(habit("retries"))).toMatchObject({
      kind: "cut",
      by: "provider",
      fault: "limit",
    });
  });

  aFew(1).each(["retries", "waits"])(
    "that %s where there is no sense in it is ended by the runner",
    async (name) => {
      await set({ giveUpMs: 300 });
      expect(await table.agents.turn(habit(name))).toMatchObject({
        kind: "cut",
        by: "provider",
        fault: "limit",
      });
    },
  );

  test("is not started with a key where there is no meter to hold it", async () => {
    await set({}, { meter: null });
    expect(await table.agents.turn(habit("honest"))).toMatchObject({
      reason: "agent_unavailable",
      detail: contains("no meter"),
    });
  });

  test("is not started where nobody is logged in, and it is said how to", async () => {
    await set({}, { env: { PATH: process.env["PATH"] }, userHome: "/nowhere" });
    expect(await table.agents.turn(habit("honest"))).toMatchObject({
      reason: "agent_unavailable",
      detail: contains("ANTHROPIC_API_KEY is not set"),
    });

    expect(meter.seen.opened).toBe(0);
  });
});

describe("an agent's session", () => {
  test("what is told of it before it has a name counts, and what is told of another does not", async () => {
    await set();
    expect(await table.agents.turn(habit("early-update"))).toMatchObject({
      kind: "ended",
      said: expect.stringMatching(/^early mode bypass/) as string,
    });
  });

  test("is set to the profile's mode, and what is not offered is a warning", async () => {
    await set();
    expect(await table.agents.turn(habit("default"))).toMatchObject({
      said: contains("mode bypassPermissions"),
      warnings: [],
    });

    const edit = {
      ...habit("default"),
      cast: { ...habit("default").cast, override: { like: "claude", mode: "edit" as const } },
    };
    expect(await table.agents.turn(edit)).toMatchObject({
      warnings: [contains("does not offer the mode acceptEdits")],
    });
  });

  aFew(3).each([
    ["resumes", "resumed", "> Do it.", "You were cut off"],
    ["loads-it", "loaded", "> Do it.", "You were cut off"],
    ["loads-another", "loaded", "\n\nDo it.", "Begin afresh"],
    ["loads-nothing", "loaded", "\n\nDo it.", "Begin afresh"],
    ["default", "new", "\n\nDo it.", "Begin afresh"],
  ])(
    "of an interrupted attempt: an agent that %s is told the right thing",
    async (name, how, task, word) => {
      await set();
      const result = await table.agents.turn(
        habit(name, { session: "older", isInterrupted: true }),
      );
      expect(result).toMatchObject({ kind: "ended", said: contains(task) });
      expect(result.kind === "ended" && result.said).toContain(word);
      expect(result.kind === "ended" && result.said).not.toContain("told again");
      expect(table.hows).toEqual([how]);
    },
  );

  test("that another step continues is asked something new", async () => {
    await set();
    expect(await table.agents.turn(habit("resumes", { session: "older" }))).toMatchObject({
      said: contains("asked: Do it."),
    });

    expect(table.hows).toEqual(["resumed"]);
  });
});

describe("an agent that works past the meter's count", () => {
  test("tells its cost after its answer, and is heard", async () => {
    await set({ lateMs: 2000 });
    expect(await table.agents.turn(habit("late-usage"))).toMatchObject({
      kind: "ended",
      usage: { tokens: 77, usd: 0.25 },
    });
  });

  test("tells of things nobody knows, and is not stopped by it", async () => {
    await set();
    expect(await table.agents.turn(habit("unknown-kinds"))).toMatchObject({
      kind: "ended",
      said: contains("done"),
    });
  });

  test("ends its turn without a word, an action or any usage: the provider failed", async () => {
    await set();
    expect(
      await table.agents.turn({
        ...habit("empty"),
        cast: { agent: "mine", argv: [process.execPath, fixtureAgent("metered.mjs"), "empty"] },
      }),
    ).toMatchObject({
      kind: "cut",
      by: "provider",
      fault: "service",
    });
  });

  test("is refused what is out of scope, and the refusal is told", async () => {
    await set({}, { scopeOf: () => (path) => path.startsWith("src/") });
    mkdirSync(join(table.layer, "docs"));
    expect(await table.agents.turn(habit("asks-out-of-scope"))).toMatchObject({
      kind: "ended",
      said: contains("id-reject_once"),
      warnings: [contains("docs/a.md is out of scope")],
    });
  });

  test("is allowed what is in scope", async () => {
    await set({}, { scopeOf: () => (path) => path.startsWith("docs/") });
    expect(await table.agents.turn(habit("asks-out-of-scope"))).toMatchObject({
      said: contains("id-allow_once"),
      warnings: [],
    });
  });

  test("leaves a call open when it is cancelled: here it is closed", async () => {
    await set();
    const cancel = new AbortController();
    const turn = table.agents.turn(habit("leaves-open", { cancel: cancel.signal }));
    await until(() => table.signals.some(({ signal }) => signal === "tool"), "the tool is at work");
    cancel.abort();
    expect(await turn).toMatchObject({ kind: "cut", by: "cancel" });
    expect(table.signals.at(-1)).toMatchObject({
      signal: "tool",
      attempt: "1@1/execute#1",
      title: "sleep",
      status: "cancelled",
    });
  });
});
