// choose-phases: chooses the phases of a roadmap that a run works on, or refuses. `roadmap list`
// calls the same function, so that it fails whenever a run would be refused.
//
// Invariants:
//   Q1. Everything wrong with roadmap, config, specification and plans is reported at once, with
//       lines, before anything runs.
//   Q2. A phase is started only if the work of its dependencies is on this branch, not only
//       completed on another one.
//   Q3. An uncommitted plan is not ignored, and nothing is started if git ignores the files that
//       agents write.
//   Q4. A phase whose dependencies are neither completed nor requested is not started: its
//       preflight could only fail.

import type { RoadmapPhase } from "../../../contracts/roadmap.ts";
import { orderPhases, selectPhases } from "../documents/order.ts";
import { findingText, type Finding } from "../../../kit/finding.ts";
import { collectDependencies, type UnmergedPhase, findUnmerged } from "./unmerged-dependencies.ts";
import { refuseIgnored, refuseUncommitted } from "./git-visibility.ts";
import { refuse } from "../../../project/respond.ts";
import { judgeFindings, refuseRoadmap, type LoadedRoadmap } from "./load-roadmap.ts";

export type ChosenPhases = {
  readonly requested: ReadonlySet<string>;
  /** The requested phases that are not completed, in execution order. */
  readonly openIds: readonly string[];
  /** Only warnings: errors are refused. */
  readonly findings: readonly Finding[];
};

/**
 * `expression` is an id, a range, a list, `next` or `all`. The findings have the severity they have
 * for this selection.
 */
export function judgeSelection({ documents, completed }: LoadedRoadmap, expression: string) {
  const selection = selectPhases(expression, documents.phases, completed);
  const requested = new Set("ids" in selection ? selection.ids : []);
  return { selection, requested, findings: judgeFindings(documents, requested, completed) };
}

/** Refuses if one of the invariants above does not hold, or if nothing is left to do. */
export async function choosePhases(
  root: string,
  roadmap: LoadedRoadmap,
  expression: string,
): Promise<ChosenPhases> {
  const { documents, completed, history } = roadmap;
  const { selection, requested, findings } = judgeSelection(roadmap, expression);
  const errors = findings.filter(({ severity }) => severity === "error");
  if (errors.length > 0) refuseRoadmap(documents, errors, requested); // Q1
  if ("problem" in selection) return refuseSelection(expression, selection.problem);
  const openIds = selection.ids.filter((id) => !completed.has(id));
  if (openIds.length === 0) refuseNothingLeft(documents, expression, describeRenamed(findings));
  refuseUnmetDependencies(documents.phases, { openIds, requested, completed }); // Q4
  await refuseIgnored(root, openIds); // Q3
  await refuseUncommitted(root, openIds, documents.plans); // Q3
  refuseUnmerged(
    await findUnmerged({ root, phases: documents.phases, phaseIds: openIds, history }),
    openIds,
  ); // Q2

  return { requested, openIds, findings };
}

function refuseSelection(expression: string, problem: string): never {
  return refuse("objective_schema_invalid", {
    message: `Which phases? ${JSON.stringify(expression)}: ${problem}.`,
    remediation: [
      "autopilot roadmap list shows the phases there are",
      "autopilot roadmap next takes the first that is not completed",
    ],
    data: { field: "phases" },
  });
}

type PhaseSets = {
  readonly openIds: readonly string[];
  readonly requested: ReadonlySet<string>;
  readonly completed: ReadonlySet<string>;
};

function refuseUnmetDependencies(
  phases: readonly RoadmapPhase[],
  { openIds, requested, completed }: PhaseSets,
): void {
  const isUnmet = (id: string): boolean => !requested.has(id) && !completed.has(id);
  const unmet = phases
    .filter(({ id }) => openIds.includes(id))
    .map(({ id, depends_on }) => ({ phase: id, needs: depends_on.filter(isUnmet) }))
    .filter(({ needs }) => needs.length > 0);
  if (unmet.length === 0) return;
  const neededIds = new Set([...openIds, ...collectDependencies(phases, openIds)]);
  const suggestedIds = orderPhases(phases, neededIds).filter((id) => !completed.has(id));
  const unmetText = unmet
    .map(({ phase, needs }) => `phase ${phase} depends on ${needs.join(", ")}`)
    .join("; ");

  refuse("dependencies_unmet", {
    message: `${unmetText[0]?.toUpperCase() ?? ""}${unmetText.slice(1)}, which is neither completed nor asked for. Nothing was started.`,
    remediation: [
      `autopilot roadmap ${suggestedIds.join(",")}`,
      "autopilot roadmap list shows what is completed",
    ],
    data: { unmet },
  });
}

/** A phase whose dependencies are on another branch would be built without their work. */
function refuseUnmerged(unmerged: readonly UnmergedPhase[], openIds: readonly string[]): void {
  if (unmerged.length === 0) return;
  const branches = [...new Set(unmerged.map(({ branch }) => branch))];
  const unmergedText = unmerged
    .map(({ phase, branch }) => `phase ${phase} (on ${branch})`)
    .join(", ");

  const subject = openIds.length === 1 ? `phase ${openIds[0] ?? ""} builds` : "these phases build";
  refuse("dependencies_unmet", {
    message: `What ${subject} upon is completed, but not on this branch: ${unmergedText}. Nothing was started.`,
    remediation: [
      ...branches.map((branch) => `git merge ${branch}`),
      `or, where its work is here under other commits: git branch -D ${branches.join(" ")}`,
    ],
    data: { unlanded: unmerged },
  });
}

const describeRenamed = (findings: readonly Finding[]): readonly string[] =>
  findings.filter(({ rule }) => rule === "phase_renamed").map(findingText);

function refuseNothingLeft(
  { path, phases }: LoadedRoadmap["documents"],
  expression: string,
  warnings: readonly string[],
): never {
  const isAllOrNext = expression === "next" || expression === "all";
  return refuse("roadmap_completed", {
    message: isAllOrNext
      ? `Every one of the ${phases.length} phases of ${path} is completed; nothing is left to do.`
      : `What was asked for (${expression}) is completed already; nothing is left to do.`,
    warnings,
    data: { roadmap: path },
  });
}
