// live-trace: sends a run's spans to the user's collector while the run works.
//
// Invariants:
//   L1. A run does not wait for the collector: spans are kept in a bounded buffer, and left out if
//       it is full. Only at the run's end the last ones are waited for, for a moment, and only if
//       the collector answered before.
//   L2. A collector that is down is reported once, with the command that sends the trace
//       afterwards.
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
import { type Collector, resolveCollector, postTraces } from "../project/otel/collector.ts";
import { version } from "../project/runs/product.ts";
import {
  type HashPrefix,
  type TraceOrigin,
  buildOtlpBody,
  parseTraceparent,
  buildTraceparent,
} from "../views/outbound/otlp.ts";
import { openSpanCollector, type Span, turnSpanKey } from "../views/outbound/spans.ts";

export type LiveTrace = {
  readonly onEntry: (entry: Entry) => void;
  /** Variables for an agent's turn so that its own spans join; empty if no trace is sent. */
  readonly environment: (attempt: string) => Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
};

const noTrace: LiveTrace = {
  onEntry: () => undefined,
  environment: () => ({}),
  close: () => Promise.resolve(),
};
const flushDelayMs = 2_000;
const retryMs = [5_000, 15_000, 60_000] as const;
const batchMax = 500;
const bufferMax = 10_000;
const lastFlushTimeoutMs = 2_000;
const sentSeqFile = "otel-sent";

/** The first bytes of a text's SHA-256, in hex: the ids of traces and spans. */
export const hashPrefix: HashPrefix = (text, bytes) =>
  createHash("sha256")
    .update(text)
    .digest("hex")
    .slice(0, 2 * bytes);

export function openLiveTrace(
  context: CommandContext,
  root: string,
  folder: string,
  view: () => RunView,
): LiveTrace {
  const settings = readConfig({ env: context.env, root });
  if (settings.kind === "invalid" || settings.config.otel?.export !== true) return noTrace;
  if (context.env["OTEL_SDK_DISABLED"] === "true") return noTrace;

  const collector = resolveCollector(context.env, settings.config.otel);
  if ("problem" in collector) {
    context.show(`! No trace is sent: ${collector.problem}.`);
    return noTrace;
  }

  return openSender(collector, context, folder, view);
}

function openSender(
  collector: Collector,
  context: CommandContext,
  folder: string,
  view: () => RunView,
): LiveTrace {
  const run = view().drafted.run_id;
  const origin: TraceOrigin = {
    run,
    hash: hashPrefix,
    resource: collector.resource,
    version,
    caller: parseTraceparent(context.env["TRACEPARENT"]),
  };

  const queue = openSpanQueue({
    collector,
    origin,
    folder,
    warnOnce: openWarning(context, collector, run),
  });

  return {
    onEntry: queue.add,
    environment: (attempt) => {
      const open = view().open[attempt];
      const tries = open === undefined ? 1 : (view().cursors[open.cursor]?.tries[attempt] ?? 1);
      return { TRACEPARENT: buildTraceparent(origin, turnSpanKey(attempt, tries)) };
    },
    close: queue.close,
  };
}

/** Warns once that the collector doesn't take the trace. L2 */
function openWarning(
  context: CommandContext,
  { origin }: Collector,
  run: string,
): (why: string) => void {
  let isWarned = false;
  return (why) => {
    if (isWarned) return;
    isWarned = true;
    context.show(
      `! The collector at ${origin} doesn't take the run's trace (${why}). The run goes on; autopilot export otel ${run} sends it later.`,
    );
  };
}

type SpanQueueParts = {
  readonly collector: Collector;
  readonly origin: TraceOrigin;
  readonly folder: string;
  readonly warnOnce: (why: string) => void;
};

type SpanQueue = {
  readonly add: (entry: Entry) => void;
  readonly close: () => Promise<void>;
};

/**
 * Buffers the spans of a run's entries and sends them in batches; a failed batch is sent again
 * later.
 */
function openSpanQueue({ collector, origin, folder, warnOnce }: SpanQueueParts): SpanQueue {
  const spans = openSpanCollector(collector.isGenAi);
  const sentSeq = readSentSeq(folder);
  let buffer: { readonly span: Span; readonly seq: number }[] = [];
  let failures = 0;
  let isClosing = false;
  let timer: NodeJS.Timeout | null = null;
  let sending: Promise<void> = Promise.resolve();
  const closed = new AbortController();

  const bufferSpans = (entry: Entry): void => {
    for (const span of spans.add(entry)) {
      if (entry.seq <= sentSeq) continue; // L3
      if (buffer.length < bufferMax) buffer.push({ span, seq: entry.seq });
      else warnOnce(`${bufferMax} spans wait already, and further ones are left out`);
    }
  };

  /** Sends the oldest spans; returns whether they need not be sent again. */
  const sendBatch = async (): Promise<boolean> => {
    const batch = buffer.slice(0, batchMax);
    const batchSpans = batch.map(({ span }) => span);
    const body = buildOtlpBody(batchSpans, origin);
    const result = await postTraces(collector, body, closed.signal);

    if (result.kind === "failed") {
      failures += 1;
      warnOnce(result.detail);
      return false;
    }

    failures = 0;
    buffer = buffer.slice(batch.length);
    if (result.kind !== "sent") warnOnce(result.detail);
    else if (result.rejected > 0) warnOnce(`${result.rejected} spans were rejected`);

    writeSentSeq(folder, batch.at(-1)?.seq ?? 0);
    return true;
  };

  const flush = async (): Promise<void> => {
    timer = null;
    while (buffer.length > 0) {
      const isDone = await sendBatch();
      if (!isDone) return flushLater(computeRetryMs(failures));
    }
  };

  const flushLater = (ms: number): void => {
    if (isClosing) return;
    timer ??= setTimeout(() => {
      sending = flush().catch((error: unknown) =>
        warnOnce(error instanceof Error ? error.name : "unknown"),
      );
    }, ms).unref();
  };

  for (const entry of readEntries(folder)) bufferSpans(entry);
  if (buffer.length > 0) flushLater(flushDelayMs);

  return {
    add: (entry) => {
      bufferSpans(entry);
      if (buffer.length > 0) flushLater(flushDelayMs);
    },
    close: async () => {
      isClosing = true;
      if (timer !== null) clearTimeout(timer);
      const lastFlush = failures > 0 ? sending : sending.then(flush);
      await Promise.race([lastFlush, sleep(lastFlushTimeoutMs, undefined, { ref: false })]); // L1
      closed.abort();
      if (buffer.length > 0) warnOnce("no answer in time");
    },
  };
}

/** How long to wait after so many failures in a row. */
const computeRetryMs = (failures: number): number =>
  retryMs[Math.min(failures, retryMs.length) - 1] ?? retryMs[0];

function readSentSeq(folder: string): number {
  try {
    return Number(readFileSync(join(folder, sentSeqFile), "utf8")) || 0;
  } catch {
    return 0; // nothing was sent yet
  }
}

function writeSentSeq(folder: string, seq: number): void {
  try {
    writeFileSync(join(folder, sentSeqFile), String(seq), { mode: 0o600 });
  } catch {
    // Then the same spans are sent again later, under the same ids.
  }
}
