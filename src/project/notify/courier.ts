// courier: delivers queued notices, hook by hook, outside every run: a hanging hook delays no
// other.
//
// Invariants:
//   C1. One courier per hook at a time, by a kernel lock; adding a notice starts one, and a working
//       one looks again after releasing the lock.
//   C2. A notice leaves the queue only when its outcome is journaled (sent, refused, or given up
//       after a day), when it was answered, or when its hook is gone (C3).
//   C3. The notices of a hook that is gone from the user's config are dropped; a changed hook is
//       used as it is now.

import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { loadTryLock } from "../../journal/lock.ts";
import { formatIsoTime, parseIsoTime } from "../../kit/iso-time.ts";
import { combineNotices } from "../../views/outbound/notices.ts";
import {
  givenUpAfterMs,
  isUrgent,
  planDelivery,
  computeRetryMs,
  type SentMessage,
} from "./delivery-plan.ts";
import { type Hook, readHooks, readSecret } from "./hooks.ts";
import {
  type Delivery,
  type QueueItem,
  openNoticeQueue,
  type NoticeQueue,
} from "./notice-queue.ts";
import { type NoticeMessage, type SendOutcome, sendMessage } from "./send-message.ts";
import { sha256 } from "../sha256.ts";

type Env = Readonly<Record<string, string | undefined>>;
export type CourierOptions = {
  readonly env: Env;
  /** Whether to wait for notices that are not due yet; otherwise they stay in the queue. */
  readonly waits: boolean;
  readonly interrupted: AbortSignal;
  readonly send?: (hook: Hook, message: NoticeMessage) => Promise<SendOutcome>;
  readonly now?: () => number;
  readonly pause?: (ms: number) => Promise<void>;
};

const pollEveryMs = 5_000;

/**
 * Sends what is due in the queue; returns how many messages were sent, and how many notices are
 * left.
 */
export async function deliverNotices(
  options: CourierOptions,
): Promise<{ readonly sent: number; readonly left: number }> {
  const queue = openNoticeQueue(options.env);
  const { hooks, problem } = readHooks(options.env);
  const waiting = queue.waiting();
  if (waiting.length === 0 || problem !== null) return { sent: 0, left: waiting.length };

  // C3
  const hookNames = new Set(hooks.map(({ name }) => name));
  for (const item of waiting) {
    if (!hookNames.has(item.hook)) queue.settle(item);
  }

  const usable: Hook[] = [];
  const nowMs = (options.now ?? Date.now)();
  for (const hook of hooks) {
    if (canSend(hook, options.env)) usable.push(hook);
    else giveUpOld(queue, hook, nowMs);
  }

  const counts = await Promise.all(usable.map((hook) => serve(hook, queue, options)));
  const sent = counts.reduce((sum, count) => sum + count, 0);
  return { sent, left: queue.waiting().length };
}

/** Gives up the old notices of a hook whose secret isn't set. */
function giveUpOld(queue: NoticeQueue, hook: Hook, nowMs: number): void {
  const outcome: SendOutcome = { kind: "failed", detail: "its secret is not set" };
  for (const item of listItems(hook, queue)) {
    if (nowMs - item.queuedAtMs <= givenUpAfterMs) continue;
    recordOutcome(queue, {
      hook,
      items: [item],
      message: { ...item.notice, notices: [item.notice.id] },
      outcome,
      nowMs,
    });
  }
}

/**
 * Whether the hook's secrets are set here. If not, a courier that was started where they are may
 * serve it; this one would only fail.
 */
function canSend({ webhook, secret }: Hook, env: Env): boolean {
  return [webhook, secret].every((place) => {
    if (typeof place !== "object" || !("env" in place)) return true;
    return !("problem" in readSecret(place, env));
  });
}

const listItems = ({ name }: Hook, queue: NoticeQueue): readonly QueueItem[] =>
  queue.waiting().filter(({ hook }) => hook === name);

/**
 * Sends a hook's notices until none is left or another courier has the hook; returns how many
 * messages it sent.
 */
async function serve(hook: Hook, queue: NoticeQueue, options: CourierOptions): Promise<number> {
  let sent = 0;
  for (let mayGoOn = true; mayGoOn && listItems(hook, queue).length > 0;) {
    const release = await tryLock(hook, queue);
    if (release === null) return sent; // C1
    try {
      const served = await serveLocked(hook, queue, options);
      sent += served.sent;
      mayGoOn = served.isQueueEmpty;
    } finally {
      release();
    }
  }

  return sent;
}

/**
 * The hook as the user's config has it now; null if it is gone. An unreadable file changes nothing.
 */
function readHookAgain(hook: Hook, env: Env): Hook | null {
  const { hooks, problem } = readHooks(env);
  return problem === null ? (hooks.find(({ name }) => name === hook.name) ?? null) : hook;
}

