// fold: a portfolio's state, kept with the place it was folded up to, so that a pool folds each line once.
//
// Invariants:
//   G1. A fold is changed by one at a time, and only by lines that are durable.
//   G2. Whatever fails on the way, the fold is thrown away and made again: it is a short cut, never a truth.
//   G3. A journal is in one place: whoever has locked the folder looks for the mark once more before a line is written there.
//   G4. Of a pool that plans under a lease the store takes a line only while it has that lease: there is no other way to its journal.

import { dirname, basename } from "node:path";
import type { Entry } from "../../contracts/event.ts";
import type { PortfolioEntry } from "../../contracts/portfolio-journal.ts";
import { Mutex } from "../../engine/mutex.ts";
import { openFileStore } from "../../fleet/file-store.ts";
import { portfolioMark } from "../../fleet/shared-mark.ts";
import { JournalFailure } from "../../journal/failure.ts";
import type { Position } from "../../journal/journal.ts";
import { genesis } from "../../journal/line.ts";
import { readJournal } from "../../journal/read.ts";
import { invariant } from "../../kit/invariant.ts";
import type { PortfolioStore } from "../../ports/portfolio-store.ts";
import type { OpenedRun, OpenOptions, RunStore } from "../../ports/run-store.ts";
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

/** What is read of a portfolio's journal: its folder, if nothing else is said. Of one in a store that is the copy, as new as the last opening. */
export const storeOf = ({ own, journal }: PortfolioPaths): PortfolioStore =>
  journal ?? portfolioIn(openFileStore(dirname(own)), basename(own));

/** Opens it where it is kept: in its folder, or in the store whose key its mark names (G3). */
export async function openStored(
  env: NodeJS.ProcessEnv,
  paths: PortfolioPaths,
  given: Omit<OpenOptions, "under"> & { readonly onEntry: (entry: Entry) => void },
): Promise<OpenedRun> {
  const { own, journal, planner } = paths;
  const options = { ...given, ...(planner === undefined ? {} : { under: planner.lease }) }; // G4
  if (journal !== undefined) return journal.open(options);
  if (portfolioMark(own) === null) {
    const entries: Entry[] = [];
    const opened = await storeOf(paths).open({ ...options, onEntry: (entry) => void entries.push(entry) });
    if (portfolioMark(own) === null) {
      entries.forEach(options.onEntry);
      return opened;
    }
    await opened.journal.close(); // it has moved into a store while this waited for its lock
  }
  const { openShared } = await import("../../fleet/shared-run.ts");
  const mark = portfolioMark(own);
  invariant(mark !== null, "G3: nobody removes a portfolio's mark");
  return openShared({ env, folder: own, mark, options, kind: "portfolio" });
}

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
