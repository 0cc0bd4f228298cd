// recheck: runs recorded checks again, on any machine that has the commits, without touching the
// repository.
//
// Invariants:
//   A1. A check that cannot be run again, or an isolation that is missing here, is no refusal: it
//       says why, and the others still run.
//   A2. The protected files that the recorded run took from the base are taken from it again.
//   A3. However this process ends, a guardian ends the running check and all it started.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { type Guardian, openGuardian } from "../../agents/process/guardian.ts";
import type { CheckStatus, Evidence, ProtectedChange } from "../../contracts/evidence.ts";
import type { RunView } from "../../core/state.ts";
import type { FromBaseField } from "../../engine/protected-files.ts";
import type { Repository } from "../../workspace/git/repository.ts";
import { readTreeId } from "../../workspace/git/tree.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { findPackagesOrigin } from "../../project/runs/require-repository.ts";
import { openSandboxedVerifier } from "../../runner/sandboxed-checks.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";
import { openIsolation } from "../../runner/draft/open-isolation.ts";
import { omitUndefined } from "../../kit/omit-undefined.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { readRecordedPolicy } from "../../runner/draft/run-policy.ts";
import { Refusal } from "../../project/respond.ts";

export type RecheckResult = { readonly status: CheckStatus } | { readonly why: string };
export type Recheck = {
  /** The isolation in force here; null if none could be set up. */
  readonly isolation: string | null;
  readonly rerun: (
    evidence: Evidence,
    changes: readonly ProtectedChange[],
  ) => Promise<RecheckResult>;
  readonly close: () => void;
};

/** `folder`: a temporary folder for checkouts. */
type RecheckSetup = {
  readonly paths: ProjectPaths;
  readonly repository: Repository;
  readonly view: RunView;
  readonly folder: string;
};

/**
 * Sets up what checks need to run: the recorded policy and isolation, and a workspace for checkouts
 * in a temporary folder.
 */
export async function openRecheck(
  context: CommandContext,
  { paths, repository, view, folder }: RecheckSetup,
): Promise<Recheck> {
  const { drafted } = view;
  const policy = readRecordedPolicy(view);
  const isolation = await openIsolationOrSay(drafted.isolation, paths, folder);
  if (typeof isolation === "string") {
    const why = `isolation ${drafted.isolation} is not available here: ${isolation}`;
    return {
      isolation: null,
      rerun: () => Promise.resolve({ why }),
      close: () => undefined,
    };
  }

  const packagesOrigin = await findPackagesOrigin(policy);
  const workspace = await openWorkspace({
    repository,
    runDir: join(folder, "run"),
    runId: drafted.run_id,
    base: { ...drafted.base },
    scope: [...drafted.objective.scope],
    ownedPaths: [],
    isLookOnly: true,
    ...omitUndefined({ dependencies: policy.dependencies }),
    ...packagesOrigin,
    ...(policy.restores === undefined ? {} : { checkDependencies: [] }),
  });

  const guardianMark = randomUUID();
  let guardian: Guardian | null = null;
  const endWithGuardian = (processMark: string): (() => void) =>
    (guardian ??= openGuardian(guardianMark)).alsoEnd(processMark); // A3

  const verifier = openSandboxedVerifier({
    workspace,
    isolation,
    policy,
    root: repository.root,
    folder,
    putBlob: () => Promise.resolve("0".repeat(64)), // outputs of a second run are not kept, so any hash will do
    guard: endWithGuardian,
  });

  const rerun = async (
    evidence: Evidence,
    changes: readonly ProtectedChange[],
  ): Promise<RecheckResult> => {
    const { commit } = evidence;
    if (commit === null) return { why: "no commit is recorded with it" };
    if ((await readTreeId(repository, commit)) === null) {
      return { why: `the commit ${commit.slice(0, 12)} is not in this repository` };
    }

    return runCheckAgain(verifier, {
      evidence,
      commit,
      changes,
      base: drafted.base.commit,
      cancel: context.interrupted,
    });
  };

  return { isolation: isolation.level, rerun, close: () => guardian?.dismiss() };
}

/** The isolation, or why it cannot be set up here (A1). */
async function openIsolationOrSay(...args: Parameters<typeof openIsolation>) {
  try {
    return await openIsolation(...args);
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

type CheckAgain = {
  readonly evidence: Evidence;
  readonly commit: string;
  /** The protected files that the work changed and that did not count. */
  readonly changes: readonly ProtectedChange[];
  /** The commit that the run began at. */
  readonly base: string;
  readonly cancel: AbortSignal;
};

async function runCheckAgain(
  verifier: ReturnType<typeof openSandboxedVerifier>,
  { evidence, commit, changes, base, cancel }: CheckAgain,
): Promise<RecheckResult> {
  const { check, oracles = [], tests_before } = evidence;
  const protectedChanges = changes.filter(({ path }) => oracles.includes(path)); // A2
  const talliesField =
    tests_before === undefined ? {} : { talliesBefore: { [check.id]: tests_before } };
  const fromBaseField: FromBaseField =
    protectedChanges.length === 0 ? {} : { fromBase: { base, changes: protectedChanges } };

  try {
    const results = await verifier.check({
      attempt: "verify@1/again#1",
      checks: [check],
      commit,
      ...talliesField,
      ...fromBaseField,
      cancel,
      onLiveEvent: () => undefined,
    });
    const status = results.at(-1)?.status; // a result of restoring dependencies may come before it
    return status === undefined ? { why: "it was called off" } : { status };
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) }; // A1
  }
}
