// roadmap: parses a roadmap into phases, and reports all of its faults at once.
//
// Invariants:
//   R1. The order of sections and checklist lines in the file does not matter.
//   R2. A ### heading, checklist line or dependency that may name a phase and is not understood is
//       reported, never dropped silently (titles in roadmap-titles.ts, dependencies in
//       roadmap-fields.ts).
//   R3. Phases come in execution order: topological, ties by number; those in a cycle come last.

import type { RoadmapPhase } from "../../../contracts/roadmap.ts";
import { shown, type Finding, type Position } from "../../../kit/finding.ts";
import { suggest } from "../../../kit/suggest.ts";
import {
  parseFields,
  headingLevel,
  indexByLabel,
  readFieldParagraph,
  type Field,
} from "../../../documents/fields.ts";
import { sortTopologically, findCycles } from "../../../documents/graph.ts";
import { parseMarkdownLines, type Line } from "../../../documents/markdown-lines.ts";
import { comparePhaseIds } from "../../../documents/phase-id.ts";
import { openReport, type Report } from "../../../documents/report.ts";
import {
  parseCriteria,
  parseDependencies,
  isPlaceholder,
  parseRequirements,
  type Dependency,
} from "./roadmap-fields.ts";
import {
  parseChecklistLine,
  parseHeadingLine,
  type ChecklistLine,
  type HeadingLine,
  type PhaseTitle,
} from "./roadmap-titles.ts";

export const phasesMax = 2_000;
const hintsMax = 5;
const fileStart: Position = { line: 1, column: 1 };
const edgesMax = 200_000;
/** Limits how many labels of one phase are checked for spelling. */
const fieldsMax = 100;

export type ParsedRoadmap = {
  readonly phases: readonly RoadmapPhase[];
  readonly findings: readonly Finding[];
};

type Section = { readonly title: HeadingLine; readonly lines: Line[] };
/** A phase whose dependencies are not resolved yet, and where they are written. */
type UnlinkedPhase = {
  readonly phase: Omit<RoadmapPhase, "depends_on">;
  readonly dependencies: readonly Dependency[];
  readonly dependenciesPlace: Position;
};

/** Never throws: everything that is wrong is among the findings, up to the report's limit. */
export function parseRoadmap(file: string, text: string): ParsedRoadmap {
  const report = openReport(file);
  const { lines, findings } = parseMarkdownLines(file, text);
  report.add(findings);
  const { sections, checklist } = collectTitles(lines, report);
  const ids = [...new Set([...sections.keys(), ...checklist.keys()])].sort(comparePhaseIds); // R1
  if (ids.length === 0) {
    report.error(
      fileStart,
      "",
      "no_phases",
      "found no phase, expected ### Phase 1: <name> and - [ ] **Phase 1: <name>**",
    );
  }

  if (ids.length > phasesMax) {
    report.error(
      fileStart,
      "",
      "too_many",
      `found ${ids.length} phases, expected at most ${phasesMax}`,
    );
  }

  const unlinkedPhases = ids
    .slice(0, phasesMax)
    .map((id) => buildUnlinkedPhase(id, sections.get(id), checklist.get(id), report));
  const phases = linkPhases(
    unlinkedPhases.filter((phase) => phase !== null),
    report,
  );

  return { phases, findings: report.findings() };
}

/** The sections and checklist lines by phase id; a second one for the same id is an error. */
function collectTitles(
  lines: readonly Line[],
  report: Report,
): {
  readonly sections: ReadonlyMap<string, Section>;
  readonly checklist: ReadonlyMap<string, ChecklistLine>;
} {
  const sections = new Map<string, Section>();
  const checklist = new Map<string, ChecklistLine>();
  const misplaced: HeadingLine[] = [];
  let openSection: Section | null = null;

  for (const line of lines) {
    const level = headingLevel(line);
    const title = level === 0 ? null : parseHeadingLine(line, report);
    if (level > 0 && level <= 3) openSection = null;
    if (title !== null && title.level !== 3) misplaced.push(title);
    if (title !== null && title.level === 3) {
      openSection = { title, lines: [] };
      const firstSection = sections.get(title.id);
      if (firstSection === undefined) sections.set(title.id, openSection);
      else reportDuplicate(title, firstSection.title, "section", report);

      continue;
    }

    const checklistLine = parseChecklistLine(line, { isInSection: openSection !== null }, report);
    if (checklistLine !== null) {
      const firstLine = checklist.get(checklistLine.id);
      if (firstLine === undefined) checklist.set(checklistLine.id, checklistLine);
      else reportDuplicate(checklistLine, firstLine, "checklist line", report);

      continue;
    }

    openSection?.lines.push(line);
  }

  for (const { id, level, place } of misplaced) {
    if (sections.has(id)) continue; // a subheading about this phase within a section
    report.error(
      place,
      `phase_${id}`,
      "heading_level",
      `found a phase's heading with ${"#".repeat(level)}, expected ### Phase ${id}: <name>`,
    );
  }

  return { sections, checklist };
}

