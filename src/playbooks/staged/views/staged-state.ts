// staged-state: renders `_docs/_autopilot_state.md` in its published format.
//
// Invariants:
//   S1. Parsing the text gives the same state, apart from values that are too long: no value can
//       end a line, a cell or a section.
//   S2. Foreign sections and lines are kept unchanged.

import { type StagedState, stagedSections } from "../../../contracts/staged-state.ts";
import { oneLine } from "../../../views/wording.ts";

const cellCharsMax = 2_000;
/** People's decisions may be long. */
const lineCharsMax = 8_000;

export function renderStagedState(state: StagedState): string {
  const { current, last_session: lastSession } = state;
  const foreignLines = (title: (typeof stagedSections)[number]): readonly string[] =>
    state.others.filter((section) => section.title === title).flatMap(({ lines }) => lines); // S2
  const isOwn = (title: string): boolean =>
    title === "" || (stagedSections as readonly string[]).includes(title);
  const preamble = state.others.filter(({ title }) => title === "").flatMap(({ lines }) => lines);

  return [
    "# Autopilot State",
    ...(preamble.length === 0 ? [] : ["", ...preamble]), // S2
    "",
    "## Current Step",
    `flow: ${toLine(current.flow)}`,
    `step: ${current.step}`,
    `name: ${toLine(current.name)}`,
    `status: ${current.status}`,
    `sub_step: ${toLine(current.sub_step ?? "")}`.trimEnd(),
    `retry_count: ${current.retry_count}`,
    ...foreignLines("Current Step"),
    "",
    "## Completed Steps",
    "",
    "| Step | Name | Completed | Key Outcome |",
    "|------|------|-----------|-------------|",
    ...state.completed.map(({ step, name, completed, key_outcome }) =>
      tableRow(step, name, completed, key_outcome),
    ),
    ...foreignLines("Completed Steps"),
    "",
    "## Key Decisions",
    ...state.decisions.map((decision) => `- ${toLine(decision)}`),
    ...foreignLines("Key Decisions"),
    "",
    "## Last Session",
    ...(lastSession === null ? [] : sessionLines(lastSession)),
    ...foreignLines("Last Session"),
    "",
    "## Retry Log",
    "",
    "| Attempt | Step | Name | SubStep | Failure Reason | Timestamp |",
    "|---------|------|------|---------|----------------|-----------|",
    ...state.retry_log.map(({ attempt, step, name, sub_step, failure_reason, timestamp }) =>
      tableRow(attempt, step, name, sub_step, failure_reason, timestamp),
    ),
    ...foreignLines("Retry Log"),
    "",
    "## Blockers",
    ...(state.blockers.length === 0
      ? ["- none"]
      : state.blockers.map((blocker) => `- ${toLine(blocker)}`)),
    ...foreignLines("Blockers"),
    ...state.others
      .filter(({ title }) => !isOwn(title))
      .flatMap(({ title, lines }) => ["", `## ${toLine(title)}`, ...lines]), // S2
    "",
  ].join("\n");
}

const sessionLines = ({
  date,
  ended_at,
  reason,
  notes,
}: NonNullable<StagedState["last_session"]>): readonly string[] =>
  Object.entries({ date, ended_at, reason, notes }).map(([name, value]) =>
    `${name}: ${toLine(value)}`.trimEnd(),
  );

const toLine = (text: string): string => oneLine(text, lineCharsMax); // S1

const tableRow = (...cells: readonly (string | number)[]): string =>
  `| ${cells.map(toCell).join(" | ")} |`;

/** Escapes bars, which would split the cell. S1 */
const toCell = (value: string | number): string =>
  oneLine(String(value), cellCharsMax).replaceAll("\\", "\\\\").replaceAll("|", "\\|");
