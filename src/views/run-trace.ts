// run-trace: builds the trace spans of any run from its journal and its transcripts, in the order
// in which they happened.

import type { Entry } from "../contracts/event.ts";
import type { TraceSpan } from "../contracts/roadmap-reports.ts";
import type { TurnTranscript } from "../contracts/transcript.ts";
import { compareText } from "../kit/compare-text.ts";
import { type FindEvidence, openPhaseTrace, type ToolEvent } from "./phase-trace.ts";

export function buildRunTrace(
  entries: readonly Entry[],
  turns: readonly TurnTranscript[],
  findEvidence: FindEvidence,
): readonly TraceSpan[] {
  const trace = openPhaseTrace(findEvidence);
  const toolEvents = turns.flatMap((turn) => listToolEvents(turn));
  const spans: TraceSpan[] = [];
  let position = 0;

  const addToolSpansUntil = (ts: string): void => {
    for (
      let next = toolEvents[position];
      next !== undefined && next.at <= ts;
      next = toolEvents[++position]
    ) {
      const span = trace.spanOfToolEvent(next.signal, next.at);
      if (span !== null) spans.push(span);
    }
  };

  toolEvents.sort((a, b) => compareText(a.at, b.at));
  for (const entry of entries) {
    addToolSpansUntil(entry.ts);
    spans.push(...trace.spansOfEntry(entry));
  }

  addToolSpansUntil("9999"); // later than any time: the tool events after the last entry
  return spans.toSorted((a, b) => compareText(a.timestamp, b.timestamp));
}

/** A call's beginning and its end; one that is still open has no end yet. */
function listToolEvents({
  attempt,
  entries,
}: TurnTranscript): { readonly at: string; readonly signal: ToolEvent }[] {
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
    return entry.ended_at === null
      ? [begins]
      : [begins, { at: entry.ended_at, signal: { ...signal, status: entry.status } }];
  });
}
