// followed-runs: the runs that the dashboard's pages show. Each journal is read once, and then only
// what was added. Reads only.
//
// Invariants:
//   W1. A run whose journal cannot be read is listed, says so, and never hides another.
//   W2. A journal that became shorter, or is another file, is read again.
//   W3. Only the most recently viewed runs keep their entries in memory.
//   W4. `mark` changes whenever a followed run does: values computed from a run are cached by its
//       mark.

import { statSync } from "node:fs";
import { basename, join } from "node:path";
import type { Entry } from "../../contracts/event.ts";
import { type Fold, openFold } from "../../core/fold.ts";
import type { RunView } from "../../core/state.ts";
import { JournalFailure } from "../../journal/journal-failure.ts";
import { journalFile } from "../../journal/journal.ts";
import { findOwner } from "../../journal/owner.ts";
import { type ReadResult, readJournal } from "../../journal/read.ts";
import { InvariantBroken } from "../../kit/invariant.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { readOwnFile } from "../../project/own-file.ts";
import {
  findProject,
  isBegun,
  listRuns,
  type ProjectPaths,
  runFolder,
} from "../../project/runs/project-paths.ts";
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
  /** Changes whenever anything else here does (W4). */
  readonly changeMark: string;
};

/** A run whose journal cannot be read, and why. */
export type UnreadableRun = RunSource & { readonly problem: string };

/** How far a run's journal was read, and what came of it. */
type Reading = {
  fold: Fold;
  indexBuilder: ReturnType<typeof openRunIndex>;
  end: ReadResult["end"] | "start";
  ino: number;
  bytes: number;
  problem: string | null;
  /** Null unless the run is among those viewed last (W3). */
  entries: Entry[] | null;
  /** Null until it was looked up since the last lines were read. */
  isForeign: boolean | null;
};

const runsWithEntriesMax = 3;
const liveCharsMax = 2_000;
const liveBytesMax = 1 << 20;

export type FollowedRuns = {
  /** Whether a run's journal was read, so the run was begun. */
  readonly isKnown: (key: string) => boolean;
  readonly followAll: (
    sources: readonly RunSource[],
  ) => Promise<readonly (FollowedRun | UnreadableRun)[]>;
  /** Null if the run is gone, or was never begun. */
  readonly follow: (source: RunSource) => FollowedRun | UnreadableRun | null;
  readonly entriesOf: (source: RunSource) => readonly Entry[];
};

export const isReadable = (run: FollowedRun | UnreadableRun): run is FollowedRun => "view" in run;

/** The runs of this project, oldest first. */
export function listProjectRuns(
  cwd: string,
  isKnown: (key: string) => boolean,
): readonly RunSource[] {
  const paths = findProject(cwd);
  return paths === null ? [] : listRuns(paths, isKnown).map((run) => toProjectSource(paths, run));
}

/** A run of this project, whose key is its own id. */
export const toProjectSource = (paths: ProjectPaths, run: string): RunSource => ({
  key: run,
  paths,
  run,
  project: basename(paths.root),
  task: null,
});

/** Follows runs until the process ends; what was read of each is kept in memory. */
export function followRuns(context: Pick<CommandContext, "env">): FollowedRuns {
  const readings = new Map<string, Reading>();
  let recentKeys: readonly string[] = [];

  const follow = (source: RunSource): FollowedRun | UnreadableRun | null => {
    const reading = readNewEntries(readings, source);
    return reading === null ? null : describeReading(context, source, reading);
  };

  const dropOldEntries = (newestKey: string): void => {
    const keys = [newestKey, ...recentKeys.filter((key) => key !== newestKey)];
    recentKeys = keys.slice(0, runsWithEntriesMax);

    for (const key of keys.slice(runsWithEntriesMax)) {
      const reading = readings.get(key);
      if (reading !== undefined) reading.entries = null;
    }
  };

  return {
    isKnown: (key) => readings.has(key),
    follow,
    followAll: async (sources) => {
      const followed: (FollowedRun | UnreadableRun)[] = [];
      for (const source of sources) {
        const isNew = !readings.has(source.key);
        const run = follow(source);
        if (run !== null) followed.push(run);
        if (isNew) await new Promise((resolve) => setImmediate(resolve)); // other requests are answered meanwhile
      }

      return followed;
    },
    entriesOf: (source) => {
      const reading = readNewEntries(readings, source);
      if (reading === null || reading.problem !== null) return [];
      reading.entries ??= readAllEntries(source, reading);
      dropOldEntries(source.key); // W3

      return reading.entries;
    },
  };
}

