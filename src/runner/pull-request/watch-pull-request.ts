// watch-pull-request: follows a pull request to its end: polls it, works on findings, pushes what
// was proved.
//
// Invariants:
//   W1. Findings are journaled with the run that works on them before that run begins: after a
//       crash the same run continues.
//   W2. A follow-up is pushed only if everything that was proved for the pull request was proved
//       for it.
//   W3. Polls are far apart, and a failed one is repeated later.
//   W4. A follow-up takes long: before its push the pull request is read again, and only the head
//       seen then is replaced.

import { setTimeout as sleep } from "node:timers/promises";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { reasons } from "../../contracts/reason.ts";
import {
  whyPushBlocked,
  decidePullRequestStep,
  type PullRequestView,
  findFollowUpRefusal,
} from "../../core/pull-request.ts";
import { openForge, pushCommit } from "../../forge/push-to-forge.ts";
import { toActor, type CommandContext } from "../../project/command-context.ts";
import { refuse, respond } from "../../project/respond.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";
import { WorkspaceFailed } from "../../workspace/failure.ts";
import { plural } from "../../views/wording.ts";
import { requireOutsideRun } from "../require-may-grant.ts";
import type { OpenRun } from "../open-run.ts";
import { draftFollowUp, driveFollowUp, type FollowUpInput } from "./follow-up.ts";

export type WatchInput = FollowUpInput & {
  readonly tries: number;
  readonly everyMs: number;
  readonly once: boolean;
};

/** Failed polls in a row before watching ends: a host that does not answer may answer later. */
const failuresMax = 10;

export async function watchPullRequest(
  context: CommandContext,
  openRun: OpenRun,
  input: WatchInput,
): Promise<CommandResponse> {
  requireOutsideRun(context);
  for (let failures = 0; ;) {
    const ended = openRun.view().pull_request?.ended ?? null;
    if (ended !== null) return buildEnded(openRun, ended);
    try {
      const { response, mayChange } = await pollOnce(context, openRun, input);
      failures = 0;
      if (input.once || !mayChange) return response;
      if (response.reason_code !== "pull_request_waiting") {
        context.show(`${response.result === "FAIL" ? "!" : "✓"} ${response.message}`);
      }
    } catch (error) {
      const mayPass =
        error instanceof WorkspaceFailed && error.reason === "forge_unreachable" && !input.once; // W3
      failures += 1;
      if (!mayPass || failures >= failuresMax) throw error;
      context.show(`! ${error.message}`);
    }

    if (context.interrupted.aborted) return buildWaiting(openRun, "Interrupted; nothing is lost.");
    await sleep(input.everyMs, undefined, { signal: context.interrupted }).catch(() => undefined);
    if (context.interrupted.aborted) return buildWaiting(openRun, "Interrupted; nothing is lost.");
  }
}

/** `mayChange`: there may be more to do later. */
type PollResult = { readonly response: CommandResponse; readonly mayChange: boolean };
const toFinalResult = (response: CommandResponse): PollResult => ({ response, mayChange: false });

/** Polls the pull request once and does what follows from it. */
async function pollOnce(
  context: CommandContext,
  openRun: OpenRun,
  input: WatchInput,
): Promise<PollResult> {
  const request = requireOpened(openRun);
  const snapshot = await openForge(request.place, context.env).inspectPullRequest(
    request.opened.number,
  );
  const next = decidePullRequestStep(request, snapshot, input.tries);
  switch (next.do) {
    case "end":
      return toFinalResult(await recordEnd(openRun, next.how));
    case "stop":
      return toFinalResult(buildStopped(openRun, next.because));
    case "wait": {
      const news =
        snapshot.pending === 0 ? "Nothing new" : `${plural(snapshot.pending, "check")} under way`;
      const message = `${news} at ${request.opened.url}.${describeIgnored(snapshot.ignored)}`;
      return { response: buildWaiting(openRun, message), mayChange: true };
    }
    case "follow":
      return driveAndPush(context, openRun, next.run);
    case "take_up": {
      const run = await draftFollowUp(context, openRun, next.evidence, input);
      const evidence = next.evidence.map(({ key }) => key);
      await openRun.append({
        event: "pull_request_taken_up",
        run,
        evidence,
        actor: toActor(context),
        reason_code: "ok",
      }); // W1

      context.show(
        `· ${run} works on ${plural(evidence.length, "thing")} found at ${request.opened.url}`,
      );

      return driveAndPush(context, openRun, run);
    }
  }
}

