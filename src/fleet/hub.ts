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
import type { GitAnswer } from "../workspace/git/safe-git-call.ts";
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
  const line: HubLine = { runGit, url };

  return {
    send: (key, epoch, commit) => send(line, commit, `refs/autopilot/${key}/${epoch}/tip`), // X1
    newestEpoch: (key) => findNewestEpoch(line, key),
    bring: (key) => fetchRefs(line, "Bringing commits from the hub", toRunRefs(key)),
    branches: () => listBranches(line),
    readTip: (branch) => readTip(line, branch),
    land: (branch, expected, commit) => land(line, { branch, expected, commit }),
  };
}

/** The hub's address, and how git is run to reach it. */
type HubLine = {
  readonly runGit: (args: readonly string[]) => Promise<GitAnswer>;
  readonly url: string;
};

const toRunRefs = (key: string): string => `+refs/autopilot/${key}/*:refs/autopilot/${key}/*`;

async function send(line: HubLine, commit: string, ref: string): Promise<void> {
  const push = ["push", "-q", "--no-verify", "--", line.url, `+${commit}:${ref}`];
  await transfer(line, "Sending a commit to the hub", push);
}

async function findNewestEpoch(line: HubLine, key: string): Promise<number | null> {
  const refs = await listRefs(line, "Asking the hub for a run", `refs/autopilot/${key}/*`);
  const epochs = [...refs.matchAll(/\/(\d+)\/tip$/gm)].map(([, epoch]) => Number(epoch));
  return epochs.length === 0 ? null : Math.max(...epochs);
}

async function listBranches(line: HubLine): Promise<readonly string[]> {
  const { out } = await transfer(line, listing, ["ls-remote", "-q", "--heads", "--", line.url]);
  const heads = [...out.toString("utf8").matchAll(/\trefs\/heads\/(.+)$/gm)];
  return heads.flatMap(([, name]) => name ?? []);
}

async function readTip(line: HubLine, branch: string): Promise<string | null> {
  const refs = await listRefs(line, listing, `refs/heads/${branch}`);
  if (!/^[0-9a-f]{40,64}\t/.test(refs)) return null;

  const ref = `refs/autopilot-hub/${branch}`;
  await fetchRefs(line, "Bringing a branch from the hub", `+refs/heads/${branch}:${ref}`);

  const reading = ["rev-parse", "--verify", `${ref}^{commit}`];
  const { out } = await transfer(line, "Reading a branch of the hub", reading);
  return out.toString("utf8").trim();
}

async function land(
  line: HubLine,
  moved: { readonly branch: string; readonly expected: string; readonly commit: string },
): Promise<HubLanding> {
  const ref = `refs/heads/${moved.branch}`;
  const lease = `--force-with-lease=${ref}:${moved.expected}`; // X4
  const push = ["push", "--porcelain", "--no-verify", "--atomic", lease, "--", line.url];

  return toLanding(await runOrUnreachable(line, landing, [...push, `${moved.commit}:${ref}`]));
}

async function listRefs(line: HubLine, action: string, pattern: string): Promise<string> {
  const { out } = await transfer(line, action, ["ls-remote", "-q", "--", line.url, pattern]);
  return out.toString("utf8");
}

async function fetchRefs(line: HubLine, action: string, refs: string): Promise<void> {
  await transfer(line, action, [...fetching, "--", line.url, refs]);
}

/** A git call that must succeed. */
async function transfer(
  line: HubLine,
  action: string,
  args: readonly string[],
): Promise<GitAnswer> {
  const answer = await runOrUnreachable(line, action, args);
  return answer.code === 0 ? answer : throwUnreachable(action, answer);
}

async function runOrUnreachable(
  { runGit }: HubLine,
  action: string,
  args: readonly string[],
): Promise<GitAnswer> {
  try {
    return await runGit(args);
  } catch (error) {
    if (!(error instanceof WorkspaceFailed)) throw error;
    return throwUnreachable(action, { err: error.message }); // X6
  }
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
  if (refusal === undefined) return throwUnreachable(landing, answer);

  const why = `${refusal} ${readRemoteMessage(answer.err)}`.trim();
  return { kind: "refused", why };
}

const remoteCharsMax = 300;
const errorCharsMax = 500;
const listing = "Asking the hub for its branches";
const landing = "Landing on the hub";
const fetching = ["fetch", "-q", "--no-tags", "--no-write-fetch-head"];

/** What the hub's own hooks and server said: the lines that begin with `remote: `. */
function readRemoteMessage(err: string): string {
  const lines = err.split("\n").flatMap((line) => /^remote: (.*)$/.exec(line)?.[1]?.trim() ?? []);
  return lines.join(" ").slice(0, remoteCharsMax);
}

function throwUnreachable(action: string, { err }: Pick<GitAnswer, "err">): never {
  const message = err.trim().replace(/\s+/g, " ").slice(0, errorCharsMax);
  throw new WorkspaceFailed("hub_unreachable", `${action} failed: ${message}`);
}
