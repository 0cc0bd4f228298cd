// exchange-for: opens the exchange of a project's repository on this machine. For a planner of a
// fleet it has the hub's branches instead of the clone's: tasks begin and land there, so that any
// machine can continue.
//
// Invariants:
//   R1. A hub has one repository: another repository's branch is refused, whatever its name.
//   R2. Commits that the journal names and another machine made are brought from the hub before
//       they are used.
//   R3. The portfolio's journal says which hub a repository has, never the environment.

import { existsSync } from "node:fs";
import { Mutex } from "../../engine/mutex.ts";
import { hubVariable } from "../../fleet/address.ts";
import { type Hub, type HubLanding, openHub } from "../../fleet/hub.ts";
import { requireOwnCommit } from "../../fleet/own-hub.ts";
import { runKey } from "../../fleet/shared-mark.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { refuse } from "../../project/respond.ts";
import type { Repository } from "../../workspace/git/repository.ts";
import type { PortfolioView, TaskView } from "../planner/state.ts";
import { findClone } from "../store/clones.ts";
import type { PortfolioPaths } from "../store/folder.ts";
import { type Exchange, exchangeDirectory, openExchange } from "./git-exchange.ts";
import { makeClone } from "./make-clone.ts";

export type ProjectExchange = Exchange & {
  /** Null if the clone's own branches count. */
  readonly landOnHub: ((branch: string, from: string, to: string) => Promise<HubLanding>) | null;
  /** Brings the commits of a task's run here, as far as the hub has them (R2). */
  readonly bringWork: (
    task: Pick<TaskView, "task_id" | "run_id" | "event_nonce" | "commit">,
  ) => Promise<void>;
};

type Hubs = Pick<PortfolioView, "hubs" | "projects">;

export async function openProjectExchange(
  paths: PortfolioPaths,
  state: Hubs,
  repository: string,
): Promise<ProjectExchange> {
  const url = requireHubOf(paths, state, repository);
  const clone = await ensureClone(paths, state, repository);
  const exchange = await openExchange(clone, exchangeDirectory(paths, repository));
  if (url === null) return { ...exchange, landOnHub: null, bringWork: () => Promise.resolve() };

  const hub = await openProjectHub(paths, exchange.repository, repository, url);
  return {
    ...exchange,
    readTip: hub.readTip,
    landOnHub: hub.land,
    bringWork: (task) => bringWork(exchange, hub, task),
  };
}

/** Brings the commits of a task's run from the hub, unless they are here already (R2). */
async function bringWork(
  exchange: Exchange,
  hub: Pick<Hub, "bring">,
  { task_id, run_id, event_nonce, commit }: Parameters<ProjectExchange["bringWork"]>[0],
): Promise<void> {
  if (run_id === null || event_nonce === null) return;
  if (commit !== null && (await exchange.hasCommit(commit))) return;

  await hub.bring(runKey(run_id, event_nonce));
  if (commit !== null && (await exchange.hasCommit(commit))) await exchange.keep(task_id, commit);
}

/**
 * The hub of a repository (R3); null if this isn't a fleet's planner: then the clone's own branches
 * count.
 */
function requireHubOf(
  paths: PortfolioPaths,
  { hubs, projects }: Hubs,
  repository: string,
): string | null {
  if (paths.planner === undefined) return null;

  const hub = hubs[repository];
  if (hub !== undefined) return hub;

  const project = Object.values(projects).find((candidate) => candidate.repository === repository);
  return refuse("hub_unusable", {
    message: `${repository} has no hub: machines exchange its commits through a git repository that all of them reach.`,
    remediation: [`autopilot portfolio edit ${project?.project_id ?? "PROJECT"} --hub URL`],
  });
}

/**
 * The context for everything that happens in a task's copy: its commits go to the hub of its
 * repository (R3).
 */
export function withHub(
  context: CommandContext,
  paths: PortfolioPaths,
  state: Hubs,
  repository: string | null,
): CommandContext {
  const hub = repository === null ? null : requireHubOf(paths, state, repository);
  return hub === null ? context : { ...context, env: { ...context.env, [hubVariable]: hub } };
}

/** The clone of a repository here; cloned from the hub if the repository is on another machine. */
export function ensureClone(
  paths: PortfolioPaths,
  state: Hubs,
  repository: string,
): Promise<string> {
  const mutex = getMutex(`clone of ${exchangeDirectory(paths, repository)}`);

  return mutex.runExclusive(async () => {
    const clone = findClone(paths, repository);
    const url = paths.planner === undefined ? undefined : state.hubs[repository];
    if (url === undefined || existsSync(clone)) return clone;
    return makeClone(paths, state, repository, url);
  });
}

/** Git refuses to change one ref twice at once. */
const mutexes = new Map<string, Mutex>();
function getMutex(name: string): Mutex {
  const mutex = mutexes.get(name) ?? new Mutex();
  mutexes.set(name, mutex);
  return mutex;
}

/** Branches of hubs that were checked to be of their repository. */
const checkedBranches = new Set<string>();

/** Opens a hub; refuses branches that aren't of this clone's repository (R1). */
export async function openProjectHub(
  paths: PortfolioPaths,
  clone: Repository,
  repository: string,
  url: string,
): Promise<Pick<Hub, "readTip" | "land" | "bring">> {
  const folder = `${exchangeDirectory(paths, repository)}.hub`;
  const mutex = getMutex(folder);
  const hub = await mutex.runExclusive(() => openHub(clone, folder, url));

  async function readTip(branch: string): Promise<string | null> {
    const tip = await hub.readTip(branch);
    if (tip !== null) await requireOwnBranch(clone, url, branch, tip);
    return tip;
  }

  return {
    readTip: (branch) => mutex.runExclusive(() => readTip(branch)),
    land: (branch, from, to) => mutex.runExclusive(() => hub.land(branch, from, to)),
    bring: (key) => mutex.runExclusive(() => hub.bring(key)),
  };
}

/** A branch is checked once (R1). */
async function requireOwnBranch(
  clone: Repository,
  url: string,
  branch: string,
  tip: string,
): Promise<void> {
  const name = [clone.root, url, branch].join("\0");
  if (checkedBranches.has(name)) return;

  await requireOwnCommit(clone, url, branch, tip);
  checkedBranches.add(name);
}
