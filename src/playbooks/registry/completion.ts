// completion: judges from recorded evidence whether the objective is reached. The promise is the agent's own statement that it is
// finished; alone it never suffices.

import type { Outcome, Facts } from "../../contracts/outcome.ts";
import { judgeCompletion } from "../../core/completion.ts";
import type { RunView, CursorView } from "../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../ports/functions.ts";

/** The answer that accepts the work without a promise, as the flow offers it. */
const acceptAnswer = "A";

export const completion = {
  version: 1,
  effect: "none" as const,
  perform({ state, cursor, previous, sees }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
    const { objective, base } = state.drafted;
    const previousFacts = previous?.facts ?? {};
    const pickedCriterion = findFact(sees, "criterion");
    const hasChanged = findFact(sees, "changed") === true;

    const criteria = objective.done_criteria.map(({ id, text, check }) => {
      const checkRecord = state.checks[`criterion:${id}`];
      const passes = checkRecord?.latest.status === "passed";
      const isWorkedOn = hasChanged && (pickedCriterion === id || pickedCriterion === "goal");
      const isDone = check === null ? previousFacts[`done_${id}`] === true || isWorkedOn : passes;
      const quarantined = checkRecord?.latest.quarantined;
      const failsWithoutWork = checkRecord?.latest.without_work?.outcome === "noticed";
      const [baseline, latest] = [checkRecord?.baseline.status ?? null, checkRecord?.latest.status ?? null];
      return { id, text, check, baseline, latest, cycleDone: isDone, failsWithoutWork, quarantined };
    });
    const otherChecks = Object.values(state.checks).filter(({ latest }) => latest.check.kind !== "criterion");
    // A promise is about one tree: it stands until a later turn changes a file, even if a person was asked in between.
    const seenFacts = Object.keys(sees).map((step): Facts => ({ ...cursor.last[step]?.facts }));
    const promiseFacts = seenFacts.findLast((fact) => fact["promised"] === true);
    const promiseStands = previousFacts["promised_tree"] === state.tip.tree;
    // A person accepted exactly this tree without a promise. They are asked only if nothing else is missing.
    const acceptedWithoutPromise =
      previousFacts["unpromised_tree"] === state.tip.tree && cursor.last["accept"]?.facts["answer"] === acceptAnswer;
    const announcedMore = promiseFacts?.["announced_more"] === true;
    const completionInput = {
      mode: objective.completion_mode,
      promised: promiseFacts !== undefined || promiseStands || acceptedWithoutPromise,
      announcedMore,
      criteria,
      others: otherChecks.map(({ baseline, latest }) => ({
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
    const judgement = judgeCompletion(completionInput);
    const ifPromised = judgeCompletion({ ...completionInput, promised: true, announcedMore: false });
    const lacksOnlyPromise = !completionInput.promised && !judgement.complete && ifPromised.complete && ifPromised.verdict !== "unverified";
    const doneFacts = Object.fromEntries(criteria.map(({ id, cycleDone }) => [`done_${id}`, cycleDone]));
    const facts: Facts = {
      ...doneFacts,
      complete: judgement.complete,
      verdict: judgement.verdict,
      gaps: judgement.gaps.join("; "),
      why: judgement.reason_code,
      only_promise: lacksOnlyPromise,
      ...(lacksOnlyPromise ? { unpromised_tree: state.tip.tree } : {}),
      ...(completionInput.promised && !announcedMore ? { promised_tree: state.tip.tree } : {}),
    };
    return Promise.resolve({ ok: true, facts, reason: judgement.reason_code, detail: judgement.gaps.join("; ") });
  },
};

/** A fact by name, from the first visible step that recorded it. */
function findFact(sees: Readonly<Record<string, Readonly<Outcome>>>, name: string): Facts[string] | undefined {
  return Object.values(sees).find(({ facts }) => facts[name] !== undefined)?.facts[name];
}
