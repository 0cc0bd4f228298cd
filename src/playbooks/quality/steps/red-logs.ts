// red-logs: step that writes the output of each bug's regression test, as the runner saw it, to
// quality/results/. It replaces what an agent wrote there.

import * as v from "valibot";
import { type CheckResult, Evidence } from "../../../contracts/evidence.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { testPatchPath } from "./regression-test-trials.ts";

type Parts = {
  readonly workspace: Pick<Workspace, "commitFiles">;
  readonly readBlob: (hash: string) => Buffer | null;
};
const logCharsMax = 200_000;

/** The step `red_logs`. */
export function createRedLogsStep({ workspace, readBlob }: Parts) {
  return {
    version: 1,
    effect: "keyed" as const,
    async perform({
      attempt,
      sees,
      commit,
    }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      // The check with the regression test alone is `bug:BUG-001`; others of the same bug have a
      // suffix, as `bug:BUG-001:fixed`.
      const testResults = (sees["do"]?.checks ?? []).filter(({ check }) =>
        /^bug:BUG-[A-Za-z0-9-]+$/.test(check.id),
      );
      const logs = testResults.flatMap((result) => {
        const text = buildTrialLog(result, readBlob);
        return text === null
          ? []
          : [{ path: `quality/results/${result.check.id.slice("bug:".length)}.red.log`, text }];
      });
      if (logs.length === 0) return { ok: true, facts: { red_logs: 0 } };
      const files = logs.map(({ path, text }) => ({ path, text: text.slice(0, logCharsMax) }));

      const applied = await workspace.commitFiles({
        attempt,
        since: commit,
        files,
        subject: "autopilot: what each regression test printed",
      });
      if (applied !== null && "conflict" in applied) {
        return {
          ok: false,
          facts: { red_logs: 0 },
          reason: "merge_conflict",
          detail: "another attempt changed quality/results meanwhile",
        };
      }

      return {
        ok: true,
        facts: { red_logs: logs.length },
        ...(applied === null ? {} : { applied }),
      };
    },
  };
}

/** The text of a bug's red log; null if the output of the check is gone. */
function buildTrialLog(
  result: CheckResult,
  readBlob: (hash: string) => Buffer | null,
): string | null {
  const evidence = v.safeParse(
    v.pipe(v.string(), v.parseJson(), Evidence),
    readBlob(result.evidence)?.toString("utf8"),
  );
  if (!evidence.success) return null;
  const { output_hash: hash, output_excerpt: excerpt, exit_code: code, at } = evidence.output;
  const output = (hash === null ? null : readBlob(hash)?.toString("utf8")) ?? excerpt;
  const patchPath = testPatchPath(result.check.id.slice("bug:".length));

  return [
    `Written by the runner, which applied ${patchPath} and ran the project's tests.`,
    `$ ${result.check.command}`,
    `exit ${code ?? "by a signal"}, ${at}`,
    "",
    output,
  ].join("\n");
}
