// watch-pull-request: follows a pull request to its end: polls it, works on findings, pushes what was proved.
//
// Invariants:
//   W1. Findings are journaled with the run that works on them before that run begins: after a crash the same run continues.
//   W2. A follow-up is pushed only if everything that was proved for the pull request was proved for it.
//   W3. Polls are far apart, and a failed one is repeated later.
//   W4. A follow-up takes long: before its push the pull request is read again, and only the head seen then is replaced.

import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "../../contracts/answer.ts";
import { reasons } from "../../contracts/reason.ts";
import { whyPushBlocked, nextForPullRequest, type PullRequestView, whyNotPushed } from "../../core/pull-request.ts";
import { openForge, pushCommit } from "../../forge/remote.ts";
import { actorOf, type CommandContext } from "../../project/command-context.ts";
import { refuse, reply } from "../../project/reply.ts";
import { openedRepository } from "../../project/runs/opened-repository.ts";
import { WorkspaceFailed } from "../../workspace/failure.ts";
import { plural } from "../../views/wording.ts";
import { requireOutsideRun } from "../require-may-grant.ts";
import type { OpenRun } from "../open-run.ts";
import { draftFollowUp, driveFollowUp, type FollowUpInput } from "./follow-up.ts";

export type WatchInput = FollowUpInput & { readonly tries: number; readonly everyMs: number; readonly once: boolean };

/** A host that does not answer may answer later. */
const failuresMax = 10;

export async function watchPullRequest(context: CommandContext, openRun: OpenRun, input: WatchInput): Promise<Answer> {
  requireOutsideRun(context);
  for (let failures = 0; ;) {
    const ended = openRun.view().pull_request?.ended ?? null;
    if (ended !== null) return endedAs(openRun, ended);
    try {
      const { answer, goesOn } = await lookOnce(context, openRun, input);
      failures = 0;
      if (input.once || !goesOn) return answer;
      if (answer.reason_code !== "pull_request_waiting") context.show(`${answer.result === "FAIL" ? "!" : "✓"} ${answer.message}`);
    } catch (error) {
      const mayPass = error instanceof WorkspaceFailed && error.reason === "forge_unreachable" && !input.once; // W3
      failures += 1;
      if (!mayPass || failures >= failuresMax) throw error;
      context.show(`! ${error.message}`);
    }
    if (context.interrupted.aborted) return waiting(openRun, "Interrupted; nothing is lost.");
    await sleep(input.everyMs, undefined, { signal: context.interrupted }).catch(() => undefined);
    if (context.interrupted.aborted) return waiting(openRun, "Interrupted; nothing is lost.");
  }
}

/** `goesOn`: there may be more to do later. */
type Looked = { readonly answer: Answer; readonly goesOn: boolean };
const over = (answer: Answer): Looked => ({ answer, goesOn: false });

/** One poll, and what follows from it. */
async function lookOnce(context: CommandContext, openRun: OpenRun, input: WatchInput): Promise<Looked> {
  const request = requestOf(openRun);
  const look = await openForge(request.place, context.env).look(request.opened.number);
  const next = nextForPullRequest(request, look, input.tries);
  switch (next.do) {
    case "end":
      return over(await end(openRun, next.how));
    case "stop":
      return over(stop(openRun, next.because));
    case "wait": {
      const others =
        look.ignored === 0
          ? ""
          : ` ${plural(look.ignored, "comment")} of people who may not write to the project ${look.ignored === 1 ? "was" : "were"} left out.`;
      const message = `${look.pending === 0 ? "Nothing new" : `${plural(look.pending, "check")} under way`} at ${request.opened.url}.${others}`;
      return { answer: waiting(openRun, message), goesOn: true };
    }
    case "follow":
      return follow(context, openRun, next.run);
    case "take_up": {
      const run = await draftFollowUp(context, openRun, next.evidence, input);
      const evidence = next.evidence.map(({ key }) => key);
      await openRun.append({ event: "pull_request_taken_up", run, evidence, actor: actorOf(context), reason_code: "ok" }); // W1
      context.show(`· ${run} works on ${plural(evidence.length, "thing")} found at ${request.opened.url}`);
      return follow(context, openRun, run);
    }
  }
}

