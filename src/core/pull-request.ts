// pull-request: decides what to do next about a run's pull request, from what its host shows. Pure.
//
// Invariants:
//   W1. Each finding is worked on once, and never beyond the allowed tries.
//   W2. Nothing is pushed over another person's push.
//   W3. A follow-up is pushed only if every check that passed for the pull request passed for it
//       too: its criteria held before it began, so its verdict alone says less than both runs
//       together. Work that a person keeps on its branch is not pushed.

import type { OutsideEvidence } from "../contracts/forge/pull-request.ts";
import { evidenceItemsMax } from "../contracts/forge/pull-request.ts";
import type { Verdict } from "../contracts/objective.ts";
import type { RunView } from "./state.ts";
import { mayLand } from "./verdict.ts";

export type PullRequestView = NonNullable<RunView["pull_request"]>;

/** A pull request as its host shows it now. */
export type PullRequestSnapshot = {
  readonly state: "open" | "merged" | "closed";
  /**
   * The commit its branch is at; null if the host does not say. Then work goes on, but nothing is
   * pushed (W2).
   */
  readonly head: string | null;
  /** Checks of its CI that have no result yet. */
  readonly pending: number;
  readonly evidence: readonly OutsideEvidence[];
};

/** `follow`: wait for the run that works on it. `take_up`: begin a run about this evidence. */
export type PullRequestStep =
  | { readonly do: "end"; readonly how: "merged" | "closed" }
  | { readonly do: "follow"; readonly run: string }
  | { readonly do: "take_up"; readonly evidence: readonly OutsideEvidence[] }
  | { readonly do: "stop"; readonly because: "pull_request_moved" | "pull_request_tries_spent" }
  | { readonly do: "wait" };

export function decidePullRequestStep(
  pullRequest: PullRequestView,
  snapshot: PullRequestSnapshot,
  triesMax: number,
): PullRequestStep {
  if (snapshot.state !== "open") return { do: "end", how: snapshot.state };
  if (pullRequest.under_way !== null) return { do: "follow", run: pullRequest.under_way };
  if (snapshot.head !== null && snapshot.head !== pullRequest.commit) {
    return { do: "stop", because: "pull_request_moved" };
  } // W2

  const untakenEvidence = snapshot.evidence.filter(({ key }) => !pullRequest.taken.includes(key)); // W1
  const comments = untakenEvidence.filter(({ kind }) => kind === "comment");
  // Half a result now would make the other half look like news later.
  const actionable = snapshot.pending === 0 ? untakenEvidence : comments;
  if (actionable.length === 0) return { do: "wait" };
  if (pullRequest.tries >= triesMax) return { do: "stop", because: "pull_request_tries_spent" }; // W1

  return { do: "take_up", evidence: actionable.slice(0, evidenceItemsMax) };
}

/**
 * What the host shows that forbids a push to the pull request's branch; null if the push may go
 * ahead. W2
 */
export function whyPushBlocked(
  pullRequest: PullRequestView,
  snapshot: PullRequestSnapshot,
  commit: string,
): "merged" | "closed" | "moved" | null {
  if (snapshot.state !== "open") return snapshot.state;
  return snapshot.head === pullRequest.commit || snapshot.head === commit ? null : "moved"; // the commit itself: pushed before a crash
}

/** Only work that is wholly proved is opened as ready to merge. */
export const isOpenedAsDraft = (verdict: Verdict | null, isDraftRequested: boolean): boolean =>
  isDraftRequested || verdict !== "verified";

/** Why the follow-up of a run may not be pushed, by what it did and proved; null if it may. W3 */
export function findFollowUpRefusal(
  original: RunView,
  followUp: RunView,
): {
  readonly code: "nothing_changed" | "work_unproved" | "operator_stopped" | "branch_kept";
  readonly detail: string;
} | null {
  if (followUp.status === "stopped") return { code: "operator_stopped", detail: "it was stopped." };
  if (followUp.tip.commit === followUp.drafted.base.commit) {
    return { code: "nothing_changed", detail: "it changed nothing." };
  }

  // A follow-up lands nothing itself, so its branch is kept only if a person answered so.
  if (followUp.phases.some(({ because }) => because === "branch_kept")) {
    return { code: "branch_kept", detail: "you kept it on its own branch." };
  }

  const verdict = followUp.verdict ?? "unverified";
  if (!mayLand(verdict)) return { code: "work_unproved", detail: `it is ${verdict}.` };
  const passed = new Set(listPassedCommands(followUp));
  const lostCommand = listPassedCommands(original).find((command) => !passed.has(command));

  return lostCommand === undefined
    ? null
    : {
        code: "work_unproved",
        detail: `what was proved before isn't proved any more: ${lostCommand}`,
      };
}

/** Restoring dependencies proves nothing, so it isn't counted. */
const listPassedCommands = ({ checks }: RunView): readonly string[] =>
  Object.values(checks).flatMap(({ latest }) =>
    latest.status === "passed" && latest.check.kind !== "restore" ? [latest.check.command] : [],
  );
