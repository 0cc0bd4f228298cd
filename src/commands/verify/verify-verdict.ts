// verify-verdict: computes a run's verdict from the evidence as recorded and from the evidence as
// re-checked now.

import type { CheckStatus } from "../../contracts/evidence.ts";
import type { Verdict } from "../../contracts/objective.ts";
import { findBaseline, judgeCompletion } from "../../core/completion.ts";
import type { RunView } from "../../core/state.ts";
import { computeVerdict } from "../../core/verdict.ts";

/** The result to count for a piece of evidence, by its hash; `recorded` is what it was. */
export type StatusOf = (evidence: string, recorded: CheckStatus) => CheckStatus;

/**
 * The verdict of a run as recorded, and with the evidence as re-checked now. The same rules judge
 * both, so that only evidence makes a difference: promises, approvals and waits are unchanged.
 */
export function compareVerdicts(
  view: RunView,
  statusNow: StatusOf,
): { readonly recorded: Verdict; readonly now: Verdict } {
  const recorded = view.verdict ?? computeVerdict(view).verdict;
  // The recorded verdict may rest on more than evidence, so a change of evidence is judged against
  // the same computation.
  const judgedAsRecorded = judgeByEvidence(view, (_evidence, status) => status);
  const judgedNow = judgeByEvidence(view, statusNow);

  return { recorded, now: judgedAsRecorded === judgedNow ? recorded : judgedNow };
}

function judgeByEvidence(view: RunView, statusOf: StatusOf): Verdict {
  const { objective, base } = view.drafted;
  const states = Object.values(view.checks).map((record) => ({
    check: record.latest.check,
    baseline:
      findBaseline(record) === null
        ? null
        : statusOf(record.baseline.evidence, record.baseline.status),
    latest: statusOf(record.latest.evidence, record.latest.status),
    testsBefore: findBaseline(record)?.tests,
    tests: record.latest.tests,
    broke: record.latest.broke,
    canary: record.latest.canary,
    failsWithoutWork: record.latest.without_work?.outcome === "noticed",
  }));

  const criteria = objective.done_criteria.map(({ id, text, check }) => {
    const criterionState = states.find((state) => state.check.id === `criterion:${id}`);
    return {
      id,
      text,
      check,
      baseline: criterionState?.baseline ?? null,
      latest: criterionState?.latest ?? null,
      cycleDone: true,
      failsWithoutWork: criterionState?.failsWithoutWork,
    };
  });

  return judgeCompletion({
    mode: "promise",
    promised: true,
    announcedMore: false,
    criteria,
    others: states.filter(({ check }) => check.kind !== "criterion"),
    treeChanged: view.tip.tree !== base.tree,
  }).verdict;
}
