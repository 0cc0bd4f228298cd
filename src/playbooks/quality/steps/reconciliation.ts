// reconciliation: checks that every confirmed bug has its write-up and red test log, and that there
// are test results.

import type { GateCheck, GateResult } from "../../../contracts/quality/quality-facts.ts";
import type { QualityTree } from "./quality-tree.ts";

/** One check for each file that the fifth phase must leave for a confirmed bug. */
export function judgeReconciliation(
  tree: Pick<QualityTree, "has">,
  bugs: readonly string[],
): GateResult {
  if (bugs.length === 0) {
    const skipped: GateCheck = {
      name: "reconciliation",
      verdict: "skip",
      reason: "BUGS.md has no confirmed bug, so there is nothing to reconcile",
    };

    return { verdict: "pass", checks: [skipped] };
  }

  const check = (name: string, path: string): GateCheck =>
    tree.has(path)
      ? { name, verdict: "pass", reason: path }
      : { name, verdict: "fail", reason: `${path} is not there` };
  const checks = [
    check("tdd_results", "quality/results/tdd-results.json"),
    ...bugs.flatMap((id) => [
      check(`writeup:${id}`, `quality/writeups/${id}.md`),
      check(`red_log:${id}`, `quality/results/${id}.red.log`),
    ]),
  ];

  return { verdict: checks.some(({ verdict }) => verdict === "fail") ? "fail" : "pass", checks };
}
