// wait-for-provider: resumes a run that is parked because its model provider refused: with another
// agent, or after waiting for the reset, if the user's policy says so. (Parking itself:
// recordParking in core/fold-step.ts.)
//
// Invariants:
//   P1. A parked run never retries in a tight loop: every wait but the first is at least a minute,
//       and after a number in a row the run stays paused.
//   P2. While it waits, requests from other terminals and machines are handled at once.
//   P3. It waits only for what time fixes: a used-up limit, an outage. A refused request or key is
//       not.

import { configDefaults } from "../contracts/config-defaults.ts";
import { reasons } from "../contracts/reason.ts";
import { pauseDetail } from "../views/facts/pause-detail.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { canSwitchAgent } from "../core/agent-switch.ts";
import type { RunView } from "../core/state.ts";
import type { OpenRun } from "./open-run.ts";
import { openRunRequests } from "./open-journal.ts";
import { askAtTerminal } from "./ask-at-terminal.ts";
import type { CommandContext } from "../project/command-context.ts";
import { readRecordedPolicy } from "./draft/run-policy.ts";

const minuteMs = 60_000;
const waitsMax = 12;
/**
 * If the provider doesn't say when it answers again: an outage is often over sooner than a limit.
 * Each wait doubles the one before.
 */
const firstWaitMs = { limit: 5 * minuteMs, service: minuteMs } as const;
const backoffMsMax = 60 * minuteMs;
/** A little longer than a daily limit lasts. */
const waitMsMax = 26 * 60 * minuteMs;
const clockCheckMs = 15_000;

/**
 * Computes when a run may resume by itself, in milliseconds of the wall clock. Null if it must not.
 */
export function computeResumeTimeMs(run: RunView, nowMs: number): number | null {
  const { parked } = run;
  if (parked === undefined || !isFixedByTime(run)) return null;
  const backoffMs = Math.min(
    firstWaitMs[parked.fault === "limit" ? "limit" : "service"] * 2 ** (parked.times - 1),
    backoffMsMax,
  );

  const resetMs = parked.until === null ? Number.NaN : Date.parse(parked.until);
  // Parked again at a reset that has passed: at least a minute, so that the provider isn't asked in
  // a loop.
  const leastWaitMs = parked.times > 1 ? minuteMs : 0;
  const resumeMs = Number.isFinite(resetMs)
    ? Math.max(resetMs, nowMs + leastWaitMs)
    : nowMs + backoffMs;

  return resumeMs - nowMs > waitMsMax ? null : resumeMs;
}

/** Whether nothing but the provider keeps the run from continuing, and time may fix that. */
function isFixedByTime({ status, parked, asked, reason }: RunView): boolean {
  if (status !== "paused" || parked === undefined || asked !== null) return false;
  if (parked.fault !== "limit" && parked.fault !== "service") return false; // P3
  if (reason !== "provider_limit_reached" && reason !== "provider_failed") return false;

  return parked.times <= waitsMax; // P1
}

/**
 * Switches to the next agent if the role of a parked run names one that is not at its limit. True:
 * the run was resumed.
 */
export async function resumeWithOtherAgent(
  context: CommandContext,
  openRun: OpenRun,
): Promise<boolean> {
  if (
    context.interrupted.aborted ||
    !isFixedByTime(openRun.view()) ||
    !canSwitchAgent(openRun.view(), new Date().toISOString())
  ) {
    return false;
  }

  return appendResumed(openRun, "agent_switched");
}

/**
 * Waits for the provider if the policy says so. True: the run was resumed. False: it is unchanged.
 */
export async function waitForProvider(context: CommandContext, openRun: OpenRun): Promise<boolean> {
  const resumeMs = computeResumeTimeMs(openRun.view(), Date.now());
  if (resumeMs === null || !(await shouldWait(context, openRun, resumeMs))) return false;
  context.show(`! ${pauseDetail(openRun.view()) ?? reasons.provider_limit_reached.meaning}`);
  context.show(
    `! Parked until ${new Date(resumeMs).toISOString()}: the run goes on by itself then. Ctrl-C leaves it paused.`,
  );

  const wokenBy = await waitUntil(context, openRun.folder, resumeMs);
  if (wokenBy === "interrupted") return false;
  if (wokenBy === "request") {
    await openRun.drive(); // P2: handles the requests and pauses again
    return openRun.view().status === "running" || waitForProvider(context, openRun);
  }

  return appendResumed(openRun, "provider_reset");
}

async function appendResumed(
  openRun: OpenRun,
  reason_code: "provider_reset" | "agent_switched",
): Promise<true> {
  const request = `reset:${openRun.view().seq}`;
  await openRun.append({
    event: "run_resumed",
    request,
    reason_code,
    from_state: "paused",
    to_state: "running",
  });

  return true;
}

async function shouldWait(
  context: CommandContext,
  openRun: OpenRun,
  resumeMs: number,
): Promise<boolean> {
  const policy = readRecordedPolicy(openRun.view()).on_limit ?? configDefaults.on_limit;
  if (policy !== "ask") return policy === "resume";
  const question = `The provider answers again at ${new Date(resumeMs).toISOString()}. Wait for it and go on?`;
  const reply = await askAtTerminal(context, openRun, { question, choices: ["y", "n"] });
  if (reply.kind === "requests" && openRun.view().asked === "stop") await openRun.drive();

  return reply.kind === "answer" && reply.text === "y";
}

async function waitUntil(
  context: CommandContext,
  folder: string,
  untilMs: number,
): Promise<"time" | "request" | "interrupted"> {
  const requestQueue = await openRunRequests(context, folder);
  const awake = new AbortController();
  let wokenBy: "time" | "request" | "interrupted" = "time";
  const wake = (reason: typeof wokenBy) => (): void => {
    wokenBy = reason;
    awake.abort();
  };
  const [onRequest, onInterrupt] = [wake("request"), wake("interrupted")];
  const unwatch = requestQueue.watch(onRequest);
  context.interrupted.addEventListener("abort", onInterrupt, { once: true });
  if (context.interrupted.aborted) onInterrupt();
  try {
    if ((await requestQueue.pending()).length > 0) onRequest();
    // The wall clock counts, and it may jump: a machine that slept must not wait for a time long
    // past.
    while (!awake.signal.aborted && Date.now() < untilMs) {
      await sleep(Math.min(clockCheckMs, Math.max(1, untilMs - Date.now())), undefined, {
        signal: awake.signal,
      }).catch(() => undefined);
    }

    return wokenBy;
  } finally {
    unwatch();
    context.interrupted.removeEventListener("abort", onInterrupt);
    await requestQueue.close();
  }
}
