// roadmap-problems: the roadmap of a project with all that is wrong with it, weighed for the phases that are asked for.

import { type Finding, findingText, shown } from "../../../kit/finding.ts";
import { completedPhases } from "../documents/order.ts";
import { refuse } from "../../../project/reply.ts";
import { phaseOfFinding, readRoadmapDocuments, type RoadmapDocuments, roadmapPaths } from "./roadmap-documents.ts";
import { type KnownPhase, phasesKnown } from "./roadmap-known.ts";

export type RoadmapHere = {
  readonly read: RoadmapDocuments;
  readonly completed: ReadonlySet<string>;
  readonly known: ReadonlyMap<string, KnownPhase>;
};

/** The roadmap of this project with all that belongs to it, and which of its phases are done. Refused where there is none. */
export function roadmapHere(
  home: { readonly root: string; readonly folder: string },
  /** Other candidates. */
  more: readonly string[] = [],
): RoadmapHere {
  const known = phasesKnown(home);
  const isKnown = new Map([...known].map(([id, { isCompleted }]) => [id, isCompleted]));
  const read = readRoadmapDocuments(home.root, ({ id, checked }) => isKnown.get(id) ?? checked);
  if (read === null)
    return refuse("missing_docs", {
      message: `There is no roadmap here: looked for ${roadmapPaths.join(" and ")} in ${home.root}.`,
      remediation: ["write .planning/ROADMAP.md: - [ ] **Phase 1: Name**, and a section ### Phase 1: Name with **Goal**: …", ...more],
    });
  const findings = [...read.findings, ...findRenamedFindings(read, known)];
  return { read: { ...read, findings }, completed: completedPhases(read.phases, isKnown), known };
}

/** An id that was another phase's when it was completed: the current phase counts as done, though it may never have begun. */
function findRenamedFindings({ path, phases }: RoadmapDocuments, known: ReadonlyMap<string, KnownPhase>): readonly Finding[] {
  return phases.flatMap(({ id, name, line }) => {
    const previousKnownPhase = known.get(id);
    if (
      previousKnownPhase === undefined ||
      !previousKnownPhase.isCompleted ||
      previousKnownPhase.name === null ||
      plainOf(previousKnownPhase.name) === plainOf(name)
    )
      return [];
    const message =
      `phase ${id} was completed as ${shown(previousKnownPhase.name)} and is called ${shown(name)} now; it counts as completed. ` +
      `If it is another phase, give it an id that no phase has had`;
    return [{ file: path, line, column: 1, path: `phase_${id}`, rule: "phase_renamed", message, severity: "warning" as const }];
  });
}

/** Case, blanks and marks do not make another phase. */
const plainOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** Rules that fail a requested phase and concern only it: its content has not been written yet. */
const fatalWhenAsked: ReadonlySet<string> = new Set(["stub_goal", "missing_section"]);

/**
 * Every finding with the weight it has for this selection: a phase that is asked for needs a goal or a plan, and its plan must be sound;
 * mistakes in a phase that was not requested are reported and stop nothing, unless the roadmap itself makes no sense.
 */
export function judged(read: RoadmapDocuments, requested: ReadonlySet<string>, completed: ReadonlySet<string>): readonly Finding[] {
  const isAsked = (id: string | null): boolean => id !== null && requested.has(id) && !completed.has(id);
  const ofRoadmap = read.findings.flatMap((finding) => {
    const id = phaseOfFinding(finding);
    if (!fatalWhenAsked.has(finding.rule) || id === null) return [finding];
    if (read.plans.has(id)) return finding.rule === "stub_goal" ? [] : [finding]; // its plan says what it is about
    return [isAsked(id) ? { ...finding, severity: "error" as const } : finding];
  });
  const ofPlans = [...read.plans].flatMap(([id, { findings }]) =>
    isAsked(id) ? findings : findings.map((finding) => ({ ...finding, severity: "warning" as const })),
  );
  return [...ofRoadmap, ...ofPlans];
}

/** Nothing runs on a roadmap with errors: all of them are reported. */
export function refuseRoadmap({ path, phases }: RoadmapDocuments, errors: readonly Finding[], requested: ReadonlySet<string>): never {
  const unwritten = errors.flatMap((error) => (fatalWhenAsked.has(error.rule) ? (phaseOfFinding(error) ?? []) : []));
  const rest = phases.map(({ id }) => id).filter((id) => requested.has(id) && !unwritten.includes(id));
  const without = unwritten.length > 0 && unwritten.length === errors.length && rest.length > 0;
  return refuse("roadmap_invalid", {
    message: `${errors.length} ${errors.length === 1 ? "problem" : "problems"} in ${[...new Set(errors.map(({ file }) => file))].join(", ")}. Nothing was started.`,
    page: ["Problems", ...errors.map((error) => `  ✗ ${findingText(error)}`)],
    remediation: [
      "fix the lines named above; autopilot roadmap list shows all that is wrong",
      ...(without ? [`or leave out what is not written yet: autopilot roadmap ${rest.join(",")}`] : []),
    ],
    data: { roadmap: path, problems: errors },
  });
}
