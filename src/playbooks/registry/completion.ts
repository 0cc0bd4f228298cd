// completion: judges from recorded evidence whether the objective is reached. The promise is the
// agent's own statement that it is finished; alone it never suffices.

import type { Outcome, Facts } from "../../contracts/outcome.ts";
import { findBaseline, judgeCompletion } from "../../core/completion.ts";
import type { RunView, CursorView } from "../../core/state.ts";
import { joinGaps } from "../../core/verdict.ts";
import type { FunctionInput, FunctionResult } from "../../ports/functions.ts";

/** The answer that accepts the work without a promise, as the flow offers it. */
const acceptAnswer = "A";

type StepInput = FunctionInput<RunView, CursorView>;

/** The step `completion`. */
export const completion = {
  version: 1,
  effect: "none" as const,
  perform(input: StepInput): Promise<FunctionResult> {
    const { state } = input;
    const { objective, base } = state.drafted;
    const criteria = judgeCriteria(input);
    const { isPromised, announcedMore } = readPromise(input);
    const otherChecks = Object.values(state.checks).filter(
      ({ latest }) => latest.check.kind !== "criterion",
    );

    const completionInput = {
      mode: objective.completion_mode,
      promised: isPromised,
      announcedMore,
      criteria,
      others: otherChecks.map((record) => ({
        check: record.latest.check,
        baseline: findBaseline(record)?.status ?? null,
        latest: record.latest.status,
        testsBefore: findBaseline(record)?.tests,
        tests: record.latest.tests,
        broke: record.latest.broke,
        canary: record.latest.canary,
        quarantined: record.latest.quarantined,
      })),
      treeChanged: state.tip.tree !== base.tree,
    };
    const judgement = judgeCompletion(completionInput);

    const ifPromised = judgeCompletion({
      ...completionInput,
      promised: true,
      announcedMore: false,
    });
    const lacksOnlyPromise =
      !isPromised &&
      !judgement.complete &&
      ifPromised.complete &&
      ifPromised.verdict !== "unverified";

    const gaps = joinGaps(judgement.gaps);
    const facts: Facts = {
      ...Object.fromEntries(criteria.map(({ id, cycleDone }) => [`done_${id}`, cycleDone])),
      complete: judgement.complete,
      verdict: judgement.verdict,
      gaps,
      why: judgement.reason_code,
      only_promise: lacksOnlyPromise,
      ...(lacksOnlyPromise ? { unpromised_tree: state.tip.tree } : {}),
      ...(isPromised && !announcedMore ? { promised_tree: state.tip.tree } : {}),
    };

    return Promise.resolve({ ok: true, facts, reason: judgement.reason_code, detail: gaps });
  },
};

/**
 * Each criterion with its check's results. One without a check counts as done after a cycle that
 * worked on it and changed a file.
 */
function judgeCriteria({ state, previous, sees }: StepInput) {
  const pickedCriterion = findFact(sees, "criterion");
  const hasChanged = findFact(sees, "changed") === true;
  return state.drafted.objective.done_criteria.map(({ id, text, check }) => {
    const checkRecord = state.checks[`criterion:${id}`];
    const latest = checkRecord?.latest;
    const isWorkedOn = hasChanged && (pickedCriterion === id || pickedCriterion === "goal");
    const wasDone = previous?.facts[`done_${id}`] === true;

    return {
      id,
      text,
      check,
      baseline: findBaseline(checkRecord)?.status ?? null,
      latest: latest?.status ?? null,
      cycleDone: check === null ? wasDone || isWorkedOn : latest?.status === "passed",
      failsWithoutWork: latest?.without_work?.outcome === "noticed",
      quarantined: latest?.quarantined,
    };
  });
}

/**
 * Whether the agent's statement that it is finished counts for the current tree, and whether it
 * announced more work with it.
 */
function readPromise({ state, cursor, previous, sees }: StepInput): {
  readonly isPromised: boolean;
  readonly announcedMore: boolean;
} {
  const previousFacts = previous?.facts ?? {};
  const seenFacts = Object.keys(sees).map((step): Facts => ({ ...cursor.last[step]?.facts }));
  const promiseFacts = seenFacts.findLast((facts) => facts["promised"] === true);
  // A promise is about one tree: it stands until a later turn changes a file, even if a person was
  // asked in between.
  const promiseStands = previousFacts["promised_tree"] === state.tip.tree;
  // A person accepted exactly this tree without a promise. They are asked only if nothing else is
  // missing.
  const acceptedWithoutPromise =
    previousFacts["unpromised_tree"] === state.tip.tree &&
    cursor.last["accept"]?.facts["answer"] === acceptAnswer;

  return {
    isPromised: promiseFacts !== undefined || promiseStands || acceptedWithoutPromise,
    announcedMore: promiseFacts?.["announced_more"] === true,
  };
}

/** A fact by name, from the first visible step that recorded it. */
function findFact(
  sees: Readonly<Record<string, Readonly<Outcome>>>,
  name: string,
): Facts[string] | undefined {
  return Object.values(sees).find(({ facts }) => facts[name] !== undefined)?.facts[name];
}
