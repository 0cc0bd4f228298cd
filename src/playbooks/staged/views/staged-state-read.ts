// staged-state-read: parses `_docs/_autopilot_state.md` as a person or another tool left it.
//
// Invariants:
//   R1. For any text the result is what could be read and every fault with its line; nothing is thrown.
//   R2. The project's step is never guessed: an unclear Current Step counts as none, and the folders decide.
//   R3. Nothing is lost: content outside the format is kept beside it.

import { isStagedState, isTitle } from "../../../documents/staged-title.ts";
import {
  CompletedStep,
  CurrentStep,
  RetryRow,
  type StagedState,
  stagedSections,
  stagedStatePath,
  stagedStatuses,
  stagedSteps,
} from "../../../contracts/staged-state.ts";
import { type Finding, shown } from "../../../kit/finding.ts";
import { issuesOf } from "../../../kit/located-issues.ts";
import {
  findCells,
  type Field,
  findField,
  isEmptyMark,
  isRule,
  type Line,
  findPoints,
  type Section,
  textSections,
} from "./staged-state-lines.ts";

export type StagedRead = {
  readonly state: Omit<StagedState, "current"> & { readonly current: CurrentStep | null };
  readonly findings: readonly Finding[];
};

const charsMax = 1_048_576;
const findingsMax = 200;
const rowsMax = 5_000;

type Title = (typeof stagedSections)[number];
type Say = (severity: Finding["severity"], line: number, rule: string, message: string) => void;

export function readStagedState(source: string, file: string = stagedStatePath): StagedRead {
  const findings: Finding[] = [];
  const say: Say = (severity, line, rule, message) => {
    if (findings.length < findingsMax) findings.push({ file, line, column: 1, path: "", rule, message, severity });
  };
  if (source.length > charsMax)
    say("error", 1, "too_large", `found ${source.length} characters, expected at most ${charsMax}; the rest is not read`);
  const sections = textSections(source.slice(0, charsMax), stagedSections);
  if (!isStagedState(source)) say("error", 1, "not_a_state_file", "found neither the title `# Autopilot State` nor a Current Step");
  const kept: StagedState["others"] = [];
  const titleLines = (title: Title): readonly Line[] => sectionOf(sections, title, say)?.lines ?? [];
  const keep = (title: Title, lines: readonly Line[]): void => {
    if (lines.length > 0) kept.push({ title, lines: lines.map(({ text }) => text) }); // R3
  };
  const current = currentOf(sectionOf(sections, "Current Step", say, "error"), say, (lines) => keep("Current Step", lines));
  const completed = rowsOf(titleLines("Completed Steps"), say, (lines) => keep("Completed Steps", lines), completedIn);
  const decisions = [...findPoints(titleLines("Key Decisions"))];
  const last_session = sessionOf(titleLines("Last Session"), (lines) => keep("Last Session", lines));
  const retry_log = rowsOf(
    titleLines("Retry Log"),
    say,
    (lines) =>
      keep(
        "Retry Log",
        lines.filter(({ text }) => !/^\(.*\)$/.test(text.trim())),
      ),
    findRetry,
  );
  const blockers = [...findPoints(titleLines("Blockers"))];
  for (const title of stagedSections)
    for (const { lines } of sections.filter((section) => isCalled(section, title)).slice(1)) keep(title, filled(lines)); // R3
  const previousLines = filled(sections[0]?.lines ?? []).filter(({ text }) => !isTitle(text));
  if (previousLines.length > 0) kept.push({ title: "", lines: previousLines.map(({ text }) => text) }); // R3
  for (const section of sections.slice(1).filter((candidate) => !stagedSections.some((title) => isCalled(candidate, title))))
    kept.push({ title: section.title, lines: section.lines.map(({ text }) => text).slice(0, lastFull(section.lines)) }); // R3
  const state = { current, completed, decisions, last_session, retry_log, blockers, others: kept };
  judge(state, sections, say);
  return { state, findings: findings.toSorted((a, b) => a.line - b.line) };
}

const isCalled = (section: Section, title: string): boolean => section.title.toLowerCase() === title.toLowerCase();
const filled = (lines: readonly Line[]): readonly Line[] => lines.filter(({ text }) => text.trim() !== "");
const lastFull = (lines: readonly Line[]): number => lines.findLastIndex(({ text }) => text.trim() !== "") + 1;

