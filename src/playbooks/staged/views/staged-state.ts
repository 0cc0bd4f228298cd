// staged-state: the text of `_docs/_autopilot_state.md`, section for section and line for line in its published format.
//
// Invariants:
//   S1. What is written is read back as the same state: no text can end a line, a cell or a section.
//   S2. Sections of others are kept as they are.

import { type StagedState, stagedSections } from "../../../contracts/staged-state.ts";
import { oneLine } from "../../../views/wording.ts";

const cellCharsMax = 2_000;
/** People's decisions may be long. */
const lineCharsMax = 8_000;

export function stagedStateText(state: StagedState): string {
  const { current, last_session: last } = state;
  const beside = (title: (typeof stagedSections)[number]): readonly string[] =>
    state.others.filter((other) => other.title === title).flatMap(({ lines }) => lines); // S2
  const isOwn = (title: string): boolean => title === "" || (stagedSections as readonly string[]).includes(title);
  const before = state.others.filter(({ title }) => title === "").flatMap(({ lines }) => lines);
  return [
    "# Autopilot State",
    ...(before.length === 0 ? [] : ["", ...before]), // S2
    "",
    "## Current Step",
    `flow: ${line(current.flow)}`,
    `step: ${current.step}`,
    `name: ${line(current.name)}`,
    `status: ${current.status}`,
    `sub_step: ${line(current.sub_step ?? "")}`.trimEnd(),
    `retry_count: ${current.retry_count}`,
    ...beside("Current Step"),
    "",
    "## Completed Steps",
    "",
    "| Step | Name | Completed | Key Outcome |",
    "|------|------|-----------|-------------|",
    ...state.completed.map(({ step, name, completed, key_outcome }) => row(step, name, completed, key_outcome)),
    ...beside("Completed Steps"),
    "",
    "## Key Decisions",
    ...state.decisions.map((decision) => `- ${line(decision)}`),
    ...beside("Key Decisions"),
    "",
    "## Last Session",
    ...(last === null
      ? []
      : [`date: ${line(last.date)}`, `ended_at: ${line(last.ended_at)}`, `reason: ${line(last.reason)}`, `notes: ${line(last.notes)}`]
    ).map((message) => message.trimEnd()),
    ...beside("Last Session"),
    "",
    "## Retry Log",
    "",
    "| Attempt | Step | Name | SubStep | Failure Reason | Timestamp |",
    "|---------|------|------|---------|----------------|-----------|",
    ...state.retry_log.map(({ attempt, step, name, sub_step, failure_reason, timestamp }) =>
      row(attempt, step, name, sub_step, failure_reason, timestamp),
    ),
    ...beside("Retry Log"),
    "",
    "## Blockers",
    ...(state.blockers.length === 0 ? ["- none"] : state.blockers.map((blocker) => `- ${line(blocker)}`)),
    ...beside("Blockers"),
    ...state.others.filter(({ title }) => !isOwn(title)).flatMap(({ title, lines }) => ["", `## ${line(title)}`, ...lines]), // S2
    "",
  ].join("\n");
}

const line = (text: string): string => oneLine(text, lineCharsMax); // S1

const row = (...cells: readonly (string | number)[]): string => `| ${cells.map(cell).join(" | ")} |`;

/** A bar inside a cell would be two cells. S1 */
const cell = (value: string | number): string => oneLine(String(value), cellCharsMax).replaceAll("\\", "\\\\").replaceAll("|", "\\|");
