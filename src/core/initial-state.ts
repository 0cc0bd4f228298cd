// initial-state: the initial state of a run, built from its run_drafted event.

import type { Envelope, EventOf } from "../contracts/event.ts";
import { initialBreaker } from "./resumed.ts";
import { phaseGroups, declaredPhases } from "./selectors.ts";
import type { PhaseState, Run, SpentAmounts } from "./state.ts";

export const nothingSpent = (): SpentAmounts => ({
  tokens: 0,
  minutes: 0,
  calls: 0,
  usd: 0,
  estimated: 0,
});

/** A run as its draft leaves it. The budget's limits apply where the recorded limits name none. */
export function initialState(event: EventOf<"run_drafted"> & Envelope): Run {
  const { flow, budget, limits, base } = event;
  return {
    status: "draft",
    reason: event.reason_code,
    detail: null,
    drafted: event,
    acknowledged: false,
    verdict: null,
    gaps: [],
    limits: { run: { ...definedLimits(budget.limits), ...limits.run }, phase: { ...limits.phase } },
    opening: 0,
    overrides: {},
    isolation: null,
    surveyed: 0,
    proved: [],
    isRead: Array.isArray(flow.phases),
    phases: phaseGroups.flatMap((group) =>
      (declaredPhases(flow, group) ?? []).map(({ id, name }, index, all) =>
        newPhase(group, id, name, all[index - 1]?.id),
      ),
    ),
    cursors: {},
    open: {},
    blocks: {},
    requests: {},
    asked: null,
    asker: null,
    now: false,
    hold: null,
    resting: null,
    taken: {},
    invocation: {},
    finished: 0,
    retries: event.resumes?.retries ?? 0,
    violations: 0,
    violation: null,
    ledger: {
      run: {
        ...nothingSpent(),
        tokens: event.resumes?.tokens ?? 0,
        minutes: minutesAt(event, event.active_ms),
      },
      phase: {},
      largest: {},
    },
    breaker: initialBreaker(event.resumes),
    checks: {},
    judged: null,
    trees: {},
    turns: [],
    tip: { commit: base.commit, tree: base.tree },
    seq: event.seq,
    activeMs: event.active_ms,
    startedAt: null,
    updatedAt: event.ts,
  };
}

/** Worked time in total, including what another tool's run had used before. */
export const minutesAt = (
  { resumes }: Pick<EventOf<"run_drafted">, "resumes">,
  activeMs: number,
): number => activeMs / 60_000 + (resumes?.minutes ?? 0);

function newPhase(
  group: PhaseState["group"],
  id: string,
  name: string,
  previous: string | undefined,
): PhaseState {
  const after = previous === undefined ? [] : [previous];
  return {
    id,
    group,
    name,
    after,
    status: "waiting",
    visit: 0,
    because: null,
    paused: false,
    gone: false,
  };
}

function definedLimits(
  limits: Readonly<Record<string, number | undefined>>,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(limits).filter((pair): pair is [string, number] => pair[1] !== undefined),
  );
}
