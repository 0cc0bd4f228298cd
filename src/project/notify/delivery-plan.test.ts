import { expect, test } from "vitest";
import type { Notice } from "../../views/outbound/notices.ts";
import {
  givenUpAfterMs,
  planDelivery,
  type QueuedNotice,
  computeRetryMs,
  type SentMessage,
  singlesWindowMs,
} from "./delivery-plan.ts";

const notice = (id: string): Notice => ({
  id,
  kind: "failed",
  run: "r",
  project: "p",
  at: "",
  reason: "ok",
  title: id,
  text: "",
  next: "",
});
const queued = (id: string, more: Partial<QueuedNotice> = {}): QueuedNotice => ({
  notice: notice(id),
  queuedAtMs: 0,
  tries: 0,
  notBeforeMs: 0,
  ...more,
});
const minute = 60_000;

test("the first three go out one by one, the rest of ten minutes as one", () => {
  const sent: SentMessage[] = [];
  let waiting = ["a", "b", "c"].map((id, index) => queued(id, { queuedAtMs: index }));
  const messages: string[][] = [];

  for (let now = minute; now < 30 * minute; now += minute) {
    if (now === 3 * minute) {
      waiting = [...waiting, ...["d", "e", "f", "g"].map((id) => queued(id, { queuedAtMs: now }))];
    }

    for (
      let due = planDelivery(waiting, sent, now);
      due.do === "send";
      due = planDelivery(waiting, sent, now)
    ) {
      const { items } = due;
      messages.push(items.map((item) => item.notice.id));
      sent.push({ atMs: now, isUrgent: false });
      waiting = waiting.filter((item) => !items.includes(item));
    }
  }

  expect(messages).toEqual([["a"], ["b"], ["c"], ["d", "e", "f", "g"]]);
  expect(sent.at(-1)?.atMs).toBe(minute + singlesWindowMs);
});

test("what could not be sent for long goes out as one, and a clock set back holds nothing up", () => {
  const waiting = ["a", "b", "c", "d"].map((id) => queued(id));
  expect(planDelivery(waiting, [], minute)).toEqual({ do: "send", items: waiting });
  expect(
    planDelivery(
      [queued("a")],
      [9, 9, 9].map((at) => ({ atMs: at * minute, isUrgent: false })),
      minute,
    ),
  ).toMatchObject({ do: "send" });

  expect(planDelivery([], [], 0)).toEqual({ do: "rest" });
  expect(planDelivery([queued("a", { notBeforeMs: 5 })], [], 1)).toEqual({
    do: "wait",
    untilMs: 5,
  });
});

test("a hook that fails for a day is tried later and later, a bounded number of times, and given up", () => {
  const waits: number[] = [];
  for (
    let [tries, now]: [number, number | null] = [1, 0];
    now !== null && tries < 1_000;
    tries += 1
  ) {
    const next: number | null = computeRetryMs({
      tries,
      queuedAtMs: 0,
      nowMs: now,
      requestedMs: 0,
    });
    if (next !== null) waits.push(next - now);
    now = next;
  }

  expect(waits.slice(0, 6)).toEqual([5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000]);
  expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  expect(waits.length).toBeLessThan(40);
  expect(waits.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(givenUpAfterMs);
});

test("a receiver may ask for a longer wait, up to an hour", () => {
  expect(computeRetryMs({ tries: 1, queuedAtMs: 0, nowMs: 0, requestedMs: 90_000 })).toBe(90_000);
  expect(computeRetryMs({ tries: 1, queuedAtMs: 0, nowMs: 0, requestedMs: 1e12 })).toBe(3_600_000);
});

test("a question goes out at once however much news went out before it, and has an allowance of its own", () => {
  const news = [1, 2, 3].map((at) => ({ atMs: at, isUrgent: false }));
  const question = queued("q", { notice: { ...notice("q"), kind: "needs_you" }, queuedAtMs: 9 });
  const [ended] = [queued("e", { queuedAtMs: 1 })];
  expect(planDelivery([ended, question], news, 10)).toEqual({ do: "send", items: [question] });
  expect(planDelivery([ended], news, 10)).toEqual({ do: "wait", untilMs: 1 + singlesWindowMs });
  const asked = [...news, ...[4, 5, 6].map((at) => ({ atMs: at, isUrgent: true }))];
  expect(planDelivery([ended, question], asked, 10)).toEqual({
    do: "wait",
    untilMs: 1 + singlesWindowMs,
  });

  expect(planDelivery([question], asked, 10)).toEqual({ do: "wait", untilMs: 4 + singlesWindowMs });
});
