// run-commits: reads a run's own commits from its branch. Each names its run and its attempt in
// trailers, by which it is found again.

import type { AttemptId, GitSha } from "../../contracts/ids.ts";
import { displayPath } from "./byte-path.ts";
import { WorkspaceFailed } from "../failure.ts";
import { type CommitObject, readCommit } from "./commits.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import type { GitPlaces } from "./git-places.ts";
import { readBranch } from "./refs.ts";
import { resolveTree } from "./tree.ts";
import { readFileDifferences } from "./tree-folders.ts";

export type RunCommit = {
  readonly commit: GitSha;
  readonly parent: GitSha;
  readonly tree: GitSha;
  readonly subject: string;
  readonly attempt: string;
};

const subjectCharsMax = 200;

/**
 * An attempt's id as a trailer's value: `%`, and every byte that isn't a visible ASCII character,
 * is written as `%` and two hex digits.
 */
export const encodeTrailerValue = (key: string): string =>
  Buffer.from(key, "utf8")
    .toString("latin1")
    .replaceAll(
      /[^\x21-\x24\x26-\x7e]/g,
      (char) => `%${char.charCodeAt(0).toString(16).padStart(2, "0")}`,
    );

/** The message of a run's commit: the subject on one line, and the trailers. */
export function composeRunMessage(run: RunWorkspace, attempt: AttemptId, subject: string): string {
  const line = subject
    .replace(/[\u0000-\u001f\u007f]+/g, " ")
    .trim()
    .slice(0, subjectCharsMax);

  return `${line === "" ? "Changes of one attempt" : line}\n\nAutopilot-Run: ${run.runId}\nAutopilot-Attempt: ${encodeTrailerValue(attempt)}\n`;
}

/** The tip of the run's branch. */
export async function readTip(
  run: RunWorkspace,
): Promise<{ readonly commit: GitSha; readonly tree: GitSha }> {
  const commit = await readBranch(findBranchPlaces(run), run.ref, composeBranchCall(run));
  if (commit === null || (await readCommit(run.shadow.call, commit)) === null) {
    throw new WorkspaceFailed(
      "workspace_changed",
      `The run's branch ${toShortBranchName(run.ref)} is gone.`,
    );
  }

  return { commit, tree: await resolveTree(run.shadow.call, commit) };
}

/**
 * Where the branch is: in the user's repository, or for a run that is kept apart in its own folder.
 */
const findBranchPlaces = ({ isApart, repository, runDir, shadow }: RunWorkspace): GitPlaces =>
  isApart ? { root: runDir, gitDir: shadow.gitDir, commonDir: shadow.gitDir } : repository;

export const toShortBranchName = (ref: string): string => ref.replace(/^refs\/heads\//, "");
/** How git is called in the repository that has the run's branch. */
export const composeBranchCall = (
  run: RunWorkspace,
): { readonly cwd: string; readonly env: Readonly<Record<string, string>> } =>
  run.isApart
    ? run.shadow.call
    : { cwd: run.repository.root, env: { GIT_DIR: run.repository.gitDir } };

/** The run's commits, oldest first. Throws workspace_changed if the branch has anything else. */
export async function readRunCommits(
  run: RunWorkspace,
  tip: GitSha,
): Promise<readonly RunCommit[]> {
  const commits: RunCommit[] = [];
  for (let current = tip; current !== run.base.commit;) {
    const commit = await readCommit(run.shadow.call, current);
    if (commit === null) {
      throw branchChangedError(run, `commit ${current.slice(0, 12)} on it is missing`);
    }

    const runCommit = requireRunCommit(run, commit);
    commits.push(runCommit);
    current = runCommit.parent;
  }

  return commits.toReversed();
}

function requireRunCommit(
  run: RunWorkspace,
  { commit, parents, tree, message }: CommitObject,
): RunCommit {
  const trailers = message.trimEnd().split("\n\n").at(-1) ?? "";
  const readTrailer = (key: string): string | null =>
    trailers
      .split("\n")
      .find((line) => line.startsWith(`${key}: `))
      ?.slice(key.length + 2) ?? null;
  const attempt = readTrailer("Autopilot-Attempt");
  if (!run.runIds.includes(readTrailer("Autopilot-Run") ?? "") || attempt === null) {
    throw branchChangedError(run, `commit ${commit.slice(0, 12)} on it is not the run's`);
  }

  const [parent, ...otherParents] = parents;
  if (parent === undefined || otherParents.length > 0) {
    throw branchChangedError(
      run,
      `commit ${commit.slice(0, 12)} does not follow the one before it`,
    );
  }

  return { commit, parent, tree, subject: message.split("\n")[0] ?? "", attempt };
}

const branchChangedError = (run: RunWorkspace, change: string): WorkspaceFailed =>
  new WorkspaceFailed(
    "workspace_changed",
    `Somebody changed the run's branch ${toShortBranchName(run.ref)}: ${change}.`,
  );

/** The commit of an attempt; null if it has none. */
export async function findAttemptCommit(
  run: RunWorkspace,
  attempt: AttemptId,
  tip: GitSha,
): Promise<RunCommit | null> {
  const key = encodeTrailerValue(attempt);
  return (await readRunCommits(run, tip)).find((commit) => commit.attempt === key) ?? null;
}

/** The paths of the files that differ between two commits, as text. */
export async function readChangedDisplayPaths(
  run: RunWorkspace,
  from: GitSha,
  to: GitSha,
): Promise<readonly string[]> {
  return (await readFileDifferences(run.shadow.call, from, to)).map(({ path }) =>
    displayPath(path),
  );
}
