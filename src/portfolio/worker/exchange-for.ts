// exchange-for: the exchange of a project's repository on this machine. Whoever plans for a fleet has its hub's branches in it instead of the
// clone's: tasks begin there and land there, so that any machine can go on.
//
// Invariants:
//   R1. A hub has one repository: another one's branch is no target, whatever it is called.
//   R2. What the journal names and another machine made is brought from the hub before it is used.
//   R3. Which hub that is, the repository says, by the portfolio's journal; no other part of the environment does.

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
  /** Makes sure that the commits of a task's run are here, as far as the hub has them. R2 */
  readonly bringWork: (task: Pick<TaskView, "task_id" | "run_id" | "event_nonce" | "commit">) => Promise<void>;
};

type Hubs = Pick<PortfolioView, "hubs" | "projects">;

export async function exchangeFor(paths: PortfolioPaths, state: Hubs, repository: string): Promise<ProjectExchange> {
  const url = hubFor(paths, state, repository);
  const clone = await cloneFor(paths, state, repository);
  const exchange = await openExchange(clone, exchangeDirectory(paths, repository));
  if (url === null) return { ...exchange, landOnHub: null, bringWork: () => Promise.resolve() };
  const hub = await openProjectHub(paths, exchange.repository, repository, url);
  return {
    ...exchange,
    tipOf: hub.tipOf,
    landOnHub: hub.land,
    bringWork: async ({ task_id, run_id, event_nonce, commit }) => {
      if (run_id === null || event_nonce === null || (commit !== null && (await exchange.has(commit)))) return;
      await hub.bring(runKey(run_id, event_nonce)); // R2
      if (commit !== null && (await exchange.has(commit))) await exchange.keep(task_id, commit);
    },
  };
}

/** R3. Null if nobody plans for a fleet here: the clone's own branches count. */
function hubFor(paths: PortfolioPaths, { hubs, projects }: Hubs, repository: string): string | null {
  if (paths.planner === undefined) return null;
  const project = Object.values(projects).find((one) => one.repository === repository);
  return (
    hubs[repository] ??
    refuse("hub_unusable", {
      message: `${repository} has no hub: machines exchange its commits through a git repository that all of them reach.`,
      remediation: [`autopilot portfolio edit ${project?.project_id ?? "PROJECT"} --hub URL`],
    })
  );
}

/** For everything that happens in a task's copy: its commits go to the hub of its repository. R3 */
export function withHub(context: CommandContext, paths: PortfolioPaths, state: Hubs, repository: string | null): CommandContext {
  const hub = repository === null ? null : hubFor(paths, state, repository);
  return hub === null ? context : { ...context, env: { ...context.env, [hubVariable]: hub } };
}

/** The clone that was named or made here, or where the project says; made from the hub if it is on another machine. */
export function cloneFor(paths: PortfolioPaths, state: Hubs, repository: string): Promise<string> {
  return mutexOf(`clone of ${exchangeDirectory(paths, repository)}`).runExclusive(async () => {
    const clone = findClone(paths, repository);
    const url = paths.planner === undefined ? undefined : state.hubs[repository];
    return url === undefined || existsSync(clone) ? clone : makeClone(paths, state, repository, url);
  });
}

/** Git refuses to change one ref twice at once. */
const mutexes = new Map<string, Mutex>();
function mutexOf(name: string): Mutex {
  const mutex = mutexes.get(name) ?? new Mutex();
  mutexes.set(name, mutex);
  return mutex;
}
/** Branches that were found to be of their repository. */
const known = new Set<string>();

/** A hub whose branches are those of this clone's repository. R1 */
export async function openProjectHub(
  paths: PortfolioPaths,
  clone: Repository,
  repository: string,
  url: string,
): Promise<Pick<Hub, "tipOf" | "land" | "bring">> {
  const folder = `${exchangeDirectory(paths, repository)}.hub`;
  const mutex = mutexOf(folder);
  const hub = await mutex.runExclusive(() => openHub(clone, folder, url));
  const requireSame = async (branch: string, tip: string): Promise<void> => {
    const name = [clone.root, url, branch].join("\0");
    if (known.has(name)) return;
    await requireOwnCommit(clone, url, branch, tip); // R1
    known.add(name);
  };
  return {
    tipOf: (branch) =>
      mutex.runExclusive(async () => {
        const tip = await hub.tipOf(branch);
        if (tip !== null) await requireSame(branch, tip);
        return tip;
      }),
    land: (branch, from, to) => mutex.runExclusive(() => hub.land(branch, from, to)),
    bring: (key) => mutex.runExclusive(() => hub.bring(key)),
  };
}
