// facts: the data behind every dashboard page: the runs of this project and of its portfolio. Reads
// only.

import { existsSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { Entry } from "../../contracts/event.ts";
import { journalFile } from "../../journal/journal.ts";
import { safeJson } from "../../kit/safe-json.ts";
import { findPortfolio, portfolioAt, type PortfolioPaths } from "../../portfolio/store/folder.ts";
import type { PortfolioView, TaskView } from "../../portfolio/planner/state.ts";
import { followPortfolio } from "../../portfolio/store/fold.ts";
import { pathsOfCopy } from "../../portfolio/worker/task-runs.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { product } from "../../project/runs/product.ts";
import { findProject, isBegun, runFolder } from "../../project/runs/project-paths.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { livePath } from "../../runner/live-view.ts";
import { type CostInput, type CostView, buildCostView } from "../../views/facts/cost.ts";
import { type LogPage, toLogRow } from "../../views/facts/log-rows.ts";
import { showConfig } from "../config-show.ts";
import { showPortfolio } from "../portfolio/show.ts";
import { buildDiffPage, type DiffPage, readFileDiff } from "./diff-files.ts";
import { storeVariable } from "../../fleet/address.ts";
import { type FleetPage, buildFleetPage } from "./fleet-page.ts";
import {
  type FollowedRun,
  followRuns,
  isReadable,
  cacheByMark,
  toProjectSource,
  listProjectRuns,
  type RunSource,
} from "./followed-runs.ts";
import { type Overview, buildOverview, summarizeRun, findReadOnlyReason } from "./overview.ts";
import {
  buildPortfolioPage,
  type PortfolioPage,
  findRunKey,
  type WorkerActivity,
} from "./portfolio-page.ts";
import {
  type RunHead,
  buildRunHead,
  buildShownReport,
  type ShownRun,
  buildShownRun,
} from "./run-page.ts";
import { buildSettingsPage, type SettingsPage } from "./settings-page.ts";
import type { FileDiff } from "../../views/facts/hunks.ts";

/**
 * The lines after one, or the last ones before one; with neither the newest. 0 means that this end
 * isn't given.
 */
export type LogRange = { readonly after: number; readonly before: number; readonly max: number };

/**
 * Everything that pages ask for. A run is named by its key; null means that there is no such run,
 * or that it can't be read.
 */
export type Facts = {
  readonly overview: () => Promise<Overview>;
  readonly run: (key: string, expanded?: ReadonlySet<string>) => ShownRun | null;
  /** The header of a run's log and diff pages. */
  readonly head: (key: string) => RunHead | null;
  readonly log: (key: string, range: LogRange) => LogPage | null;
  /** One line of a run's journal, as JSON. */
  readonly entry: (key: string, seq: number) => string | null;
  readonly diff: (key: string) => Promise<DiffPage | null>;
  /** The diff of one file. */
  readonly file: (key: string, path: string) => Promise<FileDiff | null>;
  readonly portfolio: () => Promise<PortfolioPage | null>;
  readonly fleet: () => Promise<FleetPage>;
  readonly cost: () => Promise<CostView>;
  readonly settings: () => Promise<SettingsPage>;
  readonly sourceOf: (key: string) => RunSource | null;
  /** Why a page is read-only; null if it may act. */
  readonly findReadOnlyReason: () => Promise<string | null>;
  /**
   * A value that changes whenever a page would show something else: by the run's key, and for
   * `portfolio` and `fleet`.
   */
  readonly marks: () => Readonly<Record<string, string>>;
};

/** A store is not watched: its page is polled this often while it is open. */
const fleetPollMs = 2_000;
const summariesCachedMax = 1_000;
const reportsCachedMax = 3;

/** Opens the data of this project and, if there is one, of its portfolio. */
export function openFacts(context: CommandContext): Facts {
  const projectPaths = findProject(context.cwd);
  const paths = findPortfolioHere(context.cwd);
  const portfolio = paths === null ? () => null : followPortfolio(paths);
  const { runs, sources, sourceOf, findReadable, entriesOf } = openRunLookup(context, portfolio);
  const hasStore = (context.env[storeVariable] ?? "").trim() !== "";
  const name = basename(projectPaths?.root ?? paths?.root ?? context.cwd);

  const summaries = cacheByMark(summarizeRun, summariesCachedMax);
  const heads = cacheByMark(buildRunHead, reportsCachedMax);
  const reports = cacheByMark(
    (run) => buildShownReport(run, runs.entriesOf(run)),
    reportsCachedMax,
  );

  const readReadableRuns = async (): Promise<readonly FollowedRun[]> =>
    (await runs.followAll(sources())).filter(isReadable);

  return {
    sourceOf,
    overview: async () =>
      buildOverview(await runs.followAll(sources()), portfolio(), {
        now: systemClock.now(),
        name,
        user: context.user,
        product,
        hasStore,
        summaryOf: summaries,
      }),
    run: (key, expanded) => {
      const run = findReadable(key);
      return run === null
        ? null
        : buildShownRun(run, heads(run), reports(run), { now: systemClock.now(), expanded });
    },
    head: (key) => {
      const run = findReadable(key);
      return run === null ? null : heads(run);
    },
    log: (key, range) => {
      const entries = entriesOf(key);
      return entries === null
        ? null
        : { rows: sliceLog(entries, range).map(toLogRow), total: entries.length };
    },
    entry: (key, seq) => {
      const entry = entriesOf(key)?.[seq - 1];
      return entry === undefined ? null : safeJson(entry);
    },
    diff: async (key) => {
      const run = findReadable(key);
      return run === null ? null : buildDiffPage(run);
    },
    file: async (key, path) => {
      const run = findReadable(key);
      return run === null ? null : readFileDiff(run, path);
    },
    portfolio: async () => {
      const state = portfolio();
      if (state === null || paths === null) return null;
      const { data } = await showPortfolio({ ...context, cwd: paths.root }, {});
      const waiting = (data?.["waiting"] ?? []) as readonly { readonly because: string }[];

      return buildPortfolioPage(
        state,
        waiting,
        activityByTask(await readReadableRuns()),
        systemClock.now(),
      );
    },
    fleet: () => buildFleetPage(context.env),
    cost: async () => {
      const rows = (await readReadableRuns()).flatMap(({ index, project }) =>
        index.usage.map((row): CostInput => ({ ...row, project })),
      );
      return buildCostView(rows, systemClock.now());
    },
    settings: async () => buildSettingsPage(await showConfig(context, {})),
    findReadOnlyReason: async () => findReadOnlyReason(await readReadableRuns()),
    marks: () => {
      const marks: Record<string, string> = {};
      for (const source of sources()) {
        marks[source.key] = readMark(runFolder(source.paths, source.run));
      }

      if (hasStore) marks["fleet"] = String(Math.floor(systemClock.monotonicMs() / fleetPollMs));
      if (paths !== null) marks["portfolio"] = String(readSize(join(paths.ownFolder, journalFile)));
      return marks;
    },
  };
}

/** Finds runs by their keys, among those of this project and of the portfolio's tasks. */
function openRunLookup(context: CommandContext, portfolio: () => PortfolioView | null) {
  const runs = followRuns(context);
  const sources = (): readonly RunSource[] => [
    ...listProjectRuns(context.cwd, runs.isKnown),
    ...listPortfolioRuns(portfolio()),
  ];

  const sourceOf = (key: string): RunSource | null => {
    const project = findProject(context.cwd);
    if (project !== null && isBegun(project, key)) return toProjectSource(project, key);
    return listPortfolioRuns(portfolio()).find((source) => source.key === key) ?? null;
  };

  const findReadable = (key: string): FollowedRun | null => {
    const source = sourceOf(key);
    const run = source === null ? null : runs.follow(source);
    return run !== null && isReadable(run) ? run : null;
  };

  const entriesOf = (key: string): readonly Entry[] | null => {
    const source = sourceOf(key);
    return source === null ? null : runs.entriesOf(source);
  };

  return { runs, sources, sourceOf, findReadable, entriesOf };
}

function activityByTask(runs: readonly FollowedRun[]): (task: TaskView) => WorkerActivity | null {
  const runsByKey = new Map(runs.map((run) => [run.key, run]));
  return (task) => {
    const run = runsByKey.get(findRunKey(task) ?? "");
    return run === undefined
      ? null
      : { updatedAt: run.view.updatedAt, isAlive: run.owner !== null };
  };
}

function sliceLog(entries: readonly Entry[], { after, before, max }: LogRange): readonly Entry[] {
  if (after > 0) return entries.slice(after, after + max);
  const end = before > 0 ? before - 1 : entries.length;
  return entries.slice(Math.max(0, end - max), end);
}

/**
 * A portfolio counts if the command was started in its folder; not if it was started in a project
 * below it, such as a task's copy.
 */
function findPortfolioHere(cwd: string): PortfolioPaths | null {
  const paths = portfolioAt(resolve(cwd));
  if (existsSync(join(paths.ownFolder, journalFile))) return paths;
  return findProject(cwd) === null ? findPortfolio(cwd) : null;
}

function listPortfolioRuns(state: PortfolioView | null): readonly RunSource[] {
  if (state === null) return [];
  return Object.values(state.tasks).flatMap((task) => {
    const key = findRunKey(task);
    if (key === null || task.run_id === null || task.copy === null || !existsSync(task.copy)) {
      return [];
    }

    const project = state.projects[task.project_id]?.name ?? task.project_id;
    return [{ key, paths: pathsOfCopy(task.copy), run: task.run_id, project, task: task.task_id }];
  });
}

/** The signs in a run's files that something happened: journal length, owner, live events. */
function readMark(folder: string): string {
  const live = statSync(livePath(folder), { throwIfNoEntry: false });
  const lock = statSync(join(folder, "journal.lock"), { throwIfNoEntry: false });
  return `${readSize(join(folder, journalFile))}.${Math.floor(live?.mtimeMs ?? 0)}.${Math.floor(lock?.mtimeMs ?? 0)}`;
}

const readSize = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? -1;
