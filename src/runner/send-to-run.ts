// send-to-run: sends a command's request to a run. If a process owns the run, the request is left
// for it and awaited; if none does, the run is opened here and the request recorded.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ownValue } from "../core/own-values.ts";
import type { RunView } from "../core/state.ts";
import { toRequestEvent, isApplicable } from "../engine/record-requests.ts";
import { redactEvent } from "../kit/redact-value.ts";
import type { RunRequest } from "../ports/request-queue.ts";
import { runFolder } from "../project/runs/project-paths.ts";
import { removeRequest } from "../project/requests/request-files.ts";
import { sendRequest } from "../project/requests/send-request.ts";
import { requireMayGrant } from "./require-may-grant.ts";
import { type OpenRun, withRun } from "./open-run.ts";
import { toActor, type CommandContext } from "../project/command-context.ts";
import { readRun } from "../project/runs/read-run.ts";
import { getRedaction } from "../project/secrets/context-redaction.ts";
import { Refusal, refuse } from "../project/respond.ts";
import { requireOwnRun } from "../project/runs/require-own-run.ts";
import type { LoadedRun } from "../project/runs/loaded-run.ts";

/**
 * How long the owner's word that it journaled the request is waited for at its socket, and how long
 * the request's effect is.
 */
const journalTimeoutMs = 1_500;
const doneTimeoutMs = 8_000;
const pollMs = 40;

type RequestContent = RunRequest extends infer R
  ? R extends RunRequest
    ? Omit<R, "request" | "actor">
    : never
  : never;

/**
 * What became of a request: done; recorded, if that is all one can wait for; or late, if the run
 * changed before anyone took it, so that it has no effect.
 */
export type SentRequest = {
  readonly outcome: "done" | "recorded" | "late";
  readonly view: RunView;
};

/**
 * Sends a request and waits until `isDone`, or until it is recorded if that is all one can wait
 * for.
 */
export async function sendToRun(
  context: CommandContext,
  loaded: LoadedRun,
  content: RequestContent,
  isDone: (run: RunView) => boolean,
): Promise<SentRequest> {
  const { paths, run } = loaded;
  await requireOwnRun(context, paths, runFolder(paths, run), run);
  const request = buildRequest(context, paths.root, content);
  const mustWait = content.event !== "control_requested" || content.now;
  const deadlineMs = performance.now() + doneTimeoutMs;
  let isSent = false;

  for (let { view, owner } = loaded; ; { view, owner } = await readRun(paths, run)) {
    const isRecorded = ownValue(view.requests, request.request) !== undefined; // by its id: another terminal may have requested the same
    if (isRecorded && isDone(view)) return { outcome: "done", view };
    if (isRecorded && !mustWait) return { outcome: "recorded", view };
    if (!isRecorded && !isApplicable(view, request)) {
      if (isSent) await removeRequest(runFolder(paths, run), request.request);
      return { outcome: "late", view };
    }

    const sent = owner === null ? await recordWithoutOwner(context, loaded, request, isDone) : null;
    if (sent !== null) return sent;
    if (owner !== null && !isSent) {
      isSent = true;
      await sendRequest(runFolder(paths, run), request, { waitMs: journalTimeoutMs });
      continue;
    }

    if (performance.now() >= deadlineMs) refuseSilent(loaded, { view, owner }, isRecorded);
    await sleep(pollMs);
  }
}

/** Refuses a late request: the run is over, or the same was settled from somewhere else. */
export function refuseLate({ run }: LoadedRun, { status }: RunView, message: string): never {
  const isOver = status === "stopped" || status === "completed";
  return refuse("invalid_state_transition", {
    run_id: run,
    state: status,
    message: isOver ? `${run} is ${status}, so nothing more is taken.` : message,
    remediation: ["autopilot log tells what was done meanwhile", "autopilot status"],
    data: { allowed_from: ["running", "paused"] },
  });
}

function refuseSilent(
  { run }: LoadedRun,
  { view, owner }: Pick<LoadedRun, "view" | "owner">,
  isRecorded: boolean,
): never {
  const pid = owner?.pid;
  const ownerName = pid === undefined ? "Whoever works on it" : `Process ${pid}`;
  const seconds = doneTimeoutMs / 1_000;

  return refuse("owner_silent", {
    run_id: run,
    state: view.status,
    message: isRecorded
      ? `${ownerName} has written it down, but is not through with it after ${seconds} s; ${run} is still ${view.status}.`
      : `${ownerName} has not answered for ${seconds} s; what was asked for is left for it, and counts once it goes on. ${run} is still ${view.status}.`,
    remediation:
      pid === undefined
        ? ["autopilot status"]
        : [
            `kill -CONT ${pid} wakes it, if it is suspended`,
            `kill -9 ${pid} ends it, then give the command again`,
            "autopilot status",
          ],
    data: pid === undefined ? {} : { pid },
  });
}

/** Builds the request as it may be stored until its owner takes it: without secrets. */
export function buildRequest(
  context: CommandContext,
  root: string,
  content: RequestContent,
): RunRequest {
  const request = { ...content, request: randomUUID(), actor: toActor(context) } as RunRequest;
  requireMayGrant(context, request);
  return redactEvent(getRedaction(context, root).redactor.text, request);
}

/**
 * Records the request in a run that no process owns, and drives a stop or pause to its end. Null if
 * another process was quicker.
 */
async function recordWithoutOwner(
  context: CommandContext,
  { paths, run }: LoadedRun,
  request: RunRequest,
  isDone: (run: RunView) => boolean,
): Promise<SentRequest | null> {
  const record = async (openRun: OpenRun): Promise<SentRequest> => {
    const isRecorded = ownValue(openRun.view().requests, request.request) !== undefined;
    if (!isRecorded && !isApplicable(openRun.view(), request)) {
      return { outcome: "late", view: openRun.view() };
    }

    if (!isRecorded) await openRun.append(toRequestEvent(openRun.view(), request));
    if (request.event === "control_requested" && !isDone(openRun.view())) await openRun.drive();
    return { outcome: "done", view: openRun.view() };
  };

  try {
    return await withRun(context, paths, run, record);
  } catch (error) {
    if (error instanceof Refusal && error.response.reason_code === "run_locked") return null;
    throw error;
  }
}
