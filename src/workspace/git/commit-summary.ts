// commit-summary: counts the changes and lists the commits between two commits of the user's
// repository. It needs no open workspace, so it works for reports of old runs.

import type { GitSha } from "../../contracts/ids.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { git } from "./git.ts";
import type { Repository } from "./repository.ts";

export type CommitSummary = Awaited<ReturnType<Workspace["summary"]>>;

/** What changed between two commits, and the commits after `base` up to `tip`, oldest first. */
export async function readCommitSummary(
  repository: Pick<Repository, "root" | "gitDir">,
  base: GitSha,
  tip: GitSha,
): Promise<CommitSummary> {
  const call = { cwd: repository.root, env: { GIT_DIR: repository.gitDir } };
  const options = [
    "-r",
    "-z",
    "--numstat",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=all",
  ];

  const { out } = await git({ ...call, args: ["diff-tree", ...options, base, tip, "--"] });
  const rows = out
    .toString("latin1")
    .split("\0")
    .filter((row) => row !== "")
    .map((row) => row.split("\t"));
  // Git writes a dash for binary files: a file changed, no lines counted.
  const sumColumn = (column: number): number =>
    rows.reduce((total, row) => total + (Number.parseInt(row[column] ?? "", 10) || 0), 0);
  const log = await git({
    ...call,
    args: ["rev-list", "--reverse", "--first-parent", "--format=%H %s", `${base}..${tip}`, "--"],
  });
  // `rev-list` prints `commit <hash>` before each line; no hash begins like that.
  const lines = log.out
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("commit "));
  const commits = lines.map((line) => ({
    sha: line.slice(0, line.indexOf(" ")),
    subject: line.slice(line.indexOf(" ") + 1),
  }));

  return { files: rows.length, insertions: sumColumn(0), deletions: sumColumn(1), commits };
}
