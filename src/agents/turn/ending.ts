// ending: watches for everything that can end a turn before the agent answers, as one promise
// against which every request is raced.
//
// Invariants:
//   N1. Every request to an agent is raced against this promise: a dead, silent or endless agent
//       ends the turn.
//   N2. An answer that was already in the pipe when the process died still counts.

import { RequestError } from "@agentclientprotocol/sdk";
import { setTimeout as wait } from "node:timers/promises";
import type { ProcessExit, SpawnedAgent } from "../process/spawn-agent.ts";
import type { TurnLimits } from "./turn-limits.ts";

export type Ending =
  | { readonly by: "cancel" }
  /** The model provider fails, and waiting is pointless. */
  | { readonly by: "provider" }
  /** The meter cut it: the budget is used up. */
  | { readonly by: "budget"; readonly says: string }
  | { readonly by: "deadline"; readonly minutes: number }
  | { readonly by: "stall"; readonly ms: number }
  /** The agent did not answer the request `asked` in time. */
  | { readonly by: "mute"; readonly asked: string; readonly ms: number }
  /** The agent's output broke a limit of the protocol. */
  | { readonly by: "wire"; readonly says: string }
  /** It exceeded its resource limits. */
  | { readonly by: "bounds"; readonly says: string }
  | { readonly by: "exit"; readonly exit: ProcessExit | null };

/** Thrown to leave the conversation at once; caught in one place, where it becomes a result. */
export class TurnOver extends Error {
  override readonly name = "TurnOver";
  readonly ending: Ending;
  constructor(ending: Ending) {
    super(`the turn is over: ${ending.by}`);
    this.ending = ending;
  }
}

export type Watch = {
  readonly whenOver: Promise<Ending>;
  readonly isOver: () => boolean;
  /** Called when the agent gave a sign of life. */
  readonly noteLife: () => void;
  /**
   * Waits for the answer to a request; throws `TurnOver` if the turn ends first, and the agent's
   * `RequestError`.
   */
  readonly ask: <T>(request: Promise<T>, limit?: RequestLimit) => Promise<T>;
  readonly close: () => void;
};

/** How long the answer to the request `asked` is waited for. */
type RequestLimit = { readonly asked: string; readonly ms: number };

/** What `openWatch` returns: a watch, and what it is to follow besides the request. */
export type OpenedWatch = Watch & {
  /** Watches the agent's process and its output. */
  readonly follow: (spawned: SpawnedAgent, wire: WatchedOutput) => void;
  /** Watches the meter's signals. */
  readonly followMeter: (metering: MeterSignals) => void;
};

/** The longest time a timer can be set to. */
const timerMsMax = 2 ** 31 - 1;
/** Silence is checked at least this often. */
const silencePollMsMax = 1_000;
/**
 * After a connection broke, its cause shows when exit and output were each waited for: twice that,
 * to be safe.
 */
const causeWaitDrains = 4;

/** A connection of any protocol: it ends with the process's output, and a fault in it breaks it. */
export type WatchedOutput = { readonly broken: Promise<string>; readonly ended: Promise<void> };
/**
 * The meter's signals to a turn: that the provider sends, or fails, and that the budget is used up.
 */
type MeterSignals = {
  readonly usedUp: AbortSignal;
  readonly onLife: (listener: () => void) => void;
  readonly isFailing: () => boolean;
  readonly isHopeless: () => boolean;
};

/** Watches a turn. `isBusy`: whether a tool of the agent's is at work. */
export function openWatch(
  request: { readonly minutesMax: number; readonly cancel: AbortSignal },
  limits: TurnLimits,
  isBusy: () => boolean,
): OpenedWatch {
  let isOver = false;
  let resolveOver: (ending: Ending) => void = () => undefined;
  const whenOver = new Promise<Ending>((resolve) => (resolveOver = resolve));
  const settle = (ending: Ending): void => {
    isOver = true;
    resolveOver(ending);
  };

  const onCancel = (): void => settle({ by: "cancel" });
  if (request.cancel.aborted) onCancel();
  request.cancel.addEventListener("abort", onCancel, { once: true });

  const deadlineTimer = setTimeout(
    () => settle({ by: "deadline", minutes: request.minutesMax }),
    Math.max(0, Math.min(request.minutesMax * 60_000, timerMsMax)),
  );
  const silence = watchSilence(limits, isBusy, settle);

  return {
    whenOver,
    isOver: () => isOver,
    noteLife: silence.onAgentLife,
    followMeter: (metering) => {
      const onCut = (): void => settle({ by: "budget", says: String(metering.usedUp.reason) });
      if (metering.usedUp.aborted) onCut();
      metering.usedUp.addEventListener("abort", onCut, { once: true });
      silence.followProvider(metering);
    },
    follow: (spawned, wire) => {
      void wire.broken.then((says) => settle({ by: "wire", says }));
      void spawned.exceeded?.then((says) => settle({ by: "bounds", says }));
      void waitForExit(spawned, wire, limits.drainMs).then((exit) => settle({ by: "exit", exit }));
    },
    ask: (pendingRequest, limit) =>
      raceRequest(pendingRequest, whenOver, limits.drainMs * causeWaitDrains, limit), // N1
    close: () => {
      request.cancel.removeEventListener("abort", onCancel);
      clearTimeout(deadlineTimer);
      silence.close();
    },
  };
}

