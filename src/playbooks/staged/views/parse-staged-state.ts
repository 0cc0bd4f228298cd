// parse-staged-state: parses `_docs/_autopilot_state.md` as a person or another tool left it.
//
// Invariants:
//   R1. Any text gives a result: what could be read, and its faults with their lines, up to a
//       limit. Nothing is thrown.
//   R2. The project's step is never guessed: an unclear Current Step counts as none, and the
//       folders decide.
//   R3. Nothing is lost but code fences in the format's own sections: content that is not part of
//       the format is kept in `others`.

import { isStagedState, isStagedTitle } from "../../../documents/staged-title.ts";
import {
  CompletedStep,
  CurrentStep,
  retriesMax,
  RetryRow,
  type StagedState,
  stagedSections,
  stagedStatePath,
  stagedStatuses,
  stagedSteps,
} from "../../../contracts/staged-state.ts";
import { type Finding, shown } from "../../../kit/finding.ts";
import { findIssues } from "../../../kit/located-issues.ts";
import {
  parseCells,
  type Field,
  parseField,
  isEmptyMark,
  isSeparatorRow,
  type Line,
  parseList,
  type Section,
  splitSections,
} from "./staged-state-lines.ts";

export type ParsedStagedState = {
  readonly state: Omit<StagedState, "current"> & { readonly current: CurrentStep | null };
  readonly findings: readonly Finding[];
};

const textCharsMax = 1_048_576;
const findingsMax = 200;
const rowsMax = 5_000;

type Title = (typeof stagedSections)[number];
type Report = (severity: Finding["severity"], line: number, rule: string, message: string) => void;

/** Never throws. R1 */
export function parseStagedState(
  source: string,
  file: string = stagedStatePath,
): ParsedStagedState {
  const findings: Finding[] = [];
  const report: Report = (severity, line, rule, message) => {
    if (findings.length < findingsMax) {
      findings.push({ file, line, column: 1, path: "", rule, message, severity });
    }
  };

  if (source.length > textCharsMax) {
    report(
      "error",
      1,
      "too_large",
      `found ${source.length} characters, expected at most ${textCharsMax}; the rest is not read`,
    );
  }

  const sections = splitSections(source.slice(0, textCharsMax), stagedSections);
  if (!isStagedState(source)) {
    report(
      "error",
      1,
      "not_a_state_file",
      "found neither the title `# Autopilot State` nor a Current Step",
    );
  }

  const others: StagedState["others"] = [];
  const linesOf = (title: Title): readonly Line[] =>
    findSection(sections, title, report)?.lines ?? [];
  const keepLines = (title: Title, lines: readonly Line[]): void => {
    if (lines.length > 0) others.push({ title, lines: lines.map(({ text }) => text) }); // R3
  };

  const current = parseCurrent(
    findSection(sections, "Current Step", report, "error"),
    report,
    (lines) => keepLines("Current Step", lines),
  );

  const completed = parseRows(
    linesOf("Completed Steps"),
    report,
    (lines) => keepLines("Completed Steps", lines),
    parseCompleted,
  );

  const decisions = [...parseList(linesOf("Key Decisions"))];
  const last_session = parseSession(linesOf("Last Session"), (lines) =>
    keepLines("Last Session", lines),
  );

  const isRemark = ({ text }: Line): boolean => /^\(.*\)$/.test(text.trim()); // (no retries yet)
  const keepRetryLines = (lines: readonly Line[]): void =>
    keepLines(
      "Retry Log",
      lines.filter((line) => !isRemark(line)),
    );
  const retry_log = parseRows(linesOf("Retry Log"), report, keepRetryLines, parseRetry);
  const blockers = [...parseList(linesOf("Blockers"))];

  for (const title of stagedSections) {
    for (const { lines } of sections.filter((section) => hasTitle(section, title)).slice(1)) {
      keepLines(title, nonBlank(lines));
    }
  } // R3

  const preamble = nonBlank(sections[0]?.lines ?? []).filter(({ text }) => !isStagedTitle(text));
  if (preamble.length > 0) others.push({ title: "", lines: preamble.map(({ text }) => text) }); // R3
  for (const section of sections
    .slice(1)
    .filter((candidate) => !stagedSections.some((title) => hasTitle(candidate, title)))) {
    others.push({
      title: section.title,
      lines: section.lines.map(({ text }) => text).slice(0, endOfText(section.lines)),
    });
  } // R3

  const state = { current, completed, decisions, last_session, retry_log, blockers, others };
  checkConsistency(state, sections, report);
  return { state, findings: findings.toSorted((a, b) => a.line - b.line) };
}

const hasTitle = (section: Section, title: string): boolean =>
  section.title.toLowerCase() === title.toLowerCase();
const nonBlank = (lines: readonly Line[]): readonly Line[] =>
  lines.filter(({ text }) => text.trim() !== "");
