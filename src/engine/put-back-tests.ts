// put-back-tests: restores changed tests to what they were when the run began, in a commit of the
// runner's own, before an attempt begins.

import type { ProtectedChange } from "../contracts/evidence.ts";
import type { AttemptId } from "../contracts/ids.ts";
import { inspectProtectedFiles } from "./protected-files.ts";
import { type StepExecution, readContext } from "./step-execution.ts";

/**
 * Does so only if a person said so. Safe to repeat after a crash: its commit has a key of its own,
 * and is found by it.
 */
export async function putBackTests(execution: StepExecution): Promise<void> {
  const { run, cursor } = readContext(execution);
  if (cursor.putBack !== true) return;
  const { runtime, attempt } = execution;
  const { commit: tip } = run.tip;
  const { refused } = await inspectProtectedFiles(runtime, run, tip);
  if (refused.length === 0) return;
  const commands = run.drafted.checks.map(({ command }) => command);

  const baseFiles = await runtime.verifier.composeBaseFiles({
    base: run.drafted.base.commit,
    commit: tip,
    changes: refused,
    commands,
  });

  const restored = await runtime.workspace.restore({
    attempt: commitKey(attempt),
    baseFiles,
    subject: buildSubject(refused),
  });
  if (restored === null) return;
  const { commit, parent, tree, paths } = restored;
  await execution.recordDone({
    event: "tests_put_back",
    attempt,
    commit,
    parent,
    tree,
    paths: [...paths],
  });
}

/**
 * `1@1/execute#2` → `1@1/execute.tests#2`: another key than the attempt's own, under which its work
 * is committed.
 */
const commitKey = (attempt: AttemptId): AttemptId => attempt.replace(/#(\d+)$/, ".tests#$1");

const buildSubject = (refused: readonly ProtectedChange[]): string =>
  refused.length === 1
    ? `Put back ${refused[0]?.path ?? ""}`
    : `Put back ${refused.length} files that judge the work`;
