// pull-request-reasons: the reason codes of pull requests and of the hosts they are at; part of the
// one table in ../reason.ts.

import { type Reason, reason } from "./reason-row.ts";

export const pullRequestReasons = {
  pull_request_opened: reason(
    "PASS",
    "The pull request is open.",
    "autopilot pr watch carries it to its merge",
  ),
  pull_request_draft: reason(
    "WARN",
    "The pull request is open as a draft: not everything was proved.",
    "autopilot report names the gaps",
  ),
  pull_request_pending: reason(
    "WARN",
    "The pull request isn't open yet; the work is on its own branch.",
    "autopilot pr",
  ),
  pull_request_merged: reason("PASS", "The pull request was merged.", ""),
  pull_request_closed: reason(
    "WARN",
    "The pull request was closed without being merged.",
    "git merge autopilot/<run>",
  ),
  pull_request_waiting: reason(
    "PASS",
    "Nothing to do at the pull request now.",
    "autopilot pr watch",
  ),
  pull_request_pushed: reason(
    "PASS",
    "A proved follow-up was pushed to the pull request.",
    "autopilot pr watch",
  ),
  pull_request_missing: reason("FAIL", "This run has no pull request.", "autopilot pr"),
  pull_request_moved: reason(
    "FAIL",
    "Somebody else pushed to the pull request's branch; nothing is pushed over it.",
    "go on with it yourself, or set the branch back to the run's commit",
  ),
  pull_request_tries_spent: reason(
    "FAIL",
    "No tries left for what was found at the pull request.",
    "look at it yourself, or autopilot pr watch --tries N",
  ),
  forge_tool_missing: reason(
    "FAIL",
    "The program that talks to the code host isn't installed.",
    "install gh (GitHub) or glab (GitLab)",
  ),
  forge_login_needed: reason(
    "FAIL",
    "You aren't logged in at the code host.",
    "gh auth login, or glab auth login",
  ),
  forge_refused: reason(
    "FAIL",
    "The code host refused the request.",
    "autopilot log; check your rights at the project",
  ),
  forge_unreachable: reason("FAIL", "The code host doesn't answer.", "try again later"),
  remote_missing: reason(
    "FAIL",
    "There is no remote at GitHub or GitLab to open a pull request at.",
    "git remote add origin URL",
  ),
  push_refused: reason(
    "FAIL",
    "The branch could not be pushed; the work is on it here.",
    "check your rights at the remote, or name another one with --remote",
  ),
} as const satisfies Record<string, Reason>;
