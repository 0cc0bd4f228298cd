// staged-differences: compares an edited state file with what the runner last wrote, and decides for each section which version is kept.
//
// Invariants:
//   E1. Edits of Key Decisions, Blockers, notes and foreign sections are kept; of Completed Steps and Retry Log the runner's version is kept.
//   E2. An edited Current Step counts less than the folders: the caller says which step is kept, and why.
//   E3. What is kept is reported in full, so that the file can be regenerated from the journal alone.

import { type CurrentStep, type StagedState, stagedStatePath } from "../../../contracts/staged-state.ts";
import type { ParsedStagedState } from "./parse-staged-state.ts";

export type StagedDifference = {
  readonly path: string;
  readonly field: string;
  readonly found: string;
  readonly kept: string;
  readonly because: string;
};
type ParsedState = ParsedStagedState["state"];

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

/** Limits the edited text in a report. What is kept is never cut; its size is bounded when the file is read. */
const foundCharsMax = 4_000;
const editHolds = "it was edited since the runner last wrote it, and there their word holds";
const recordHolds = "it was edited since the runner last wrote it, and there the runner's record holds";

/** `holding`: the step that is kept and why; if null, the edited step is kept. */
export function stagedDifferences(
  edited: ParsedState,
  own: ParsedState,
  holding: { readonly step: string; readonly because: string } | null,
): readonly StagedDifference[] {
  const differences: StagedDifference[] = [];
  const add = (field: string, editedText: string, ownText: string, kept: string, because: string): void => {
    if (editedText !== ownText) differences.push({ path: stagedStatePath, field, found: cut(editedText), kept, because });
  };
  const [editedStep, ownStep] = [stepText(edited.current), stepText(own.current)];
  add(differedFields.current, editedStep, ownStep, holding?.step ?? editedStep, holding?.because ?? editHolds); // E2
  add(differedFields.completed, tableText(edited.completed), tableText(own.completed), tableText(own.completed), recordHolds); // E1
  // Listed apart: decisions made after the edited text was written are kept, those removed from it are not.
  const dropped = own.decisions.filter((decision) => !edited.decisions.includes(decision));
  add(differedFields.dropped, listText(dropped), "", listText(dropped), editHolds);
  add(differedFields.decisions, listText(edited.decisions), listText(own.decisions), listText(edited.decisions), editHolds);
  const [editedNotes, ownNotes] = [edited.last_session?.notes ?? "", own.last_session?.notes ?? ""];
  add(differedFields.notes, editedNotes, ownNotes, editedNotes, editHolds);
  add(differedFields.retries, tableText(edited.retry_log), tableText(own.retry_log), tableText(own.retry_log), recordHolds);
  add(differedFields.blockers, listText(edited.blockers), listText(own.blockers), listText(edited.blockers), editHolds);
  add(differedFields.others, JSON.stringify(edited.others), JSON.stringify(own.others), JSON.stringify(edited.others), editHolds); // E3
  return differences;
}

/** A Current Step on one line. */
export function stepText(current: CurrentStep | null): string {
  if (current === null) return "no step that can be read";
  const { flow, step, name, status, sub_step, retry_count } = current;
  return `${flow} step ${step} ${name}, ${status}${sub_step === null ? "" : ` at ${sub_step}`}, retry_count ${retry_count}`;
}

export const listText = (list: readonly string[]): string => list.map((point) => `- ${point}`).join("\n");
const tableText = (list: readonly object[]): string => list.map((row) => Object.values(row).join(" | ")).join("\n");
const cut = (text: string): string => (text.length <= foundCharsMax ? text : `${text.slice(0, foundCharsMax)}…`);

/** The inverse of `listText`. */
export const parseList = (text: string): string[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("- "))
    .map((line) => line.slice(2));

/** The foreign sections from JSON; none if it is invalid. */
export function parseOthers(text: string): StagedState["others"] {
  try {
    return JSON.parse(text) as StagedState["others"];
  } catch {
    return [];
  }
}
