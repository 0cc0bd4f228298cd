// folder: the paths of a portfolio. The files people and other tools read are in
// `.openclaw-autopilot/`; the journal, the source of truth, and everything disposable are in
// `.autopilot/portfolio/` beside it.
//
// Invariants:
//   F1. Nothing of a foreign portfolio is executed, and nothing is written to it, before its user
//       agreed. A portfolio is recognised by a record outside of it, which names its journal's file
//       and the last line when it was last left.
//   F2. The copy of a task is always in `copies/`, whatever the journal says.
//   F3. No link is followed, neither to the files nor to the journal.

import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { portfolioFolder } from "../../contracts/portfolio/portfolio.ts";
import { journalFile } from "../../journal/journal.ts";
import type { CommandContext } from "../../project/command-context.ts";
import type { PortfolioStore } from "../../ports/portfolio-store.ts";
import type { Lease } from "../../ports/run-store.ts";
import { type Obstacle, findObstacle, refuseInTheWay } from "../../project/own-folder.ts";
import { refuse } from "../../project/respond.ts";
import {
  findBinding,
  bindRun,
  type JournalHead,
  whyOverwritten,
} from "../../project/runs/run-binding.ts";

export type PortfolioPaths = {
  readonly root: string;
  /** `.openclaw-autopilot/` */
  readonly pagesFolder: string;
  /** `.autopilot/portfolio/` */
  readonly ownFolder: string;
  /** Where its journal is kept if not in its folder. */
  readonly journal?: PortfolioStore;
  /**
   * Takes warnings about the files, for a pool, which opens the portfolio in many places; without
   * it they are in the response.
   */
  readonly tell?: (warning: string) => void;
  /** Set for a pool that plans under a lease in a store, which it may lose. */
  readonly planner?: {
    /** The store refuses this pool's lines without it (`openStored`). */
    readonly lease: Lease;
    /**
     * Tasks that another machine began and whose hub was unreachable, by id: each is brought here
     * before it is worked on.
     */
    readonly unbrought: Map<string, () => Promise<void>>;
  };
};

const confirmPollMs = 50;

/**
 * Called before work that would be in vain without the lease. Resolves once the lease is confirmed;
 * throws a JournalFailure if it is lost.
 */
export async function requirePlanner({ planner }: Pick<PortfolioPaths, "planner">): Promise<void> {
  if (planner === undefined) return;
  const { lease } = planner;
  while (!lease.isConfirmed()) {
    lease.lost.throwIfAborted();
    await sleep(confirmPollMs); // the clock has jumped, and the store has not confirmed the lease since
  }
}

export const portfolioAt = (root: string): PortfolioPaths => ({
  root,
  pagesFolder: join(root, portfolioFolder),
  ownFolder: join(root, ".autopilot", "portfolio"),
});

/** The portfolio that a folder is in; null if there is none, or only one behind a link (F3). */
export const findPortfolio = (cwd: string): PortfolioPaths | null => {
  const paths = findNearest(cwd);
  return paths === null || findLink(paths) !== null ? null : paths;
};

function findNearest(cwd: string): PortfolioPaths | null {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const paths = portfolioAt(folder);
    if (existsSync(join(paths.ownFolder, journalFile))) return paths;
    if (dirname(folder) === folder) return null;
  }
}

const findLink = ({ root, ownFolder }: PortfolioPaths): Obstacle | null =>
  findObstacle(root, relative(root, ownFolder));

/** Says that there is none, or which link keeps it from being read. */
export function refuseMissing(cwd: string): never {
  const paths = findNearest(cwd);
  const link = paths === null ? null : findLink(paths);
  if (link !== null) refuseInTheWay(link.path, link.kind, "folder");

  return refuse("portfolio_missing", { message: `There is no portfolio in ${cwd} or above it.` });
}

/** The portfolio that a command's folder is in; refuses one that isn't this user's (F1). */
export function requirePortfolio(context: Pick<CommandContext, "cwd" | "env">): PortfolioPaths {
  const { paths, foreign } = findVisiblePortfolio(context);
  if (foreign === null) return paths;
  return refuse("portfolio_foreign", {
    message: `The portfolio in ${paths.root} isn't yours: ${foreign}. Nothing of it was executed.`,
  });
}

/**
 * The same for a command that only shows it; `foreign` says why it isn't this user's, null if it
 * is.
 */
export function findVisiblePortfolio(context: Pick<CommandContext, "cwd" | "env">): {
  readonly paths: PortfolioPaths;
  readonly foreign: string | null;
} {
  const paths = findPortfolio(context.cwd);
  if (paths === null) return refuseMissing(context.cwd);
  return { paths, foreign: whyForeign(context, paths) };
}

const recordName = "portfolio";
const toProjectPaths = ({ root }: PortfolioPaths) => ({ root, folder: join(root, ".autopilot") });

/** Why a portfolio is not this user's on this machine; null if it is. */
export function whyForeign(
  { env }: Pick<CommandContext, "env">,
  paths: PortfolioPaths,
): string | null {
  const binding = findBinding(env, toProjectPaths(paths), paths.ownFolder, recordName);
  return binding.kind === "ours"
    ? whyOverwritten(paths.ownFolder, binding.record)
    : binding.why.replace("you didn't start it here", "you didn't make it here");
}

/** Records that a portfolio is this user's. */
export const bindPortfolio = (
  { env }: Pick<CommandContext, "env">,
  paths: PortfolioPaths,
  head?: JournalHead,
): void =>
  bindRun(env, toProjectPaths(paths), paths.ownFolder, {
    run: recordName,
    ack: "",
    isolation: "",
    ...(head === undefined ? {} : { head }),
  });

/**
 * Records the line at which a portfolio is left. The record may lag behind the journal, and is
 * never ahead of it.
 */
export function rememberHead(
  { env }: Pick<CommandContext, "env">,
  paths: PortfolioPaths,
  { seq, byte, prev }: JournalHead,
): void {
  const binding = findBinding(env, toProjectPaths(paths), paths.ownFolder, recordName);
  if (binding.kind !== "ours" || binding.record.head?.seq === seq) return;
  try {
    bindPortfolio({ env }, paths, { seq, byte, prev });
  } catch {
    // A full or missing state folder is reported when a portfolio is created.
  }
}

/** The folder of a task's copy; null if it has none (F2). */
export function findCopy(
  { ownFolder }: PortfolioPaths,
  { copy }: { readonly copy: string | null },
): string | null {
  const name = copy === null ? "" : basename(copy);
  return name.startsWith("task-") ? join(ownFolder, "copies", name) : null;
}
