// fork: computes the journal lines that a new run takes over from another. Pure: the caller writes
// them.
//
// Invariants:
//   K1. What was paid is charged once: in the journal of the run that paid. Lines taken over have
//       no usage.

import type { Usage } from "../contracts/budget.ts";
import type { Entry, Event } from "../contracts/event.ts";
import { openFold } from "./fold.ts";
import type { OpenAttemptView, RunView } from "./state.ts";

const noUsage: Usage = { tokens: 0, calls: 0, minutes: 0, source: "reported" };

/** The other run's lines up to and including `at`, as the first lines of the new run. K1 */
export function copyInheritedLines(
  entries: readonly Entry[],
  at: number,
  run: string,
): readonly Event[] {
  return entries.filter(({ seq }) => seq <= at).map((entry) => inheritLine(entry, run));
}

function inheritLine(entry: Entry, run: string): Event {
  const {
    seq: _seq,
    epoch: _epoch,
    ts: _ts,
    active_ms: _active,
    prev: _prev,
    crc: _crc,
    ...event
  } = entry;

  const { journal: _journal, ...whole } = event as Event & { readonly journal?: unknown };
  const line = whole as Event;
  if (line.event === "run_drafted") return { ...line, run_id: run };

  return "usage" in line && line.usage !== undefined ? { ...line, usage: { ...noUsage } } : line;
}

/** The run's state after the line `at`; null if it was not drafted by then. */
export function foldUntil(entries: readonly Entry[], at: number): RunView | null {
  const fold = openFold();
  for (const entry of entries) if (entry.seq <= at) fold.apply(entry);
  return fold.state.status === "unborn" ? null : fold.state;
}

/**
 * The newest line a fork can begin after: the last one; for a finished run the line before its end,
 * whatever was written after that.
 */
export function findNewestForkPoint(entries: readonly Entry[]): number {
  const ending = entries.findLast(isEnding);
  return ending === undefined ? (entries.at(-1)?.seq ?? 0) : ending.seq - 1;
}

const isEnding = ({ event }: Entry): boolean =>
  event === "run_completed" || event === "run_stopped";

/** Why a run cannot be forked at this point; null if it can. */
export function whyNotForkable(run: RunView): string | null {
  if (run.status === "draft") return "it had not started there";
  if (run.status === "completed" || run.status === "stopped") {
    return `it was ${run.status} there, with nothing left to do`;
  }

  const isChildOpen =
    Object.values(run.open).some(({ kind }) => kind === "flow") ||
    Object.values(run.cursors).some(({ child }) => child !== undefined);
  return isChildOpen ? "a child run was under way there" : null;
}

/** Attempts whose turn was paid and whose changes were not committed yet. */
export const findPaidOpens = (run: RunView): readonly OpenAttemptView[] =>
  Object.values(run.open).filter(({ kind, stage }) => kind === "agent" && stage === "turned");

/** The newest line at or before `at` at which the run can be forked; null if there is none. */
export function findForkPointBefore(entries: readonly Entry[], at: number): number | null {
  const fold = openFold();
  let forkPoint: number | null = null;

  for (const entry of entries) {
    if (entry.seq > at) break;
    fold.apply(entry);
    const { state } = fold;
    if (
      state.status !== "unborn" &&
      whyNotForkable(state) === null &&
      findPaidOpens(state).length === 0
    ) {
      forkPoint = entry.seq;
    }
  }

  return forkPoint;
}

/**
 * The line at which the changes of the one paid turn that was open at `at` were committed, if it is
 * the next line; else `at` itself.
 */
export function extendToPaidTurn(entries: readonly Entry[], at: number): number {
  const run = foldUntil(entries, at);
  const [paid, ...others] = run === null ? [] : findPaidOpens(run);
  if (paid === undefined || others.length > 0) return at;
  const nextEntry = entries.find(({ seq }) => seq > at);

  return nextEntry?.event === "changes_applied" && nextEntry.attempt === paid.attempt
    ? nextEntry.seq
    : at;
}
