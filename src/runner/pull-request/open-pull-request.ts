// open-pull-request: opens the pull request of a run that is over.
//
// Invariants:
//   P1. The intent is in the journal before anything leaves the machine, and the branch is looked
//       up before anything is made: after a crash the same pull request is found, never a second
//       one opened.
//   P2. Exactly the judged commit is pushed, and only wholly proved work is opened as ready.
//   P3. A failure leaves the work where it is, on the run's branch.

import type { ForgeTool, PullRequestTarget } from "../../contracts/forge/pull-request.ts";
import { isOpenedAsDraft } from "../../core/pull-request.ts";
import type { RunView } from "../../core/state.ts";
import { mayLand } from "../../core/verdict.ts";
import type { PullRequest } from "../../forge/forge.ts";
import { findRemote, openForge, pushCommit } from "../../forge/push-to-forge.ts";
import { toActor, type CommandContext } from "../../project/command-context.ts";
import { refuse } from "../../project/respond.ts";
import { readEntries } from "../../project/runs/read-entries.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";
import { getRedaction } from "../../project/secrets/context-redaction.ts";
import { pullRequestBody, pullRequestTitle } from "../../views/outbound/pull-request-body.ts";
import { describeProof } from "../../views/sentences/verdict-sentences.ts";
import { buildReportView } from "../../views/report.ts";
import type { Repository } from "../../workspace/git/repository.ts";
import { readCommitSummary } from "../../workspace/git/commit-summary.ts";
import { runBranchName } from "../../contracts/run-branch.ts";
import { requireOutsideRun } from "../require-may-grant.ts";
import type { OpenRun } from "../open-run.ts";

export type PullRequestInput = {
  readonly draft?: boolean | undefined;
  readonly remote?: string | undefined;
  readonly tool?: ForgeTool | undefined;
  readonly base?: string | undefined;
};

export type PullRequestOpened = {
  readonly number: number;
  readonly url: string;
  readonly isDraft: boolean;
  readonly isNew: boolean;
};

export async function openPullRequest(
  context: CommandContext,
  openRun: OpenRun,
  input: PullRequestInput,
): Promise<PullRequestOpened> {
  requireOutsideRun(context);
  const view = openRun.view();
  const recorded = view.pull_request;
  if (recorded !== undefined && recorded.opened !== null) {
    return { ...recorded.opened, isDraft: recorded.opened.draft, isNew: false };
  }

  requireProvedWork(view, input);
  const repository = await requireRepository(openRun.paths.root);
  const isTargetGiven =
    input.remote !== undefined || input.tool !== undefined || input.base !== undefined;
  const target =
    recorded === undefined || isTargetGiven
      ? await findTarget(context, repository, view, input)
      : recorded.place;
  const forge = openForge(target, context.env);
  const existing = await forge.findPullRequest(target.branch); // P1; this also reports a missing login before anything is pushed
  if (existing !== null && existing.state !== "open") return refuseEnded(view, existing);
  const { commit } = view.tip; // P2
  const isDraft = isOpenedAsDraft(view.verdict, input.draft === true);
  const actor = toActor(context);
  await openRun.append({
    event: "pull_request_intended",
    ...target,
    commit,
    draft: isDraft,
    actor,
    reason_code: "pull_request_pending",
  });

  await pushCommit(repository, openRun.folder, target, { commit, env: context.env });
  const opened =
    existing ??
    (await forge.createPullRequest({
      branch: target.branch,
      base: target.into,
      isDraft,
      ...(await renderTexts(context, openRun, repository)),
    }));

  const { number, url } = opened;
  await openRun.append({
    event: "pull_request_opened",
    number,
    url,
    draft: opened.isDraft,
    commit,
    found: existing !== null,
    actor,
    reason_code: opened.isDraft ? "pull_request_draft" : "pull_request_opened",
  });

  return { number, url, isDraft: opened.isDraft, isNew: existing === null };
}

/** Refuses work that is not proved: it is opened only as a draft, and only on request. P2 */
function requireProvedWork(view: RunView, input: PullRequestInput): void {
  const { run_id, base, policy } = view.drafted;
  const runFields = { run_id, state: view.status };

  if (view.status !== "completed") {
    refuse("invalid_state_transition", {
      ...runFields,
      message: `${run_id} is ${view.status}; a pull request is opened when a run is completed.`,
    });
  }

  if (view.tip.commit === base.commit) {
    refuse("nothing_changed", {
      ...runFields,
      result: "FAIL",
      message: `${run_id} changed nothing.`,
    });
  }

  const verdict = view.verdict ?? "unverified";
  if (input.draft === true || mayLand(verdict, policy?.land)) return;
  refuse("work_unproved", {
    ...runFields,
    result: "FAIL",
    message: `${describeProof(verdict, view.gaps)} No pull request was opened.`,
    remediation: [
      "autopilot report",
      `autopilot pr ${run_id} --draft opens it as a draft that says so`,
    ],
  });
}

async function findTarget(
  context: CommandContext,
  repository: Repository,
  view: RunView,
  input: PullRequestInput,
): Promise<PullRequestTarget> {
  const { run_id, base } = view.drafted;
  const into = input.base ?? base.branch;
  if (into === null) {
    return refuse("usage", {
      run_id,
      message: `${run_id} began on no branch; name the one to merge into.`,
      remediation: [`autopilot pr ${run_id} --base main`],
    });
  }

  return {
    ...(await findRemote(repository, base.branch, input, context.env)),
    branch: runBranchName(run_id),
    into,
  };
}

/** Renders title and body from the report, without secrets of this user. */
async function renderTexts(
  context: CommandContext,
  openRun: OpenRun,
  repository: Repository,
): Promise<{ readonly title: string; readonly body: string }> {
  const view = openRun.view();
  const { redactor } = getRedaction(context, openRun.paths.root);
  const { entries } = await readEntries(openRun.paths, openRun.run);
  const changes = await readCommitSummary(repository, view.drafted.base.commit, view.tip.commit);
  const report = buildReportView(view, entries, { changes });

  return {
    title: redactor.text(pullRequestTitle(report)),
    body: redactor.text(pullRequestBody(report, view.tip.commit)),
  };
}

const refuseEnded = ({ drafted: { run_id } }: RunView, { state, url }: PullRequest): never =>
  refuse(state === "merged" ? "pull_request_merged" : "pull_request_closed", {
    run_id,
    result: "FAIL",
    message: `The pull request of this branch was ${state} already: ${url}. No second one was opened.`,
    remediation: [`git push origin ${runBranchName(run_id)}:ANOTHER-NAME and open one yourself`],
  });