/** Drives the run that works on the findings, and pushes what it proved. */
async function follow(context: CommandContext, openRun: OpenRun, run: string): Promise<Looked> {
  const request = requestOf(openRun);
  const { view, answer } = await driveFollowUp(context, openRun.paths, run);
  if (view.status !== "completed" && view.status !== "stopped")
    return over({
      ...(answer ?? reply("run_in_progress")),
      run_id: openRun.run,
      message: `${run} works on the pull request and needs you. ${answer?.message ?? ""}`.trim(),
      remediation: [...(answer?.remediation ?? []), `autopilot resume --run ${run}`, `autopilot pr watch ${openRun.run}`],
    });
  const why = whyNotPushed(openRun.view(), view);
  if (why === null) {
    const look = await openForge(request.place, context.env).look(request.opened.number); // W4
    const hindrance = whyPushBlocked(request, look, view.tip.commit);
    if (hindrance === "moved") return over(stop(openRun, "pull_request_moved"));
    if (hindrance !== null) return over(await end(openRun, hindrance));
    const what = { commit: view.tip.commit, seen: look.head, env: context.env };
    await pushCommit(await openedRepository(openRun.paths.root), openRun.folder, request.place, what); // idempotent
  }
  const commit = why === null ? view.tip.commit : null;
  await openRun.append({
    event: "pull_request_settled",
    run,
    commit,
    ...(why === null ? {} : { detail: why.detail }),
    reason_code: why?.code ?? "pull_request_pushed",
  });
  const reported = { ...where(openRun), data: { follow_up: run, commit, url: request.opened.url } };
  if (why === null) {
    const message = `Pushed ${view.tip.commit.slice(0, 10)} of ${run} to ${request.opened.url}.`;
    return { answer: reply("pull_request_pushed", { ...reported, message }), goesOn: true };
  }
  const answered = reply(why.code, {
    ...reported,
    result: "FAIL",
    message: `Nothing of ${run} was pushed: ${why.detail}`,
    remediation: [`autopilot report --run ${run}`],
  });
  return { answer: answered, goesOn: why.code !== "operator_stopped" }; // a person who stops it has other plans
}

type OpenRequest = PullRequestView & { readonly opened: NonNullable<PullRequestView["opened"]> };

function requestOf(openRun: OpenRun): OpenRequest {
  const request = openRun.view().pull_request;
  if (request === undefined || request.opened === null)
    return refuse("pull_request_missing", { run_id: openRun.run, remediation: [`autopilot pr ${openRun.run}`] });
  return { ...request, opened: request.opened };
}

async function end(openRun: OpenRun, how: "merged" | "closed"): Promise<Answer> {
  await openRun.append({ event: "pull_request_ended", how, reason_code: `pull_request_${how}` });
  return endedAs(openRun, how);
}

const stop = (openRun: OpenRun, because: "pull_request_moved" | "pull_request_tries_spent"): Answer =>
  reply(because, { ...where(openRun), message: `${reasons[because].meaning} ${urlOf(openRun)}` });

const where = (openRun: OpenRun) => ({ run_id: openRun.run, state: openRun.view().status });
const urlOf = (openRun: OpenRun): string => openRun.view().pull_request?.opened?.url ?? "";
const waiting = (openRun: OpenRun, message: string): Answer =>
  reply("pull_request_waiting", {
    ...where(openRun),
    message,
    remediation: [`autopilot pr watch ${openRun.run}`],
    data: { url: urlOf(openRun) },
  });
const endedAs = (openRun: OpenRun, how: "merged" | "closed"): Answer =>
  reply(`pull_request_${how}`, {
    ...where(openRun),
    message: `${urlOf(openRun)} was ${how}.`,
    remediation: [],
    data: { url: urlOf(openRun) },
  });
