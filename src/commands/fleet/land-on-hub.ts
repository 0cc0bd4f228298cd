// land-on-hub: merges the work of a completed run into the hub's branch that it began on.
//
// Invariants:
//   G1. The branch moves by compare-and-set from the commit that was inspected: a landing that lost
//       the race starts over.
//   G2. Exactly what lands was proved. A run's own proof counts while the branch has not moved; on
//       a newer tip the merge is proved again, in a fresh checkout.
//   G3. Work that is in the branch already has landed: doing it again changes nothing.

import { listSome } from "../../kit/list-some.ts";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Check } from "../../contracts/evidence.ts";
import { findBaseline } from "../../core/completion.ts";
import type { RunView } from "../../core/state.ts";
import type { Hub } from "../../fleet/hub.ts";
import { proveCommit } from "../../portfolio/merge/prove-commit.ts";
import { type Exchange, openExchange } from "../../portfolio/worker/git-exchange.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { type ProjectPaths, ensureOwnFolder } from "../../project/runs/project-paths.ts";
import { toCommandKey } from "../../verify/same-command.ts";
import { eraseSync } from "../../workspace/folder.ts";

const conflictsShownMax = 5;
const goalCharsMax = 2_000;
const failureCharsMax = 300;

export type HubLandingResult =
  | { readonly kind: "landed"; readonly commit: string }
  /** The work stays on the run's own ref, and a person decides. */
  | { readonly kind: "kept"; readonly why: string }
  /** Nothing speaks against the work: another worker may land it. */
  | { readonly kind: "unsure"; readonly why: string };

/** How often another landing may come first before this one is given back. */
const racesMax = 20;

/** `mayLand`: whether the worker still holds its lease. */
export type HubLanding = {
  readonly hub: Hub;
  readonly view: RunView;
  readonly isolation?: string | undefined;
  readonly mayLand: () => boolean;
};

/** Merges, proves and pushes, again and again while others move the branch. */
export async function landOnHub(
  context: CommandContext,
  paths: ProjectPaths,
  { hub, view, isolation, mayLand }: HubLanding,
): Promise<HubLandingResult> {
  const { branch } = view.drafted.base;
  if (branch === null) return { kind: "kept", why: "the run began on no branch" };
  const ownPath = ensureOwnFolder(paths);
  const exchange = await openExchange(paths.root, join(ownPath, "exchange.git"));

  for (let race = 0; race < racesMax; race++) {
    const tip = await hub.readTip(branch);
    if (tip === null) return { kind: "kept", why: `the hub has no branch ${branch}` };
    if (await exchange.isWithin(view.tip.commit, tip)) return { kind: "landed", commit: tip }; // G3
    const merge = await mergeOnto(exchange, tip, view);
    if ("why" in merge) return { kind: "kept", why: merge.why };
    const { commit } = merge;
    const proof = { folder: ownPath, repository: exchange.repository, view, commit, isolation };
    const why = commit === view.tip.commit ? null : await whyUnproved(context, proof); // G2
    if (context.interrupted.aborted) return { kind: "unsure", why: "the worker was asked to end" };
    if (why !== null) return { kind: "kept", why };
    if (!mayLand()) return { kind: "unsure", why: "the worker isn't sure of its lease" };
    const landing = await hub.land(branch, tip, commit); // G1
    if (landing.kind === "landed") return { kind: "landed", commit };
    if (landing.kind === "refused") {
      return { kind: "kept", why: `the hub refuses it: ${landing.why}` };
    }

    context.show(`! ${branch} moved on the hub; the work is proved again on its new tip`);
  }

  return { kind: "unsure", why: `${branch} moved ${racesMax} times meanwhile` };
}

/**
 * The commit to land: the run's own if it contains the tip, else a merge with it; or why they can't
 * be merged.
 */
async function mergeOnto(
  exchange: Exchange,
  tip: string,
  view: RunView,
): Promise<{ readonly commit: string } | { readonly why: string }> {
  const { run_id, objective } = view.drafted;
  const { commit } = view.tip;
  if (await exchange.isWithin(tip, commit)) return { commit };
  const message = `Merge ${run_id}\n\n${objective.goal.slice(0, goalCharsMax)}\n\nAutopilot-Run: ${run_id}\n`;
  const merge = await exchange.merge({ onto: tip, commit, message, tip: null });
  if ("commit" in merge) return { commit: merge.commit };

  return {
    why: `it conflicts with what has landed in ${listSome(merge.conflicts, conflictsShownMax)}`,
  };
}

/**
 * What the merge must pass besides the run's criteria (`extraChecks`), and which of the project's
 * checks may fail since they failed before.
 */
export function listExtraRequirements({ drafted, checks }: Pick<RunView, "drafted" | "checks">): {
  readonly extraChecks: readonly Check[];
  readonly failingBefore: ReadonlySet<string>;
} {
  const projectChecks = Object.values(checks).filter(
    ({ latest }) => latest.check.kind === "project",
  );
  // A check that failed before the run and passes since must pass on the new tip too.
  const failing = projectChecks.filter(
    (check) =>
      (findBaseline(check)?.status ?? "passed") !== "passed" && check.latest.status !== "passed",
  );

  return {
    extraChecks: drafted.checks.filter(({ kind }) => kind === "red_green" || kind === "holdout"),
    failingBefore: new Set(failing.map(({ latest }) => toCommandKey(latest.check.command))),
  };
}

type ProofOnTip = {
  /** The checkout is made in a temporary folder in here. */
  readonly folder: string;
  readonly repository: Exchange["repository"];
  readonly view: RunView;
  readonly commit: string;
  readonly isolation: string | undefined;
};

/** Proves a commit in a fresh checkout; null if it passes, else the first failure. */
async function whyUnproved(
  context: CommandContext,
  { folder: parent, repository, view, commit, isolation }: ProofOnTip,
): Promise<string | null> {
  const folder = mkdtempSync(join(parent, "landing-"));
  const criteria = view.drafted.objective.done_criteria.map(({ text, check }) => ({
    text,
    command: check,
  }));

  try {
    const { passed, evidence } = await proveCommit(context, repository, {
      commit,
      criteria,
      ...listExtraRequirements(view),
      folder,
      isolation,
    });
    const failed = evidence.filter((line) => !line.startsWith("passed:"));
    return passed
      ? null
      : `it passes alone and fails on the new tip: ${failed[0]?.slice(0, failureCharsMax) ?? "nothing was run"}`;
  } finally {
    eraseSync(folder);
  }
}
