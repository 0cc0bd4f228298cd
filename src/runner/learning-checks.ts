// learning-checks: runs the commands that belong to a project's learnings on the run's newest
// commit, so that agents see only learnings whose command still passes.

import type { AttemptId } from "../contracts/ids.ts";
import type { RunView } from "../core/state.ts";
import type { Verifier } from "../ports/verifier.ts";
import { sha256 } from "../project/sha256.ts";

/** For all commands of one attempt together: the prompt waits for them. */
const attemptTimeoutMs = 60_000;
const cachedResultsMax = 1_000;

type LearningCheckParts = {
  readonly verifier: Pick<Verifier, "check">;
  readonly view: () => RunView;
};

/**
 * Returns a checker for each attempt, which runs commands until a minute after it was made. Null:
 * it neither passed nor failed by then.
 */
export function openLearningChecks({
  verifier,
  view,
}: LearningCheckParts): (attempt: AttemptId) => (command: string) => Promise<boolean | null> {
  const cachedResults = new Map<string, boolean>();
  return (attempt) => {
    const cancel = AbortSignal.timeout(attemptTimeoutMs);
    return async (command) => {
      const { tip } = view();
      const id = sha256(command).slice(0, 12);
      const key = `${tip.tree} ${id}`;
      const cached = cachedResults.get(key);
      if (cached !== undefined || cancel.aborted) return cached ?? null;

      const check = {
        id: `learning:${id}`,
        kind: "proof" as const,
        title: "a learning still holds",
        command,
        source: "learnings",
      };
      const [result] = await verifier.check({
        attempt,
        checks: [check],
        commit: tip.commit,
        cancel,
        onLiveEvent: () => undefined,
      });
      if (result?.status !== "passed" && result?.status !== "failed") return null;
      cachedResults.set(key, result.status === "passed");
      const [oldest] = cachedResults.keys();
      if (cachedResults.size > cachedResultsMax && oldest !== undefined) {
        cachedResults.delete(oldest);
      }

      return result.status === "passed";
    };
  };
}
