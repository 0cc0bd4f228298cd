// ending: everything that can end a turn before the agent answers, brought to one promise that every question is raced against.
//
// Invariants:
//   N1. No question to an agent is waited for without this promise beside it: a dead, mute or endless agent ends the turn.
//   N2. An answer that was already in the pipe when the process died still counts.

import { RequestError } from "@agentclientprotocol/sdk";
import { setTimeout as wait } from "node:timers/promises";
import type { Exit, Spawned } from "../process/spawn.ts";
import type { AcpLimits } from "./limits.ts";
import type { Wire } from "./wire.ts";

export type Ending =
  | { readonly by: "cancel" }
  | { readonly by: "deadline"; readonly minutes: number }
  | { readonly by: "stall"; readonly ms: number }
  | { readonly by: "mute"; readonly asked: string; readonly ms: number }
  | { readonly by: "wire"; readonly says: string }
  | { readonly by: "exit"; readonly exit: Exit | null };

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
  /** The agent gave a sign of life. */
  readonly life: () => void;
  /** The answer to a question, or `TurnOver`, or the `RequestError` the agent answered with. */
  readonly ask: <T>(question: Promise<T>, within?: { readonly asked: string; readonly ms: number }) => Promise<T>;
  readonly close: () => void;
};

const timerMsMax = 2 ** 31 - 1;

export function openWatch(
  order: { readonly minutesMax: number; readonly cancel: AbortSignal },
  limits: AcpLimits,
  isBusy: () => boolean,
): Watch & { readonly follow: (spawned: Spawned, wire: Wire) => void } {
  let settle: (ending: Ending) => void = () => undefined;
  const over = new Promise<Ending>((resolve) => (settle = resolve));
  const onAbort = (): void => settle({ by: "cancel" });
  if (order.cancel.aborted) onAbort();
  order.cancel.addEventListener("abort", onAbort, { once: true });
  const deadline = setTimeout(
    () => settle({ by: "deadline", minutes: order.minutesMax }),
    Math.max(0, Math.min(order.minutesMax * 60_000, timerMsMax)),
  );
  let lastLife = performance.now();
  const stall = setInterval(
    () => {
      // A tool at work may be silent for as long as it takes; the deadline bounds it.
      if (isBusy()) lastLife = performance.now();
      if (performance.now() - lastLife > limits.stallMs) settle({ by: "stall", ms: limits.stallMs });
    },
    Math.min(limits.stallMs, 1000),
  );

  const follow = (spawned: Spawned, wire: Wire): void => {
    void wire.broken.then((says) => settle({ by: "wire", says }));
    void Promise.race([spawned.exited, wire.ended]).then(async () => {
      const exit = await Promise.race([spawned.exited, wait(limits.drainMs, null)]);
      await Promise.race([wire.ended, wait(limits.drainMs)]); // N2
      settle({ by: "exit", exit });
    });
  };

  const ask = async <T>(question: Promise<T>, within?: { readonly asked: string; readonly ms: number }): Promise<T> => {
    const timer = new AbortController();
    const late = within === undefined ? [] : [wait(within.ms, { by: "mute", ...within } as const, { signal: timer.signal })];
    for (const promise of late) promise.catch(() => undefined);
    try {
      const answer = question.then(
        (value) => ({ value }),
        async (error: unknown) => {
          if (error instanceof RequestError) return { error };
          // The connection closed under the question; what closed it is on its way.
          return { ending: await Promise.race([over, wait(4 * limits.drainMs, { by: "exit", exit: null } as const)]) };
        },
      );
      const ended = Promise.race([over, ...late]).then((ending) => ({ ending }));
      ended.catch(() => undefined);
      const first = await Promise.race([answer, ended]); // N1
      if ("ending" in first) throw new TurnOver(first.ending);
      if ("error" in first) throw first.error;
      return first.value;
    } finally {
      timer.abort();
    }
  };

  return {
    over,
    ask,
    follow,
    life: () => (lastLife = performance.now()),
    close: () => {
      order.cancel.removeEventListener("abort", onAbort);
      clearTimeout(deadline);
      clearInterval(stall);
    },
  };
}
