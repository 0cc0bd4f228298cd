import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TurnLimits } from "../../src/agents/turn/turn-limits.ts";
import type { AgentsOptions } from "../../src/agents/open-agents.ts";
import type { TurnRequest } from "../../src/ports/agent.ts";
import { type FakeMeter, openFakeMeter } from "./fake-meter.ts";
import { alive, countReturn, fixtureAgent, setTable, type Table } from "./table.ts";

const contains = (text: string): string => expect.stringContaining(text) as string;
let meter: FakeMeter;
let table: Table;

beforeEach(async () => {
  meter = await openFakeMeter();
});
afterEach(async () => {
  expect(alive(`AUTOPILOT_PLACE=${table.place}`)).toEqual([]);
  await table.clear();
  await meter.stop();
});
const set = async (
  limits: Partial<TurnLimits> = {},
  more: Partial<AgentsOptions> = {},
): Promise<void> => {
  const env = {
    PATH: process.env["PATH"],
    ANTHROPIC_API_KEY: "sk-0001",
    OPENAI_API_KEY: "sk-0002",
  };

  table = await setTable(limits, { meter, env, ...more });
};
const claude = (prompt: string, changes: Partial<TurnRequest> = {}): TurnRequest =>
  table.command(
    [process.execPath, fixtureAgent("claude-stand-in.mjs")],
    { like: "claude-cli" },
    { prompt, ...changes },
  );
const codex = (prompt: string, changes: Partial<TurnRequest> = {}): TurnRequest =>
  table.command(
    [process.execPath, fixtureAgent("codex-stand-in.mjs"), "exec", "--json"],
    { like: "codex-cli" },
    { prompt, ...changes },
  );
const argsSeen = (): { words: string[]; prompt: string; promptChars: number; input: number } =>
  JSON.parse(readFileSync(join(table.layer, "words.json"), "utf8")) as never;

describe("claude -p", () => {
  test("an honest turn: told like every other, under a session of our own naming", async () => {
    await set();
    const result = await table.agents.turn(
      claude("Do it.", { allowanceLeft: () => ({ tokens: 1, usd: 2, calls: 30 }) }),
    );
    expect(result).toMatchObject({
      kind: "ended",
      promised: true,
      usage: { tokens: 100, input: 90, output: 10, cached: 80, usd: 0.5 },
      outside: [],
      warnings: [],
    });

    expect(existsSync(join(table.layer, "made.txt"))).toBe(true);
    const { words: args } = argsSeen();
    expect(table.sessions).toEqual([args[args.indexOf("--session-id") + 1]]);
    expect(args).toEqual(
      expect.arrayContaining(["--max-turns", "30", "--max-budget-usd", "2.0000"]),
    );

    expect(table.signals.map(({ signal }) => signal)).toEqual(
      expect.arrayContaining(["tool", "said"]),
    );
  });

  test("a return that does not fit is asked for again in the same session", async () => {
    await set();
    const result = await table.agents.turn(claude("[wrong]", { returns: countReturn }));
    expect(result).toMatchObject({
      kind: "ended",
      says: { count: 3 },
      usage: { tokens: 100, usd: 0.25 },
    });

    expect(table.asks).toMatchObject([{ ask: 2, tokens: 100 }]);
    expect(argsSeen().words).toEqual(expect.arrayContaining(["--resume", table.sessions[0]]));
    expect(table.sessions).toHaveLength(1);
  });

  test("an interrupted session is resumed and told to go on", async () => {
    await set();
    const result = await table.agents.turn(
      claude("Do it.", { session: "older", isInterrupted: true }),
    );
    expect(result).toMatchObject({ kind: "ended", said: contains("You were cut off") });
    expect(table.hows).toEqual(["resumed"]);
    expect(argsSeen().words).toEqual(expect.arrayContaining(["--resume", "older"]));
  });

  test("a session it has forgotten is opened anew, with a warning", async () => {
    await set();
    const result = await table.agents.turn(
      claude("[forgets]", { session: "older", isInterrupted: true }),
    );
    expect(result).toMatchObject({
      kind: "ended",
      said: contains("Begin afresh"),
      warnings: [contains("could not be taken up")],
    });

    expect(table.hows).toEqual(["new"]);
  });

  test.each<[string, object]>([
    [
      "[limited]",
      { kind: "cut", by: "provider", fault: "limit", resetAt: contains("T15:00:00.000Z") },
    ],
    [
      "[interrupted]",
      { kind: "failed", reason: "agent_failed", detail: contains("error_during_execution") },
    ],
    ["[budget]", { kind: "cut", by: "budget" }],
    ["[dies]", { kind: "failed", reason: "agent_failed", detail: contains("out of paper") }],
  ])("%s is what it is, whatever its exit code", async (prompt, expected) => {
    await set();
    expect(await table.agents.turn(claude(prompt))).toMatchObject(expected);
  });

  test("one that hangs is ended", async () => {
    await set({ stallMs: 400 });
    expect(await table.agents.turn(claude("[hangs]"))).toMatchObject({
      kind: "failed",
      reason: "agent_timeout",
    });
  });

  test("a prompt too long for a word is given to read", async () => {
    await set();
    const prompt = `Do it. ${"x".repeat(150_000)}`;
    expect(await table.agents.turn(claude(prompt))).toMatchObject({ kind: "ended" });
    expect(argsSeen()).toMatchObject({ prompt: contains("Do it."), promptChars: prompt.length });
  });
});

describe("codex exec", () => {
  test("an honest turn: the thread is told, nothing is left to read, usage is counted", async () => {
    await set();
    const result = await table.agents.turn(codex("Do it."));
    expect(result).toMatchObject({
      kind: "ended",
      promised: true,
      usage: { tokens: 110, input: 100, output: 10, cached: 60 },
      warnings: [contains("1 lines")],
    });

    expect(table.sessions).toEqual(["thread-1"]);
    expect(argsSeen().input).toBe(0);
  });

  test("a thread asked again counts what it added", async () => {
    await set();
    const result = await table.agents.turn(codex("[wrong]", { returns: countReturn }));
    expect(table.asks).toMatchObject([{ tokens: 110 }]);
    expect(result).toMatchObject({ kind: "ended", says: { count: 3 }, usage: { tokens: 110 } });
    expect(argsSeen().words.slice(0, 2)).toEqual(["exec", "resume"]);
  });

  test("a thread taken up from another life tells what nobody can tell apart: nothing is believed", async () => {
    await set();
    expect(await table.agents.turn(codex("Do it.", { session: "thread-1" }))).toMatchObject({
      kind: "ended",
      usage: null,
    });

    expect(table.hows).toEqual(["resumed"]);
  });

  test.each<[string, object]>([
    ["[limited]", { kind: "cut", by: "provider", fault: "limit" }],
    ["[complains]", { kind: "cut", by: "provider", fault: "service" }],
    ["[quits]", { kind: "failed", reason: "agent_failed", detail: contains("code 0") }],
  ])("%s is what it is, whatever its exit code", async (prompt, expected) => {
    await set();
    expect(await table.agents.turn(codex(prompt))).toMatchObject(expected);
  });

  test("a thread it has forgotten is begun anew", async () => {
    await set();
    expect(await table.agents.turn(codex("[forgets]", { session: "gone" }))).toMatchObject({
      kind: "ended",
      warnings: [contains("could not"), contains("1 lines")],
    });

    expect(table.sessions).toEqual(["thread-1"]);
  });
});
