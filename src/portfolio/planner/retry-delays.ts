// retry-delays: when a task that failed because of its surroundings is tried again, and when a
// person is asked instead. Pure.
//
// Invariants:
//   T1. An outage says nothing about the task: the task is tried again for as long as the outage
//       lasts, and keeps its place.
//   T2. A failure that may or may not be an outage is tried again a few times; then a person is
//       asked, once.

import type { Retry } from "../../contracts/reason.ts";
import { formatIsoTime, parseIsoTime } from "../../kit/iso-time.ts";
import type { Delay, TaskView } from "./state.ts";
import { isStillAhead } from "./under-way.ts";

const firstDelayMs = 2_000;
const delayMsMax = 60_000;
/** How often a failure that may be an outage is tried again (T2). */
const outageRetriesMax = 3;

export type FailedTry = {
  readonly reason: string;
  readonly retry: Retry;
  readonly doing: Delay["doing"];
};

/** When to try again; null if a person is to be asked. */
export function findNextTry(
  { delay }: Pick<TaskView, "delay">,
  { reason, retry, doing }: FailedTry,
  now: string,
): string | null {
  const tries = delay?.reason === reason && delay.doing === doing ? delay.tries : 0;
  if (!mayTryAgain(retry, tries)) return null;
  return formatIsoTime((parseIsoTime(now) ?? 0) + computeDelayMs(tries));
}

/** Whether something that failed `tries` times is tried again without a person (T1, T2). */
export const mayTryAgain = (retry: Retry, tries: number): boolean =>
  retry === "always" || (retry === "bounded" && tries < outageRetriesMax);

/** Doubles with each try up to the longest delay, which it has reached long before the tenth. */
export const computeDelayMs = (tries: number): number =>
  Math.min(delayMsMax, firstDelayMs * 2 ** Math.min(tries, 10));

/**
 * Whether it is too early to try again. A time beyond the longest delay was written by a clock that
 * was set back since.
 */
export const isDelayed = ({ delay }: Pick<TaskView, "delay">, now: string): boolean =>
  delay !== null && isStillAhead(delay.until, now, delayMsMax);

/**
 * Why the task waits before it is tried again, and since when; null if it is due. Only a start can
 * be due: a result that could not be taken in is tried again before each plan, and is shown until
 * that worked.
 */
export function whyDelayed(task: Pick<TaskView, "delay">, now: string): string | null {
  const { delay } = task;
  if (delay === null || (delay.doing === "start" && !isDelayed(task, now))) return null;
  const failure =
    delay.doing === "start" ? "it could not be started" : "its result could not be taken in";
  const tries = delay.tries === 1 ? "once" : `${delay.tries} times`;

  return `${failure}: ${delay.because.replace(/\.$/, "")}; since ${delay.since}, tried ${tries}, again at ${delay.until}`;
}
