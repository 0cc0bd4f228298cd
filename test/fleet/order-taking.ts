// order-taking: a worker reduced to what dispatch is about. It says what it begins and ends, and
// ends an order when it is told to.

import type { OrderEnd, WorkerRegistration } from "../../src/ports/dispatch.ts";
import { Refusal } from "../../src/project/respond.ts";
import { openEngine } from "./engines.ts";

export type Said = {
  readonly at: number;
  readonly begun?: string;
  readonly deaths?: number;
  readonly ready?: true;
  readonly over?: string | null;
  readonly refused?: string;
};
export type Taking = {
  /** `end ID`, `again ID` or `drain`. */
  readonly hear: (line: string) => void;
  /** Once it takes nothing any more. */
  readonly over: Promise<void>;
  /** Whatever it still has is at its end, and so is it. */
  readonly leave: () => Promise<void>;
};
export type Seat = {
  readonly engine: string;
  readonly url: string;
  readonly leaseMs: number;
  readonly worker: WorkerRegistration;
};

export function takeOrders(
  { engine, url, leaseMs, worker }: Seat,
  say: (said: Said) => void,
): Taking {
  const report = (said: Omit<Said, "at">): void => say({ at: Date.now(), ...said });
  const waiting = new Map<string, (end: OrderEnd) => void>();
  let drain: () => void = () => undefined;

  const work = async (): Promise<void> => {
    const dispatch = await openEngine(engine, url, leaseMs);
    try {
      const working = await dispatch.work(
        worker,
        ({ id, deaths }) =>
          new Promise((resolve) => {
            waiting.set(id, resolve);
            report({ begun: id, deaths });
          }),
      );
      drain = () => void working.drain();
      report({ ready: true });
      report({ over: await working.over });
    } catch (error) {
      report({ refused: error instanceof Refusal ? error.response.reason_code : String(error) });
    }

    await dispatch.close();
  };
  const over = work();
  const done: OrderEnd = { kind: "ended", outcome: "done" };

  return {
    hear: (line) => {
      const [word = "", id = ""] = line.split(" ");
      if (word === "drain") {
        drain();
      } else {
        waiting.get(id)?.(
          word === "end" ? done : { kind: "again", afterMs: 100, because: "given back" },
        );
      }
    },
    over,
    leave: async () => {
      for (const end of waiting.values()) end(done);
      drain();
      await over;
    },
  };
}