async function serveLocked(
  configuredHook: Hook,
  queue: NoticeQueue,
  options: CourierOptions,
): Promise<{ readonly sent: number; readonly isQueueEmpty: boolean }> {
  const now = options.now ?? Date.now;
  const sentLately = listSentMessages(configuredHook, queue);
  let sent = 0;

  for (;;) {
    if (options.interrupted.aborted) return { sent, isQueueEmpty: false };
    const due = planDelivery(listItems(configuredHook, queue), sentLately, now());
    if (due.do === "rest") return { sent, isQueueEmpty: true };
    if (due.do === "wait") {
      if (!options.waits) return { sent, isQueueEmpty: false };
      await pause(options, Math.min(pollEveryMs, Math.max(1, due.untilMs - now())));
      continue;
    }

    const hook = readHookAgain(configuredHook, options.env); // C3
    if (hook === null) {
      for (const item of listItems(configuredHook, queue)) queue.settle(item);
      continue;
    }

    if (!canSend(hook, options.env)) return { sent, isQueueEmpty: false };
    const items = due.items as readonly QueueItem[];
    const message = composeMessage(items);
    const outcome = await (options.send === undefined
      ? sendMessage(hook, message, { env: options.env })
      : options.send(hook, message));

    if (outcome.kind === "sent") {
      sentLately.push({ atMs: now(), isUrgent: isUrgent(message) });
      sent += 1;
    }

    recordOutcome(queue, { hook, items, message, outcome, nowMs: now() });
  }
}

/** The messages that this hook was sent before. */
function listSentMessages(hook: Hook, queue: NoticeQueue): SentMessage[] {
  return queue
    .deliveries()
    .filter((delivery) => delivery.hook === hook.name && delivery.outcome === "sent")
    .map(({ at, kind }) => ({ atMs: parseIsoTime(at) ?? 0, isUrgent: kind === "needs_you" }));
}

/** One message with all these notices. */
function composeMessage(items: readonly QueueItem[]): NoticeMessage {
  const notices = items.map(({ notice }) => notice);
  const [first] = notices;
  const content = notices.length === 1 && first !== undefined ? first : combineNotices(notices);

  return { ...content, notices: notices.map(({ id }) => id) };
}

type Attempt = {
  readonly hook: Hook;
  readonly items: readonly QueueItem[];
  readonly message: NoticeMessage;
  readonly outcome: SendOutcome;
  readonly nowMs: number;
};

/** C2. If a message of several notices failed, each is given up at its own age. */
function recordOutcome(
  queue: NoticeQueue,
  { hook, items, message, outcome, nowMs }: Attempt,
): void {
  const tries = Math.max(...items.map((item) => item.tries)) + 1;
  const retryAtMs = ({ queuedAtMs }: QueueItem): number | null =>
    outcome.kind === "failed"
      ? computeRetryMs({ tries, queuedAtMs, nowMs, requestedMs: outcome.retryAfterMs ?? 0 })
      : null;

  const noteDelivery = (
    notedItems: readonly QueueItem[],
    result: Delivery["outcome"],
    nextAtMs: number | null,
  ): void =>
    queue.note({
      at: formatIsoTime(nowMs),
      hook: hook.name,
      ids: notedItems.map(({ notice }) => notice.id),
      title: message.title,
      kind: message.kind,
      try: tries,
      outcome: result,
      detail: outcome.detail,
      ...(nextAtMs === null ? {} : { next_at: formatIsoTime(nextAtMs) }),
    });

  const settledItems = items.filter((item) => retryAtMs(item) === null);
  if (settledItems.length > 0) {
    noteDelivery(settledItems, outcome.kind === "failed" ? "given_up" : outcome.kind, null);
    for (const item of settledItems) queue.settle(item);
  }

  // All that are sent again are sent at the same time, in one message.
  const retriedItems = items.filter((item) => retryAtMs(item) !== null);
  const [firstRetried] = retriedItems;
  const nextAtMs = firstRetried === undefined ? null : retryAtMs(firstRetried);
  if (nextAtMs !== null) {
    noteDelivery(retriedItems, outcome.kind, nextAtMs);
    for (const item of retriedItems) queue.later(item, nextAtMs);
  }
}

/** Locks a hook's deliveries; returns how to release them, or null if another courier has them. */
async function tryLock({ name }: Hook, { folder }: NoticeQueue): Promise<(() => void) | null> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fd = openSync(join(folder, `${sha256(name).slice(0, 16)}.lock`), "a", 0o600);
  if ((await loadTryLock())(fd)) return () => closeSync(fd);
  closeSync(fd);

  return null;
}

const pause = (options: CourierOptions, ms: number): Promise<unknown> =>
  options.pause === undefined
    ? sleep(ms, undefined, { signal: options.interrupted }).catch(() => undefined)
    : options.pause(ms);
