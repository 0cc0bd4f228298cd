// fold-pull-request: reducers of a run's pull request, and of what another run's pull request gave
// it to work on.
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
  pull_request_opened: (run, { number, url, draft }) => {
    findRequest(run).opened = { number, url, draft };
  },
  pull_request_taken_up: (run, { run: other, evidence }) => {
    const request = findRequest(run);
    invariant(
      request.opened !== null && request.under_way === null,
      "F1: one run at a time works on an open pull request",
    );

    request.under_way = other;
    request.tries += 1;
    request.taken = [...request.taken, ...evidence];
  },
  pull_request_settled: (run, { run: other, commit }) => {
    const request = findRequest(run);
    invariant(request.under_way === other, "F1: what is settled was under way");
    request.under_way = null;
    if (commit !== null) request.commit = commit;
  },
  pull_request_ended: (run, { how }) => {
    findRequest(run).ended = how;
  },
  evidence_received: (run, { source, items }) => {
    run.outside = { source, items: items.map((item) => ({ ...item })) };
  },
};

function findRequest(run: Run): PullRequestState {
  const request = run.pull_request;
  invariant(request !== undefined, "F1: a pull request is intended before it is opened");
  return request;
}
