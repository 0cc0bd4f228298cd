// landing-reasons: the reason codes of merging a run's work into the user's branch; part of the one
// table in ../reason.ts.

import { type Reason, reason } from "./reason-row.ts";

export const landingReasons = {
  landed: reason("PASS", "Merged into your branch.", ""),
  work_unproved: reason(
    "WARN",
    "The work isn't proved, so it stays on its own branch.",
    "look at it, then git merge autopilot/<run>; --land unverified merges such work in a new run",
  ),
  changed_tests_held: reason(
    "WARN",
    "Not merged: older tests were changed with the work, and you have to look at them first.",
    "look at the changed tests, then git merge autopilot/<run>",
  ),
  branch_kept: reason(
    "WARN",
    "Not merged; the work is on its own branch.",
    "git merge autopilot/<run>",
  ),
  checkout_dirty: reason(
    "WARN",
    "Not merged: you have uncommitted changes.",
    "clear what is named, then git merge autopilot/<run>",
  ),
  checkout_busy: reason(
    "WARN",
    "Not merged: git is in the middle of something here.",
    "when it is through, or its lock is gone: git merge autopilot/<run>",
  ),
  checkout_moved: reason(
    "WARN",
    "Not merged: you're on a different branch now.",
    "git merge autopilot/<run> where you want it",
  ),
  merge_conflict: reason(
    "WARN",
    "Not merged: there are conflicts.",
    "git merge autopilot/<run> and resolve",
  ),
  merge_unproved: reason(
    "WARN",
    "Not merged: checks fail together with what is new on your branch.",
    "git merge autopilot/<run>, then mend what fails",
  ),
  branch_rewritten: reason(
    "WARN",
    "Not merged: your branch was rewritten since the run began.",
    "git cherry-pick <base>..autopilot/<run> brings the work over",
  ),
  checkout_unwritable: reason(
    "WARN",
    "Not merged: git can't write to your checkout.",
    "mend what is named, then git merge autopilot/<run>",
  ),
} as const satisfies Record<string, Reason>;
