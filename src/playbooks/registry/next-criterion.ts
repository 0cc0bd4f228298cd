// next-criterion: step that picks the criterion to work on: the least tried of those still open.

import type { Outcome } from "../../contracts/outcome.ts";
import type { RunView, CursorView } from "../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../ports/functions.ts";

/** The step `next_criterion`. If no criterion is open, the goal itself is worked on. */
export const nextCriterion = {
  version: 1,
  effect: "none" as const,
  perform({ state, previous, sees }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
    const previousFacts = previous?.facts ?? {};
    const openCriteria = state.drafted.objective.done_criteria.filter(({ id, check }) => {
      if (check === null) return !isDone(sees, id);
      return state.checks[`criterion:${id}`]?.latest.status !== "passed";
    });

    const tries = (id: string): number => Number(previousFacts[`tries_${id}`] ?? 0);
    const criterion = openCriteria.toSorted((a, b) => tries(a.id) - tries(b.id))[0];
    const triesSoFar = Object.fromEntries(
      Object.entries(previousFacts).filter(([name]) => name.startsWith("tries_")),
    );

    if (criterion === undefined) {
      return Promise.resolve({ ok: true, facts: { ...triesSoFar, criterion: "goal", open: 0 } });
    }

    const facts = {
      ...triesSoFar,
      criterion: criterion.id,
      open: openCriteria.length,
      [`tries_${criterion.id}`]: tries(criterion.id) + 1,
    };

    return Promise.resolve({ ok: true, facts });
  },
};

/** Whether an earlier judgement counted a criterion without a check as done. */
function isDone(sees: Readonly<Record<string, Readonly<Outcome>>>, id: string): boolean {
  return Object.values(sees).some(({ facts }) => facts[`done_${id}`] === true);
}
