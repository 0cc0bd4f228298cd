// delivery-plan: decides when the next message of a hook is due, and which notices it contains.
// Pure.
//
// Invariants:
//   P1. At most three single messages within ten minutes; later ones wait and are combined.
//   P2. A failed message is retried with growing delays, and given up after a day.
//   P3. Notices that need a person have a separate allowance: they never wait behind others, and
//       never delay others.

import type { Notice } from "../../views/outbound/notices.ts";

export const singlesMax = 3;
export const singlesWindowMs = 10 * 60_000;
export const givenUpAfterMs = 24 * 3_600_000;
const retryDelaysMs = [5_000, 30_000, 2 * 60_000, 10 * 60_000, 30 * 60_000, 3_600_000] as const;
const requestedMsMax = 3_600_000;

export type QueuedNotice = {
  readonly notice: Notice;
  readonly queuedAtMs: number;
  readonly tries: number;
  readonly notBeforeMs: number;
};

export type NextDelivery =
  | { readonly do: "send"; readonly items: readonly QueuedNotice[] }
  | { readonly do: "wait"; readonly untilMs: number }
  | { readonly do: "rest" };

/** A message that was sent to this hook. */
export type SentMessage = { readonly atMs: number; readonly isUrgent: boolean };
export const isUrgent = ({ kind }: Pick<Notice, "kind">): boolean => kind === "needs_you";

export function planDelivery(
  queued: readonly QueuedNotice[],
  sent: readonly SentMessage[],
  nowMs: number,
): NextDelivery {
  const [urgent, other] = [true, false].map((lane) =>
    planLane(
      queued.filter(({ notice }) => isUrgent(notice) === lane),
      sent.flatMap((delivery) => (delivery.isUrgent === lane ? delivery.atMs : [])),
      nowMs,
    ),
  ) as [NextDelivery, NextDelivery]; // P3
  if (urgent.do === "send" || other.do === "rest") return urgent;
  if (other.do === "send" || urgent.do === "rest") return other;

  return { do: "wait", untilMs: Math.min(urgent.untilMs, other.untilMs) };
}

function planLane(
  queued: readonly QueuedNotice[],
  sentAtMs: readonly number[],
  nowMs: number,
): NextDelivery {
  const oldestFirst = queued.toSorted((a, b) => a.queuedAtMs - b.queuedAtMs);
  if (oldestFirst.length === 0) return { do: "rest" };
  const notBefore = Math.min(...oldestFirst.map(({ notBeforeMs }) => notBeforeMs));
  if (notBefore > nowMs) return { do: "wait", untilMs: notBefore };
  const recent = sentAtMs
    .filter((at) => at <= nowMs && nowMs - at < singlesWindowMs)
    .toSorted((a, b) => a - b);

  const ready = oldestFirst.filter(({ notBeforeMs }) => notBeforeMs <= nowMs);
  if (recent.length >= singlesMax) {
    return { do: "wait", untilMs: (recent.at(-singlesMax) ?? nowMs) + singlesWindowMs };
  } // P1

  const isBurst = ready.length > singlesMax - recent.length;
  return { do: "send", items: isBurst ? ready : ready.slice(0, 1) };
}

/** `requestedMs`: the delay that the receiver asks for; 0 if it does not. */
type FailedDelivery = {
  readonly tries: number;
  readonly queuedAtMs: number;
  readonly nowMs: number;
  readonly requestedMs: number;
};

/** When a failed message is retried; null: it is given up. */
export function computeRetryMs({
  tries,
  queuedAtMs,
  nowMs,
  requestedMs,
}: FailedDelivery): number | null {
  const delayMs = retryDelaysMs[Math.min(tries, retryDelaysMs.length) - 1] ?? retryDelaysMs[0];
  const atMs = nowMs + Math.max(delayMs, Math.min(requestedMs, requestedMsMax));
  return atMs - queuedAtMs > givenUpAfterMs ? null : atMs; // P2
}
