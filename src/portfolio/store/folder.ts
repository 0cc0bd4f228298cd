// folder: the paths of a portfolio. The files people and other tools read are in `.openclaw-autopilot/`; the journal, the source of truth,
// and everything disposable are in `.autopilot/portfolio/` beside it.
//
// Invariants:
//   F1. Nothing of a foreign folder is executed or written to before its user agreed: a portfolio is known by a record outside of it, which
//       names its journal by file and by its last line when it was last left.
//   F2. The copy of a task is in `copies/`, whatever its journal says.
//   F3. No link is followed, neither to its files nor to its journal.

import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { portfolioFolder } from "../../contracts/portfolio.ts";
import { journalFile } from "../../journal/journal.ts";
import type { CommandContext } from "../../project/command-context.ts";
import type { PortfolioStore } from "../../ports/portfolio-store.ts";
import type { Lease } from "../../ports/run-store.ts";
import { type Obstacle, findObstacle, refuseInTheWay } from "../../project/own-folder.ts";
import { refuse } from "../../project/respond.ts";
import { findBinding, bindRun, type JournalHead, whyOverwritten } from "../../project/runs/run-binding.ts";

export type PortfolioPaths = {
  readonly root: string;
  /** `.openclaw-autopilot/` */
  readonly shown: string;
  /** `.autopilot/portfolio/` */
  readonly own: string;
  /** Where its journal is kept if not in its folder. */
  readonly journal?: PortfolioStore;
  /** Where what is found in the files is told, if not in a command's answer: a pool takes the portfolio in hand in many places. */
  readonly tell?: (warning: string) => void;
  /** Of a pool whose right to plan is a lease in a store, which it may lose. */
  readonly planner?: {
    /** The store takes no line of this pool without it (openStored). */
    readonly lease: Lease;
    /** Tasks that another machine began and whose hub was away, by id: each is brought before anything is done about it. */
    readonly unbrought: Map<string, () => Promise<void>>;
  };
};

const confirmPollMs = 50;

/** Asked before work is begun that would be in vain. Resolves when the lease is certain; throws a JournalFailure once it is lost. */
export async function requirePlanner({ planner }: Pick<PortfolioPaths, "planner">): Promise<void> {
  if (planner === undefined) return;
  const { lease } = planner;
  while (!lease.isConfirmed()) {
    lease.lost.throwIfAborted();
    await sleep(confirmPollMs); // after a jump of the clock, until the store has confirmed it
  }
}

export const portfolioAt = (root: string): PortfolioPaths => ({
  root,
  shown: join(root, portfolioFolder),
  own: join(root, ".autopilot", "portfolio"),
});

/** The portfolio around a folder; null if there is none. One behind a link is none. F3 */
export const findPortfolio = (cwd: string): PortfolioPaths | null => {
  const paths = nearest(cwd);
  return paths === null || linkTo(paths) !== null ? null : paths;
};

function nearest(cwd: string): PortfolioPaths | null {
  for (let at = resolve(cwd); ; at = dirname(at)) {
    const paths = portfolioAt(at);
    if (existsSync(join(paths.own, journalFile))) return paths;
    if (dirname(at) === at) return null;
  }
}

const linkTo = ({ root, own }: PortfolioPaths): Obstacle | null => findObstacle(root, relative(root, own));

/** Says that there is none, or which link keeps it from being read. */
export function refuseMissing(cwd: string): never {
  const paths = nearest(cwd);
  const link = paths === null ? null : linkTo(paths);
  if (link !== null) refuseInTheWay(link.path, link.kind, "folder");
  return refuse("portfolio_missing", { message: `There is no portfolio in ${cwd} or above it.` });
}

/** The portfolio around a command's folder, shown to be its user's. F1 */
export function requirePortfolio(context: Pick<CommandContext, "cwd" | "env">): PortfolioPaths {
  const { paths, foreign } = visiblePortfolio(context);
  if (foreign === null) return paths;
  return refuse("portfolio_foreign", { message: `The portfolio in ${paths.root} isn't yours: ${foreign}. Nothing of it was executed.` });
}

/** The same to look at only: why it is not its user's, if it is not. */
export function visiblePortfolio(context: Pick<CommandContext, "cwd" | "env">): {
  readonly paths: PortfolioPaths;
  readonly foreign: string | null;
} {
  const paths = findPortfolio(context.cwd);
  if (paths === null) return refuseMissing(context.cwd);
  return { paths, foreign: whyForeign(context, paths) };
}

const recordName = "portfolio";
const homeOf = ({ root }: PortfolioPaths) => ({ root, folder: join(root, ".autopilot") });

/** Why a portfolio is not this user's on this machine; null if it is. */
export function whyForeign({ env }: Pick<CommandContext, "env">, paths: PortfolioPaths): string | null {
  const binding = findBinding(env, homeOf(paths), paths.own, recordName);
  return binding.kind === "ours"
    ? whyOverwritten(paths.own, binding.record)
    : binding.why.replace("you didn't start it here", "you didn't make it here");
}

/** Records that a portfolio is this user's. */
export const bindPortfolio = ({ env }: Pick<CommandContext, "env">, paths: PortfolioPaths, head?: JournalHead): void =>
  bindRun(env, homeOf(paths), paths.own, { run: recordName, ack: "", isolation: "", ...(head === undefined ? {} : { head }) });

/** Records the line at which a portfolio is left. The record may lag behind the journal, and is never ahead of it. */
export function rememberHead({ env }: Pick<CommandContext, "env">, paths: PortfolioPaths, { seq, byte, prev }: JournalHead): void {
  const binding = findBinding(env, homeOf(paths), paths.own, recordName);
  if (binding.kind !== "ours" || binding.record.head?.seq === seq) return;
  try {
    bindPortfolio({ env }, paths, { seq, byte, prev });
  } catch {
    // A full or missing state folder is reported where a portfolio is made.
  }
}

/** The copy of a task; null if it has none. F2 */
export function copyIn({ own }: PortfolioPaths, { copy }: { readonly copy: string | null }): string | null {
  const name = copy === null ? "" : basename(copy);
  return name.startsWith("task-") ? join(own, "copies", name) : null;
}
