// fork-page: renders the preview of a fork: what it takes over, what is different in it and what is
// left to do.

import type { RunView } from "../../core/state.ts";
import { listSteps } from "../criteria-status.ts";
import {
  formatAmount,
  describeAttempt,
  formatNumber,
  firstFew,
  formatMoney,
  oneLine,
} from "../wording.ts";

export type ForkView = {
  readonly run: string;
  /** The last line that the fork takes over. */
  readonly at: number;
  /** The line that was asked for, which may lie before `at`. */
  readonly asked: number | undefined;
  readonly state: RunView;
  readonly changed: readonly string[];
};

export function forkPage({ run, at, asked, state, changed }: ForkView): readonly string[] {
  const { completed, pending } = listSteps(state);
  const { tokens, usd } = state.ledger.run;
  const open = Object.values(state.open).map(({ attempt }) => describeAttempt(attempt));
  const limits = Object.entries(state.limits.run).map(
    ([name, to]) => `${name} ${formatNumber(to)}`,
  );

  const isMoved = asked !== undefined && asked !== at;
  const movedText = isMoved
    ? `; line ${formatNumber(asked)} lies inside a paid turn, which is taken over whole`
    : "";

  return [
    `A new run from ${run} after line ${formatNumber(at)}${movedText}`,
    `  Goal       ${oneLine(state.drafted.objective.goal)}`,
    `  Taken over ${completed.length === 0 ? "no finished step" : firstFew(completed, 5)}, up to commit ${state.tip.commit.slice(0, 10)}`,
    `  Not paid   ${formatAmount("tokens", tokens)}${usd > 0 ? `, ${formatMoney(usd)}` : ""}: bought there, not again here`,
    ...(open.length === 0 ? [] : [`  Again      ${firstFew(open, 3)}`]),
    ...(pending.length === 0 ? [] : [`  To do      ${firstFew(pending, 5)}`]),
    `  Different  ${changed.length === 0 ? "nothing" : changed.join(", ")}`,
    `  Limits     ${limits.join(", ")}, for what is new`,
    `  ${run} stays as it is.`,
  ];
}