function describeIgnored(comments: number): string {
  if (comments === 0) return "";
  return ` ${plural(comments, "comment")} of people who may not write to the project ${comments === 1 ? "was" : "were"} left out.`;
}

/** Drives the run that works on the findings, and pushes what it proved. */
async function driveAndPush(
  context: CommandContext,
  openRun: OpenRun,
  run: string,
): Promise<PollResult> {
  const request = requireOpened(openRun);
  const { view, response } = await driveFollowUp(context, openRun.paths, run);
  if (view.status !== "completed" && view.status !== "stopped") {
    return toFinalResult({
      ...(response ?? respond("run_in_progress")),
      run_id: openRun.run,
      message: `${run} works on the pull request and needs you. ${response?.message ?? ""}`.trim(),
      remediation: [
        ...(response?.remediation ?? []),
        `autopilot resume --run ${run}`,
        `autopilot pr watch ${openRun.run}`,
      ],
    });
  }

  const rejection = findFollowUpRefusal(openRun.view(), view);
  if (rejection === null) {
    const snapshot = await openForge(request.place, context.env).inspectPullRequest(
      request.opened.number,
    ); // W4
    const blockedBy = whyPushBlocked(request, snapshot, view.tip.commit);
    if (blockedBy === "moved") return toFinalResult(buildStopped(openRun, "pull_request_moved"));
    if (blockedBy !== null) return toFinalResult(await recordEnd(openRun, blockedBy));
    const push = { commit: view.tip.commit, seen: snapshot.head, env: context.env };
    await pushCommit(
      await requireRepository(openRun.paths.root),
      openRun.folder,
      request.place,
      push,
    ); // idempotent
  }

  const commit = rejection === null ? view.tip.commit : null;
  await openRun.append({
    event: "pull_request_settled",
    run,
    commit,
    ...(rejection === null ? {} : { detail: rejection.detail }),
    reason_code: rejection?.code ?? "pull_request_pushed",
  });

  const common = {
    ...pickRunFields(openRun),
    data: { follow_up: run, commit, url: request.opened.url },
  };

  if (rejection === null) {
    const message = `Pushed ${view.tip.commit.slice(0, 10)} of ${run} to ${request.opened.url}.`;
    return { response: respond("pull_request_pushed", { ...common, message }), mayChange: true };
  }

  const rejectedResponse = respond(rejection.code, {
    ...common,
    result: "FAIL",
    message: `Nothing of ${run} was pushed: ${rejection.detail}`,
    remediation: [`autopilot report --run ${run}`],
  });

  return { response: rejectedResponse, mayChange: rejection.code !== "operator_stopped" }; // a person who stopped it decides what comes next
}

type OpenRequest = PullRequestView & { readonly opened: NonNullable<PullRequestView["opened"]> };

function requireOpened(openRun: OpenRun): OpenRequest {
  const request = openRun.view().pull_request;
  if (request === undefined || request.opened === null) {
    return refuse("pull_request_missing", {
      run_id: openRun.run,
      remediation: [`autopilot pr ${openRun.run}`],
    });
  }

  return { ...request, opened: request.opened };
}

async function recordEnd(openRun: OpenRun, ending: "merged" | "closed"): Promise<CommandResponse> {
  await openRun.append({
    event: "pull_request_ended",
    how: ending,
    reason_code: `pull_request_${ending}`,
  });

  return buildEnded(openRun, ending);
}

const buildStopped = (
  openRun: OpenRun,
  because: "pull_request_moved" | "pull_request_tries_spent",
): CommandResponse =>
  respond(because, {
    ...pickRunFields(openRun),
    message: `${reasons[because].meaning} ${readUrl(openRun)}`,
  });

const pickRunFields = (openRun: OpenRun) => ({ run_id: openRun.run, state: openRun.view().status });
const readUrl = (openRun: OpenRun): string => openRun.view().pull_request?.opened?.url ?? "";
const buildWaiting = (openRun: OpenRun, message: string): CommandResponse =>
  respond("pull_request_waiting", {
    ...pickRunFields(openRun),
    message,
    remediation: [`autopilot pr watch ${openRun.run}`],
    data: { url: readUrl(openRun) },
  });
const buildEnded = (openRun: OpenRun, ending: "merged" | "closed"): CommandResponse =>
  respond(`pull_request_${ending}`, {
    ...pickRunFields(openRun),
    message: `${readUrl(openRun)} was ${ending}.`,
    remediation: [],
    data: { url: readUrl(openRun) },
  });
