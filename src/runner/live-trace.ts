// live-trace: sends a run's spans to the user's collector while the run works.
//
// Invariants:
//   L1. A run waits for no collector: spans wait in a bounded buffer, and the last of them for a moment at the run's end, if it answered
//       before.
//   L2. A collector that is down is reported once, with the command that sends the trace afterwards.
//   L3. How far the trace was sent is in a file of the run, so that the next opening goes on there.

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Entry } from "../contracts/event.ts";
import type { RunView } from "../core/state.ts";
import { readEntries } from "../playbooks/registry/open-playbook.ts";
import type { CommandContext } from "../project/command-context.ts";
import { readConfig } from "../project/config/config.ts";
import { type Collector, collectorOf, postTraces } from "../project/otel/collector.ts";
import { version } from "../project/runs/product.ts";
import { type HashOf, type Origin, otlpBody, readTraceparent, originTraceparent } from "../views/outbound/otlp.ts";
import { openSpans, type Span, turnKey } from "../views/outbound/spans.ts";

export type LiveTrace = {
  readonly take: (entry: Entry) => void;
  /** Variables for an agent's turn so that its own spans join; empty if no trace is sent. */
  readonly environment: (attempt: string) => Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
};

const noTrace: LiveTrace = { take: () => undefined, environment: () => ({}), close: () => Promise.resolve() };
const flushEveryMs = 2_000;
const retryMs = [5_000, 15_000, 60_000] as const;
const batchMax = 500;
const bufferMax = 10_000;
const lastFlushMs = 2_000;
const sentFile = "otel-sent";

export const hashOf: HashOf = (text, bytes) =>
  createHash("sha256")
    .update(text)
    .digest("hex")
    .slice(0, 2 * bytes);

export function openLiveTrace(context: CommandContext, root: string, folder: string, view: () => RunView): LiveTrace {
  const read = readConfig({ env: context.env, root });
  if (read.kind === "invalid" || read.config.otel?.export !== true || context.env["OTEL_SDK_DISABLED"] === "true") return noTrace;
  const collector = collectorOf(context.env, read.config.otel);
  if ("problem" in collector) {
    context.show(`! No trace is sent: ${collector.problem}.`);
    return noTrace;
  }
  return sendingTo(collector, context, folder, view);
}

function sendingTo(collector: Collector, context: CommandContext, folder: string, view: () => RunView): LiveTrace {
  const run = view().drafted.run_id;
  const origin: Origin = { run, hash: hashOf, resource: collector.resource, version, caller: readTraceparent(context.env["TRACEPARENT"]) };
  const book = openSpans(collector.isGenAi);
  let buffer: { readonly span: Span; readonly seq: number }[] = [];
  let [isDown, isReported, isOver] = [false, false, false];
  let failures = 0;
  let timer: NodeJS.Timeout | null = null;
  let sending: Promise<void> = Promise.resolve();
  const closed = new AbortController();

  const keep = (entry: Entry): void => {
    for (const span of book.take(entry)) if (buffer.length < bufferMax) buffer.push({ span, seq: entry.seq });
  };
  const report = (why: string): void => {
    if (!isReported)
      context.show(
        `! The collector at ${collector.origin} doesn't take the run's trace (${why}). The run goes on; autopilot export otel ${run} sends it later.`,
      ); // L2
    isReported = true;
  };
  const flush = async (): Promise<void> => {
    timer = null;
    while (buffer.length > 0) {
      const batch = buffer.slice(0, batchMax);
      const sent = await postTraces(
        collector,
        otlpBody(
          batch.map(({ span }) => span),
          origin,
        ),
        closed.signal,
      );
      isDown = sent.kind === "failed";
      if (sent.kind === "failed") {
        failures += 1;
        report(sent.detail);
        return later(retryMs[Math.min(failures, retryMs.length) - 1] ?? retryMs[0]);
      }
      failures = 0;
      buffer = buffer.slice(batch.length);
      if (sent.kind === "sent") {
        if (sent.rejected > 0) report(`${sent.rejected} spans were rejected`);
      } else report(sent.detail);
      rememberSent(folder, batch.at(-1)?.seq ?? 0);
    }
  };
  const later = (ms: number): void => {
    if (isOver) return;
    timer ??= setTimeout(() => {
      sending = flush().catch((error: unknown) => report(error instanceof Error ? error.name : "unknown"));
    }, ms).unref();
  };

  const sentUntil = readSent(folder);
  for (const entry of readEntries(folder)) keep(entry);
  buffer = buffer.filter(({ seq }) => seq > sentUntil); // L3
  if (buffer.length > 0) later(flushEveryMs);
  return {
    take: (entry) => {
      keep(entry);
      if (buffer.length > 0) later(flushEveryMs);
    },
    environment: (attempt) => {
      const open = view().open[attempt];
      const tries = open === undefined ? 1 : (view().cursors[open.cursor]?.tries[attempt] ?? 1);
      return { TRACEPARENT: originTraceparent(origin, turnKey(attempt, tries)) };
    },
    close: async () => {
      isOver = true;
      if (timer !== null) clearTimeout(timer);
      const last = isDown ? sending : sending.then(flush);
      await Promise.race([last, sleep(lastFlushMs, undefined, { ref: false })]); // L1
      closed.abort();
      if (buffer.length > 0) report("no answer in time");
    },
  };
}

function readSent(folder: string): number {
  try {
    return Number(readFileSync(join(folder, sentFile), "utf8")) || 0;
  } catch {
    return 0; // nothing was sent yet
  }
}

function rememberSent(folder: string, seq: number): void {
  try {
    writeFileSync(join(folder, sentFile), String(seq), { mode: 0o600 });
  } catch {
    // The same spans are sent again then, under the same ids.
  }
}
