// hub: commits between machines, through any git repository that all of them reach.
//
// Invariants:
//   X1. Each owner writes refs of its own epoch only, and the journal names the commit that counts, never a ref: a late push changes nothing.
//   X2. Sent first, written down after: what the journal names is there.
//   X3. No configuration of the project's repository takes part: the git directory is ours and borrows its objects.

import { WorkspaceFailed } from "../workspace/failure.ts";
import type { Repository } from "../workspace/git/repository.ts";
import { openTransfer } from "../workspace/git/transfer.ts";

export type Hub = {
  /** Puts a commit and its history where others find it. */
  readonly send: (key: string, epoch: number, commit: string) => Promise<void>;
  /** Brings what any owner of a run has sent. */
  readonly bring: (key: string) => Promise<void>;
};

export async function openHub(repository: Repository, folder: string, url: string): Promise<Hub> {
  const ask = await openTransfer(repository, folder); // X3
  const transfer = async (doing: string, args: readonly string[]): Promise<void> => {
    const { code, err } = await ask(args);
    if (code !== 0) throw new WorkspaceFailed("hub_unreachable", `${doing} failed: ${err.trim().replace(/\s+/g, " ").slice(0, 500)}`);
  };
  return {
    send: (key, epoch, commit) =>
      transfer("Sending a commit to the hub", ["push", "-q", "--no-verify", "--", url, `+${commit}:refs/autopilot/${key}/${epoch}/tip`]), // X1
    bring: (key) =>
      transfer("Bringing commits from the hub", [
        "fetch",
        "-q",
        "--no-tags",
        "--no-write-fetch-head",
        "--",
        url,
        `+refs/autopilot/${key}/*:refs/autopilot/${key}/*`,
      ]),
  };
}
