// unmerged-dependencies: completed phases whose work is not here: it is on the branch of the run that completed them, unmerged.

import type { RoadmapPhase } from "../../../contracts/roadmap.ts";
import { git } from "../../../workspace/git/git.ts";
import { findGitPlaces } from "../../../workspace/git/places.ts";
import { userViewCall } from "../../../workspace/git/user-view.ts";
import type { KnownPhase } from "./roadmap-known.ts";

export type Unlanded = { readonly phase: string; readonly branch: string };

type Asked = {
  readonly root: string;
  readonly phases: readonly RoadmapPhase[];
  /** Phases to run. */
  readonly wanted: readonly string[];
  readonly known: ReadonlyMap<string, KnownPhase>;
};

/** Those that something to be run builds upon, by however many steps. A phase that any run brought here is here. */
export async function unlandedBelow({ root, phases, wanted, known }: Asked): Promise<readonly Unlanded[]> {
  const needed = [...transitiveDependencies(phases, wanted)].filter((id) => known.get(id)?.isCompleted === true);
  if (needed.length === 0) return [];
  const branches = await runBranches(root);
  const missing = new Map<string, ReadonlySet<string>>();
  const isMissing = async (phase: string, branch: string): Promise<boolean> => {
    if (!branches.has(branch)) return false;
    const found = missing.get(branch) ?? (await phasesMissing(root, branch));
    missing.set(branch, found);
    return found.has(phase);
  };
  const unlanded: Unlanded[] = [];
  for (const phase of needed) {
    const from = (known.get(phase)?.runs ?? []).map((run) => `autopilot/${run}`);
    const open: string[] = [];
    for (const branch of from) if (await isMissing(phase, branch)) open.push(branch);
    const branch = open.at(-1);
    if (branch !== undefined && open.length === from.length) unlanded.push({ phase, branch });
  }
  return unlanded;
}

export function transitiveDependencies(phases: readonly RoadmapPhase[], wanted: readonly string[]): ReadonlySet<string> {
  const below = new Set<string>();
  const look = [...wanted];
  for (let id = look.pop(); id !== undefined; id = look.pop()) {
    for (const other of phases.find((phase) => phase.id === id)?.depends_on ?? []) {
      if (below.has(other)) continue;
      below.add(other);
      look.push(other);
    }
  }
  return below;
}

async function runBranches(root: string): Promise<ReadonlySet<string>> {
  const args = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/autopilot/"];
  const places = findGitPlaces(root);
  if (places === null) return new Set(); // without a repository nothing begins anyhow
  const { out } = await git({ ...userViewCall(places), args, codes: [0, 128] });
  return new Set(out.toString("utf8").split("\n").filter(Boolean));
}

/** The phases with commits on a branch that are not here; none if a merge would change nothing, for then their work came another way. */
async function phasesMissing(root: string, branch: string): Promise<ReadonlySet<string>> {
  const places = findGitPlaces(root);
  if (places === null) return new Set();
  const view = userViewCall(places);
  const head = await git({ ...view, args: ["rev-parse", "--verify", "--quiet", "HEAD^{tree}"], codes: [0, 1, 128] });
  if (head.code !== 0) return new Set();
  const merge = await git({ ...view, args: ["merge-tree", "--write-tree", "--no-messages", "HEAD", branch], codes: [0, 1, 128, 129] });
  if (merge.code === 0 && lineOf(merge.out) === lineOf(head.out)) return new Set();
  const { out } = await git({
    ...view,
    args: ["log", "--format=%(trailers:key=Autopilot-Attempt,valueonly)", `HEAD..${branch}`],
  });
  const attempts = out.toString("utf8").split("\n");
  return new Set(attempts.flatMap((attempt) => /^(.+?)@\d/.exec(attempt)?.[1] ?? []));
}

const lineOf = (out: Buffer): string => out.toString("utf8").split("\n", 1)[0] ?? "";
