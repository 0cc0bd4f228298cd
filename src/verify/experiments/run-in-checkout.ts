// run-in-checkout: runs a check once, in a throw-away checkout with something changed, and reads
// from its output which tests failed.
// Invariants T1 and on: verify/experiments/try-out.ts.

import type { Check, Evidence } from "../../contracts/evidence.ts";
import type { GitSha } from "../../contracts/ids.ts";
import type { CheckoutOverrides } from "../../ports/workspace.ts";
import { buildCommandRequest } from "../check-command.ts";
import { runCommand } from "../run-command.ts";
import { createTestFileFilter } from "../has-tests.ts";
import { toStoredOutput } from "../bounded-output.ts";
import { chooseTestSource } from "../reporter/choose-test-source.ts";
import { openTestOutput, listFolderPaths } from "../read-test-output.ts";
import type { OpenParts } from "../verifier-parts.ts";
import type { Observed } from "./broken-expectations/noticed-flips.ts";
import { wrapInOtherWorld, type WorldFact } from "./other-world/wrap-in-other-world.ts";

/** What is the same in all runs of a check. */
export type RunSetting = {
  /**
   * What restores dependencies and failed where the check itself passed: the check doesn't need it.
   */
  readonly failedRestores?: ReadonlySet<string>;
  readonly parts: OpenParts;
  readonly request: { readonly cancel: AbortSignal };
  /** What restores the dependencies of a commit. */
  readonly restoresAt: (commit: GitSha) => Promise<readonly Check[]>;
};

/** What is different from run to run. */
type CheckoutRun = {
  readonly commit: GitSha;
  readonly overrides: CheckoutOverrides;
  readonly evidence: Evidence | null;
  readonly timeoutMs: number;
  /** What is different from the usual world. */
  readonly different: readonly WorldFact[];
};

/**
 * Runs a check in its own checkout, created like every check's (T3); null if it was cancelled or
 * took too long, `unprepared` if its dependencies could not be restored (T7).
 */
export async function runInCheckout(
  setting: RunSetting,
  check: Check,
  run: CheckoutRun,
): Promise<Observed | "unprepared" | null> {
  const { workspace } = setting.parts;
  const folder = await workspace.checkout(run.commit, "check", run.overrides);

  try {
    return await prepareAndRun(folder, setting, check, run);
  } finally {
    await workspace.dropCheckout(folder); // deliberate breakages do not stay
  }
}

async function prepareAndRun(
  folder: string,
  setting: RunSetting,
  check: Check,
  run: CheckoutRun,
): Promise<Observed | "unprepared" | null> {
  const isPrepared = await restoreDependencies(folder, setting, run.commit);
  if (isPrepared) return observeCheck(folder, setting, check, run);
  return setting.request.cancel.aborted ? null : "unprepared"; // T7
}

/**
 * Restores may use the network: each is tried twice. False if one fails that the check's own run
 * could rely on.
 */
async function restoreDependencies(
  folder: string,
  { parts, request, restoresAt, failedRestores }: RunSetting,
  commit: GitSha,
): Promise<boolean> {
  const passes = async (restore: Check): Promise<boolean> => {
    const result = await runCommand(buildCommandRequest(parts, restore, folder, request.cancel));
    return result.status === "passed";
  };

  for (const restore of await restoresAt(commit)) {
    if (await passes(restore)) continue;
    const isNeeded = failedRestores?.has(restore.id) !== true;
    if (isNeeded && !(await passes(restore))) return false;
  }

  return true;
}

/** Runs the check in this folder; null if it was cancelled or took too long. */
async function observeCheck(
  folder: string,
  { parts, request }: RunSetting,
  check: Check,
  { evidence, timeoutMs, different }: CheckoutRun,
): Promise<Observed | null> {
  const testOutput = openTestOutput(check.command, listFolderPaths(folder, parts));
  const asRun =
    different.length === 0
      ? check
      : { ...check, command: wrapInOtherWorld(check.command, different) };

  const result = await runCommand({
    ...buildCommandRequest(parts, asRun, folder, request.cancel),
    timeoutMs: Math.min(parts.timeoutMs, timeoutMs),
    testOutput,
    isRecorded: evidence?.recorded !== undefined,
  });
  if (result.status === "cancelled" || result.status === "timed_out") return null;

  const isTestFile = createTestFileFilter(folder, parts.workspace.foldersOf(folder));
  const printed = testOutput.take(isTestFile);
  const recorded = result.record?.take(isTestFile) ?? null;
  const { tests, names } = chooseTestSource(printed, recorded, evidence);

  return {
    passed: result.status === "passed",
    failed: new Set(names.failed.keys()),
    tests,
    passedNames: names.passed,
    readOutput: () => toStoredOutput(result.output).toString("utf8"),
  };
}
