// fold: keeps a portfolio's state with the position that it was folded up to, so that a pool folds
// each line once.
//
// Invariants:
//   G1. A fold is changed by one caller at a time, and only by durable lines.
//   G2. After any failure the fold is thrown away and made again: it is only a cache of the
//       journal.
//   G3. A journal is in one place, the folder or a store: a process that has locked the folder
//       looks for the store's mark again before it writes there.
//   G4. A pool that plans under a lease passes that lease with every line: the store refuses its
//       lines once the lease is lost.

import { dirname, basename } from "node:path";
import type { Entry } from "../../contracts/event.ts";
import type { PortfolioEntry } from "../../contracts/portfolio/portfolio-journal.ts";
import { Mutex } from "../../engine/mutex.ts";
import { openFileStore } from "../../fleet/file-store.ts";
import { readPortfolioMark } from "../../fleet/shared-mark.ts";
import { JournalFailure } from "../../journal/journal-failure.ts";
import type { Position } from "../../journal/journal.ts";
import { genesis } from "../../journal/line.ts";
import { readJournal } from "../../journal/read.ts";
import { invariant } from "../../kit/invariant.ts";
import type { PortfolioStore } from "../../ports/portfolio-store.ts";
import type { OpenedRun, OpenOptions, RunStore } from "../../ports/run-store.ts";
import { reduce } from "../planner/reduce.ts";
import { createEmptyPortfolio, type Portfolio, type PortfolioView } from "../planner/state.ts";
import type { PortfolioPaths } from "./folder.ts";

/** The state, and the journal's position up to which it was folded. */
export type PortfolioFold = { state: Portfolio; at: Position; readonly mutex: Mutex };

/** By the paths object, which a pool keeps for its whole life and a command makes for itself. */
const folds = new WeakMap<PortfolioPaths, PortfolioFold>();

export function getFold(paths: PortfolioPaths): PortfolioFold {
  const fold = folds.get(paths) ?? {
    state: createEmptyPortfolio(),
    at: { ...genesis },
    mutex: new Mutex(),
  };
  folds.set(paths, fold);
  return fold;
}

export function resetFold(fold: PortfolioFold): void {
  fold.state = createEmptyPortfolio();
  fold.at = { ...genesis };
}

/** One journal of a run store, as the store of a portfolio. */
export const toPortfolioStore = (store: RunStore, run: string): PortfolioStore => ({
  open: (options) => store.open(run, "portfolio", options),
  read: (from, onEntry) => store.read(run, from, onEntry),
});

/**
 * Where a portfolio's journal is read: in its folder by default. For a portfolio in a store that is
 * the copy of the last opening.
 */
export const getStore = ({ ownFolder, journal }: PortfolioPaths): PortfolioStore =>
  journal ?? toPortfolioStore(openFileStore(dirname(ownFolder)), basename(ownFolder));

/** Opens it where it is kept: in its folder, or in the store whose key its mark names (G3). */
export async function openStored(
  env: NodeJS.ProcessEnv,
  paths: PortfolioPaths,
  requested: Omit<OpenOptions, "under"> & { readonly onEntry: (entry: Entry) => void },
): Promise<OpenedRun> {
  const { ownFolder, journal, planner } = paths;
  const options = { ...requested, ...(planner === undefined ? {} : { under: planner.lease }) }; // G4
  if (journal !== undefined) return journal.open(options);
  if (readPortfolioMark(ownFolder) === null) {
    const entries: Entry[] = [];
    const opened = await getStore(paths).open({
      ...options,
      onEntry: (entry) => void entries.push(entry),
    });

    if (readPortfolioMark(ownFolder) === null) {
      entries.forEach(options.onEntry);
      return opened;
    }

    await opened.journal.close(); // the portfolio was moved into a store while this process waited for the lock
  }

  const { openShared } = await import("../../fleet/shared-run.ts");
  const mark = readPortfolioMark(ownFolder);
  invariant(mark !== null, "G3: nobody removes a portfolio's mark");

  return openShared({ env, folder: ownFolder, mark, options, kind: "portfolio" });
}

export const asPortfolioEntry = (entry: Entry): PortfolioEntry =>
  entry as unknown as PortfolioEntry;

/**
 * Runs the work, and once more with an empty fold if the journal doesn't continue from the fold's
 * position (G2).
 */
export async function retryFromStart<Value>(
  fold: PortfolioFold,
  work: () => Promise<Value>,
): Promise<Value> {
  const wasBegun = fold.at.seq > 0;
  try {
    return await work();
  } catch (error) {
    resetFold(fold);
    if (wasBegun && error instanceof JournalFailure && error.kind === "journal_damaged") {
      return work();
    }

    throw error;
  }
}

/**
 * The state as it is now, read without the lock. The object goes on changing while this process
 * writes.
 */
export function readPortfolio(paths: PortfolioPaths): Promise<PortfolioView> {
  const fold = getFold(paths);
  return fold.mutex.runExclusive(() =>
    // G1
    retryFromStart(fold, async () => {
      fold.at = await getStore(paths).read(fold.at, (entry) =>
        reduce(fold.state, asPortfolioEntry(entry)),
      );

      return fold.state;
    }),
  );
}

/** Returns a function that gives the state in the folder at each call, and folds each line once. */
export function followPortfolio({ ownFolder }: PortfolioPaths): () => PortfolioView {
  const fold: PortfolioFold = {
    state: createEmptyPortfolio(),
    at: { ...genesis },
    mutex: new Mutex(),
  };

  return () => {
    try {
      fold.at = readJournal(ownFolder, {
        startAt: fold.at,
        onEntry: (entry) => reduce(fold.state, asPortfolioEntry(entry)),
      }).end;
    } catch (error) {
      resetFold(fold);
      throw error;
    }

    return fold.state;
  };
}
