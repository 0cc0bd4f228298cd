// portfolio-store: port to where a portfolio's journal is kept. It is one journal of a run store, so whatever keeps runs keeps portfolios.
//
// Promises, besides those of a run store (T1, T2):
//   U1. Whoever opened it is the only one who writes. A change is appended to exactly the lines that its writer has read: if the journal
//       has another end meanwhile, the store refuses all of it.
//   U2. Reading on from a position hands out every line after it once, in order; a journal that lost a line says so.

import type { Entry } from "../contracts/event.ts";
import type { Position } from "../journal/journal.ts";
import type { OpenedRun, OpenOptions } from "./run-store.ts";

export interface PortfolioStore {
  /** Takes it, for a moment: replays what came after `from`, then appends. Throws a JournalFailure: `run_locked` while another has it. */
  open(options: OpenOptions): Promise<OpenedRun>;
  /** Reads on without taking it. */
  read(from: Readonly<Position>, onEntry: (entry: Entry) => void): Promise<Position>;
}
