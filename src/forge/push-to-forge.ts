// push-to-forge: chooses the remote that a pull request goes to, and pushes a proved commit there.
//
// Invariants:
//   R1. Exactly one branch is pushed, by the commit's hash, and never over unseen commits: git
//       refuses anything but a fast-forward, or, if a head was seen, any other head.
//   R2. Of the repository's configuration only names and addresses of remotes are read, as data; no
//       hook, helper or transport of it runs (openTransfer pushes from a git directory of our own).
//   R3. A URL may contain a password: it is passed to git and written nowhere.
//   R4. Only the project of the pull request is pushed to: a URL that was changed since is refused.

import { join } from "node:path";
import { findOnPath } from "../agents/find-agents.ts";
import {
  type ForgeTool,
  forgeTools,
  type PullRequestTarget,
} from "../contracts/forge/pull-request.ts";
import { WorkspaceFailed } from "../workspace/failure.ts";
import { git } from "../workspace/git/git.ts";
import type { Repository } from "../workspace/git/repository.ts";
import { openTransfer } from "../workspace/git/transfer.ts";
import { foreignTokens } from "./foreign-tokens.ts";
import { openGitHub } from "./github.ts";
import { openGitLab } from "./gitlab.ts";
import { parseAddress, chooseForgeTool } from "./remote-address.ts";
import type { Forge } from "./forge.ts";

const messageCharsMax = 500;

type Env = Readonly<Record<string, string | undefined>>;
/** What the user chose by a flag. */
export type RemoteChoice = {
  readonly remote?: string | undefined;
  readonly tool?: ForgeTool | undefined;
};
export type ForgeRemote = Pick<PullRequestTarget, "tool" | "host" | "project" | "remote">;

/**
 * The remote that is named, else the one the branch follows, else `origin`, else the only one there
 * is.
 */
export async function findRemote(
  repository: Repository,
  branch: string | null,
  choice: RemoteChoice,
  env: Env,
): Promise<ForgeRemote> {
  const names = await listRemotes(repository);
  const followed =
    branch === null ? null : await readSetting(repository, `branch.${branch}.remote`);
  const defaultRemote =
    [followed, "origin"].find((name) => name !== null && names.includes(name)) ??
    (names.length === 1 ? names[0] : undefined);
  const remote = choice.remote ?? defaultRemote;
  if (remote === undefined) {
    throw new WorkspaceFailed(
      "remote_missing",
      names.length === 0
        ? "This repository has no remote."
        : `Which remote? There are ${names.join(", ")}.`,
      names.length === 0 ? "git remote add origin URL" : "name one with --remote",
    );
  }

  if (!names.includes(remote)) {
    throw new WorkspaceFailed(
      "remote_missing",
      `There is no remote ${remote}.`,
      `git remote add ${remote} URL`,
    );
  }

  const address = parseAddress(await readPushUrl(repository, remote));
  if (address === null) {
    throw new WorkspaceFailed(
      "remote_missing",
      `The remote ${remote} isn't the address of a GitHub or GitLab project.`,
      "name another one with --remote",
    );
  }

  return {
    ...address,
    remote,
    tool: choice.tool ?? chooseForgeTool(address.host) ?? chooseInstalledTool(address.host, env),
  };
}

/** For a host whose name says nothing: the one program that is installed. */
function chooseInstalledTool(host: string, env: Env): ForgeTool {
  const installed = forgeTools.filter((tool) => findOnPath(tool, env) !== null);
  const [tool, other] = installed;
  if (tool !== undefined && other === undefined) return tool;
  throw new WorkspaceFailed(
    "forge_tool_missing",
    `Nothing tells whether ${host} is GitHub or GitLab.`,
    "say so with --with gh or --with glab",
  );
}

export function openForge(
  place: Pick<PullRequestTarget, "tool" | "host" | "project">,
  env: Env,
): Forge {
  const tool = { tool: place.tool, host: place.host, env };
  return place.tool === "gh" ? openGitHub(tool, place.project) : openGitLab(tool, place.project);
}

