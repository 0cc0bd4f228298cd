// next-criterion: step that picks the criterion to work on: the least tried of those still open.

import type { Outcome } from "../../contracts/outcome.ts";
import type { RunView, CursorView } from "../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../ports/functions.ts";

/** Picks the criterion of this cycle: the least tried of those still open, else none (the goal itself). */
export const nextCriterion = {
  version: 1,
  effect: "none" as const,
  perform({ state, previous, sees }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
    const before = previous?.facts ?? {};
    const open = state.drafted.objective.done_criteria.filter(({ id, check }) => {
      if (check === null) return !isDone(sees, id);
      return state.checks[`criterion:${id}`]?.latest.status !== "passed";
    });
    const tries = (id: string): number => Number(before[`tries_${id}`] ?? 0);
    const picked = open.toSorted((a, b) => tries(a.id) - tries(b.id))[0];
    const kept = Object.fromEntries(Object.entries(before).filter(([name]) => name.startsWith("tries_")));
    if (picked === undefined) return Promise.resolve({ ok: true, facts: { ...kept, criterion: "goal", open: 0 } });
    const facts = { ...kept, criterion: picked.id, open: open.length, [`tries_${picked.id}`]: tries(picked.id) + 1 };
    return Promise.resolve({ ok: true, facts });
  },
};

/** Whether an earlier judgement found this criterion's cycle done. */
function isDone(sees: Readonly<Record<string, Readonly<Outcome>>>, id: string): boolean {
  return Object.values(sees).some(({ facts }) => facts[`done_${id}`] === true);
}