const endOfText = (lines: readonly Line[]): number =>
  lines.findLastIndex(({ text }) => text.trim() !== "") + 1;

function findSection(
  sections: readonly Section[],
  title: Title,
  report: Report,
  severity: Finding["severity"] = "warning",
): Section | null {
  const [section, secondSection] = sections.filter((candidate) => hasTitle(candidate, title));
  if (section === undefined) {
    report(severity, 1, "section_missing", `found no section ${title}, expected \`## ${title}\``);
  }

  if (secondSection !== undefined) {
    report(
      "warning",
      secondSection.line,
      "section_twice",
      `found a second section ${title}; the first one counts, and what this one says is kept behind it`,
    );
  }

  return section ?? null;
}

const fieldNames: readonly string[] = ["flow", "step", "name", "status", "sub_step", "retry_count"];

function parseCurrent(
  section: Section | null,
  report: Report,
  keep: (lines: readonly Line[]) => void,
): CurrentStep | null {
  if (section === null) return null;
  const fields = new Map<string, Field>();

  const remainingLines = section.lines.filter((line) => {
    const field = parseField(line);
    if (field === null || !fieldNames.includes(field.name) || fields.has(field.name)) {
      return line.text.trim() !== "";
    }

    fields.set(field.name, field);
    return false;
  });
  keep(remainingLines);
  const valueOf = (name: string): string => fields.get(name)?.value ?? "";
  const lineOf = (name: string): number => fields.get(name)?.line ?? section.line;

  const reportInvalid = (name: string, expected: string): null => {
    const actual = fields.has(name) ? shown(valueOf(name)) : "nothing";
    report(
      "error",
      lineOf(name),
      `current_${name}`,
      `found ${actual} as ${name}, expected ${expected}`,
    );

    return null;
  };
  const numberIn = (name: string, pattern: RegExp, expected: string): number | null =>
    pattern.test(valueOf(name)) ? Number(valueOf(name)) : reportInvalid(name, expected);
  const step = /^done$/i.test(valueOf("step"))
    ? ("done" as const)
    : numberIn("step", /^\d{1,2}$/, "a number or done");

  const status =
    stagedStatuses.find(
      (stagedStatus) => stagedStatus === valueOf("status").toLowerCase().replaceAll(" ", "_"),
    ) ?? reportInvalid("status", stagedStatuses.join(", "));

  const flow = /^[a-z][a-z0-9_-]{0,63}$/.test(valueOf("flow"))
    ? valueOf("flow")
    : reportInvalid("flow", Object.keys(stagedSteps).join(" or "));

  const retryCount = fields.has("retry_count") ? numberIn("retry_count", /^[0-3]$/, "0 to 3") : 0;
  if (!fields.has("retry_count")) {
    report("warning", section.line, "current_retry_count", "found no retry_count, read as 0");
  }

  const stepsMax =
    flow !== null && Object.hasOwn(stagedSteps, flow) ? stagedSteps[flow]?.length : undefined;
  if (typeof step === "number" && stepsMax !== undefined && (step < 1 || step > stepsMax)) {
    return reportInvalid("step", `1 to ${stepsMax} or done`);
  } // R2

  if (step === null || status === null || flow === null || retryCount === null) return null; // R2
  const parsed = findIssues(CurrentStep, {
    flow,
    step,
    name: valueOf("name"),
    status,
    sub_step: isEmptyMark(valueOf("sub_step")) ? null : valueOf("sub_step"),
    retry_count: retryCount,
  });
  return parsed.issues.length === 0 ? parsed.value : reportInvalid("step", "a step of the flow");
}

type Cells = readonly string[];
type RowResult<T> = { readonly row: T } | { readonly fault: string };

/**
 * The valid rows of a section's table, without its head, the separator below it and the format's
 * placeholder row.
 */
function parseRows<T>(
  lines: readonly Line[],
  report: Report,
  keep: (lines: readonly Line[]) => void,
  parse: (cells: Cells) => RowResult<T>,
): T[] {
  const rows: T[] = [];
  const remainingLines: Line[] = [];
  let firstUnread: Line | null = null;

  for (const line of lines) {
    const cells = parseCells(line);
    if (cells === null) {
      if (line.text.trim() !== "") remainingLines.push(line);
      continue;
    }

    if (rows.length === rowsMax) {
      firstUnread ??= line;
      remainingLines.push(line);
      continue;
    }

    if (
      isSeparatorRow(cells) ||
      /^(step|attempt)$/i.test(cells[0] ?? "") ||
      cells.every((cell) => isEmptyMark(cell))
    ) {
      continue;
    }

    const result = parse(cells);
    if ("row" in result) {
      rows.push(result.row);
      continue;
    }

    report("error", line.number, "row", `found a row that cannot be read: ${result.fault}`);
    remainingLines.push(line);
  }

  if (firstUnread !== null) {
    report(
      "error",
      firstUnread.number,
      "too_many_rows",
      `found more than ${rowsMax} rows; from here on they are kept, but not read`,
    );
  }

  keep(remainingLines); // R3
  return rows;
}

