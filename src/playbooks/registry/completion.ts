// completion: step that judges from recorded evidence whether the objective is reached.

import type { Outcome, Facts } from "../../contracts/outcome.ts";
import { judgeCompletion } from "../../core/completion.ts";
import type { RunView, CursorView } from "../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../ports/functions.ts";

/** Whether the objective is reached: judged from recorded evidence; the promise alone never suffices. */
export const completion = {
  version: 1,
  effect: "none" as const,
  perform({ state, cursor, previous, sees }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
    const { objective, base } = state.drafted;
    const before = previous?.facts ?? {};
    const picked = seenFact(sees, "criterion");
    const hasChanged = seenFact(sees, "changed") === true;

    const criteria = objective.done_criteria.map(({ id, text, check }) => {
      const known = state.checks[`criterion:${id}`];
      const passes = known?.latest.status === "passed";
      const isWorkedOn = hasChanged && (picked === id || picked === "goal");
      const cycleDone = check === null ? before[`done_${id}`] === true || isWorkedOn : passes;
      const quarantined = known?.latest.quarantined;
      const failsWithoutWork = known?.latest.without_work?.outcome === "noticed";
      const [baseline, latest] = [known?.baseline.status ?? null, known?.latest.status ?? null];
      return { id, text, check, baseline, latest, cycleDone, failsWithoutWork, quarantined };
    });
    const others = Object.values(state.checks).filter(({ latest }) => latest.check.kind !== "criterion");
    // A promise belongs to its tree: it holds until a later turn changes a file, whatever was approved or asked meanwhile.
    const facts = Object.keys(sees).map((step): Facts => ({ ...cursor.last[step]?.facts }));
    const said = facts.findLast((fact) => fact["promised"] === true);
    const stands = before["promised_tree"] === state.tip.tree;
    // A person took exactly this tree without the promise: asked for where nothing else was missing.
    const isTaken = before["unpromised_tree"] === state.tip.tree && cursor.last["accept"]?.facts["answer"] === "A";
    const announcedMore = said?.["announced_more"] === true;
    const asked = {
      mode: objective.completion_mode,
      promised: said !== undefined || stands || isTaken,
      announcedMore,
      criteria,
      others: others.map(({ baseline, latest }) => ({
        check: latest.check,
        baseline: baseline.status,
        latest: latest.status,
        testsBefore: baseline.tests,
        tests: latest.tests,
        broke: latest.broke,
        quarantined: latest.quarantined,
      })),
      treeChanged: state.tip.tree !== base.tree,
    };
    const judged = judgeCompletion(asked);
    const ifPromised = judgeCompletion({ ...asked, promised: true, announcedMore: false });
    const onlyPromise = !asked.promised && !judged.complete && ifPromised.complete && ifPromised.verdict !== "unverified";
    const done = Object.fromEntries(criteria.map(({ id, cycleDone }) => [`done_${id}`, cycleDone]));
    const found = {
      ...done,
      complete: judged.complete,
      verdict: judged.verdict,
      gaps: judged.gaps.join("; "),
      why: judged.reason_code,
      only_promise: onlyPromise,
      ...(onlyPromise ? { unpromised_tree: state.tip.tree } : {}),
      ...(asked.promised && !announcedMore ? { promised_tree: state.tip.tree } : {}),
    };
    return Promise.resolve({ ok: true, facts: found, reason: judged.reason_code, detail: judged.gaps.join("; ") });
  },
};

/** A fact of the steps this one sees, whichever of them made it. */
function seenFact(sees: Readonly<Record<string, Readonly<Outcome>>>, name: string): Facts[string] | undefined {
  return Object.values(sees).find(({ facts }) => facts[name] !== undefined)?.facts[name];
}
