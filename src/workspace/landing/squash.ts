// squash: lands as one commit. The branch keeps its own commits, so a trailer of the squashed commit names the tip it includes, and the
// next landing brings only what came after.

import { GitSha } from "../../contracts/ids.ts";
import * as v from "valibot";
import { git, readGitLine } from "../git/git.ts";
import { identityEnv } from "../git/identity.ts";
import type { RunWorkspace } from "../run-workspace.ts";

const trailer = "Autopilot-Squashed";
export const squashTrailer = (tip: GitSha): string => `${trailer}: ${tip}\n`;

/** The tip of this run's branch that was last landed as one commit; null if none was. */
export async function readLastSquashed(run: RunWorkspace, head: GitSha): Promise<GitSha | null> {
  const value = (key: string): string => `%(trailers:key=${key},valueonly,separator=%x2C)`;
  const args = ["log", `--format=${value("Autopilot-Run")}%x00${value(trailer)}`, `${run.base.commit}..${head}`, "--"];
  const lines = (await git({ ...run.shadow.callIntoUser, args })).out.toString("utf8").split("\n");
  const tips = lines.map((line) => line.split("\0")).flatMap(([of, tip = ""]) => (of === run.runId && v.is(GitSha, tip) ? [tip] : []));
  return tips[0] ?? null;
}

/**
 * Both sides of a merge that brings only what came after `since`: commits on no branch, with the same files as the real ones and `since` as
 * their only common ancestor. (`merge-tree --merge-base` says the same from git 2.40 on.)
 */
export async function createMergeSides(run: RunWorkspace, since: GitSha, head: GitSha, tip: GitSha): Promise<readonly [GitSha, GitSha]> {
  const call = run.shadow.callIntoUser;
  const commit = (of: GitSha, ...parents: readonly string[]): Promise<GitSha> =>
    readGitLine({
      ...call,
      env: { ...call.env, ...identityEnv(run.identity) },
      args: ["commit-tree", `${of}^{tree}`, ...parents, "-m", "one side of a landing"],
    });
  const base = await commit(since);
  return [await commit(head, "-p", base), await commit(tip, "-p", base)];
}
