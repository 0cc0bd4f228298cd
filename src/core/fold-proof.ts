// fold-proof: reducers of evidence events: changes to protected tests that were judged, approved, held
// for review or put back, and checked claims. Also records the results of checks, which come with the end of a
// step.
// Invariants F1 and on: core/fold.ts.

import type { EventOf } from "../contracts/event.ts";
import type { CheckResult } from "../contracts/evidence.ts";
import { invariant } from "../kit/invariant.ts";
import {
  type ReducersOf,
  recordRequestOnce,
  requireCursor,
  requireOpenAttempt,
} from "./reducers.ts";
import { ownValue, setValue } from "./own-values.ts";
import type { Run } from "./state.ts";

const falseClaimsMax = 50;
const approvalsMax = 100;
const waitingMax = 50;
const putBackMax = 100;

export const proofReducers: ReducersOf<
  "oracles_judged" | "oracles_approved" | "tests_held" | "tests_put_back" | "claims_checked"
> = {
  oracles_judged: (run, { attempt, content, changes, look = [] }) => {
    requireOpenAttempt(run, attempt);
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
  tests_held: (run, { walk, content }) => {
    requireCursor(run, walk);
    run.held = [...(run.held ?? []), content].slice(-approvalsMax);
  },
  tests_put_back: (run, { attempt, commit, tree, paths }) => {
    delete requireCursor(run, requireOpenAttempt(run, attempt).cursor).putBack;
    run.tip = { commit, tree };
    run.putBack = [...new Set([...(run.putBack ?? []), ...paths])].slice(-putBackMax);
  },
  claims_checked: (run, event) => {
    const open = ownValue(run.open, event.attempt);
    if (open !== undefined) open.heard = true;
    setWaiting(run, event.attempt, toWaiting(event));
    countClaims(run, event);
  },
};

/** How often what an agent said in a role was true; and its latest false claims. */
function countClaims(run: Run, { attempt, agent, role, claims }: EventOf<"claims_checked">): void {
  const truth = (run.truth ??= { by: {}, refuted: [] });
  const key = `${agent} ${role}`;
  const tally = ownValue(truth.by, key) ?? { agent, role, true: 0, false: 0, unverifiable: 0 };

  for (const { verdict, text, why } of claims) {
    tally[verdict]++;
    if (verdict === "false") truth.refuted.push({ attempt, text, why });
  }

  truth.refuted.splice(0, Math.max(0, truth.refuted.length - falseClaimsMax));
  setValue(truth.by, key, tally);
}

type Waiting = NonNullable<Run["waiting"]>[number];

function toWaiting({
  attempt,
  agent,
  role,
  model,
  waiting = [],
}: EventOf<"claims_checked">): Waiting | null {
  if (waiting.length === 0) return null;

  const modelField = model === undefined ? {} : { model };
  return { attempt, agent, role, ...modelField, claims: waiting };
}

/**
 * Replaces what an attempt's agent claimed and nothing has decided yet; null: everything is
 * decided.
 */
function setWaiting(run: Run, attempt: string, pending: Waiting | null): void {
  if (run.waiting === undefined && pending === null) return;

  const waiting = (run.waiting ?? []).filter((turn) => turn.attempt !== attempt);
  if (pending !== null) waiting.push(pending);
  if (waiting.length === 0) delete run.waiting;
  else run.waiting = waiting.slice(-waitingMax);
}

/**
 * A check's first result is its baseline; one that first ran after a change is late, and was not
 * red before it.
 */
export function recordCheckResults(run: Run, results: readonly CheckResult[]): void {
  for (const result of results) {
    const known = ownValue(run.checks, result.check.id);
    const isAfterChange = run.tip.tree !== run.drafted.base.tree;
    const isLate = known === undefined ? isAfterChange : known.isLate === true;

    setValue(run.checks, result.check.id, {
      baseline: known?.baseline ?? result,
      latest: withEarlierFindings(result, known?.latest),
      ...(isLate ? { isLate } : {}),
    });
  }
}

/**
 * What experiments found of a passing check holds until they are repeated: a later pass on the
 * landed work is not tried out again.
 */
function withEarlierFindings(result: CheckResult, earlier: CheckResult | undefined): CheckResult {
  if (result.status !== "passed" || result.canary !== undefined) return result;
  if (earlier?.status !== "passed" || earlier.canary === undefined) return result;
  if (earlier.check.command !== result.check.command) return result;

  const { canary, without_work, gap, programs, made_again } = earlier;
  return {
    ...result,
    canary,
    ...(without_work === undefined ? {} : { without_work }),
    ...(programs === undefined ? {} : { programs }),
    ...(made_again === undefined ? {} : { made_again }),
    ...(gap === undefined || result.gap !== undefined ? {} : { gap }),
  };
}
