// land-on-hub: merges the work of a completed run into the hub's branch that it began on.
//
// Invariants:
//   G1. The branch moves by compare-and-set from the commit that was inspected: a landing that lost the race starts over.
//   G2. Exactly what lands was proved. A run's own proof counts while the branch has not moved; on a newer tip the merge is proved again,
//       in a fresh checkout.
//   G3. Work that is in the branch already has landed: doing it again changes nothing.

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
import { commandKey } from "../../verify/same-command.ts";
import { eraseSync } from "../../workspace/folder.ts";

export type LandedOnHub =
  | { readonly kind: "landed"; readonly commit: string }
  /** It stays on the run's own ref; a person decides. */
  | { readonly kind: "kept"; readonly why: string }
  /** Nothing is known against it: another worker may continue. */
  | { readonly kind: "unsure"; readonly why: string };

const racesMax = 20;

/** `mayLand`: whether the worker still holds its lease. */
export type HubLanding = {
  readonly hub: Hub;
  readonly view: RunView;
  readonly isolation?: string | undefined;
  readonly mayLand: () => boolean;
};

export async function landOnHub(
  context: CommandContext,
  paths: ProjectPaths,
  { hub, view, isolation, mayLand }: HubLanding,
): Promise<LandedOnHub> {
  const { branch } = view.drafted.base;
  if (branch === null) return { kind: "kept", why: "the run began on no branch" };
  const ownPath = ensureOwnFolder(paths);
  const exchange = await openExchange(paths.root, join(ownPath, "exchange.git"));
  for (let race = 0; race < racesMax; race++) {
    const tip = await hub.tipOf(branch);
    if (tip === null) return { kind: "kept", why: `the hub has no branch ${branch}` };
    if (await exchange.holds(view.tip.commit, tip)) return { kind: "landed", commit: tip }; // G3
    const merged = await mergeOnto(exchange, tip, view);
    if (typeof merged === "object") return { kind: "kept", why: merged.why };
    const proof = { folder: ownPath, repository: exchange.repository, view, commit: merged, isolation };
    const why = merged === view.tip.commit ? null : await whyUnproved(context, proof); // G2
    if (context.interrupted.aborted) return { kind: "unsure", why: "the worker was asked to end" };
    if (why !== null) return { kind: "kept", why };
    if (!mayLand()) return { kind: "unsure", why: "the worker isn't sure of its lease" };
    const landing = await hub.land(branch, tip, merged); // G1
    if (landing.kind === "landed") return { kind: "landed", commit: merged };
    if (landing.kind === "refused") return { kind: "kept", why: `the hub refuses it: ${landing.why}` };
    context.show(`! ${branch} moved on the hub; the work is proved again on its new tip`);
  }
  return { kind: "unsure", why: `${branch} moved ${racesMax} times meanwhile` };
}

async function mergeOnto(exchange: Exchange, tip: string, view: RunView): Promise<string | { readonly why: string }> {
  const { run_id, objective } = view.drafted;
  if (await exchange.holds(tip, view.tip.commit)) return view.tip.commit;
  const message = `Merge ${run_id}\n\n${objective.goal.slice(0, 2000)}\n\nAutopilot-Run: ${run_id}\n`;
  const merged = await exchange.merge({ onto: tip, commit: view.tip.commit, message, tip: null });
  if ("commit" in merged) return merged.commit;
  return { why: `it conflicts with what has landed in ${merged.conflicts.slice(0, 5).join(", ")}` };
}

/** The run's requirements besides its criteria: what must pass, and which project checks don't block. */
export function extraRequirements({ drafted, checks }: Pick<RunView, "drafted" | "checks">): {
  readonly more: readonly Check[];
  readonly redBefore: ReadonlySet<string>;
} {
  const projectChecks = Object.values(checks).filter(({ latest }) => latest.check.kind === "project");
  // What the run has turned green must be green there too.
  const red = projectChecks.filter((check) => (findBaseline(check)?.status ?? "passed") !== "passed" && check.latest.status !== "passed");
  return {
    more: drafted.checks.filter(({ kind }) => kind === "red_green" || kind === "holdout"),
    redBefore: new Set(red.map(({ latest }) => commandKey(latest.check.command))),
  };
}

type ProofOnTip = {
  /** Where a temporary folder is made. */
  readonly folder: string;
  readonly repository: Exchange["repository"];
  readonly view: RunView;
  readonly commit: string;
  readonly isolation: string | undefined;
};

async function whyUnproved(
  context: CommandContext,
  { folder: parent, repository, view, commit, isolation }: ProofOnTip,
): Promise<string | null> {
  const folder = mkdtempSync(join(parent, "landing-"));
  const criteria = view.drafted.objective.done_criteria.map(({ text, check }) => ({ text, command: check }));
  try {
    const { passed, evidence } = await proveCommit(context, repository, {
      commit,
      criteria,
      ...extraRequirements(view),
      folder,
      isolation,
    });
    const failed = evidence.filter((line) => !line.startsWith("passed:"));
    return passed ? null : `it passes alone and fails on the new tip: ${failed[0]?.slice(0, 300) ?? "nothing was run"}`;
  } finally {
    eraseSync(folder);
  }
}