function reportDuplicate(
  second: PhaseTitle,
  first: PhaseTitle,
  kind: "section" | "checklist line",
  report: Report,
): void {
  const message = `found a second ${kind} of phase ${second.id}, the first is on line ${first.place.line}; expected every id once`;
  report.error(second.place, `phase_${second.id}`, "duplicate_id", message);
}

const fieldLabels = new Set(["goal", "depends on", "requirements", "success criteria"]);

/** Null if the phase has neither a section nor a checklist line. */
function buildUnlinkedPhase(
  id: string,
  section: Section | undefined,
  checklistLine: ChecklistLine | undefined,
  report: Report,
): UnlinkedPhase | null {
  const title = section?.title ?? checklistLine;
  if (title === undefined) return null;
  const path = `phase_${id}`;
  reportTitles(id, section?.title, checklistLine, report);
  const fields = fieldsByLabel(section?.lines ?? [], path, report);
  const goalField = fields.get("goal");
  const goal = goalField === undefined ? "" : readFieldParagraph(goalField);
  const stub = isPlaceholder(goal);
  if (stub && section !== undefined) {
    report.warning(
      goalField?.inlinePlace ?? title.place,
      `${path}.goal`,
      "stub_goal",
      `found ${goal === "" ? "no goal" : shown(goal)}, expected **Goal**: <what will be true>; the phase is refused unless a plan exists for it`,
    );
  }

  const criteriaField = fields.get("success criteria");
  if (
    section !== undefined &&
    !stub &&
    checklistLine?.checked !== true &&
    criteriaField === undefined
  ) {
    report.warning(
      title.place,
      `${path}.success_criteria`,
      "no_criteria",
      `found no success criteria for phase ${id}, expected **Success Criteria**: and a numbered list of \`text :: command\`; without one only the plan's own commands decide, and the phase ends with a gap`,
    );
  }

  const requirementsField = fields.get("requirements");
  const dependsField = fields.get("depends on");
  return {
    phase: {
      id,
      name: title.name,
      goal,
      requirements:
        requirementsField === undefined
          ? []
          : [...parseRequirements(requirementsField, `${path}.requirements`, report)],
      success_criteria:
        criteriaField === undefined
          ? []
          : parseCriteria(criteriaField, `${path}.success_criteria`, report),
      checked: checklistLine?.checked ?? false,
      inserted: section?.title.inserted === true || checklistLine?.inserted === true,
      stub,
      line: title.place.line,
    },
    dependencies:
      dependsField === undefined
        ? []
        : parseDependencies(dependsField, `${path}.depends_on`, report),
    dependenciesPlace: dependsField?.inlinePlace ?? title.place,
  };
}

/** Warns if a phase has only one of section and checklist line, or another name in each. */
function reportTitles(
  id: string,
  heading: HeadingLine | undefined,
  checklistLine: ChecklistLine | undefined,
  report: Report,
): void {
  const path = `phase_${id}`;
  if (heading === undefined && checklistLine !== undefined) {
    report.warning(
      checklistLine.place,
      path,
      "missing_section",
      `found phase ${id} in the checklist only, expected a section ### Phase ${id}: ${checklistLine.name}`,
    );
  }

  if (heading !== undefined && checklistLine === undefined) {
    report.warning(
      heading.place,
      path,
      "missing_checklist_line",
      `found phase ${id} as a section only, expected a line - [ ] **Phase ${id}: ${heading.name}**`,
    );
  }

  if (heading !== undefined && checklistLine !== undefined && heading.name !== checklistLine.name) {
    report.warning(
      checklistLine.place,
      `${path}.name`,
      "name_differs",
      `found the name ${shown(checklistLine.name)}, expected ${shown(heading.name)} as its section on line ${heading.place.line} says, which counts`,
    );
  }
}

