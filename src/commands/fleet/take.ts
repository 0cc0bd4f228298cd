// take: copies a run from a store into this repository: its journal, blobs and commits. Nothing of
// it is executed, and it is not this user's until they adopt it.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import type { Entry } from "../../contracts/event.ts";
import { openFold } from "../../core/fold.ts";
import type { RunView } from "../../core/state.ts";
import { findHubAddress, requireStoreAddress } from "../../fleet/address.ts";
import { isRunKey, markShared, readSharedMark } from "../../fleet/shared-mark.ts";
import { journalFile } from "../../journal/journal.ts";
import { genesis } from "../../journal/line.ts";
import type { RunStore } from "../../ports/run-store.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";
import type { Repository } from "../../workspace/git/repository.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";
import {
  requireProject,
  ensureOwnFolder,
  type ProjectPaths,
  runFolder,
} from "../../project/runs/project-paths.ts";
import { git } from "../../workspace/git/git.ts";
import { runBranchName } from "../../contracts/run-branch.ts";
import { eraseSync } from "../../workspace/folder.ts";

export type TakeInput = { readonly key: string; readonly store?: string | undefined };

/**
 * Copies the run, unless it is here already. A key with a slash is a child run's, which is not
 * taken alone.
 */
export function takeRun(
  context: CommandContext,
  { key, store: flag }: TakeInput,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const url = requireStoreAddress(context.env, flag);
    const missing = {
      message: `There is no run ${key} in the store.`,
      remediation: ["autopilot fleet status --all"],
    };
    if (!isRunKey(key) || key.includes("/")) return refuse("run_missing", missing);
    const paths = await requireProject(context.cwd);
    const { openPostgresStore } = await import("../../fleet/postgres/store.ts");
    const store = await openPostgresStore(url);

    try {
      const view = await readStoredRun(store, key);
      if (view === null) return refuse("run_missing", missing);
      const run = view.drafted.run_id;
      const folder = runFolder(paths, run);
      if (existsSync(folder)) return respondPresent(folder, run, key);

      await bringRun(context, paths, { store, key, view });
      return respond("ok", {
        run_id: run,
        state: view.status,
        message: `${run} is here. Nothing of it was executed.`,
        remediation: [`autopilot adopt ${run} shows what it would do and asks`],
        data: { key },
      });
    } finally {
      await store.close();
    }
  });
}

function respondPresent(folder: string, run: string, key: string): CommandResponse {
  if (readSharedMark(folder)?.key !== key) {
    return refuse("run_open", {
      run_id: run,
      message: `Another run is called ${run} here.`,
      remediation: ["take it in another clone"],
    });
  }

  const message = `${run} is here already; it is brought up to date when it is opened.`;
  return respond("ok", { run_id: run, message });
}

export type StoredRunToBring = {
  readonly store: RunStore;
  readonly key: string;
  readonly view: RunView;
};

/** Copies a run's commits, journal and blobs into a repository that does not have it. */
export async function bringRun(
  context: CommandContext,
  paths: ProjectPaths,
  { store, key, view }: StoredRunToBring,
): Promise<void> {
  const folder = runFolder(paths, view.drafted.run_id);
  await bringCommits(context, paths, { key, view });
  ensureOwnFolder(paths, "runs");

  try {
    mkdirSync(folder, { mode: 0o700 });
    markShared(folder, key);
    const path = join(folder, journalFile);
    const { copyMissing } = await import("../../fleet/shared-run.ts");

    const write = (lines: readonly Uint8Array[]): void => {
      const parts = lines.flatMap((line) => [line, Buffer.from("\n")]);
      writeFileSync(path, Buffer.concat(parts), { mode: 0o600, flag: "a" });
    };

    await copyMissing({ store, key, folder, afterSeq: 0, write });
  } catch (error) {
    eraseSync(folder);
    throw error;
  }
}

/** The state of a run in the store; null if there is none. */
export async function readStoredRun(store: RunStore, key: string): Promise<RunView | null> {
  const fold = openFold();
  const { seq } = await store.read(key, genesis, (entry: Entry) => fold.apply(entry));
  const { state } = fold;

  return seq === 0 || state.status === "unborn" ? null : state;
}

/**
 * Creates the run's branch at the commit that its journal names; fetches the commit from the hub if
 * it is missing.
 */
async function bringCommits(
  context: CommandContext,
  paths: ProjectPaths,
  { key, view: { drafted, tip } }: Pick<StoredRunToBring, "key" | "view">,
): Promise<void> {
  const repository = await requireRepository(paths.root);
  const hubUrl = findHubAddress(context.env);
  if (!(await hasCommit(repository, tip.commit)) && hubUrl !== null) {
    const { openHub } = await import("../../fleet/hub.ts");
    const hub = await openHub(repository, join(ensureOwnFolder(paths), "hub.git"), hubUrl);
    await hub.bring(key);
  }

  if (!(await hasCommit(repository, tip.commit))) {
    const whereNot = hubUrl === null ? ", and no hub is named" : ", nor in the hub";
    refuse("work_missing", {
      message: `Commit ${tip.commit.slice(0, 12)} of ${drafted.run_id} is not in this repository${whereNot}.`,
      remediation: [
        "set AUTOPILOT_HUB to the git repository that its owner sent commits to",
        "git fetch",
      ],
    });
  }

  await createRunBranch(repository, runBranchName(drafted.run_id), tip.commit);
}

/** Leaves a branch that is at the commit already; refuses one that is elsewhere. */
async function createRunBranch(
  repository: Repository,
  branch: string,
  commit: string,
): Promise<void> {
  const ref = `refs/heads/${branch}`;
  const existing = await git({
    ...toGitOptions(repository),
    args: ["rev-parse", "-q", "--verify", `${ref}^{commit}`],
    acceptedExitCodes: [0, 1, 128],
  });

  if (existing.code === 0) {
    const isSame = existing.out.toString("utf8").trim() === commit;
    if (isSame) return;
    refuse("workspace_changed", {
      message: `The branch ${branch} is here already, at another commit.`,
    });
  }

  const zeroSha = "0".repeat(commit.length); // git creates the ref only if there is none
  await git({
    ...toGitOptions(repository),
    args: ["update-ref", "-m", "autopilot: run taken from a store", ref, commit, zeroSha],
  });
}

async function hasCommit(repository: Repository, commit: string): Promise<boolean> {
  const { code } = await git({
    ...toGitOptions(repository),
    args: ["cat-file", "-e", `${commit}^{commit}`],
    acceptedExitCodes: [0, 1, 128],
  });
  return code === 0;
}

const toGitOptions = ({ root, gitDir }: Repository) => ({ cwd: root, env: { GIT_DIR: gitDir } });
