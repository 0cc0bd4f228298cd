// followed-runs: the runs that pages show, each read once and then on from where it was left. Reads only.
//
// Invariants:
//   W1. A run whose journal cannot be read is listed, says so, and never hides another.
//   W2. A journal that became shorter, or is another file, is read again.
//   W3. Only the most recently viewed runs keep their entries in memory.
//   W4. `mark` changes whenever a followed run does: values computed from a run are cached by its mark.

import { statSync } from "node:fs";
import { basename, join } from "node:path";
import type { Entry } from "../../contracts/event.ts";
import { type Fold, openFold } from "../../core/fold.ts";
import type { RunView } from "../../core/state.ts";
import { JournalFailure } from "../../journal/failure.ts";
import { journalFile } from "../../journal/journal.ts";
import { findOwner } from "../../journal/owner.ts";
import { type ReadResult, readJournal } from "../../journal/read.ts";
import { InvariantBroken } from "../../kit/invariant.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { readOwnFile } from "../../project/own-file.ts";
import { findProject, isBegun, listRuns, type ProjectPaths, runFolder } from "../../project/runs/project-paths.ts";
import { isOwnRun } from "../../project/runs/run-binding.ts";
import { livePath } from "../../runner/live-view.ts";
import { openRunIndex, type RunIndex } from "../../views/facts/run-index.ts";

/** A run and its folder. `task`: the portfolio task it works for. */
export type RunSource = {
  readonly key: string;
  readonly paths: ProjectPaths;
  readonly run: string;
  readonly project: string;
  readonly task: string | null;
};

export type FollowedRun = RunSource & {
  readonly folder: string;
  readonly view: RunView;
  readonly index: RunIndex;
  readonly owner: { readonly pid: number } | null;
  readonly foreign: boolean;
  /** W4. */
  readonly mark: string;
};

/** Why a run cannot be shown. */
export type UnreadableRun = RunSource & { readonly problem: string };

type Reading = {
  fold: Fold;
  book: ReturnType<typeof openRunIndex>;
  end: ReadResult["end"] | "start";
  ino: number;
  bytes: number;
  problem: string | null;
  entries: Entry[] | null;
  foreign: { readonly is: boolean; readonly ino: number } | null;
};

const entriesKeptOfRuns = 3;
const liveCharsMax = 2_000;

export type FollowedRuns = {
  /** Whether a run's journal was read, so the run was begun. */
  readonly isKnown: (key: string) => boolean;
  readonly all: (sources: readonly RunSource[]) => Promise<readonly (FollowedRun | UnreadableRun)[]>;
  readonly one: (source: RunSource) => FollowedRun | UnreadableRun | null;
  readonly entries: (source: RunSource) => readonly Entry[];
};

export const isReadable = (run: FollowedRun | UnreadableRun): run is FollowedRun => "view" in run;

/** The runs of this project, oldest first. */
export function projectRuns(cwd: string, isKnown: (key: string) => boolean): readonly RunSource[] {
  const paths = findProject(cwd);
  return paths === null ? [] : listRuns(paths, isKnown).map((run) => projectRun(paths, run));
}

export const projectRun = (paths: ProjectPaths, run: string): RunSource => ({
  key: run,
  paths,
  run,
  project: basename(paths.root),
  task: null,
});

