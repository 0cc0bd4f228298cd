// run-trace: the spans of any run, from its journal and its transcripts, in the order in which they happened.

import type { Entry } from "../contracts/event.ts";
import type { TraceSpan } from "../contracts/roadmap-reports.ts";
import type { TurnTranscript } from "../contracts/transcript.ts";
import { type EvidenceOf, openPhaseTrace, type ToolEvent } from "./phase-trace.ts";

export function traceOfRun(entries: readonly Entry[], turns: readonly TurnTranscript[], evidenceOf: EvidenceOf): readonly TraceSpan[] {
  const book = openPhaseTrace(evidenceOf);
  const toolEvents = turns.flatMap((turn) => transcriptSignals(turn));
  const spans: TraceSpan[] = [];
  let position = 0;
  const reportUntil = (ts: string): void => {
    for (let next = toolEvents[position]; next !== undefined && next.at <= ts; next = toolEvents[++position]) {
      const span = book.spanOfToolEvent(next.signal, next.at);
      if (span !== null) spans.push(span);
    }
  };
  toolEvents.sort((a, b) => compareText(a.at, b.at));
  for (const entry of entries) {
    reportUntil(entry.ts);
    spans.push(...book.spansOfEntry(entry));
  }
  reportUntil("9999");
  return spans.toSorted((a, b) => compareText(a.timestamp, b.timestamp));
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** A call's beginning and its end; one that is still open has no end yet. */
function transcriptSignals({ attempt, entries }: TurnTranscript): { readonly at: string; readonly signal: ToolEvent }[] {
  return entries.flatMap((entry) => {
    if (entry.kind !== "tool") return [];
    const signal: ToolEvent = {
      signal: "tool",
      attempt,
      call: entry.call,
      title: entry.title,
      status: "in_progress",
      ...(entry.tool === null ? {} : { kind: entry.tool }),
      ...(entry.path === null ? {} : { path: entry.path }),
    };
    const begins = { at: entry.at, signal };
    return entry.ended_at === null ? [begins] : [begins, { at: entry.ended_at, signal: { ...signal, status: entry.status } }];
  });
}
