// exchange-for: the exchange of a project's repository on this machine. Whoever plans for a fleet has the hub's branches in it instead of the
// clone's: tasks begin there and land there, so that any machine can go on.
//
// Invariants:
//   R1. A hub has one repository: another one's branch is no target, whatever it is called.
//   R2. What the journal names and another machine made is brought from the hub before it is used.

import { Mutex } from "../../engine/mutex.ts";
import { type HubLanding, openHub } from "../../fleet/hub.ts";
import { repositoryId } from "../../fleet/repository-id.ts";
import { runKey } from "../../fleet/shared-mark.ts";
import { refuse } from "../../project/reply.ts";
import type { TaskView } from "../planner/state.ts";
import { cloneOf } from "../store/clones.ts";
import type { PortfolioPaths } from "../store/folder.ts";
import { type Exchange, hubOf, openExchange } from "./git-exchange.ts";

export type ProjectExchange = Exchange & {
  /** Null if the clone's own branches count. */
  readonly landOnHub: ((branch: string, from: string, to: string) => Promise<HubLanding>) | null;
  /** Makes sure that the commits of a task's run are here, as far as the hub has them. R2 */
  readonly bringWork: (task: Pick<TaskView, "task_id" | "run_id" | "event_nonce" | "commit">) => Promise<void>;
};

/** Git refuses to change one ref twice at once. */
const transfers = new Map<string, Mutex>();
/** Branches that were found to be of their repository. */
const known = new Set<string>();

export async function exchangeFor(paths: PortfolioPaths, repository: string): Promise<ProjectExchange> {
  const clone = cloneOf(paths, repository);
  const exchange = await openExchange(clone, hubOf(paths, repository));
  const url = paths.planner?.hub;
  if (url === undefined) return { ...exchange, landOnHub: null, bringWork: () => Promise.resolve() };
  const folder = `${hubOf(paths, repository)}.hub`;
  const mutex = transfers.get(folder) ?? new Mutex();
  transfers.set(folder, mutex);
  const hub = await mutex.runExclusive(() => openHub(exchange.repository, folder, url));
  const requireSame = async (branch: string, tip: string): Promise<void> => {
    const name = [clone, url, branch].join("\0");
    if (known.has(name)) return;
    if ((await repositoryId(exchange.repository, tip)) !== (await repositoryId(exchange.repository)))
      refuse("workspace_unusable", { message: `${branch} of the hub is a branch of another repository than ${clone}; a hub has one.` }); // R1
    known.add(name);
  };
  return {
    ...exchange,
    tipOf: (branch) =>
      mutex.runExclusive(async () => {
        const tip = await hub.tipOf(branch);
        if (tip !== null) await requireSame(branch, tip);
        return tip;
      }),
    landOnHub: (branch, from, to) => mutex.runExclusive(() => hub.land(branch, from, to)),
    bringWork: ({ task_id, run_id, event_nonce, commit }) =>
      mutex.runExclusive(async () => {
        if (run_id === null || event_nonce === null || (commit !== null && (await exchange.has(commit)))) return;
        await hub.bring(runKey(run_id, event_nonce)); // R2
        if (commit !== null && (await exchange.has(commit))) await exchange.keep(task_id, commit);
      }),
  };
}