function fieldsByLabel(
  lines: readonly Line[],
  path: string,
  report: Report,
): ReadonlyMap<string, Field> {
  // If a label is bold somewhere in the section, only bold ones are fields, and plain ones are free
  // text.
  const bold = new Set(parseFields(lines, fieldLabels, "any").map(({ label }) => label));
  const plain = new Set([...fieldLabels].filter((label) => !bold.has(label)));
  const fields = parseFields(lines, fieldLabels, "any", plain);

  for (const { label, place } of fields
    .filter((field) => !fieldLabels.has(field.label))
    .slice(0, fieldsMax)) {
    const suggestion = suggest(label, fieldLabels);
    if (suggestion !== null) {
      report.warning(
        place,
        path,
        "field_misspelt",
        `found the field ${shown(label)}. Did you mean ${suggestion}?`,
      );
    }
  }

  return indexByLabel(fields, { known: fieldLabels, path, report });
}

/** Expands ranges, reports unknown ids and cycles, and orders the phases. */
function linkPhases(
  unlinkedPhases: readonly UnlinkedPhase[],
  report: Report,
): readonly RoadmapPhase[] {
  const ids = unlinkedPhases.map(({ phase }) => phase.id);
  const phasesById = new Map<string, RoadmapPhase>();
  const places = new Map(
    unlinkedPhases.map(({ phase, dependenciesPlace }) => [phase.id, dependenciesPlace]),
  );

  let edgeCount = 0;
  for (const { phase, dependencies } of unlinkedPhases) {
    const dependencyIds = new Set<string>();
    for (const dependency of dependencies) {
      const isRange = dependency.from !== dependency.to;
      for (const id of edgeCount > edgesMax ? [] : expandRange(dependency, ids)) {
        if (id !== phase.id || !isRange) dependencyIds.add(id);
      } // a range around the phase does not mean that it depends on itself

      edgeCount += dependencyIds.size;
    }

    phasesById.set(phase.id, { ...phase, depends_on: [...dependencyIds] });
  }

  reportUnknownDependencies(phasesById, places, report);
  if (edgeCount > edgesMax) {
    report.error(
      fileStart,
      "",
      "too_many",
      `found more than ${edgesMax} dependencies, expected fewer`,
    );
  }

  const nodes = [...phasesById.values()].map(({ id, depends_on }) => ({ id, after: depends_on }));
  for (const cycle of findCycles(nodes, comparePhaseIds)) {
    const [firstId = ""] = cycle;
    const message = `found phases that wait for each other: ${cycle.join(" -> ")}, expected dependencies that end`;
    report.error(
      places.get(firstId) ?? fileStart,
      `phase_${firstId}.depends_on`,
      "dependency_cycle",
      message,
    );
  }

  return sortTopologically(nodes, comparePhaseIds).flatMap((id) => phasesById.get(id) ?? []); // R3
}

/** R2: a dependency on a phase that the roadmap does not have, with a few similar ids as a hint. */
function reportUnknownDependencies(
  phasesById: ReadonlyMap<string, RoadmapPhase>,
  places: ReadonlyMap<string, Position>,
  report: Report,
): void {
  const idsByWholePart = new Map<string, string[]>();
  for (const id of phasesById.keys()) {
    idsByWholePart.set(
      wholePart(id),
      [...(idsByWholePart.get(wholePart(id)) ?? []), id].slice(0, hintsMax),
    );
  }

  for (const { id, depends_on } of phasesById.values()) {
    for (const unknownId of depends_on.filter((dependency) => !phasesById.has(dependency))) {
      const similarIds = idsByWholePart.get(wholePart(unknownId)) ?? [];
      const hint = similarIds.length === 0 ? "" : `, such as ${similarIds.join(", ")}`;
      const message = `found a dependency of phase ${id} on ${unknownId}, expected the id of a phase${hint}`;
      report.error(
        places.get(id) ?? fileStart,
        `phase_${id}.depends_on`,
        "unknown_dependency",
        message,
      );
    }
  }
}

/** `2.1` → `2` */
const wholePart = (id: string): string => id.split(".")[0] ?? id;

/** Both ends of a range, which must exist, and every phase between them. */
function expandRange({ from, to }: Dependency, sortedIds: readonly string[]): readonly string[] {
  if (from === to) return [from];
  const idsBetween = sortedIds.slice(lowerBound(sortedIds, from), lowerBound(sortedIds, to));
  return [from, ...idsBetween, to];
}

/** The index of an id among sorted ones, or where it would be inserted. */
function lowerBound(sortedIds: readonly string[], id: string): number {
  let [low, high] = [0, sortedIds.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (comparePhaseIds(sortedIds[middle] ?? "", id) < 0) low = middle + 1;
    else high = middle;
  }

  return low;
}
