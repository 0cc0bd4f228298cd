// staged-differences: compares an edited state file with what the runner last wrote, and decides
// for each section which version is kept.
//
// Invariants:
//   E1. Edits of Key Decisions, Blockers, notes and foreign sections are kept; of Completed Steps
//       and Retry Log the runner's version is kept. The other fields of Last Session are the
//       runner's and are not compared.
//   E2. An edited Current Step counts less than the folders: the caller says which step is kept,
//       and why.
//   E3. What is kept is reported in full, so that the file can be regenerated from the journal
//       alone.

import {
  type CurrentStep,
  type StagedState,
  stagedStatePath,
} from "../../../contracts/staged-state.ts";
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

/**
 * Limits the edited text in a report. What is kept is never cut; its size is bounded when the file
 * is read.
 */
const foundCharsMax = 4_000;
const editReason = "it was edited since the runner last wrote it, and there their word holds";
const recordReason =
  "it was edited since the runner last wrote it, and there the runner's record holds";

/** A version that is kept, and why. */
type KeptVersion = { readonly kept: string; readonly because: string };

/** `keptStep`: the step that is kept and why; if null, the edited step is kept. */
export function findStagedDifferences(
  edited: ParsedState,
  written: ParsedState,
  keptStep: { readonly step: string; readonly because: string } | null,
): readonly StagedDifference[] {
  const differences: StagedDifference[] = [];
  const add = (
    field: string,
    editedText: string,
    writtenText: string,
    version: KeptVersion,
  ): void => {
    if (editedText !== writtenText) {
      differences.push({ path: stagedStatePath, field, found: cut(editedText), ...version });
    }
  };
  const keepEdit = (field: string, editedText: string, writtenText: string): void =>
    add(field, editedText, writtenText, { kept: editedText, because: editReason });
  const keepRecord = (field: string, editedText: string, writtenText: string): void =>
    add(field, editedText, writtenText, { kept: writtenText, because: recordReason });
  const [editedStep, writtenStep] = [describeStep(edited.current), describeStep(written.current)];
  const keptVersion = {
    kept: keptStep?.step ?? editedStep,
    because: keptStep?.because ?? editReason,
  };
  add(differedFields.current, editedStep, writtenStep, keptVersion); // E2
  keepRecord(differedFields.completed, tableText(edited.completed), tableText(written.completed)); // E1
  // Listed apart: decisions made after the edited text was written are kept, those removed from it
  // are not.
  const dropped = written.decisions.filter((decision) => !edited.decisions.includes(decision));
  keepEdit(differedFields.dropped, renderList(dropped), "");
  keepEdit(differedFields.decisions, renderList(edited.decisions), renderList(written.decisions));
  keepEdit(
    differedFields.notes,
    edited.last_session?.notes ?? "",
    written.last_session?.notes ?? "",
  );

  keepRecord(differedFields.retries, tableText(edited.retry_log), tableText(written.retry_log));
  keepEdit(differedFields.blockers, renderList(edited.blockers), renderList(written.blockers));
  keepEdit(differedFields.others, JSON.stringify(edited.others), JSON.stringify(written.others)); // E3

  return differences;
}

/** A Current Step on one line. */
export function describeStep(current: CurrentStep | null): string {
  if (current === null) return "no step that can be read";
  const { flow, step, name, status, sub_step, retry_count } = current;
  return `${flow} step ${step} ${name}, ${status}${sub_step === null ? "" : ` at ${sub_step}`}, retry_count ${retry_count}`;
}

export const renderList = (items: readonly string[]): string =>
  items.map((item) => `- ${item}`).join("\n");
const tableText = (rows: readonly object[]): string =>
  rows.map((row) => Object.values(row).join(" | ")).join("\n");
const cut = (text: string): string =>
  text.length <= foundCharsMax ? text : `${text.slice(0, foundCharsMax)}…`;

/** The inverse of `renderList`. */
export const parseListText = (text: string): string[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("- "))
    .map((line) => line.slice(2));

/** The foreign sections from JSON; none if it is invalid. */
export function parseOthers(text: string): StagedState["others"] {
  try {
    return JSON.parse(text) as StagedState["others"];
  } catch {
    return []; // an entry of an earlier version
  }
}