/**
 * Reads what was added to the journal since the last time. Null if the run is gone, or was never
 * begun.
 */
function readNewEntries(readings: Map<string, Reading>, source: RunSource): Reading | null {
  const folder = runFolder(source.paths, source.run);
  const stats = statSync(join(folder, journalFile), { throwIfNoEntry: false });
  const earlier = readings.get(source.key);

  const isSameFile =
    stats !== undefined &&
    earlier !== undefined &&
    earlier.ino === stats.ino &&
    stats.size >= earlier.bytes;
  if (stats === undefined || (!isSameFile && !isBegun(source.paths, source.run))) {
    readings.delete(source.key);
    return null;
  }

  const reading = earlier !== undefined && isSameFile ? earlier : createReading(stats.ino); // W2
  readings.set(source.key, reading);
  if (reading.bytes === stats.size) return reading;
  try {
    reading.end = readJournal(folder, {
      startAt: reading.end,
      onEntry: (entry) => {
        reading.fold.apply(entry);
        reading.indexBuilder.apply(entry);
        reading.entries?.push(entry);
      },
    }).end;

    reading.bytes = stats.size;
    reading.problem = null;
    reading.isForeign = null; // an adoption adds lines
  } catch (error) {
    if (!(error instanceof JournalFailure) && !(error instanceof InvariantBroken)) throw error;
    Object.assign(reading, {
      ...createReading(stats.ino),
      problem: error.message,
      bytes: stats.size,
    }); // W1
  }

  return reading;
}

function describeReading(
  context: Pick<CommandContext, "env">,
  source: RunSource,
  reading: Reading,
): FollowedRun | UnreadableRun {
  const { state } = reading.fold;
  if (reading.problem !== null || state.status === "unborn") {
    return { ...source, problem: reading.problem ?? "its journal is empty" };
  }

  const folder = runFolder(source.paths, source.run);
  const foreign = (reading.isForeign ??= !isOwnRun(context, source.paths, source.run));
  const owner = findOwner(folder);
  const changeMark = `${reading.ino}.${reading.bytes}.${owner?.pid ?? ""}.${foreign}`; // W4

  return {
    ...source,
    folder,
    view: state,
    index: reading.indexBuilder.index,
    owner,
    foreign,
    changeMark,
  };
}

/**
 * Every entry up to where the run was read; lines that were added since are read with the next
 * ones.
 */
function readAllEntries(source: RunSource, { end }: Reading): Entry[] {
  const entries: Entry[] = [];
  readJournal(runFolder(source.paths, source.run), {
    startAt: "start",
    onEntry: (entry) => entries.push(entry),
  });

  return entries.slice(0, end === "start" ? 0 : end.seq);
}

/**
 * Caches a value computed from a run by the run's mark (W4): pages are requested far more often
 * than a run changes.
 */
export function cacheByMark<T>(
  compute: (run: FollowedRun) => T,
  runsMax: number,
): (run: FollowedRun) => T {
  const cache = new Map<string, { readonly mark: string; readonly value: T }>();
  return (run) => {
    const cached = cache.get(run.key);
    if (cached?.mark === run.changeMark) return cached.value;
    const value = compute(run);
    cache.delete(run.key);
    cache.set(run.key, { mark: run.changeMark, value });
    const oldest = cache.size > runsMax ? cache.keys().next().value : undefined;
    if (oldest !== undefined) cache.delete(oldest);

    return value;
  };
}

const createReading = (ino: number): Reading => ({
  fold: openFold(),
  indexBuilder: openRunIndex(),
  end: "start",
  ino,
  bytes: -1,
  problem: null,
  entries: null,
  isForeign: null,
});

/** The line of live events that the run's process shows; empty if no process works on it. */
export const readLiveLine = ({ folder, owner }: Pick<FollowedRun, "folder" | "owner">): string =>
  owner === null
    ? ""
    : (readOwnFile(livePath(folder), liveBytesMax) ?? "").trim().slice(0, liveCharsMax);
