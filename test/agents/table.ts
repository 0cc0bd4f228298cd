// table: sets a place for an agent in a test: a folder, a script, an order, and a way to see who is
// alive.

import { createHash } from "node:crypto";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { TurnLimits } from "../../src/agents/turn/turn-limits.ts";
import { type AgentsOptions, openAgents, type OpenedAgents } from "../../src/agents/open-agents.ts";
import type { ValidateReturn } from "../../src/agents/answer-tools/submissions.ts";
import type { Script } from "../../src/contracts/script.ts";
import type { LiveEvent } from "../../src/contracts/live-event.ts";
import type { TurnRequest } from "../../src/ports/agent.ts";
import { builtScripted } from "./built.ts";

export const fixtureAgent = (name: string): string =>
  join(dirname(fileURLToPath(import.meta.url)), "..", "fixtures", "agents", name);
export const oddAgent = fixtureAgent("odd.mjs");

export type Table = {
  readonly agents: OpenedAgents;
  readonly layer: string;
  readonly place: string;
  readonly signals: LiveEvent[];
  readonly sessions: string[];
  readonly hows: (string | undefined)[];
  readonly asks: {
    readonly ask: number;
    readonly errors: readonly string[];
    readonly tokens: number | null;
  }[];
  readonly scripted: (script: Script, changes?: Partial<TurnRequest>) => TurnRequest;
  readonly odd: (habit: string, changes?: Partial<TurnRequest>) => TurnRequest;
  /** Any command, as the config would name it. */
  readonly command: (
    argv: readonly string[],
    override: NonNullable<TurnRequest["cast"]["override"]>,
    changes?: Partial<TurnRequest>,
  ) => TurnRequest;
  readonly clear: () => Promise<void>;
};

/** A return `{ count: number }` named `count`; everything else is judged to be wrong. */
export const validateReturn: ValidateReturn = (name, value) => {
  const count: unknown =
    typeof value === "object" && value !== null && "count" in value ? value.count : undefined;
  return typeof count === "number"
    ? { claim: value, says: { count } }
    : { errors: [`${name}: count: expected a number`] };
};
export const countReturn = {
  name: "count",
  schema: { type: "object", required: ["count"] },
  isOptional: false,
};

export async function setTable(
  limits: Partial<TurnLimits> = {},
  more: Partial<AgentsOptions> = {},
): Promise<Table> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-agents-")));
  const layer = mkdtempSync(join(folder, "layer-"));
  const signals: LiveEvent[] = [];
  const sessions: string[] = [];
  const hows: (string | undefined)[] = [];
  const asks: { ask: number; errors: readonly string[]; tokens: number | null }[] = [];

  const agents = openAgents({
    embedded: {
      nodePath: process.execPath,
      programPath: await builtScripted(),
      scriptPathOf: (hash) => join(folder, hash),
    },
    validateReturn,
    repository: folder,
    limits,
    ...more,
  });

  const order = (cast: TurnRequest["cast"], changes: Partial<TurnRequest>): TurnRequest => ({
    run: "run-2026-01-02-030405",
    attempt: "1@1/execute#1",
    cast,
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
    prompt: "Do it.",
    returns: null,
    promise: "DONE",
    layer,
    minutesMax: 1,
    scope: ["**"],
    isInterrupted: false,
    allowanceLeft: () => ({ tokens: Infinity, usd: Infinity, calls: Infinity }),
    isUnpaid: () => true,
    session: null,
    cancel: new AbortController().signal,
    onSession: (session, how) => {
      sessions.push(session);
      hows.push(how);
      return Promise.resolve();
    },
    onAskAgain: (ask, errors, _raw, usage) => {
      asks.push({ ask, errors, tokens: usage?.tokens ?? null });
      return Promise.resolve(true);
    },
    onLiveEvent: (signal) => void signals.push(signal),
    ...changes,
  });

  return {
    agents,
    layer,
    place: folder,
    signals,
    sessions,
    hows,
    asks,
    scripted: (script, changes = {}) => {
      const text = JSON.stringify(script);
      const hash = createHash("sha256").update(text).digest("hex");
      writeFileSync(join(folder, hash), text);

      return order({ agent: "scripted", script: hash }, changes);
    },
    odd: (habit, changes = {}) =>
      order({ agent: "odd", argv: [process.execPath, oddAgent, habit] }, changes),
    command: (argv, override, changes = {}) =>
      order({ agent: "mine", argv: [...argv], override }, changes),
    clear: async () => {
      await agents.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The processes that were begun with this word in their environment or stand in this folder. */
export function alive(word: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "latin1").includes(word);
      } catch {
        return false;
      }
    })
    .map(Number);
}

export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !["Z", "X"].includes(stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3));
  } catch {
    return false;
  }
}

/** Waits until it holds; the limit is only there so that a test that fails ends. */
export async function until(holds: () => boolean, what: string, limitMs = 30_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`never came true: ${what}`);
    await wait(20);
  }
}
