// landing-sentence: says where the work of a run is when it has ended: merged, or on its branch.

import type { Verdict } from "../../contracts/objective.ts";

/** Where the work of a run is: on the user's branch, on the run's own, or there is none. */
export type Landing = "landed" | "kept" | "nothing";

/** Where the work is, in a sentence; a person must not take finished work for merged work. */
export function describeLanding(verdict: Verdict, landing: Landing, branch: string): string {
  if (landing === "nothing") return "";
  if (landing === "landed") return "Merged into your branch.";
  const isUnproved = verdict === "unverified" || verdict === "refuted";

  return isUnproved
    ? `Unproved work isn't merged: it stays on ${branch}.`
    : `The work stays on ${branch}.`;
}
