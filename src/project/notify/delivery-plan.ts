// delivery-plan: when the next message of a hook is due, and which notices it contains. Pure.
//
// Invariants:
//   P1. At most three single messages within ten minutes; later ones wait and are combined.
//   P2. A failed message is retried with growing delays, and given up after a day.
//   P3. Notices that need a person have a separate allowance: they never wait behind others, and never delay others.

import type { Notice } from "../../views/outbound/notices.ts";

export const singlesMax = 3;
export const windowMs = 10 * 60_000;
export const givenUpAfterMs = 24 * 3_600_000;
const retryMs = [5_000, 30_000, 2 * 60_000, 10 * 60_000, 30 * 60_000, 3_600_000] as const;

export type Queued = { readonly notice: Notice; readonly queuedAtMs: number; readonly tries: number; readonly notBeforeMs: number };

export type Due =
  | { readonly do: "send"; readonly items: readonly Queued[] }
  | { readonly do: "wait"; readonly untilMs: number }
  | { readonly do: "rest" };

/** A message of this hook that was sent recently. */
export type Sent = { readonly atMs: number; readonly isUrgent: boolean };
export const isUrgent = ({ kind }: Pick<Notice, "kind">): boolean => kind === "needs_you";

export function nextMessage(queued: readonly Queued[], sent: readonly Sent[], nowMs: number): Due {
  const [urgent, news] = [true, false].map((lane) =>
    nextOf(
      queued.filter(({ notice }) => isUrgent(notice) === lane),
      sent.flatMap((delivery) => (delivery.isUrgent === lane ? delivery.atMs : [])),
      nowMs,
    ),
  ) as [Due, Due]; // P3
  if (urgent.do === "send" || news.do === "rest") return urgent;
  if (news.do === "send" || urgent.do === "rest") return news;
  return { do: "wait", untilMs: Math.min(urgent.untilMs, news.untilMs) };
}

function nextOf(queued: readonly Queued[], sentAtMs: readonly number[], nowMs: number): Due {
  const order = queued.toSorted((a, b) => a.queuedAtMs - b.queuedAtMs);
  const [first] = order;
  if (first === undefined) return { do: "rest" };
  const notBefore = Math.min(...order.map(({ notBeforeMs }) => notBeforeMs));
  if (notBefore > nowMs) return { do: "wait", untilMs: notBefore };
  const recent = sentAtMs.filter((at) => at <= nowMs && nowMs - at < windowMs).toSorted((a, b) => a - b);
  const ready = order.filter(({ notBeforeMs }) => notBeforeMs <= nowMs);
  if (recent.length >= singlesMax) return { do: "wait", untilMs: (recent.at(-singlesMax) ?? nowMs) + windowMs }; // P1
  const isBurst = ready.length > singlesMax - recent.length;
  return { do: "send", items: isBurst ? ready : ready.slice(0, 1) };
}

/** When a failed message is retried; null: it is given up. */
export function retryAt(tries: number, queuedAtMs: number, nowMs: number, askedMs: number | null): number | null {
  const after = Math.max(retryMs[Math.min(tries, retryMs.length) - 1] ?? retryMs[0], Math.min(askedMs ?? 0, 3_600_000));
  return nowMs + after - queuedAtMs > givenUpAfterMs ? null : nowMs + after; // P2
}
