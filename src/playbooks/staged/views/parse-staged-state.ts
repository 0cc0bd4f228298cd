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
  type CurrentStep,
  type StagedState,
  stagedSections,
  stagedStatePath,
} from "../../../contracts/staged-state.ts";
import type { Finding } from "../../../kit/finding.ts";
import { parseCurrent } from "./parse-staged-current.ts";
import { parseCompleted, parseRetry, parseRows, parseSession } from "./parse-staged-tables.ts";
import { checkConsistency } from "./staged-consistency.ts";
import {
  findSections,
  hasTitle,
  type KeepLines,
  type Line,
  parseList,
  type Report,
  type Section,
  splitSections,
} from "./staged-state-lines.ts";

export type ParsedStagedState = {
  readonly state: Omit<StagedState, "current"> & { readonly current: CurrentStep | null };
  readonly findings: readonly Finding[];
};

const textCharsMax = 1_048_576;
const findingsMax = 200;

type Title = (typeof stagedSections)[number];

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
    const message = `found ${source.length} characters, expected at most ${textCharsMax}; the rest is not read`;
    report("error", 1, "too_large", message);
  }

  if (!isStagedState(source)) {
    const message = "found neither the title `# Autopilot State` nor a Current Step";
    report("error", 1, "not_a_state_file", message);
  }

  const sections = splitSections(source.slice(0, textCharsMax), stagedSections);
  const state = parseSections(sections, report);
  if (state.current !== null) checkConsistency(state.current, state, sections, report);
  return { state, findings: findings.toSorted((a, b) => a.line - b.line) };
}

function parseSections(sections: readonly Section[], report: Report): ParsedStagedState["state"] {
  const others: StagedState["others"] = [];
  const keepUnder =
    (title: Title): KeepLines =>
    (lines) => {
      if (lines.length > 0) others.push(buildOther(title, lines)); // R3
    };
  const linesOf = (title: Title): readonly Line[] =>
    readSection(sections, title, report, "warning")?.lines ?? [];

  const currentSection = readSection(sections, "Current Step", report, "error");
  const current = parseCurrent(currentSection, report, keepUnder("Current Step"));
  const completed = parseRows(
    linesOf("Completed Steps"),
    parseCompleted,
    report,
    keepUnder("Completed Steps"),
  );
  const decisions = [...parseList(linesOf("Key Decisions"))];
  const last_session = parseSession(linesOf("Last Session"), keepUnder("Last Session"));
  const retry_log = parseRows(linesOf("Retry Log"), parseRetry, report, (lines) =>
    keepUnder("Retry Log")(lines.filter((line) => !isRemark(line))),
  );
  const blockers = [...parseList(linesOf("Blockers"))];
  others.push(...listUnread(sections)); // R3

  return { current, completed, decisions, last_session, retry_log, blockers, others };
}

/** `(no retries yet)` */
const isRemark = ({ text }: Line): boolean => /^\(.*\)$/.test(text.trim());

/** The first section with this title; one that is missing, or is there twice, is reported. */
function readSection(
  sections: readonly Section[],
  title: Title,
  report: Report,
  severityIfMissing: Finding["severity"],
): Section | null {
  const [section, secondSection] = findSections(sections, title);
  if (section === undefined) {
    const message = `found no section ${title}, expected \`## ${title}\``;
    report(severityIfMissing, 1, "section_missing", message);
  }

  if (secondSection !== undefined) {
    const message = `found a second section ${title}; the first one counts, and what this one says is kept behind it`;
    report("warning", secondSection.line, "section_twice", message);
  }

  return section ?? null;
}

/** What stands in second sections of a title, before the first section, and in foreign ones. */
function listUnread(sections: readonly Section[]): StagedState["others"] {
  const secondSections = stagedSections
    .flatMap((title) =>
      findSections(sections, title)
        .slice(1)
        .map(({ lines }) => buildOther(title, nonBlank(lines))),
    )
    .filter(({ lines }) => lines.length > 0);

  const [beforeSections, ...titledSections] = sections;
  const preamble = nonBlank(beforeSections?.lines ?? []).filter(({ text }) => !isStagedTitle(text));

  const foreignSections = titledSections
    .filter((section) => !stagedSections.some((title) => hasTitle(section, title)))
    .map(({ title, lines }) => buildOther(title, withoutBlankEnd(lines)));

  return [
    ...secondSections,
    ...(preamble.length > 0 ? [buildOther("", preamble)] : []),
    ...foreignSections,
  ];
}

const buildOther = (title: string, lines: readonly Line[]): StagedState["others"][number] => ({
  title,
  lines: lines.map(({ text }) => text),
});

const isBlank = ({ text }: Line): boolean => text.trim() === "";
const nonBlank = (lines: readonly Line[]): readonly Line[] =>
  lines.filter((line) => !isBlank(line));
const withoutBlankEnd = (lines: readonly Line[]): readonly Line[] =>
  lines.slice(0, lines.findLastIndex((line) => !isBlank(line)) + 1);
