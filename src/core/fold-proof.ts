// fold-proof: reducers of evidence events: changes to protected tests that were judged, approved or
// put back, and checked claims. Also records the results of checks, which come with the end of a
// step.
// Invariants F1 and on: core/fold.ts.

import type { CheckResult } from "../contracts/evidence.ts";
import { invariant } from "../kit/invariant.ts";
import { type ReducersOf, recordRequestOnce, findCursor, findOpen } from "./reducers.ts";
import { ownValue, setValue } from "./own-values.ts";
import type { Run } from "./state.ts";

const falseClaimsMax = 50;
const approvalsMax = 100;
const waitingMax = 50;
const putBackMax = 100;

export const proofReducers: ReducersOf<
  "oracles_judged" | "oracles_approved" | "tests_put_back" | "claims_checked"
> = {
  oracles_judged: (run, { attempt, content, changes, look = [] }) => {
    findOpen(run, attempt);
    const lookField = look.length === 0 ? {} : { look: look.map((item) => ({ ...item })) };
    run.oracles = { content, changes: changes.map((change) => ({ ...change })), ...lookField };
  },
  oracles_approved: (run, { request, content }) => {
    invariant(
      run.status === "running" || run.status === "paused",
      "F1: oracles are approved while the run is open",
    );

    recordRequestOnce(run, request);
    run.approved = [...(run.approved ?? []), content].slice(-approvalsMax);
  },
  tests_put_back: (run, { attempt, commit, tree, paths }) => {
    delete findCursor(run, findOpen(run, attempt).cursor).putBack;
    run.tip = { commit, tree };
    run.putBack = [...new Set([...(run.putBack ?? []), ...paths])].slice(-putBackMax);
  },
  claims_checked: (run, { attempt, agent, role, model, claims, waiting = [] }) => {
    const open = ownValue(run.open, attempt);
    if (open !== undefined) open.heard = true;
    setWaiting(
      run,
      attempt,
      waiting.length === 0
        ? null
        : { attempt, agent, role, ...(model === undefined ? {} : { model }), claims: waiting },
    );

    const truth = (run.truth ??= { by: {}, refuted: [] });
    const key = `${agent} ${role}`;
    const tally = ownValue(truth.by, key) ?? { agent, role, true: 0, false: 0, unverifiable: 0 };

    for (const { verdict, text, why } of claims) {
      tally[verdict]++;
      if (verdict === "false") truth.refuted.push({ attempt, text, why });
    }

    truth.refuted.splice(0, Math.max(0, truth.refuted.length - falseClaimsMax));
    setValue(truth.by, key, tally);
  },
};

type Waiting = NonNullable<Run["waiting"]>[number];

/**
 * Replaces what an attempt's agent claimed and nothing has decided yet; null: everything is
 * decided.
 */
function setWaiting(run: Run, attempt: string, pending: Waiting | null): void {
  if (run.waiting === undefined && pending === null) return;
  const others = (run.waiting ?? []).filter((turn) => turn.attempt !== attempt);
  const waiting = [...others, ...(pending === null ? [] : [pending])].slice(-waitingMax);
  if (waiting.length === 0) delete run.waiting;
  else run.waiting = waiting;
}

/**
 * A check's first result is its baseline; one that first ran after a change is late, and was not
 * red before it.
 */
export function recordCheckResults(run: Run, results: readonly CheckResult[]): void {
  for (const result of results) {
    const knownCheck = ownValue(run.checks, result.check.id);
    const isLate =
      knownCheck === undefined
        ? run.tip.tree !== run.drafted.base.tree
        : knownCheck.isLate === true;

    const latest = withEarlierFindings(result, knownCheck?.latest);
    setValue(run.checks, result.check.id, {
      baseline: knownCheck?.baseline ?? result,
      latest,
      ...(isLate ? { isLate } : {}),
    });
  }
}

/**
 * What experiments found of a passing check holds until they are repeated: a later pass on the
 * landed work is not tried out again.
 */
function withEarlierFindings(result: CheckResult, earlier: CheckResult | undefined): CheckResult {
  const isKnown =
    result.status === "passed" &&
    result.canary === undefined &&
    earlier?.status === "passed" &&
    earlier.canary !== undefined;
  if (!isKnown || earlier.check.command !== result.check.command) return result;
  const { canary, without_work, gap, programs } = earlier;

  return {
    ...result,
    canary,
    ...(without_work === undefined ? {} : { without_work }),
    ...(programs === undefined ? {} : { programs }),
    ...(gap === undefined || result.gap !== undefined ? {} : { gap }),
  };
}
