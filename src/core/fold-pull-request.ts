// fold-pull-request: reducers of a run's pull request, and of the findings at another run's pull
// request that a run is to work on.
// Invariants F1 and on: core/fold.ts.

import { invariant } from "../kit/invariant.ts";
import type { ReducersOf } from "./reducers.ts";
import type { PullRequestState, Run } from "./state.ts";

type PullRequestEventName =
  | "pull_request_intended"
  | "pull_request_opened"
  | "pull_request_taken_up"
  | "pull_request_settled"
  | "pull_request_ended"
  | "evidence_received";

export const pullRequestReducers: ReducersOf<PullRequestEventName> = {
  /** Before the host is asked to open one: after a crash it is looked for there by its branch. */
  pull_request_intended: (run, { tool, host, project, remote, branch, into, commit }) => {
    invariant(run.status === "completed", "F1: a pull request is of a run that is over");
    invariant((run.pull_request?.opened ?? null) === null, "F1: a run has one pull request");
    const place = { tool, host, project, remote, branch, into };
    run.pull_request = {
      place,
      commit,
      opened: null,
      taken: [],
      tries: 0,
      under_way: null,
      ended: null,
    };
  },
  /** The host has it, under this number. */
  pull_request_opened: (run, { number, url, draft }) => {
    requirePullRequest(run).opened = { number, url, draft };
  },
  /** Another run begins to work on what CI and reviewers found. */
  pull_request_taken_up: (run, { run: other, evidence }) => {
    const request = requirePullRequest(run);
    invariant(
      request.opened !== null && request.under_way === null,
      "F1: one run at a time works on an open pull request",
    );

    request.under_way = other;
    request.tries += 1;
    request.taken = [...request.taken, ...evidence];
  },
  /** That run is over; what of it was pushed is the request's commit now. */
  pull_request_settled: (run, { run: other, commit }) => {
    const request = requirePullRequest(run);
    invariant(request.under_way === other, "F1: what is settled was under way");
    request.under_way = null;
    if (commit !== null) request.commit = commit;
  },
  /** It was merged or closed, or is followed no more. */
  pull_request_ended: (run, { how }) => {
    requirePullRequest(run).ended = how;
  },
  /** In the other run: what it is to work on. */
  evidence_received: (run, { source, items }) => {
    run.outside = { source, items: items.map((item) => ({ ...item })) };
  },
};

function requirePullRequest(run: Run): PullRequestState {
  const request = run.pull_request;
  invariant(request !== undefined, "F1: a pull request is intended before it is opened");
  return request;
}
