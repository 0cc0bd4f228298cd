// put-back-tests: puts changed tests back to what they were when the run began, in a commit of the runner's, before an attempt begins.

import type { ProtectedChange } from "../contracts/evidence.ts";
import type { AttemptId } from "../contracts/ids.ts";
import { inspectProtected } from "./protected-files.ts";
import { type StepExecution, readContext } from "./step-execution.ts";

/** Only if a person said so. Safe to repeat after a crash: its commit has a key of its own, and is found by it. */
export async function putBackTests(action: StepExecution): Promise<void> {
  const { run, cursor } = readContext(action);
  if (cursor.putBack !== true) return;
  const { runtime, attempt } = action;
  const { commit: tip } = run.tip;
  const { refused } = await inspectProtected(runtime, run, tip);
  if (refused.length === 0) return;
  const commands = run.drafted.checks.map(({ command }) => command);
  const originals = await runtime.verifier.originals({ base: run.drafted.base.commit, commit: tip, changes: refused, commands });
  const restored = await runtime.workspace.restore({ attempt: keyOf(attempt), originals, subject: subjectOf(refused) });
  if (restored === null) return;
  const { commit, parent, tree, paths } = restored;
  await action.recordDone({ event: "tests_put_back", attempt, commit, parent, tree, paths: [...paths] });
}

/** Beside the attempt's own key, under which its work is committed. */
const keyOf = (attempt: AttemptId): AttemptId => attempt.replace(/#(\d+)$/, ".tests#$1");

const subjectOf = (refused: readonly ProtectedChange[]): string =>
  refused.length === 1 ? `Put back ${refused[0]?.path ?? ""}` : `Put back ${refused.length} files that judge the work`;