function sectionOf(sections: readonly Section[], title: Title, say: Say, missing: Finding["severity"] = "warning"): Section | null {
  const [first, second] = sections.filter((section) => isCalled(section, title));
  if (first === undefined) say(missing, 1, "section_missing", `found no section ${title}, expected \`## ${title}\``);
  if (second !== undefined)
    say(
      "warning",
      second.line,
      "section_twice",
      `found a second section ${title}; the first one counts, and what this one says is kept behind it`,
    );
  return first ?? null;
}

const fieldNames: readonly string[] = ["flow", "step", "name", "status", "sub_step", "retry_count"];

function currentOf(section: Section | null, say: Say, keep: (lines: readonly Line[]) => void): CurrentStep | null {
  if (section === null) return null;
  const fields = new Map<string, Field>();
  const remainingLines = section.lines.filter((line) => {
    const field = findField(line);
    if (field === null || !fieldNames.includes(field.name) || fields.has(field.name)) return line.text.trim() !== "";
    fields.set(field.name, field);
    return false;
  });
  keep(remainingLines);
  const textOf = (name: string): string => fields.get(name)?.value ?? "";
  const lineOf = (name: string): number => fields.get(name)?.line ?? section.line;
  const miss = (name: string, expected: string): null => {
    say(
      "error",
      lineOf(name),
      `current_${name}`,
      `found ${fields.has(name) ? shown(textOf(name)) : "nothing"} as ${name}, expected ${expected}`,
    );
    return null;
  };
  const step = /^done$/i.test(textOf("step"))
    ? ("done" as const)
    : /^\d{1,2}$/.test(textOf("step"))
      ? Number(textOf("step"))
      : miss("step", "a number or done");
  const status =
    stagedStatuses.find((stagedStatus) => stagedStatus === textOf("status").toLowerCase().replaceAll(" ", "_")) ??
    miss("status", stagedStatuses.join(", "));
  const flow = /^[a-z][a-z0-9_-]{0,63}$/.test(textOf("flow")) ? textOf("flow") : miss("flow", Object.keys(stagedSteps).join(" or "));
  const count = fields.has("retry_count")
    ? /^[0-3]$/.test(textOf("retry_count"))
      ? Number(textOf("retry_count"))
      : miss("retry_count", "0 to 3")
    : 0;
  if (!fields.has("retry_count")) say("warning", section.line, "current_retry_count", "found no retry_count, read as 0");
  const last = flow !== null && Object.hasOwn(stagedSteps, flow) ? stagedSteps[flow]?.length : undefined;
  if (typeof step === "number" && last !== undefined && (step < 1 || step > last)) return miss("step", `1 to ${last} or done`); // R2
  if (step === null || status === null || flow === null || count === null) return null; // R2
  const read = issuesOf(CurrentStep, {
    flow,
    step,
    name: textOf("name"),
    status,
    sub_step: isEmptyMark(textOf("sub_step")) ? null : textOf("sub_step"),
    retry_count: count,
  });
  return read.issues.length === 0 ? read.value : miss("step", "a step of the flow");
}

type Cells = readonly string[];
type RowRead<T> = { readonly row: T } | { readonly fault: string };

/** The rows of a section's table that can be read; the head, the rule below it and the format's placeholder are none. */
function rowsOf<T>(lines: readonly Line[], say: Say, keep: (lines: readonly Line[]) => void, read: (cells: Cells) => RowRead<T>): T[] {
  const rows: T[] = [];
  const remainingLines: Line[] = [];
  for (const line of lines.slice(0, rowsMax)) {
    const cells = findCells(line);
    if (cells === null) {
      if (line.text.trim() !== "") remainingLines.push(line);
      continue;
    }
    if (isRule(cells) || /^(step|attempt)$/i.test(cells[0] ?? "") || cells.every((cell) => isEmptyMark(cell))) continue;
    const found = read(cells);
    if ("row" in found) {
      rows.push(found.row);
      continue;
    }
    say("error", line.number, "row", `found a row that cannot be read: ${found.fault}`);
    remainingLines.push(line);
  }
  keep(remainingLines);
  return rows;
}

