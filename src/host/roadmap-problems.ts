// roadmap-problems: the roadmap of a project with all that is wrong with it, weighed for the phases that are asked for.

import type { Finding } from "../kit/finding.ts";
import { findingText } from "../kit/finding.ts";
import { completedPhases } from "../flows/documents/order.ts";
import { refuse } from "./reply.ts";
import { phaseOfFinding, readRoadmapDocuments, type RoadmapDocuments, roadmapPaths } from "./roadmap-documents.ts";
import { knownPhases } from "./roadmap-known.ts";

/** The roadmap of this project with all that belongs to it, and which of its phases are done. Refused where there is none. */
export function roadmapHere(home: { readonly root: string; readonly folder: string }): {
  readonly read: RoadmapDocuments;
  readonly completed: ReadonlySet<string>;
} {
  const known = knownPhases(home);
  const read = readRoadmapDocuments(home.root, ({ id, checked }) => known.get(id) ?? checked);
  if (read === null)
    return refuse("missing_docs", {
      message: `There is no roadmap here: looked for ${roadmapPaths.join(" and ")} in ${home.root}.`,
      remediation: ["write .planning/ROADMAP.md: - [ ] **Phase 1: Name**, and a section ### Phase 1: Name with **Goal**: …"],
    });
  return { read, completed: completedPhases(read.phases, known) };
}

/** Rules of which a phase that is asked for dies, and that only concern it: what it is about nobody has written yet. */
const fatalWhenAsked: ReadonlySet<string> = new Set(["stub_goal", "missing_section"]);

/**
 * Every finding with the weight it has for this selection: a phase that is asked for needs a goal or a plan, and its plan must be sound;
 * what is wrong with a phase that nobody asked for is told and stops nothing, unless the roadmap itself makes no sense.
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

/** Nothing runs on a roadmap with errors: all of them are told. */
export function refuseRoadmap({ path, phases }: RoadmapDocuments, errors: readonly Finding[], requested: ReadonlySet<string>): never {
  const unwritten = errors.flatMap((error) => (fatalWhenAsked.has(error.rule) ? (phaseOfFinding(error) ?? []) : []));
  const rest = phases.map(({ id }) => id).filter((id) => requested.has(id) && !unwritten.includes(id));
  const without = unwritten.length > 0 && unwritten.length === errors.length && rest.length > 0;
  return refuse("roadmap_invalid", {
    message: `${errors.length} ${errors.length === 1 ? "problem" : "problems"} in ${[...new Set(errors.map(({ file }) => file))].join(", ")}. Nothing was started.`,
    page: ["Problems", ...errors.map((error) => `  ✗ ${findingText(error)}`)],
    remediation: [
      "mend the lines named above; autopilot roadmap list shows all that is wrong",
      ...(without ? [`or leave out what is not written yet: autopilot roadmap ${rest.join(",")}`] : []),
    ],
    data: { roadmap: path, problems: errors },
  });
}
