// attempt-path: parses the paths of cursors (a position in a flow) and attempts in the journal:
// phase, step, ordinal and task. Paths look like `1@1/execute#2/03-01`: task 03-01 of the second
// attempt of `execute`, in the first visit of phase 1.

import type { Entry } from "../contracts/event.ts";

/** The phase a cursor or an attempt belongs to. */
export function phaseOfPath(path: string): string {
  return (path.split("/", 1)[0] ?? path).replace(/@\d+$/, "");
}

/** An attempt's parts; null if it is none. */
export function parseAttempt(
  attempt: string,
): { readonly cursor: string; readonly step: string; readonly ordinal: number } | null {
  const match = /^(.*)@\d+\/([^/]+)#(\d+)$/.exec(attempt);
  if (match === null) return null;
  const [, cursor = "", step = "", ordinal = "1"] = match;

  return { cursor, step, ordinal: Number(ordinal) };
}

/**
 * The id of the task that a cursor belongs to; null if it belongs to none. A task's path is an
 * attempt of a tasks step and one part more.
 */
export function taskOfCursor(path: string): string | null {
  const match = /#\d+\/([^/]+)$/.exec(path);
  const taskId = match?.[1];
  return taskId === undefined || taskId.startsWith("wave:") ? null : taskId;
}

/** The phase an entry is about; null if it is about the whole run. */
export function phaseOfEntry(entry: Entry): string | null {
  if ("walk" in entry) return phaseOfPath(entry.walk);
  if ("attempt" in entry) return phaseOfPath(entry.attempt);
  return "block" in entry ? phaseOfPath(entry.block.replace(/^block:/, "")) : null;
}

/** A phase before or after those of the roadmap. */
export const isOutsideRoadmap = (phase: string): boolean => /^(?:before|after)\./.test(phase);
