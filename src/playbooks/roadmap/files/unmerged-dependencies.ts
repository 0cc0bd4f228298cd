// unmerged-dependencies: finds completed phases whose work is only on the unmerged branch of the
// run that completed them.

import type { RoadmapPhase } from "../../../contracts/roadmap.ts";
import { git } from "../../../workspace/git/git.ts";
import { findGitPlaces } from "../../../workspace/git/git-places.ts";
import { openUserView } from "../../../workspace/git/user-view.ts";
import type { PhaseRecordSummary } from "./completed-phases.ts";
import { runBranchName } from "../../../contracts/run-branch.ts";

export type UnmergedPhase = { readonly phase: string; readonly branch: string };

type UnmergedInput = {
  readonly root: string;
  readonly phases: readonly RoadmapPhase[];
  /** Phases to run. */
  readonly phaseIds: readonly string[];
  readonly history: ReadonlyMap<string, PhaseRecordSummary>;
};

/**
 * Checks all transitive dependencies. A phase counts as merged if the work of any run that
 * completed it is on this branch.
 */
export async function findUnmerged({
  root,
  phases,
  phaseIds,
  history,
}: UnmergedInput): Promise<readonly UnmergedPhase[]> {
  const dependencies = [...collectDependencies(phases, phaseIds)].filter(
    (id) => history.get(id)?.isCompleted === true,
  );
  if (dependencies.length === 0) return [];
  const branches = await listRunBranches(root);
  const missingByBranch = new Map<string, ReadonlySet<string>>();

  /**
   * Whether the branch has work of the phase that is not here. A deleted branch has none: the user
   * is done with it.
   */
  const isMissing = async (phase: string, branch: string): Promise<boolean> => {
    if (!branches.has(branch)) return false;
    const missingPhases = missingByBranch.get(branch) ?? (await findMissingPhases(root, branch));
    missingByBranch.set(branch, missingPhases);

    return missingPhases.has(phase);
  };

  const unmerged: UnmergedPhase[] = [];
  for (const phase of dependencies) {
    const runBranches = (history.get(phase)?.runs ?? []).map(runBranchName);
    const unmergedBranches: string[] = [];

    for (const branch of runBranches) {
      if (await isMissing(phase, branch)) unmergedBranches.push(branch);
    }

    const newestBranch = unmergedBranches.at(-1);
    if (newestBranch !== undefined && unmergedBranches.length === runBranches.length) {
      unmerged.push({ phase, branch: newestBranch });
    }
  }

  return unmerged;
}

/** The phases that these depend on, directly or through others. */
export function collectDependencies(
  phases: readonly RoadmapPhase[],
  phaseIds: readonly string[],
): ReadonlySet<string> {
  const dependencies = new Set<string>();
  const queue = [...phaseIds];
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    for (const dependency of phases.find((phase) => phase.id === id)?.depends_on ?? []) {
      if (dependencies.has(dependency)) continue;
      dependencies.add(dependency);
      queue.push(dependency);
    }
  }

  return dependencies;
}

async function listRunBranches(root: string): Promise<ReadonlySet<string>> {
  const args = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/autopilot/"];
  const places = findGitPlaces(root);
  if (places === null) return new Set(); // without a repository the run is refused elsewhere
  const { out } = await git({ ...(await openUserView(places)), args, acceptedExitCodes: [0, 128] });

  return new Set(out.toString("utf8").split("\n").filter(Boolean));
}

/**
 * The phases with unmerged commits on a branch; none if merging it would change nothing, since then
 * their work is here already.
 */
async function findMissingPhases(root: string, branch: string): Promise<ReadonlySet<string>> {
  const places = findGitPlaces(root);
  if (places === null) return new Set();
  const view = await openUserView(places);

  const head = await git({
    ...view,
    args: ["rev-parse", "--verify", "--quiet", "HEAD^{tree}"],
    acceptedExitCodes: [0, 1, 128],
  });
  if (head.code !== 0) return new Set();

  const merge = await git({
    ...view,
    args: ["merge-tree", "--write-tree", "--no-messages", "HEAD", branch],
    acceptedExitCodes: [0, 1, 128, 129],
  }); // 1: conflicts; 129: git is too old
  if (merge.code === 0 && firstLine(merge.out) === firstLine(head.out)) return new Set();
  const { out } = await git({
    ...view,
    args: ["log", "--format=%(trailers:key=Autopilot-Attempt,valueonly)", `HEAD..${branch}`],
  });
  const attempts = out.toString("utf8").split("\n"); // 1@1/execute#2

  return new Set(attempts.flatMap((attempt) => /^(.+?)@\d/.exec(attempt)?.[1] ?? []));
}

const firstLine = (out: Buffer): string => out.toString("utf8").split("\n", 1)[0] ?? "";