/** Pushes a commit as the head of the branch. `seen`: the head that it continues from (R1). */
export async function pushCommit(
  repository: Repository,
  runFolder: string,
  place: PullRequestTarget,
  {
    commit,
    seen = null,
    env,
  }: { readonly commit: string; readonly seen?: string | null; readonly env: Env },
): Promise<void> {
  const url = await readPushUrl(repository, place.remote);
  const address = parseAddress(url);
  if (address === null || address.host !== place.host || address.project !== place.project) {
    throw new WorkspaceFailed(
      "remote_missing",
      `The remote ${place.remote} is not ${place.project} at ${place.host} any more; nothing was pushed.`,
      "put its address back, or name another one with --remote",
    );
  } // R4

  const transfer = await openTransfer(repository, join(runFolder, "push.git")); // R2
  // As `gh auth setup-git` would set it: the user's own login, for this host alone.
  const unsetOptions = foreignTokens(place.host, env).map((name) => `-u ${name}`);
  const helper = [
    `credential.https://${place.host}.helper=!env ${unsetOptions.join(" ")} ${place.tool} auth git-credential`,
  ];

  const ref = `refs/heads/${place.branch}`;
  const lease = seen === null ? [] : [`--force-with-lease=${ref}:${seen}`]; // R1
  const { code, err } = await transfer(
    ["push", "-q", "--no-verify", ...lease, "--", url, `${commit}:${ref}`],
    helper,
  );
  if (code === 0) return;

  const message = err
    .replaceAll(url, () => place.remote)
    .replaceAll(/:\/\/[^@/\s]*@/g, "://")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, messageCharsMax); // R3

  if (/non-fast-forward|fetch first|\[rejected\]/.test(err)) {
    throw new WorkspaceFailed(
      "pull_request_moved",
      `${place.branch} at ${place.remote} holds something else; nothing is pushed over it.`,
    );
  }

  throw new WorkspaceFailed(
    "push_refused",
    `Pushing ${place.branch} to ${place.remote} failed: ${message}`,
    /denied|403|not allowed|permission/i.test(err)
      ? forkHint(place)
      : "check the remote, then autopilot pr again",
  );
}

/**
 * A pull request is opened in the project it is pushed to. From a fork to its parent the user needs
 * two commands.
 */
const forkHint = ({ tool, project, branch, into }: PullRequestTarget): string =>
  [
    `you may not write to ${project}, and autopilot opens no pull request from a fork to its parent; by hand:`,
    `git push FORK ${branch}, then`,
    tool === "gh"
      ? `gh pr create --repo ${project} --base ${into} --head YOU:${branch}`
      : `glab mr create --repo ${project} --target-branch ${into} --source-branch ${branch} --head YOU/FORK`,
  ].join(" ");

const inRepository = ({ root, gitDir }: Repository) => ({ cwd: root, env: { GIT_DIR: gitDir } });

async function readSetting(repository: Repository, key: string): Promise<string | null> {
  const { code, out } = await git({
    ...inRepository(repository),
    args: ["config", "--get", key],
    acceptedExitCodes: [0, 1],
  });
  return code === 0 ? out.toString("utf8").replace(/\n$/, "") : null;
}

async function listRemotes(repository: Repository): Promise<readonly string[]> {
  const args = ["config", "-z", "--name-only", "--get-regexp", "^remote\\..*\\.url$"];
  const { out } = await git({ ...inRepository(repository), args, acceptedExitCodes: [0, 1] });
  const keys = out.toString("utf8").split("\0");

  return [
    ...new Set(
      keys.filter((key) => key !== "").map((key) => key.slice("remote.".length, -".url".length)),
    ),
  ];
}

/** Where a push goes. */
async function readPushUrl(repository: Repository, remote: string): Promise<string> {
  const url =
    (await readSetting(repository, `remote.${remote}.pushurl`)) ??
    (await readSetting(repository, `remote.${remote}.url`));
  if (url === null) {
    throw new WorkspaceFailed(
      "remote_missing",
      `There is no remote ${remote} any more.`,
      "name another one with --remote",
    );
  }

  return url;
}