function parseCompleted(cells: Cells): RowResult<CompletedStep> {
  const [step = "", name = "", completed = "", ...outcome] = cells;
  if (cells.length !== 4) return { fault: `${cells.length} cells, expected 4` };

  const { value, issues } = findIssues(CompletedStep, {
    step: Number(step),
    name,
    completed,
    key_outcome: outcome.join(" "),
  });
  return issues.length === 0 ? { row: value } : { fault: `${shown(step)} is no step` };
}

function parseRetry(cells: Cells): RowResult<RetryRow> {
  const [attempt = "", step = "", name = "", sub_step = "", failure_reason = "", timestamp = ""] =
    cells;
  if (cells.length !== 6) return { fault: `${cells.length} cells, expected 6` };

  const { value, issues } = findIssues(RetryRow, {
    attempt: Number(attempt),
    step: Number(step),
    name,
    sub_step,
    failure_reason,
    timestamp,
  });
  return issues.length === 0
    ? { row: value }
    : { fault: `${shown(attempt)} of step ${shown(step)} is no retry` };
}

/** Notes may continue on further lines. If a field occurs twice, the first counts. */
function parseSession(
  lines: readonly Line[],
  keep: (lines: readonly Line[]) => void,
): StagedState["last_session"] {
  const values: Record<string, string> = {};
  const remainingLines: Line[] = [];
  const noteLines: string[] = [];
  let openField: string | null = null;

  for (const line of lines.filter(({ text }) => text.trim() !== "")) {
    const field = parseField(line);
    const isField = field !== null && ["date", "ended_at", "reason", "notes"].includes(field.name);
    if (isField && !Object.hasOwn(values, field.name)) {
      openField = field.name;
      values[openField] = isEmptyMark(field.value) ? "" : field.value;
    } else if (isField) {
      openField = null;
      remainingLines.push(line);
    } else if (openField === "notes") {
      noteLines.push(line.text.trim());
    } else {
      remainingLines.push(line);
    }
  }

  keep(remainingLines);
  if (noteLines.length > 0) {
    values["notes"] = [values["notes"] ?? "", ...noteLines].join(" ").trim();
  }

  if (Object.values(values).every((value) => value === "")) return null;
  return {
    date: values["date"] ?? "",
    ended_at: values["ended_at"] ?? "",
    reason: values["reason"] ?? "",
    notes: values["notes"] ?? "",
  };
}

/** Reports contradictions between fields or sections. */
function checkConsistency(
  { current, blockers, completed }: ParsedStagedState["state"],
  sections: readonly Section[],
  report: Report,
): void {
  const sectionLine = (title: Title): number =>
    sections.find((section) => hasTitle(section, title))?.line ?? 1;
  if (current === null) return;
  const sectionLines = (title: Title): readonly Line[] =>
    sections.find((section) => hasTitle(section, title))?.lines ?? [];
  const fieldLine = (name: string): number =>
    sectionLines("Current Step").find((line) => parseField(line)?.name === name)?.number ??
    sectionLine("Current Step");

  const rowLine = (step: number, name: string): number =>
    sectionLines("Completed Steps").find((line) => {
      const cells = parseCells(line);
      return Number(cells?.[0]) === step && cells?.[1] === name;
    })?.number ?? sectionLine("Completed Steps");

  const steps = Object.hasOwn(stagedSteps, current.flow) ? stagedSteps[current.flow] : undefined;
  if (steps === undefined) {
    report(
      "warning",
      fieldLine("flow"),
      "current_flow",
      `found the flow ${shown(current.flow)}, expected ${Object.keys(stagedSteps).join(" or ")}`,
    );
  }

  if (steps !== undefined && typeof current.step === "number") {
    const name = steps[current.step - 1];
    if (name !== undefined && name !== current.name) {
      report(
        "warning",
        fieldLine("name"),
        "current_name",
        `found the name ${shown(current.name)} for step ${current.step}, expected ${name}`,
      );
    }
  }

  if (current.status === "failed" && current.retry_count === retriesMax && blockers.length === 0) {
    report(
      "error",
      sectionLine("Blockers"),
      "failed_without_blocker",
      "found a step that failed three times and no blocker that says so",
    );
  }

  if (current.retry_count === retriesMax && current.status !== "failed") {
    report(
      "warning",
      fieldLine("retry_count"),
      "retries_spent",
      `found retry_count: ${retriesMax} and status: ${current.status}, expected failed`,
    );
  }

  for (const { step, name } of completed) {
    const expectedName = steps?.[step - 1];
    if (steps !== undefined && expectedName !== name) {
      report(
        "warning",
        rowLine(step, name),
        "completed_name",
        `found ${shown(name)} as step ${step}, expected ${expectedName ?? `at most ${steps.length} steps`}`,
      );
    }
  }
}