type SilenceWatch = {
  /** Called when the agent gave a sign of life. */
  readonly onAgentLife: () => void;
  readonly followProvider: (provider: Omit<MeterSignals, "cut">) => void;
  readonly close: () => void;
};

/** Ends the turn when agent and provider were silent for too long. */
function watchSilence(
  limits: TurnLimits,
  isBusy: () => boolean,
  settle: (ending: Ending) => void,
): SilenceWatch {
  let lastLifeMs = performance.now();
  let lastProviderOutputMs = lastLifeMs;
  let provider: Pick<MeterSignals, "isFailing" | "isHopeless"> = {
    isFailing: () => false,
    isHopeless: () => false,
  };

  const checkSilence = (): void => {
    // A working tool may be silent for as long as it takes; the deadline bounds it.
    if (isBusy()) lastLifeMs = performance.now();

    // A provider with nothing but failures does not keep a turn alive, and is waited for less long.
    const isFailing = provider.isFailing();
    if (!isFailing) lastLifeMs = Math.max(lastLifeMs, lastProviderOutputMs);
    const silenceMsMax = isFailing ? Math.min(limits.failingMs, limits.stallMs) : limits.stallMs;

    const silentMs = performance.now() - lastLifeMs;
    if (silentMs > silenceMsMax) return settle({ by: "stall", ms: silenceMsMax });

    // An agent that gives up by itself gets a moment to say so.
    if (silentMs > limits.giveUpMs && provider.isHopeless()) settle({ by: "provider" });
  };

  const pollMs = Math.min(limits.stallMs, limits.giveUpMs, silencePollMsMax);
  const timer = setInterval(checkSilence, pollMs);

  return {
    onAgentLife: () => (lastLifeMs = performance.now()),
    followProvider: (followed) => {
      provider = followed;
      followed.onLife(() => (lastProviderOutputMs = performance.now()));
    },
    close: () => clearInterval(timer),
  };
}

/** Waits until the process or its output ends, and then for the other, but not for long. */
async function waitForExit(
  spawned: SpawnedAgent,
  wire: WatchedOutput,
  drainMs: number,
): Promise<ProcessExit | null> {
  await Promise.race([spawned.exited, wire.ended]);
  const exit = await Promise.race([spawned.exited, wait(drainMs, null)]);
  await Promise.race([wire.ended, wait(drainMs)]); // N2

  return exit;
}

/**
 * The answer to a request, unless the turn ends first or the answer takes too long. `causeWaitMs`:
 * how long the cause of a broken connection may take to show.
 */
async function raceRequest<T>(
  request: Promise<T>,
  over: Promise<Ending>,
  causeWaitMs: number,
  limit?: RequestLimit,
): Promise<T> {
  const answer = request.then(
    (value) => ({ value }),
    async (error: unknown) => {
      if (error instanceof RequestError) return { error };

      // The connection closed during the request; the cause is on its way.
      const unknownExit = wait(causeWaitMs, { by: "exit", exit: null } as const);
      return { ending: await Promise.race([over, unknownExit]) };
    },
  );

  const timer = new AbortController();
  const endings: Promise<Ending>[] = [over];
  if (limit !== undefined) {
    endings.push(wait(limit.ms, { by: "mute", ...limit }, { signal: timer.signal }));
  }

  const ended = Promise.race(endings).then((ending) => ({ ending }));
  ended.catch(() => undefined); // when the timer is stopped

  try {
    const first = await Promise.race([answer, ended]);
    if ("ending" in first) throw new TurnOver(first.ending);
    if ("error" in first) throw first.error;

    return first.value;
  } finally {
    timer.abort();
  }
}
