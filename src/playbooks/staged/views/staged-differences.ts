// staged-differences: compares an edited state file with what the runner last wrote: which of their changes hold, and which of ours.
//
// Invariants:
//   E1. Their Key Decisions, Blockers, notes and sections of their own hold; our Completed Steps and Retry Log do.
//   E2. Their Current Step counts, but folder proof beats it: the caller says what holds, and why.
//   E3. What holds is reported in full, so that the file can be regenerated from the journal alone.

import { type CurrentStep, type StagedState, stagedStatePath } from "../../../contracts/staged-state.ts";
import type { StagedRead } from "./staged-state-read.ts";

export type StagedDifference = {
  readonly path: string;
  readonly field: string;
  readonly found: string;
  readonly kept: string;
  readonly because: string;
};
type Read = StagedRead["state"];

export const differedFields = {
  current: "Current Step",
  completed: "Completed Steps",
  decisions: "Key Decisions",
  dropped: "Key Decisions taken out",
  notes: "Last Session notes",
  retries: "Retry Log",
  blockers: "Blockers",
  others: "other sections",
} as const;

/** What they wrote is reported in short; what holds is reported in full: the file's reader bounds it. */
const foundCharsMax = 4_000;
const theirs = "it was edited since the runner last wrote it, and there their word holds";
const ours = "it was edited since the runner last wrote it, and there the runner's record holds";

/** `held`: the step that holds now and why, where the caller knows it; without it their step is what holds. */
export function stagedDifferences(
  their: Read,
  our: Read,
  held: { readonly step: string; readonly because: string } | null,
): readonly StagedDifference[] {
  const foundStagedDifferences: StagedDifference[] = [];
  const add = (field: string, is: string, was: string, kept: string, because: string): void => {
    if (is !== was) foundStagedDifferences.push({ path: stagedStatePath, field, found: cut(is), kept, because });
  };
  const [step, ourStep] = [stepText(their.current), stepText(our.current)];
  add(differedFields.current, step, ourStep, held?.step ?? step, held?.because ?? theirs); // E2
  add(differedFields.completed, rows(their.completed), rows(our.completed), rows(our.completed), ours); // E1
  // What was decided since the text they edited stays beside theirs, so what they took out of that text is distinguished.
  const dropped = our.decisions.filter((decision) => !their.decisions.includes(decision));
  add(differedFields.dropped, points(dropped), "", points(dropped), theirs);
  add(differedFields.decisions, points(their.decisions), points(our.decisions), points(their.decisions), theirs);
  const [notes, ourNotes] = [their.last_session?.notes ?? "", our.last_session?.notes ?? ""];
  add(differedFields.notes, notes, ourNotes, notes, theirs);
  add(differedFields.retries, rows(their.retry_log), rows(our.retry_log), rows(our.retry_log), ours);
  add(differedFields.blockers, points(their.blockers), points(our.blockers), points(their.blockers), theirs);
  add(differedFields.others, JSON.stringify(their.others), JSON.stringify(our.others), JSON.stringify(their.others), theirs); // E3
  return foundStagedDifferences;
}

/** A Current Step on one line. */
export function stepText(current: CurrentStep | null): string {
  if (current === null) return "no step that can be read";
  const { flow, step, name, status, sub_step, retry_count } = current;
  return `${flow} step ${step} ${name}, ${status}${sub_step === null ? "" : ` at ${sub_step}`}, retry_count ${retry_count}`;
}

export const points = (list: readonly string[]): string => list.map((point) => `- ${point}`).join("\n");
const rows = (list: readonly object[]): string => list.map((row) => Object.values(row).join(" | ")).join("\n");
const cut = (text: string): string => (text.length <= foundCharsMax ? text : `${text.slice(0, foundCharsMax)}…`);

/** The list that `points` wrote. */
export const pointsFrom = (text: string): string[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("- "))
    .map((line) => line.slice(2));

/** The sections that were kept; none if they cannot be read. */
export function othersFrom(text: string): StagedState["others"] {
  try {
    return JSON.parse(text) as StagedState["others"];
  } catch {
    return [];
  }
}
