// roadmap: reads a roadmap into phases, and says everything that is wrong with it at once.
//
// Invariants:
//   R1. The same sections and lines in another order are the same phases.
//   R2. What is written and not understood is reported; nothing that may be a phase or a dependency is dropped in silence.
//   R3. Phases come in execution order: topological, ties by number; those that wait for each other last.

import type { RoadmapPhase } from "../../../contracts/roadmap.ts";
import { shown, type Finding, type Position } from "../../../kit/finding.ts";
import { suggest } from "../../../kit/suggest.ts";
import { fieldsOf, computeHeadingLevel, oncePerLabel, fieldParagraph, type Field } from "../../../documents/fields.ts";
import { inOrder, ringsAmong } from "../../../documents/graph.ts";
import { markdownLines, type Line } from "../../../documents/markdown-lines.ts";
import { comparePhaseIds } from "../../../documents/phase-id.ts";
import { openReport, type Report } from "../../../documents/report.ts";
import { fieldCriteria, fieldDependencies, isPlaceholder, fieldRequirements, type Dependency } from "./roadmap-fields.ts";
import { findChecklistLine, findHeadingLine, type ChecklistLine, type HeadingLine, type Title } from "./roadmap-titles.ts";

export const phasesMax = 2_000;
const edgesMax = 200_000;
/** Labels of one phase that are inspected for a slip. */
const fieldsMax = 100;

export type RoadmapRead = { readonly phases: readonly RoadmapPhase[]; readonly findings: readonly Finding[] };

type Section = { readonly title: HeadingLine; readonly lines: Line[] };
type Draft = { readonly phase: Omit<RoadmapPhase, "depends_on">; readonly dependencies: readonly Dependency[]; readonly at: Position };

export function readRoadmap(file: string, text: string): RoadmapRead {
  const report = openReport(file);
  const { lines, findings } = markdownLines(file, text);
  report.add(findings);
  const { sections, checklist } = gathered(lines, report);
  const ids = [...new Set([...sections.keys(), ...checklist.keys()])].sort(comparePhaseIds);
  if (ids.length === 0)
    report.error({ line: 1, column: 1 }, "", "no_phases", "found no phase, expected ### Phase 1: <name> and - [ ] **Phase 1: <name>**");
  if (ids.length > phasesMax)
    report.error({ line: 1, column: 1 }, "", "too_many", `found ${ids.length} phases, expected at most ${phasesMax}`);
  const drafts = ids.slice(0, phasesMax).flatMap((id) => draftOf(id, sections.get(id), checklist.get(id), report));
  const phases = linked(drafts, report);
  return { phases, findings: report.findings() };
}

/** All titles of the file, each id once; a second of its kind is an error. */
function gathered(
  lines: readonly Line[],
  report: Report,
): { readonly sections: ReadonlyMap<string, Section>; readonly checklist: ReadonlyMap<string, ChecklistLine> } {
  const sections = new Map<string, Section>();
  const checklist = new Map<string, ChecklistLine>();
  const misplaced: HeadingLine[] = [];
  let openSection: Section | null = null;
  for (const line of lines) {
    const level = computeHeadingLevel(line);
    const title = level === 0 ? null : findHeadingLine(line, report);
    if (level > 0 && level <= 3) openSection = null;
    if (title !== null && title.level !== 3) misplaced.push(title);
    if (title !== null && title.level === 3) {
      openSection = { title, lines: [] };
      const first = sections.get(title.id);
      if (first === undefined) sections.set(title.id, openSection);
      else twice(title, first.title, "section", report);
      continue;
    }
    const ticked = findChecklistLine(line, { isInSection: openSection !== null }, report);
    if (ticked !== null) {
      const first = checklist.get(ticked.id);
      if (first === undefined) checklist.set(ticked.id, ticked);
      else twice(ticked, first, "checklist line", report);
      continue;
    }
    openSection?.lines.push(line);
  }
  for (const { id, level, place } of misplaced) {
    if (sections.has(id)) continue; // a part of another section that speaks of this phase
    report.error(
      place,
      `phase_${id}`,
      "heading_level",
      `found a phase's heading with ${"#".repeat(level)}, expected ### Phase ${id}: <name>`,
    );
  }
  return { sections, checklist };
}

function twice(second: Title, first: Title, what: string, report: Report): void {
  const message = `found a second ${what} of phase ${second.id}, the first is on line ${first.place.line}; expected every id once`;
  report.error(second.place, `phase_${second.id}`, "duplicate_id", message);
}

const known = new Set(["goal", "depends on", "requirements", "success criteria"]);

