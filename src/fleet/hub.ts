// hub: exchanges commits between machines, through any git repository that all of them reach.
//
// Invariants:
//   X1. Each owner writes only refs of its own epoch, and the journal names the commit that counts,
//       never a ref: a late push changes nothing.
//   X2. A commit is sent before the journal names it (runner/open-run.ts), so every commit that the
//       journal names is in the hub.
//   X3. The configuration of the project's repository isn't used: the git directory is ours and
//       borrows the objects.
//   X4. A branch of the hub is moved only by compare-and-set, from the commit that was inspected to
//       one that was proved on top of it.
//   X5. A submitter sends a run's base first (commands/fleet), so a hub without any commit of the
//       run isn't the submitter's. The address can't tell: one hub has many addresses, and a copy
//       of a hub has the same branches.
//   X6. A transfer that hangs or is killed counts as unreachable, and is tried again
//       (commands/fleet/retry-during-outage.ts, order-end.ts).

import { WorkspaceFailed } from "../workspace/failure.ts";
import type { GitAnswer } from "../workspace/git/git-call.ts";
import type { Repository } from "../workspace/git/repository.ts";
import { openTransfer } from "../workspace/git/transfer.ts";

export type Hub = {
  /** Puts a commit and its history where others find it. */
  readonly send: (key: string, epoch: number, commit: string) => Promise<void>;
  /** The greatest epoch whose owner has sent a commit of this run here; null if nobody has (X5). */
  readonly newestEpoch: (key: string) => Promise<number | null>;
  /** Brings what any owner of a run has sent. */
  readonly bring: (key: string) => Promise<void>;
  readonly branches: () => Promise<readonly string[]>;
  /** Brings a branch of the hub; its newest commit, null if the hub has no such branch. */
  readonly readTip: (branch: string) => Promise<string | null>;
  /** Moves a branch of the hub (X4). */
  readonly land: (branch: string, expected: string, commit: string) => Promise<HubLanding>;
};

export type HubLanding =
  | { readonly kind: "landed" }
  | { readonly kind: "moved" }
  | { readonly kind: "refused"; readonly why: string };

/** `folder`: our git directory for transfers; it is created if it is missing. */
export async function openHub(repository: Repository, folder: string, url: string): Promise<Hub> {
  const runGit = await openTransfer(repository, folder); // X3
  const runOrUnreachable = async (action: string, args: readonly string[]): Promise<GitAnswer> => {
    try {
      return await runGit(args);
    } catch (error) {
      return error instanceof WorkspaceFailed
        ? throwUnreachable(action, { err: error.message })
        : Promise.reject(error); // X6
    }
  };

  const transfer = async (action: string, args: readonly string[]): Promise<GitAnswer> => {
    const answer = await runOrUnreachable(action, args);
    return answer.code === 0 ? answer : throwUnreachable(action, answer);
  };

  return {
    send: async (key, epoch, commit) =>
      void (await transfer("Sending a commit to the hub", [
        "push",
        "-q",
        "--no-verify",
        "--",
        url,
        `+${commit}:refs/autopilot/${key}/${epoch}/tip`,
      ])), // X1
    newestEpoch: async (key) => {
      const { out } = await transfer("Asking the hub for a run", [
        "ls-remote",
        "-q",
        "--",
        url,
        `refs/autopilot/${key}/*`,
      ]);
      const epochs = [...out.toString("utf8").matchAll(/\/(\d+)\/tip$/gm)].map(([, epoch]) =>
        Number(epoch),
      );
      return epochs.length === 0 ? null : Math.max(...epochs);
    },
    bring: async (key) =>
      void (await transfer("Bringing commits from the hub", [
        ...fetching,
        "--",
        url,
        `+refs/autopilot/${key}/*:refs/autopilot/${key}/*`,
      ])),
    branches: async () => {
      const { out } = await transfer(listing, ["ls-remote", "-q", "--heads", "--", url]);
      return [...out.toString("utf8").matchAll(/\trefs\/heads\/(.+)$/gm)].flatMap(
        ([, name]) => name ?? [],
      );
    },
    readTip: async (branch) => {
      const { out } = await transfer(listing, [
        "ls-remote",
        "-q",
        "--",
        url,
        `refs/heads/${branch}`,
      ]);

      const tip = /^([0-9a-f]{40,64})\t/.exec(out.toString("utf8"))?.[1] ?? null;
      if (tip === null) return null;
      const ref = `refs/autopilot-hub/${branch}`;
      await transfer("Bringing a branch from the hub", [
        ...fetching,
        "--",
        url,
        `+refs/heads/${branch}:${ref}`,
      ]);

      return (
        await transfer("Reading a branch of the hub", ["rev-parse", "--verify", `${ref}^{commit}`])
      ).out
        .toString("utf8")
        .trim();
    },
    land: async (branch, expected, commit) => {
      const ref = `refs/heads/${branch}`;
      const lease = `--force-with-lease=${ref}:${expected}`; // X4

      const push = [
        "push",
        "--porcelain",
        "--no-verify",
        "--atomic",
        lease,
        "--",
        url,
        `${commit}:${ref}`,
      ];
      return toLanding(await runOrUnreachable(landing, push));
    },
  };
}

/**
 * If two push at once, the later one is refused by the lock of the ref (`cannot lock ref`) instead
 * of by the comparison (`stale info`).
 */
const movedPattern =
  /\[rejected\][^\n]*(stale info|fetch first|non-fast-forward)|cannot lock ref|failed to update ref|reference already exists/;
/** `[remote rejected] main -> main (pre-receive hook declined)` */
const rejectedPattern = /\[(?:remote )?rejected\][^\n]*/;

/** What git's answer to a push says about the landing. */
function toLanding(answer: GitAnswer): HubLanding {
  if (answer.code === 0) return { kind: "landed" };
  const output = `${answer.out.toString("utf8")} ${answer.err}`;
  if (movedPattern.test(output)) return { kind: "moved" };
  const refusal = rejectedPattern.exec(output)?.[0];

  return refusal === undefined
    ? throwUnreachable(landing, answer)
    : { kind: "refused", why: `${refusal} ${readRemoteMessage(answer.err)}`.trim() };
}

const remoteCharsMax = 300;
const errorCharsMax = 500;
const listing = "Asking the hub for its branches";
const landing = "Landing on the hub";
const fetching = ["fetch", "-q", "--no-tags", "--no-write-fetch-head"];

/** What the hub's own hooks and server said: the lines that begin with `remote: `. */
const readRemoteMessage = (err: string): string =>
  err
    .split("\n")
    .flatMap((line) => /^remote: (.*)$/.exec(line)?.[1]?.trim() ?? [])
    .join(" ")
    .slice(0, remoteCharsMax);

function throwUnreachable(action: string, { err }: Pick<GitAnswer, "err">): never {
  throw new WorkspaceFailed(
    "hub_unreachable",
    `${action} failed: ${err.trim().replace(/\s+/g, " ").slice(0, errorCharsMax)}`,
  );
}
