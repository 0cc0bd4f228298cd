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
import type { AcpLimits } from "./acp-limits.ts";

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
  readonly over: Promise<Ending>;
  readonly isOver: () => boolean;
  /** Called when the agent gave a sign of life. */
  readonly life: () => void;
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
  readonly cut: AbortSignal;
  readonly onLife: (listener: () => void) => void;
  readonly isFailing: () => boolean;
  readonly isHopeless: () => boolean;
};

/** Watches a turn. `isBusy`: whether a tool of the agent's is at work. */
export function openWatch(
  request: { readonly minutesMax: number; readonly cancel: AbortSignal },
  limits: AcpLimits,
  isBusy: () => boolean,
): OpenedWatch {
  let isOver = false;
  let resolveOver: (ending: Ending) => void = () => undefined;
  const over = new Promise<Ending>((resolve) => (resolveOver = resolve));
  const settle = (ending: Ending): void => {
    isOver = true;
    resolveOver(ending);
  };
  const onAbort = (): void => settle({ by: "cancel" });
  if (request.cancel.aborted) onAbort();
  request.cancel.addEventListener("abort", onAbort, { once: true });
  const deadlineTimer = setTimeout(
    () => settle({ by: "deadline", minutes: request.minutesMax }),
    Math.max(0, Math.min(request.minutesMax * 60_000, timerMsMax)),
  );

  let lastLifeMs = performance.now();
  let lastProviderOutputMs = lastLifeMs;
  let isFailing = (): boolean => false;
  let isHopeless = (): boolean => false;

  const checkSilence = (): void => {
    // A working tool may be silent for as long as it takes; the deadline bounds it.
    if (isBusy()) lastLifeMs = performance.now();
    // A provider with nothing but failures does not keep a turn alive, and is waited for less long.
    const isProviderFailing = isFailing();
    if (lastProviderOutputMs > lastLifeMs && !isProviderFailing) lastLifeMs = lastProviderOutputMs;
    const silenceMsMax = isProviderFailing
      ? Math.min(limits.failingMs, limits.stallMs)
      : limits.stallMs;

    const silentMs = performance.now() - lastLifeMs;
    if (silentMs > silenceMsMax) {
      settle({ by: "stall", ms: silenceMsMax });
    }
    // An agent that gives up by itself gets a moment to say so.
    else if (silentMs > limits.giveUpMs && isHopeless()) {
      settle({ by: "provider" });
    }
  };
  const silenceTimer = setInterval(
    checkSilence,
    Math.min(limits.stallMs, limits.giveUpMs, silencePollMsMax),
  );

  const follow = (spawned: SpawnedAgent, wire: WatchedOutput): void => {
    void wire.broken.then((says) => settle({ by: "wire", says }));
    void spawned.exceeded?.then((says) => settle({ by: "bounds", says }));
    void Promise.race([spawned.exited, wire.ended]).then(async () => {
      const exit = await Promise.race([spawned.exited, wait(limits.drainMs, null)]);
      await Promise.race([wire.ended, wait(limits.drainMs)]); // N2
      settle({ by: "exit", exit });
    });
  };

  return {
    over,
    isOver: () => isOver,
    followMeter: ({ cut, onLife, ...provider }) => {
      const onCut = (): void => settle({ by: "budget", says: String(cut.reason) });
      if (cut.aborted) onCut();
      cut.addEventListener("abort", onCut, { once: true });
      onLife(() => (lastProviderOutputMs = performance.now()));
      ({ isFailing, isHopeless } = provider);
    },
    ask: (pendingRequest, limit) =>
      raceRequest(pendingRequest, over, limits.drainMs * causeWaitDrains, limit), // N1
    follow,
    life: () => (lastLifeMs = performance.now()),
    close: () => {
      request.cancel.removeEventListener("abort", onAbort);
      clearTimeout(deadlineTimer);
      clearInterval(silenceTimer);
    },
  };
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
  const timer = new AbortController();
  const timeouts =
    limit === undefined
      ? []
      : [wait(limit.ms, { by: "mute", ...limit } as const, { signal: timer.signal })];
  for (const promise of timeouts) promise.catch(() => undefined);
  try {
    const answer = request.then(
      (value) => ({ value }),
      async (error: unknown) => {
        if (error instanceof RequestError) return { error };
        // The connection closed during the request; the cause is on its way.
        return {
          ending: await Promise.race([
            over,
            wait(causeWaitMs, { by: "exit", exit: null } as const),
          ]),
        };
      },
    );

    const ended = Promise.race([over, ...timeouts]).then((ending) => ({ ending }));
    ended.catch(() => undefined);
    const first = await Promise.race([answer, ended]);
    if ("ending" in first) throw new TurnOver(first.ending);
    if ("error" in first) throw first.error;

    return first.value;
  } finally {
    timer.abort();
  }
}
