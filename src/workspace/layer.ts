// layer: the folder one attempt works in: the branch's tree as raw files, in a throw-away repository with a little history and no way back to the real one.
//
// Invariants:
//   L1. Nothing in a layer refers to the user's repository: no remote, no alternates, no hooks, no shared objects.
//   L2. What is kept from the agent is in neither its files nor its history: where a mask hides something, the layer has one commit and no past.

import { appendFile, cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AttemptId, GitSha } from "../contracts/ids.ts";
import { shownOf } from "./byte-path.ts";
import { copyDependencies, dependencyFolders, moveDependencies } from "./dependencies.ts";
import { discard } from "./folder.ts";
import { git, gitLine } from "./git.ts";
import { identityEnv, ownIdentity } from "./identity.ts";
import { materialize, writeTree } from "./materialize.ts";
import { slugOf } from "./records.ts";
import type { OpenRun } from "./run.ts";
import { masksOf } from "./scope.ts";
import { rawAttributes } from "./shadow.ts";
import { readTree, type Tree } from "./tree.ts";

const historyCommits = 20;

export const layerFolder = (run: OpenRun, attempt: AttemptId): string => join(run.folders.layers, slugOf(attempt));

export async function makeLayer(
  run: OpenRun,
  attempt: AttemptId,
  tip: GitSha,
  masks: readonly string[],
  keeps?: readonly string[],
): Promise<string> {
  const folder = layerFolder(run, attempt);
  await run.layers.remove(attempt);
  await discard(folder, run.folders.trash);
  await mkdir(folder, { recursive: true, mode: 0o700 });

  const tree = await readTree(run.shadow.call, tip);
  const isMasked = masksOf(masks);
  const hidden = [...tree.keys()].filter((path) => isMasked(shownOf(path)));
  const absent = new Set([...hidden, ...[...tree.keys()].filter((path) => run.isOwned(shownOf(path)))]);
  const seen: Tree = new Map([...tree].filter(([path]) => !absent.has(path)));
  const start = absent.size === 0 ? tip : await startingCommit(run, tip, seen, hidden.length > 0 ? [] : [tip]);
  const gitDir = await makeRepository(run, folder, start);
  await materialize(run.shadow, seen, folder, join(gitDir, "index"));
  const dependencies = await provide(run, folder, masks);
  await run.layers.write({
    version: 1,
    key: attempt,
    base: tip,
    masks: [...masks],
    ...(keeps === undefined ? {} : { keeps: [...keeps] }),
    dependencies: [...dependencies],
    fingerprint: null,
    applied: null,
    madeAt: Date.now(),
  });
  return folder;
}

/** A commit of exactly what the agent may see. It lives in the shadow only and is on no branch. */
async function startingCommit(run: OpenRun, tip: GitSha, seen: Tree, parents: readonly GitSha[]): Promise<GitSha> {
  const tree = await writeTree(run.shadow, run.shadow.call, null, seen);
  const date = await gitLine({ ...run.shadow.call, args: ["log", "-1", "--format=%ct +0000", tip] });
  return gitLine({
    ...run.shadow.call,
    // Dated like the tip, so that the same tip gives the same commit.
    env: { ...run.shadow.call.env, ...identityEnv(ownIdentity), GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
    args: ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-m", "The state this attempt starts from"],
  });
}

/** The folder's own repository, on a branch at this commit; its index comes with the files. */
async function makeRepository(run: OpenRun, folder: string, start: GitSha): Promise<string> {
  const gitDir = join(folder, ".git");
  await git({
    cwd: folder,
    args: ["init", "-q", "--template=", `--object-format=${run.shadow.format}`, "--initial-branch=work", "--", folder],
  });
  await mkdir(join(gitDir, "info"), { recursive: true });
  // The same raw view and ignore rules as the runner's, so that the agent's `git status` shows what will be judged.
  await writeFile(join(gitDir, "info", "attributes"), rawAttributes);
  await cp(join(run.shadow.gitDir, "info", "exclude"), join(gitDir, "info", "exclude"));
  await appendFile(join(gitDir, "config"), "[user]\n\tname = agent\n\temail = agent@localhost\n");
  // Nobody has written to it yet.
  const inLayer = { cwd: folder, isOwn: true, env: { GIT_DIR: gitDir, GIT_WORK_TREE: folder, ...identityEnv(ownIdentity) } } as const;
  const fetch = (depth: number): Promise<{ readonly code: number }> =>
    git({
      ...inLayer,
      args: [
        "-c",
        "protocol.file.allow=always",
        "fetch",
        "-q",
        "--no-tags",
        "--no-write-fetch-head",
        "--update-head-ok",
        `--depth=${depth}`,
        "--",
        run.shadow.gitDir,
        `${start}:refs/heads/work`,
      ], // L1
      codes: [0, 1, 128],
    });
  // In a partial clone the past may not be here; the present is enough.
  if ((await fetch(historyCommits)).code !== 0) await fetch(1);
  return gitDir;
}

/** Installed packages: those of a finished attempt that saw the same files, else copies of the user's. */
async function provide(run: OpenRun, folder: string, masks: readonly string[]): Promise<readonly string[]> {
  const finished = (await run.layers.all()).filter(({ applied }) => applied !== null).sort((one, other) => one.madeAt - other.madeAt);
  const last = finished.filter((record) => JSON.stringify(record.masks) === JSON.stringify(masks)).at(-1);
  const moved = last === undefined ? [] : await moveDependencies(layerFolder(run, last.key), last.dependencies, folder);
  for (const record of finished) {
    await run.layers.remove(record.key);
    await discard(layerFolder(run, record.key), run.folders.trash);
  }
  const rest = (await dependencyFolders(run.repository.root, run.dependencies)).filter((path) => !moved.includes(path));
  return [...moved, ...(await copyDependencies(run.repository.root, rest, folder))];
}