function draftOf(id: string, section: Section | undefined, ticked: ChecklistLine | undefined, report: Report): Draft[] {
  const title = section?.title ?? ticked;
  if (title === undefined) return [];
  const path = `phase_${id}`;
  if (section === undefined)
    report.warning(
      title.place,
      path,
      "missing_section",
      `found phase ${id} in the checklist only, expected a section ### Phase ${id}: ${title.name}`,
    );
  if (ticked === undefined)
    report.warning(
      title.place,
      path,
      "missing_checklist_line",
      `found phase ${id} as a section only, expected a line - [ ] **Phase ${id}: ${title.name}**`,
    );
  if (section !== undefined && ticked !== undefined && section.title.name !== ticked.name)
    report.warning(
      ticked.place,
      `${path}.name`,
      "name_differs",
      `found the name ${shown(ticked.name)}, expected ${shown(section.title.name)} as its section on line ${section.title.place.line} says, which counts`,
    );
  const fields = fieldsByLabel(section?.lines ?? [], path, report);
  const goalField = fields.get("goal");
  const goal = goalField === undefined ? "" : fieldParagraph(goalField);
  const stub = isPlaceholder(goal);
  if (stub && section !== undefined)
    report.warning(
      goalField?.inlinePlace ?? title.place,
      `${path}.goal`,
      "stub_goal",
      `found ${goal === "" ? "no goal" : shown(goal)}, expected **Goal**: <what will be true>; the phase is refused unless a plan exists for it`,
    );
  if (section !== undefined && !stub && ticked?.checked !== true && !fields.has("success criteria"))
    report.warning(
      title.place,
      `${path}.success_criteria`,
      "no_criteria",
      `found no success criteria for phase ${id}, expected **Success Criteria**: and a numbered list of \`text :: command\`; without one only the plan's own commands decide, and the phase ends with a gap`,
    );
  const [needs, wants, depends] = [fields.get("success criteria"), fields.get("requirements"), fields.get("depends on")];
  return [
    {
      phase: {
        id,
        name: title.name,
        goal,
        requirements: wants === undefined ? [] : [...fieldRequirements(wants)],
        success_criteria: needs === undefined ? [] : fieldCriteria(needs, `${path}.success_criteria`, report),
        checked: ticked?.checked ?? false,
        inserted: section?.title.inserted === true || ticked?.inserted === true,
        stub,
        line: title.place.line,
      },
      dependencies: depends === undefined ? [] : fieldDependencies(depends, `${path}.depends_on`, report),
      at: depends?.inlinePlace ?? title.place,
    },
  ];
}

function fieldsByLabel(lines: readonly Line[], path: string, report: Report): ReadonlyMap<string, Field> {
  // A label that is bold somewhere in the section is a field there alone; elsewhere its word is free text.
  const bold = new Set(fieldsOf(lines, known, "any").map(({ label }) => label));
  const plain = new Set([...known].filter((label) => !bold.has(label)));
  const foundFields = fieldsOf(lines, known, "any", plain);
  for (const { label, place } of foundFields.filter((field) => !known.has(field.label)).slice(0, fieldsMax + 1)) {
    const near = suggest(label, known);
    if (near !== null) report.warning(place, path, "field_misspelt", `found the field ${shown(label)}. Did you mean ${near}?`);
  }
  return oncePerLabel(foundFields, known, path, report);
}

/** Ranges are expanded, unknown ids and cycles reported, and the phases ordered. */
function linked(drafts: readonly Draft[], report: Report): readonly RoadmapPhase[] {
  const ids = drafts.map(({ phase }) => phase.id);
  const family = new Map<string, string[]>();
  for (const id of ids) family.set(wholePart(id), [...(family.get(wholePart(id)) ?? []), id].slice(0, 5));
  const isPhase = new Set(ids);
  const byId = new Map<string, RoadmapPhase>();
  const places = new Map<string, Position>();
  let edges = 0;
  for (const { phase, dependencies, at: position } of drafts) {
    const path = `phase_${phase.id}.depends_on`;
    const depends_on: string[] = [];
    const isNamed = new Set<string>();
    for (const dependency of dependencies) {
      for (const id of edges > edgesMax ? [] : opened(dependency, ids)) {
        const isItself = id === phase.id && dependency.from !== dependency.to; // a range around a phase does not mean the phase
        if (isNamed.has(id) || isItself) continue;
        isNamed.add(id);
        depends_on.push(id);
        if (isPhase.has(id)) continue;
        const near = family.get(wholePart(id)) ?? [];
        const hint = near.length === 0 ? "" : `, such as ${near.join(", ")}`;
        report.error(
          position,
          path,
          "unknown_dependency",
          `found a dependency of phase ${phase.id} on ${id}, expected the id of a phase${hint}`,
        ); // R2
      }
      edges += depends_on.length;
    }
    byId.set(phase.id, { ...phase, depends_on });
    places.set(phase.id, position);
  }
  if (edges > edgesMax) report.error({ line: 1, column: 1 }, "", "too_many", `found more than ${edgesMax} dependencies, expected fewer`);
  const nodes = [...byId.values()].map(({ id, depends_on }) => ({ id, after: depends_on }));
  for (const ring of ringsAmong(nodes, comparePhaseIds)) {
    const [first = ""] = ring;
    report.error(
      places.get(first) ?? { line: 1, column: 1 },
      `phase_${first}.depends_on`,
      "dependency_cycle",
      `found phases that wait for each other: ${ring.join(" -> ")}, expected dependencies that end`,
    );
  }
  return inOrder(nodes, comparePhaseIds).flatMap((id) => byId.get(id) ?? []); // R3
}

const wholePart = (id: string): string => id.split(".")[0] ?? id;

/** A range names its ends, which must be there, and every phase between. */
function opened({ from, to }: Dependency, sorted: readonly string[]): readonly string[] {
  if (from === to) return [from];
  const inside = sorted.slice(firstAt(sorted, from), firstAt(sorted, to));
  return [from, ...inside, to];
}

/** Where an id is among sorted ones, or would. */
function firstAt(sorted: readonly string[], id: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (comparePhaseIds(sorted[middle] ?? "", id) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
