// fold: a portfolio's state, kept with the place it was folded up to, so that a pool folds each line once.
//
// Invariants:
//   G1. A fold is changed by one at a time, and only by lines that are durable.
//   G2. Whatever fails on the way, the fold is thrown away and made again: it is a short cut, never a truth.

import { dirname, basename } from "node:path";
import type { Entry } from "../../contracts/event.ts";
import type { PortfolioEntry } from "../../contracts/portfolio-journal.ts";
import { Mutex } from "../../engine/mutex.ts";
import { openFileStore } from "../../fleet/file-store.ts";
import { JournalFailure } from "../../journal/failure.ts";
import type { Position } from "../../journal/journal.ts";
import { genesis } from "../../journal/line.ts";
import { readJournal } from "../../journal/read.ts";
import type { PortfolioStore } from "../../ports/portfolio-store.ts";
import type { RunStore } from "../../ports/run-store.ts";
import { reduce } from "../planner/reduce.ts";
import { openPortfolio, type Portfolio, type PortfolioView } from "../planner/state.ts";
import type { PortfolioPaths } from "./folder.ts";

export type Fold = { state: Portfolio; at: Position; readonly mutex: Mutex };

/** By the paths object: a pool has one for as long as it lives, a command one for its moment. */
const folds = new WeakMap<PortfolioPaths, Fold>();

export function foldOf(paths: PortfolioPaths): Fold {
  const fold = folds.get(paths) ?? { state: openPortfolio(), at: { ...genesis }, mutex: new Mutex() };
  folds.set(paths, fold);
  return fold;
}

export function beginAnew(fold: Fold): void {
  fold.state = openPortfolio();
  fold.at = { ...genesis };
}

/** A run store's journal of this name, as a portfolio's. */
export const portfolioIn = (store: RunStore, run: string): PortfolioStore => ({
  open: (options) => store.open(run, "portfolio", options),
  read: (from, onEntry) => store.read(run, from, onEntry),
});

/** Where a portfolio's journal is kept: in its folder, if nothing else is said. */
export const storeOf = ({ own, journal }: PortfolioPaths): PortfolioStore =>
  journal ?? portfolioIn(openFileStore(dirname(own)), basename(own));

export const asPortfolioEntry = (entry: Entry): PortfolioEntry => entry as unknown as PortfolioEntry;

/** Runs with the fold as it was left, and once more from the start if the journal does not go on from there. G1, G2 */
export async function folded<Value>(fold: Fold, work: () => Promise<Value>): Promise<Value> {
  const wasBegun = fold.at.seq > 0;
  try {
    return await work();
  } catch (error) {
    beginAnew(fold);
    if (wasBegun && error instanceof JournalFailure && error.kind === "journal_damaged") return work();
    throw error;
  }
}

/** The state as it is now, without taking anything in hand. It goes on changing while others of this process write. */
export function readPortfolio(paths: PortfolioPaths): Promise<PortfolioView> {
  const fold = foldOf(paths);
  return fold.mutex.runExclusive(() =>
    folded(fold, async () => {
      fold.at = await storeOf(paths).read(fold.at, (entry) => reduce(fold.state, asPortfolioEntry(entry)));
      return fold.state;
    }),
  );
}

/** The state in the folder whenever it is asked for, each line folded once. */
export function followPortfolio({ own }: PortfolioPaths): () => PortfolioView {
  const fold: Fold = { state: openPortfolio(), at: { ...genesis }, mutex: new Mutex() };
  return () => {
    try {
      fold.at = readJournal(own, { from: fold.at, onEntry: (entry) => reduce(fold.state, asPortfolioEntry(entry)) }).end;
    } catch (error) {
      beginAnew(fold);
      throw error;
    }
    return fold.state;
  };
}
