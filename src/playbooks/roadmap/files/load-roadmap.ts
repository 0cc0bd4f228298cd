// load-roadmap: loads the roadmap of a project, and decides which of its faults are errors for the
// requested phases.

import { type Finding, findingText, shown } from "../../../kit/finding.ts";
import { selectCompletedPhases } from "../documents/order.ts";
import { refuse } from "../../../project/respond.ts";
import {
  findPhaseOfFinding,
  readRoadmapDocuments,
  type RoadmapDocuments,
  roadmapPaths,
} from "./roadmap-documents.ts";
import { type PhaseRecordSummary, loadPhaseHistory } from "./completed-phases.ts";

/**
 * A roadmap with its documents, the ids of its completed phases, and what earlier runs recorded of
 * each phase.
 */
export type LoadedRoadmap = {
  readonly documents: RoadmapDocuments;
  readonly completed: ReadonlySet<string>;
  readonly history: ReadonlyMap<string, PhaseRecordSummary>;
};

/** Refuses if the project has no roadmap; `otherRemedies` are shown as well then. */
export function loadRoadmap(
  paths: { readonly root: string; readonly folder: string },
  otherRemedies: readonly string[] = [],
): LoadedRoadmap {
  const history = loadPhaseHistory(paths);
  const completion = new Map([...history].map(([id, { isCompleted }]) => [id, isCompleted]));
  const documents = readRoadmapDocuments(
    paths.root,
    ({ id, checked }) => completion.get(id) ?? checked,
  );
  if (documents === null) {
    return refuse("missing_docs", {
      message: `There is no roadmap here: looked for ${roadmapPaths.join(" and ")} in ${paths.root}.`,
      remediation: [
        "write .planning/ROADMAP.md: - [ ] **Phase 1: Name**, and a section ### Phase 1: Name with **Goal**: …",
        ...otherRemedies,
      ],
    });
  }

  const findings = [...documents.findings, ...findRenamedPhases(documents, history)];
  return {
    documents: { ...documents, findings },
    completed: selectCompletedPhases(documents.phases, completion),
    history,
  };
}

/**
 * Warns about completed phases whose name changed: the id may now belong to another phase that was
 * never started.
 */
function findRenamedPhases(
  { path, phases }: RoadmapDocuments,
  history: ReadonlyMap<string, PhaseRecordSummary>,
): readonly Finding[] {
  return phases.flatMap(({ id, name, line }) => {
    const { isCompleted = false, name: previousName = null } = history.get(id) ?? {};
    if (
      !isCompleted ||
      previousName === null ||
      normalizeName(previousName) === normalizeName(name)
    ) {
      return [];
    }

    const message =
      `phase ${id} was completed as ${shown(previousName)} and is called ${shown(name)} now; it counts as completed. ` +
      `If it is another phase, give it an id that no phase has had`;

    return [
      {
        file: path,
        line,
        column: 1,
        path: `phase_${id}`,
        rule: "phase_renamed",
        message,
        severity: "warning" as const,
      },
    ];
  });
}

/** Ignores case, spaces and punctuation. */
const normalizeName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** Rules that fail a requested phase and concern only it: its content has not been written yet. */
const fatalWhenRequested: ReadonlySet<string> = new Set(["stub_goal", "missing_section"]);

/**
 * All findings with their severity for this selection: a requested phase needs a goal or a plan,
 * and its plan must be valid. In plans of other phases every mistake is only a warning; an error of
 * the roadmap itself is one whichever phase it is in.
 */
export function judgeFindings(
  documents: RoadmapDocuments,
  requested: ReadonlySet<string>,
  completed: ReadonlySet<string>,
): readonly Finding[] {
  const isRequested = (id: string | null): boolean =>
    id !== null && requested.has(id) && !completed.has(id);
  const roadmapFindings = documents.findings.flatMap((finding) => {
    const id = findPhaseOfFinding(finding);
    if (!fatalWhenRequested.has(finding.rule) || id === null) return [finding];
    if (documents.plans.has(id)) return finding.rule === "stub_goal" ? [] : [finding]; // its plan says what it is about

    return [isRequested(id) ? { ...finding, severity: "error" as const } : finding];
  });

  const planFindings = [...documents.plans].flatMap(([id, { findings }]) =>
    isRequested(id)
      ? findings
      : findings.map((finding) => ({ ...finding, severity: "warning" as const })),
  );
  return [...roadmapFindings, ...planFindings];
}

/** Refuses a roadmap with errors, and lists all of them. */
export function refuseRoadmap(
  { path, phases }: RoadmapDocuments,
  errors: readonly Finding[],
  requested: ReadonlySet<string>,
): never {
  const unwrittenIds = errors.flatMap((error) =>
    fatalWhenRequested.has(error.rule) ? (findPhaseOfFinding(error) ?? []) : [],
  );

  const writtenIds = phases
    .map(({ id }) => id)
    .filter((id) => requested.has(id) && !unwrittenIds.includes(id));
  const canLeaveOut =
    unwrittenIds.length > 0 && unwrittenIds.length === errors.length && writtenIds.length > 0;
  const files = [...new Set(errors.map(({ file }) => file))].join(", ");

  return refuse("roadmap_invalid", {
    message: `${errors.length} ${errors.length === 1 ? "problem" : "problems"} in ${files}. Nothing was started.`,
    page: ["Problems", ...errors.map((error) => `  ✗ ${findingText(error)}`)],
    remediation: [
      "fix the lines named above; autopilot roadmap list shows all that is wrong",
      ...(canLeaveOut
        ? [`or leave out what is not written yet: autopilot roadmap ${writtenIds.join(",")}`]
        : []),
    ],
    data: { roadmap: path, problems: errors },
  });
}
