// squash: helps to land a run's work as one commit. The run's branch keeps its own commits, so a
// trailer of the squashed commit names the tip that it includes, and the next landing brings only
// what came after.

import { GitSha } from "../../contracts/ids.ts";
import * as v from "valibot";
import { git, readGitLine } from "../git/git.ts";
import { toIdentityVariables } from "../git/identity.ts";
import type { RunWorkspace } from "../run-workspace.ts";

const trailer = "Autopilot-Squashed";
export const composeSquashTrailer = (tip: GitSha): string => `${trailer}: ${tip}\n`;

/** The tip of this run's branch that was last landed as one commit; null if none was. */
export async function readLastSquashed(run: RunWorkspace, head: GitSha): Promise<GitSha | null> {
  const formatTrailer = (key: string): string => `%(trailers:key=${key},valueonly,separator=%x2C)`;
  const format = `${formatTrailer("Autopilot-Run")}%x00${formatTrailer(trailer)}`;
  const args = ["log", `--format=${format}`, `${run.base.commit}..${head}`, "--"];
  const lines = (await git({ ...run.shadow.callIntoUser, args })).out.toString("utf8").split("\n");
  for (const line of lines) {
    const [runId, tip = ""] = line.split("\0");
    if (runId === run.runId && v.is(GitSha, tip)) return tip; // git lists the newest first
  }

  return null;
}

/**
 * Both sides of a merge that brings only what came after `since`: commits on no branch, with the
 * same files as the real ones and `since` as their only common ancestor. (`merge-tree --merge-base`
 * says the same from git 2.40 on.)
 */
export async function createMergeSides(
  run: RunWorkspace,
  since: GitSha,
  head: GitSha,
  tip: GitSha,
): Promise<readonly [GitSha, GitSha]> {
  const call = run.shadow.callIntoUser;
  const createCommit = (source: GitSha, ...parents: readonly string[]): Promise<GitSha> =>
    readGitLine({
      ...call,
      env: { ...call.env, ...toIdentityVariables(run.identity) },
      args: ["commit-tree", `${source}^{tree}`, ...parents, "-m", "one side of a landing"],
    });
  const base = await createCommit(since);

  return [await createCommit(head, "-p", base), await createCommit(tip, "-p", base)];
}
