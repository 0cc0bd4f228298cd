// dispatch: port to the queue that hands runs to workers on many machines.
//
// Promises:
//   D1. An order is known by its id: offered again it is the same one, and one worker at a time has
//       it, or any other order of its run.
//   D2. Among the orders that a worker may take, priority is strict (1 before 5), then age.
//   D3. No repository has more orders taken than its slots, and no worker more than its jobs.
//   D4. An order goes only to a worker that serves its repository and has every label it needs, and
//       not before its time.
//   D5. A dead worker's orders are handed out again, and say how many workers in a row died with
//       them. A withdrawn order is handed to no worker, and its slot is free at once.
//   D6. A worker that drains takes nothing more, and is done when what it has is done.
//
// Orders are rows of the store, which `fleet status` reads and a person's word changes: an engine
// follows the table.
//
// An order is a hint. Only the run's lease decides which worker may write to it, spend for it and
// land it: an order that is handed out twice finds the run taken.

import type { Lease } from "./run-store.ts";

export type WorkOrder = {
  readonly id: string;
  /** The run's key in the store. */
  readonly run: string;
  readonly repository: string;
  /** 1 comes first, 5 last. */
  readonly priority: number;
  /** Labels that a worker must have. */
  readonly needs: readonly string[];
  /** How many orders of its repository may be worked on at once. */
  readonly slots: number;
  /** ISO 8601 in UTC; at once if left out. */
  readonly notBefore?: string;
};

/** A finished order is over, or is handed out again. */
export type OrderEnd =
  | {
      readonly kind: "ended";
      readonly outcome: string;
      /**
       * No request to the run can change anything any more. Otherwise an unread request has it
       * handed out again.
       */
      readonly isOver?: true;
    }
  | {
      readonly kind: "again";
      readonly afterMs: number;
      readonly because: string;
      /** Nothing was begun: it doesn't count as handed out. */
      readonly isUntried?: true;
      /**
       * This worker could not, and perhaps another one can: it may leave the order alone for longer
       * each time.
       */
      readonly isTrouble?: true;
    };

export type WorkerHandle = {
  /** Takes nothing more; resolves when no order is worked on. */
  drain(): Promise<void>;
  /** Resolves with why the worker may work no longer; null if it drained. */
  readonly over: Promise<string | null>;
};

export type WorkerRegistration = {
  readonly worker: string;
  readonly jobs: number;
  readonly labels: readonly string[];
  readonly repositories: readonly string[];
};

export type HandedOrder = WorkOrder & {
  /** How often it has been handed out, including this time. */
  readonly times: number;
  /** How many workers in a row died, or were not heard of any more, soon after they had got it. */
  readonly deaths: number;
};

/**
 * Works on one order. The lease is the worker's: without it nothing more is begun, and running work
 * is ended.
 */
export type OnOrder = (
  order: HandedOrder,
  lease: Pick<Lease, "isConfirmed" | "lost">,
) => Promise<OrderEnd>;

export interface Dispatch {
  /** False if an order of this id was there already. */
  offer(order: WorkOrder): Promise<boolean>;
  /** False if a living worker has it, it was over already, or it never existed. */
  withdraw(id: string): Promise<boolean>;
  /** Refused if another worker with this id is alive. */
  work(registration: WorkerRegistration, on: OnOrder): Promise<WorkerHandle>;
  close(): Promise<void>;
}
