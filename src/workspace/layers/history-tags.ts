// history-tags: gives the repository of an agent or a check the tags of the user's, so that `git log
// v1.0..HEAD` says there what it says to the user.
//
// Invariants:
//   T1. A tag is shown only if its commit is in the layer's own history: reachable from its
//       starting commit and not cut off. It is shown as its name and that commit; messages,
//       signatures and tags of anything else stay outside.
//   T2. Tags stop nothing: those that git can't list, or that are too many, are left out. Git reads
//       them through the runner's own view, where nothing runs that a repository names
//       (user-view.ts).
//   T3. A repository without tags costs no process, any other one git a run: what is shown later is
//       chosen from what was found first.

import { existsSync, readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { compareText } from "../../kit/compare-text.ts";
import type { GitSha } from "../../contracts/ids.ts";
import { readErrorCode, WorkspaceFailed } from "../failure.ts";
import { readSmallFile } from "../folder.ts";
import { readCommit } from "../git/commits.ts";
import { git } from "../git/git.ts";
import { quotePath } from "../git/shadow.ts";
import { openUserView } from "../git/user-view.ts";
import { readShallowCommits } from "../git/shallow-commits.ts";
import type { RunWorkspace } from "../run-workspace.ts";

/** The full name, as the bytes it has in git, and the commit it stands for in the end. */
type Tag = { readonly ref: string; readonly commit: GitSha };

const tagsMax = 1_000;
/** So that the tags of one commit don't take the place of all others. */
const tagsOfCommitMax = 100;
/** A history is cut off after a few commits, but where branches were merged it can be wide. */
const commitsMax = 5_000;
const listBytesMax = 16 << 20;
const listTimeoutMs = 20_000;
const packedRefsBytesMax = 16 << 20;
/**
 * A name that is one word in a list of refs, and does not stand in the way of the layer's own
 * branch.
 */
const tagPattern = /^refs\/tags\/(?!(?:HEAD|work)$)[^\x00-\x20\x7f~^:?*[\\]{1,255}$/;

/**
 * What was found out for a run: its tags, once they were listed, and the parents of the commits
 * that were read.
 */
type Findings = {
  tags: readonly Tag[] | null;
  readonly parents: Map<GitSha, readonly GitSha[] | null>;
};
const findingsByRun = new WeakMap<RunWorkspace, Findings>();

/**
 * Writes the tags of a history into a repository that no agent and no check has seen yet, and that
 * has it.
 */
export async function writeTags(run: RunWorkspace, gitDir: string, start: GitSha): Promise<void> {
  const findings: Findings = findingsByRun.get(run) ?? {
    tags: mayHaveTags(run.repository.commonDir) ? null : [],
    parents: new Map(),
  }; // T3
  findingsByRun.set(run, findings);
  if (findings.tags?.length === 0) return;
  let shown: readonly Tag[] = [];

  try {
    const cutOff = new Set([gitDir, run.shadow.gitDir].flatMap(readShallowCommits));
    const history = await readHistory(run, findings.parents, start, cutOff);
    findings.tags ??= await listTags(run, history);
    shown = findings.tags.filter(({ commit }) => history.has(commit)); // T1
  } catch (error) {
    if (!(error instanceof WorkspaceFailed) && readErrorCode(error) === null) throw error;
    findings.tags = []; // T2
  }

  if (shown.length > 0) {
    await writeFile(join(gitDir, "packed-refs"), composePackedRefs(shown), "latin1");
  }
}

/**
 * Whether a repository could have tags, told from its files; where they don't tell, git is asked.
 */
function mayHaveTags(commonDir: string): boolean {
  if (existsSync(join(commonDir, "reftable"))) return true;
  const packedRefs = join(commonDir, "packed-refs");

  try {
    const loose = join(commonDir, "refs", "tags");
    if (existsSync(loose) && readdirSync(loose).length > 0) return true;
    return (
      readSmallFile(packedRefs, packedRefsBytesMax)?.includes(" refs/tags/") ??
      existsSync(packedRefs)
    );
  } catch (error) {
    if (readErrorCode(error) === null) throw error;
    return true;
  }
}

/** The commits of a layer's history, the newest first as far as parents tell. */
async function readHistory(
  { shadow }: RunWorkspace,
  parents: Findings["parents"],
  start: GitSha,
  cutOff: ReadonlySet<GitSha>,
): Promise<ReadonlySet<GitSha>> {
  const history = new Set<GitSha>();
  const reached = new Set([start]);
  for (const commit of reached) {
    if (history.size >= commitsMax) break;
    const known = parents.get(commit);
    const next =
      known === undefined ? ((await readCommit(shadow.call, commit))?.parents ?? null) : known;
    parents.set(commit, next);
    if (next === null) continue; // a commit that is missing
    history.add(commit);
    if (!cutOff.has(commit)) for (const parent of next) reached.add(parent);
  }

  return history;
}

/** The tags of these commits; those of the first commits if there are too many. */
async function listTags(run: RunWorkspace, history: ReadonlySet<GitSha>): Promise<readonly Tag[]> {
  const view = await openUserView(run.repository); // T2
  const { out } = await git({
    ...view,
    config: "none", // nothing here depends on the user's
    // The run's own commits need not be in the user's repository.
    env: {
      ...view.env,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: quotePath(join(run.shadow.gitDir, "objects")),
    },
    args: [
      "log",
      "--no-walk=unsorted", // history isn't walked, however long it is, and tags that are broken are passed over
      "--no-mailmap",
      "--decorate=full",
      "--decorate-refs=refs/tags/",
      "--format=%H %D",
      "--stdin",
    ],
    input: [Buffer.from([...history, ""].join("\n"))],
    outputBytesMax: listBytesMax,
    timeoutMs: listTimeoutMs,
  });

  const tags = out
    .toString("latin1")
    .split("\n")
    .flatMap((line) => {
      const [commit = "", names = ""] = line.split(/ (.*)/); // `<sha> tag: refs/tags/v1.0, tag: refs/tags/latest`
      const refs = names.split(", ").map((name) => name.replace(/^tag: /, ""));
      return refs
        .filter((ref) => tagPattern.test(ref))
        .slice(0, tagsOfCommitMax)
        .map((ref) => ({ ref, commit }));
    });
  return tags.slice(0, tagsMax);
}

/** The file in which git keeps refs that have no file of their own, in the order of their bytes. */
function composePackedRefs(tags: readonly Tag[]): string {
  const sorted = tags.toSorted((one, other) => compareText(one.ref, other.ref));
  return [
    "# pack-refs with: peeled fully-peeled sorted ",
    ...sorted.map(({ ref, commit }) => `${commit} ${ref}`),
    "",
  ].join("\n");
}
