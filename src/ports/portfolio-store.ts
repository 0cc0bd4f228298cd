// portfolio-store: port to where a portfolio's journal is kept. It is one journal of a run store,
// so whatever keeps runs keeps portfolios.
//
// Promises, besides those of a run store (T1, T2):
//   U1. Only the process that opened it writes. A change is appended to exactly the lines that its
//       writer has read: if the journal has grown meanwhile, the store refuses all of it.
//   U2. Reading on from a position hands out every line after it once, in order; a journal that
//       lost a line says so.

import type { Entry } from "../contracts/event.ts";
import type { Position } from "../journal/journal.ts";
import type { OpenedRun, OpenOptions } from "./run-store.ts";

export interface PortfolioStore {
  /**
   * Opens it briefly: replays what came after `from`, then appends. Throws a JournalFailure:
   * `run_locked` while another process has it.
   */
  open(options: OpenOptions): Promise<OpenedRun>;
  /** Reads on without opening it for writing. */
  read(from: Readonly<Position>, onEntry: (entry: Entry) => void): Promise<Position>;
}