export function followRuns(context: Pick<CommandContext, "env">): FollowedRuns {
  const readings = new Map<string, Reading>();
  const recentKeys: string[] = [];

  const readNewEntries = (source: RunSource): Reading | null => {
    const folder = runFolder(source.paths, source.run);
    const stats = statSync(join(folder, journalFile), { throwIfNoEntry: false });
    let reading = readings.get(source.key);
    const isSame = stats !== undefined && reading !== undefined && reading.ino === stats.ino && stats.size >= reading.bytes;
    if (stats === undefined || (!isSame && !isBegun(source.paths, source.run))) {
      readings.delete(source.key);
      return null;
    }
    if (reading === undefined || !isSame) {
      reading = createReading(stats.ino); // W2
      readings.set(source.key, reading);
    }
    if (reading.bytes === stats.size) return reading;
    const current = reading;
    try {
      current.end = readJournal(folder, {
        from: current.end,
        onEntry: (entry) => {
          current.fold.apply(entry);
          current.book.apply(entry);
          current.entries?.push(entry);
        },
      }).end;
      current.bytes = stats.size;
      current.problem = null;
    } catch (error) {
      if (!(error instanceof JournalFailure) && !(error instanceof InvariantBroken)) throw error;
      Object.assign(current, { ...createReading(stats.ino), problem: error.message, bytes: stats.size }); // W1
    }
    return current;
  };

  const followSource = (source: RunSource): FollowedRun | UnreadableRun | null => {
    const reading = readNewEntries(source);
    if (reading === null) return null;
    const { state } = reading.fold;
    if (reading.problem !== null || state.status === "unborn") return { ...source, problem: reading.problem ?? "its journal is empty" };
    const folder = runFolder(source.paths, source.run);
    if (reading.foreign?.ino !== reading.ino) reading.foreign = { is: !isOwnRun(context, source.paths, source.run), ino: reading.ino };
    const owner = findOwner(folder);
    const mark = `${reading.ino}.${reading.bytes}.${owner?.pid ?? ""}.${reading.foreign.is}`; // W4
    return { ...source, folder, view: state, index: reading.book.index, owner, foreign: reading.foreign.is, mark };
  };

  return {
    isKnown: (key) => readings.has(key),
    one: followSource,
    all: async (sources) => {
      const followed: (FollowedRun | UnreadableRun)[] = [];
      for (const source of sources) {
        const isNew = !readings.has(source.key);
        const run = followSource(source);
        if (run !== null) followed.push(run);
        if (isNew) await new Promise((resolve) => setImmediate(resolve)); // other requests are answered meanwhile
      }
      return followed;
    },
    entries: (source) => {
      const reading = readNewEntries(source);
      if (reading === null || reading.problem !== null) return [];
      if (reading.entries === null) {
        const entries: Entry[] = [];
        readJournal(runFolder(source.paths, source.run), { from: "start", onEntry: (entry) => entries.push(entry) });
        reading.entries = entries.slice(0, reading.end === "start" ? 0 : reading.end.seq);
      }
      keep(source.key);
      return reading.entries;
    },
  };

  /** W3. */
  function keep(key: string): void {
    if (recentKeys[0] === key) return;
    const index = recentKeys.indexOf(key);
    if (index >= 0) recentKeys.splice(index, 1);
    recentKeys.unshift(key);
    for (const old of recentKeys.splice(entriesKeptOfRuns)) {
      const reading = readings.get(old);
      if (reading !== undefined) reading.entries = null;
    }
  }
}

/** A value computed from a run, cached by its mark: pages are requested far more often than a run changes. W4 */
export function cachedByMark<T>(compute: (run: FollowedRun) => T, runsMax: number): (run: FollowedRun) => T {
  const cache = new Map<string, { readonly mark: string; readonly value: T }>();
  return (run) => {
    const cached = cache.get(run.key);
    if (cached?.mark === run.mark) return cached.value;
    const value = compute(run);
    cache.delete(run.key);
    cache.set(run.key, { mark: run.mark, value });
    const oldest = cache.size > runsMax ? cache.keys().next().value : undefined;
    if (oldest !== undefined) cache.delete(oldest);
    return value;
  };
}

const createReading = (ino: number): Reading => ({
  fold: openFold(),
  book: openRunIndex(),
  end: "start",
  ino,
  bytes: -1,
  problem: null,
  entries: null,
  foreign: null,
});

/** The live events of a run that a process works on. */
export const readLiveLine = ({ folder, owner }: Pick<FollowedRun, "folder" | "owner">): string =>
  owner === null ? "" : (readOwnFile(livePath(folder), 1 << 20) ?? "").trim().slice(0, liveCharsMax);
