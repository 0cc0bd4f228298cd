// courier: delivers queued notices, hook by hook, outside every run: a hanging hook delays no other.
//
// Invariants:
//   C1. One courier per hook at a time, by a kernel lock; adding a notice starts one, and a working one looks again after releasing the
//       lock.
//   C2. A notice leaves the queue only when its outcome is journaled (sent, refused, or given up after a day), or when it was answered.
//   C3. The notices of a hook that is gone from the user's config are dropped; a changed hook is used as it is now.

import { createHash } from "node:crypto";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { loadTryLock } from "../../journal/lock.ts";
import { formatIsoTime, parseIsoTime } from "../../kit/iso-time.ts";
import { noticeDigest } from "../../views/outbound/notices.ts";
import { givenUpAfterMs, isUrgent, nextMessage, retryAt, type Sent } from "./delivery-plan.ts";
import { type Hook, hooksOf, readSecret } from "./hooks.ts";
import { type Item, openQueue, type Queue } from "./queue.ts";
import { type Message, type Outcome, send } from "./send.ts";

type Env = Readonly<Record<string, string | undefined>>;
export type CourierOptions = {
  readonly env: Env;
  /** False: what is not due now stays in the queue. */
  readonly waits: boolean;
  readonly interrupted: AbortSignal;
  readonly send?: (hook: Hook, message: Message) => Promise<Outcome>;
  readonly now?: () => number;
  readonly pause?: (ms: number) => Promise<void>;
};

const lookEveryMs = 5_000;

export async function deliver(options: CourierOptions): Promise<{ readonly sent: number; readonly left: number }> {
  const queue = openQueue(options.env);
  const { hooks, problem } = hooksOf(options.env);
  const waiting = queue.waiting();
  if (waiting.length === 0 || problem !== null) return { sent: 0, left: waiting.length };
  for (const item of waiting) if (!hooks.some(({ name }) => name === item.hook)) queue.settle(item); // C3
  const now = (options.now ?? Date.now)();
  for (const hook of hooks.filter((candidate) => !canSend(candidate, options.env)))
    for (const item of ofHook(queue, hook).filter(({ queuedAtMs }) => now - queuedAtMs > givenUpAfterMs))
      record(queue, hook, [item], { ...item.notice, notices: [item.notice.id] }, { kind: "failed", detail: "its secret is not set" }, now);
  const sent = await Promise.all(
    hooks.filter((hook) => canSend(hook, options.env) && ofHook(queue, hook).length > 0).map((hook) => serve(hook, queue, options)),
  );
  return { sent: sent.reduce((sum, count) => sum + count, 0), left: queue.waiting().length };
}

/** Another courier, started where the secret is known, may serve it; this one would only fail. */
const canSend = ({ webhook, secret }: Hook, env: Env): boolean =>
  [webhook, secret].every((place) => typeof place !== "object" || !("env" in place) || !("problem" in readSecret(place, env)));

const ofHook = (queue: Queue, { name }: Hook): readonly Item[] => queue.waiting().filter(({ hook }) => hook === name);

async function serve(hook: Hook, queue: Queue, options: CourierOptions): Promise<number> {
  let sent = 0;
  for (let isTaken = true; isTaken && ofHook(queue, hook).length > 0;) {
    const free = await lockOf(hook, queue);
    if (free === null) return sent; // C1
    try {
      const more = await serveLocked(hook, queue, options);
      sent += more.sent;
      isTaken = more.isThrough;
    } finally {
      free();
    }
  }
  return sent;
}

/** The hook as the user's config has it now; null if it is gone. An unreadable file changes nothing. */
function asItIsNow(hook: Hook, env: Env): Hook | null {
  const { hooks, problem } = hooksOf(env);
  return problem === null ? (hooks.find(({ name }) => name === hook.name) ?? null) : hook;
}

async function serveLocked(
  knownHook: Hook,
  queue: Queue,
  options: CourierOptions,
): Promise<{ readonly sent: number; readonly isThrough: boolean }> {
  const now = options.now ?? Date.now;
  let sent = 0;
  const sentLately = queue
    .deliveries()
    .flatMap((delivery): Sent[] =>
      delivery.hook === knownHook.name && delivery.outcome === "sent"
        ? [{ atMs: parseIsoTime(delivery.at) ?? 0, isUrgent: delivery.kind === "needs_you" }]
        : [],
    );
  for (;;) {
    if (options.interrupted.aborted) return { sent, isThrough: false };
    const due = nextMessage(ofHook(queue, knownHook), sentLately, now());
    if (due.do === "rest") return { sent, isThrough: true };
    if (due.do === "wait") {
      if (!options.waits) return { sent, isThrough: false };
      await pause(options, Math.min(lookEveryMs, Math.max(1, due.untilMs - now())));
      continue;
    }
    const hook = asItIsNow(knownHook, options.env); // C3
    if (hook === null) {
      for (const item of ofHook(queue, knownHook)) queue.settle(item);
      continue;
    }
    if (!canSend(hook, options.env)) return { sent, isThrough: false };
    const items = due.items as readonly Item[];
    const notices = items.map(({ notice }) => notice);
    const [only] = notices;
    const message: Message = {
      ...(notices.length === 1 && only !== undefined ? only : noticeDigest(notices)),
      notices: notices.map(({ id }) => id),
    };
    const outcome = await (options.send ?? ((item, reported) => send(item, reported, options.env)))(hook, message);
    if (outcome.kind === "sent") {
      sentLately.push({ atMs: now(), isUrgent: isUrgent(message) });
      sent += 1;
    }
    record(queue, hook, items, message, outcome, now());
  }
}

/** C2. If a message of several notices failed, each is given up at its own age. */
function record(queue: Queue, hook: Hook, items: readonly Item[], message: Message, outcome: Outcome, nowMs: number): void {
  const tries = Math.max(...items.map((item) => item.tries)) + 1;
  const asked = outcome.kind === "failed" ? (outcome.retryAfterMs ?? null) : null;
  const againOf = ({ queuedAtMs }: Item): number | null => (outcome.kind === "failed" ? retryAt(tries, queuedAtMs, nowMs, asked) : null);
  const note = (some: readonly Item[], again: number | null): void => {
    if (some.length === 0) return;
    queue.note({
      at: formatIsoTime(nowMs),
      hook: hook.name,
      ids: some.map(({ notice }) => notice.id),
      title: message.title,
      kind: message.kind,
      try: tries,
      outcome: outcome.kind === "failed" && again === null ? "given_up" : outcome.kind,
      detail: outcome.detail,
      ...(again === null ? {} : { next_at: formatIsoTime(again) }),
    });
    for (const item of some) {
      if (again === null) queue.settle(item);
      else queue.later(item, again);
    }
  };
  const kept = items.filter((item) => againOf(item) !== null);
  note(
    items.filter((item) => !kept.includes(item)),
    null,
  );
  note(kept, kept[0] === undefined ? null : againOf(kept[0]));
}

/** Null if another courier has it. */
async function lockOf({ name }: Hook, { folder }: Queue): Promise<(() => void) | null> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fd = openSync(join(folder, `${createHash("sha256").update(name).digest("hex").slice(0, 16)}.lock`), "a", 0o600);
  if ((await loadTryLock())(fd)) return () => closeSync(fd);
  closeSync(fd);
  return null;
}

const pause = ({ pause: given, interrupted }: CourierOptions, ms: number): Promise<unknown> =>
  given === undefined ? sleep(ms, undefined, { signal: interrupted }).catch(() => undefined) : given(ms);