function completedIn(cells: Cells): RowRead<CompletedStep> {
  const [step = "", name = "", completed = "", ...outcome] = cells;
  if (cells.length !== 4) return { fault: `${cells.length} cells, expected 4` };
  const { value, issues } = issuesOf(CompletedStep, { step: Number(step), name, completed, key_outcome: outcome.join(" ") });
  return issues.length === 0 ? { row: value } : { fault: `${shown(step)} is no step` };
}

function findRetry(cells: Cells): RowRead<RetryRow> {
  const [attempt = "", step = "", name = "", sub_step = "", failure_reason = "", timestamp = ""] = cells;
  if (cells.length !== 6) return { fault: `${cells.length} cells, expected 6` };
  const { value, issues } = issuesOf(RetryRow, { attempt: Number(attempt), step: Number(step), name, sub_step, failure_reason, timestamp });
  return issues.length === 0 ? { row: value } : { fault: `${shown(attempt)} of step ${shown(step)} is no retry` };
}

/** Notes may go on over lines of their own; of a field that is there twice the first counts. */
function sessionOf(lines: readonly Line[], keep: (lines: readonly Line[]) => void): StagedState["last_session"] {
  const found: Record<string, string> = {};
  const remainingLines: Line[] = [];
  let open: string | null = null;
  for (const line of lines.filter(({ text }) => text.trim() !== "")) {
    const field = findField(line);
    const isField = field !== null && ["date", "ended_at", "reason", "notes"].includes(field.name);
    if (isField && !Object.hasOwn(found, field.name)) {
      open = field.name;
      found[open] = isEmptyMark(field.value) ? "" : field.value;
    } else if (isField) {
      open = null;
      remainingLines.push(line);
    } else if (open === "notes") found["notes"] = `${found["notes"] ?? ""} ${line.text.trim()}`.trim();
    else remainingLines.push(line);
  }
  keep(remainingLines);
  if (Object.values(found).every((value) => value === "")) return null;
  return { date: found["date"] ?? "", ended_at: found["ended_at"] ?? "", reason: found["reason"] ?? "", notes: found["notes"] ?? "" };
}

/** Rules of the format that involve several sections. */
function judge({ current, blockers, completed }: StagedRead["state"], sections: readonly Section[], say: Say): void {
  const titleLine = (title: Title): number => sections.find((section) => isCalled(section, title))?.line ?? 1;
  if (current === null) return;
  const titleLines = (title: Title): readonly Line[] => sections.find((section) => isCalled(section, title))?.lines ?? [];
  const fieldAt = (name: string): number =>
    titleLines("Current Step").find((line) => findField(line)?.name === name)?.number ?? titleLine("Current Step");
  const rowAt = (step: number, name: string): number =>
    titleLines("Completed Steps").find((line) => {
      const cells = findCells(line);
      return Number(cells?.[0]) === step && cells?.[1] === name;
    })?.number ?? titleLine("Completed Steps");
  const steps = Object.hasOwn(stagedSteps, current.flow) ? stagedSteps[current.flow] : undefined;
  if (steps === undefined)
    say(
      "warning",
      fieldAt("flow"),
      "current_flow",
      `found the flow ${shown(current.flow)}, expected ${Object.keys(stagedSteps).join(" or ")}`,
    );
  if (steps !== undefined && typeof current.step === "number") {
    const name = steps[current.step - 1];
    if (name !== undefined && name !== current.name)
      say("warning", fieldAt("name"), "current_name", `found the name ${shown(current.name)} for step ${current.step}, expected ${name}`);
  }
  if (current.status === "failed" && current.retry_count === 3 && blockers.length === 0)
    say("error", titleLine("Blockers"), "failed_without_blocker", "found a step that failed three times and no blocker that says so");
  if (current.retry_count === 3 && current.status !== "failed")
    say("warning", fieldAt("retry_count"), "retries_spent", `found retry_count: 3 and status: ${current.status}, expected failed`);
  for (const { step, name } of completed) {
    const known = steps?.[step - 1];
    if (steps !== undefined && known !== name)
      say(
        "warning",
        rowAt(step, name),
        "completed_name",
        `found ${shown(name)} as step ${step}, expected ${known ?? `at most ${steps.length} steps`}`,
      );
  }
}
