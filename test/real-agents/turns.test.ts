// One turn of every real agent that is installed, over the agents port and through the meter, with
// no runner around it.

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { openAgents } from "../../src/agents/open-agents.ts";
import { findJsonSchema, validateReturn } from "../../src/flows/returns.ts";
import { openMeter } from "../../src/meter/open-meter.ts";
import { createPriceLookup } from "../../src/meter/prices.ts";
import type { Allowance, TurnRequest, TurnResult } from "../../src/ports/agent.ts";
import { agentProfiles } from "../../src/agents/profiles/shipped-profiles.ts";
import { type ModelServer, openModelServer } from "../model-server/model-server.ts";
import { until } from "../support/autopilot.ts";
import { scratchFolder } from "../support/scratch-repository.ts";
import { type AgentName, agentsToTry, realKey, userEnvironment } from "./installed.ts";
import { processesWith } from "./processes.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

type Table = {
  readonly model: ModelServer;
  readonly layer: string;
  readonly play: (request?: Partial<TurnRequest>) => Promise<TurnResult>;
  readonly sessions: readonly string[];
};
/** Its own name, because the machine is searched for it. */
const run = `run-2026-01-02-030405-${process.pid}`;
const boundless: Allowance = { tokens: Infinity, usd: Infinity, calls: Infinity };

/** The product's parts around one agent: the meter, its private HOME, the port. */
async function table(name: AgentName, script: string): Promise<Table> {
  const model = await openModelServer({ keys: [realKey], script: () => script });
  const place = scratchFolder("autopilot-turn-");
  const [layer, home] = [join(place, "layer"), join(place, "home")];
  for (const folder of [layer, home]) mkdirSync(folder);
  const env = userEnvironment(name, model.url);

  const meter = await openMeter({
    socket: join(place, "egress", "s"),
    tcp: true,
    seenPort: null,
    priceOf: createPriceLookup({}),
    now: Date.now,
  });

  const path = process.env["PATH"];
  process.env["PATH"] = env["PATH"];

  const agents = openAgents({
    embedded: { nodePath: process.execPath, programPath: "", scriptPathOf: () => "" },
    validateReturn,
    meter,
    returnsEntry: join(import.meta.dirname, "../../dist/returns.cjs"),
    repository: place,
    home,
    env,
    userHome: join(place, "nobody"),
  });
  closing.push(
    model.close,
    () => meter.close(),
    agents.close,
    () => Promise.resolve(void (process.env["PATH"] = path)),
  );

  const sessions: string[] = [];
  const request: TurnRequest = {
    run,
    attempt: "1@1/execute#1",
    cast: { agent: name },
    facts: {
      flow: "objective",
      phase: "1",
      step: "execute",
      role: "executor",
      task: null,
      attempt: 1,
      ask: 1,
    },
    history: [],
    prompt: "Please make what is missing.",
    returns: null,
    promise: null,
    layer,
    minutesMax: 1,
    scope: ["**"],
    isInterrupted: false,
    allowanceLeft: () => boundless,
    isUnpaid: () => true,
    session: null,
    cancel: new AbortController().signal,
    onSession: (session) => Promise.resolve(void sessions.push(session)),
    onAskAgain: () => Promise.resolve(false),
    onLiveEvent: () => undefined,
  };

  return { model, layer, sessions, play: (more = {}) => agents.turn({ ...request, ...more }) };
}

const work =
  "[[write made.txt|made by the agent]] [[bash cat made.txt > copied.txt]] [[say All is done.]]";
const nobodyIsLeft = (): void =>
  expect(processesWith((environment) => environment.includes(`AUTOPILOT_RUN=${run}`))).toEqual([]);

describe.each(agentsToTry)("one turn of $title", ({ name, isHere }) => {
  test.skipIf(!isHere)(
    "does what it was asked, and what it used is what the model told",
    async () => {
      const { model, layer, play, sessions } = await table(name, work);
      const result = await play();
      expect(result).toMatchObject({ kind: "ended", outside: [], usage: { source: "metered" } });
      expect(
        ["made.txt", "copied.txt"].map((file) => readFileSync(join(layer, file), "utf8").trim()),
      ).toEqual(["made by the agent", "made by the agent"]);

      expect(result.kind === "ended" ? result.said : "").toContain("All is done.");
      const reported = model.calls().flatMap(({ usage }) => usage ?? []);

      const sum = reported.reduce(
        (all, usage) =>
          all +
          usage.inputTokens +
          usage.cacheReadTokens +
          usage.cacheWriteTokens +
          usage.outputTokens,
        0,
      );

      expect(result.usage).toMatchObject({ tokens: sum, calls: reported.length });
      expect(sessions).toHaveLength(1);
      nobodyIsLeft();
    },
  );

  const offersTools = isHere && agentProfiles[name].mcp;
  test.skipIf(!offersTools)(
    "hands its result in through the runner's own tool, if it takes tools",
    async () => {
      const { play } = await table(
        name,
        '[[tool mcp__autopilot__submit_result|{"summary":"made it","confidence":0.9}]] [[say Handed in.]]',
      );

      const asked = {
        returns: { name: "progress", schema: findJsonSchema("progress") ?? {}, isOptional: false },
      };
      const result = await play(asked);
      expect(result).toMatchObject({
        kind: "ended",
        claim: { summary: "made it", confidence: 0.9 },
        confidence: 0.9,
      });

      nobodyIsLeft();
    },
  );

  test.skipIf(!isHere)("is told apart from a provider that refuses", async () => {
    const { play } = await table(name, '[[status 429|{"retryAfterS":3600}]]');
    const result = await play();
    expect(result).toMatchObject({ kind: "cut", by: "provider", fault: "limit" });
    expect(
      result.kind === "cut" && result.by === "provider" ? Date.parse(result.resetAt ?? "") : 0,
    ).toBeGreaterThan(Date.now());

    nobodyIsLeft();
  });

  test.skipIf(!isHere)("is cut when the budget is used up", async () => {
    const busy = Array.from(
      { length: 6 },
      (_, at) => `[[usage {"inputTokens":9000}]] [[bash echo ${at} >> notes.txt]]`,
    ).join(" ");

    const { model, play } = await table(name, busy);
    const result = await play({ allowanceLeft: () => ({ ...boundless, tokens: 12_000 }) });
    expect(result).toMatchObject({ kind: "cut", by: "budget" });
    expect(
      model.calls().filter(({ isSideCall, outcome }) => !isSideCall && outcome !== "refused")
        .length,
    ).toBeLessThanOrEqual(2);

    nobodyIsLeft();
  });

  test.skipIf(!isHere)("is called off in the middle of a command", async () => {
    const { layer, play } = await table(
      name,
      "[[bash touch begun.txt; tail -f /dev/null]] [[hang]] [[say too late]]",
    );

    const cancel = new AbortController();
    const playing = play({ cancel: cancel.signal });
    await Promise.race([
      until("the command", () => existsSync(join(layer, "begun.txt")), 60_000),
      playing,
    ]);

    cancel.abort();
    expect(await playing).toMatchObject({ kind: "cut", by: "cancel" });
    nobodyIsLeft();
  });
});
