// read-phases: reads which phases of the recorded roadmap this run executes, and in which order.
//
// Invariants:
//   R1. Only the roadmap recorded with the draft counts, not the file in the checkout.
//   R2. Phases come in execution order, after those they depend on.
//   R3. A phase that is already completed, by any tool, is reported and not run.

import type { RoadmapPhase } from "../../../contracts/roadmap.ts";
import type { RunView } from "../../../core/state.ts";
import { selectCompletedPhases, orderPhases, selectPhases } from "../documents/order.ts";
import { buildChecks, mergePhaseCriteria } from "../documents/phase-criteria.ts";
import { findingText } from "../../../kit/finding.ts";
import type { PhaseFound, Unreadable } from "../../../ports/functions.ts";
import { loadCompletion } from "../files/completed-phases.ts";
import { describePhase } from "./describe-phase.ts";
import type { RoadmapParts } from "./roadmap-parts.ts";
import { findPlanPath } from "./phase-plan.ts";
import {
  isOptionOn,
  loadRecordedRoadmap,
  getRoadmapPath,
  readTextOption,
} from "./recorded-documents.ts";

const completedReason = "already_completed";

/** The reader `roadmap`. */
export function createRoadmapReader(
  parts: RoadmapParts,
): (state: RunView) => Promise<readonly PhaseFound[] | Unreadable> {
  return async (state) => {
    const refuse = (problem: string): Unreadable => ({ problem, code: "roadmap_invalid" });
    const roadmap = loadRecordedRoadmap(parts, state); // R1
    if (roadmap === null) {
      return refuse(`The run was drafted without its roadmap ${getRoadmapPath(state)}.`);
    }

    const errors = roadmap.findings.filter(({ severity }) => severity === "error");
    if (errors.length > 0) return refuse(errors.map(findingText).join("; "));
    const { phases } = roadmap;
    const completed = selectCompletedPhases(phases, loadCompletion(parts.paths)); // R3
    const isWholeRoadmap = isOptionOn(state, "complete");
    const expression = isWholeRoadmap ? "all" : (readTextOption(state, "phases") ?? "next");
    const selection = selectPhases(expression, phases, completed);
    if ("problem" in selection) {
      return refuse(`Which phases? ${JSON.stringify(expression)}: ${selection.problem}.`);
    }

    const requested = new Set(selection.ids);
    const paths = await parts.workspace.pathsAt(state.tip.commit);
    const stubs = phases.filter(
      ({ id, stub }) =>
        requested.has(id) && stub && !completed.has(id) && findPlanPath(paths, id) === null,
    );
    if (stubs.length > 0) {
      return refuse(stubs.map((phase) => describeStub(phase, roadmap.path)).join(" "));
    }

    const selected = withCompletedDependencies(phases, requested, completed);
    const included = isWholeRoadmap ? new Set([...selected, ...completed]) : selected;
    const phasesById = new Map(phases.map((phase) => [phase.id, phase]));
    const orderedPhases = orderPhases(phases, included).map((id) => phasesById.get(id)); // R2

    return orderedPhases
      .filter((phase) => phase !== undefined)
      .map((phase) => buildPhase(phase, { included, completed, path: roadmap.path }));
  };
}

/** The requested phases and the completed ones they depend on. */
function withCompletedDependencies(
  phases: readonly RoadmapPhase[],
  requested: ReadonlySet<string>,
  completed: ReadonlySet<string>,
): ReadonlySet<string> {
  const requestedPhases = phases.filter(({ id }) => requested.has(id));
  const dependencies = requestedPhases.flatMap(({ depends_on }) => depends_on);
  return new Set([...requested, ...dependencies.filter((id) => completed.has(id))]);
}

type PhaseSelection = {
  readonly included: ReadonlySet<string>;
  readonly completed: ReadonlySet<string>;
  readonly path: string;
};

function buildPhase(
  phase: RoadmapPhase,
  { included, completed, path }: PhaseSelection,
): PhaseFound {
  const checks = buildChecks(mergePhaseCriteria(phase, path, null));
  return {
    id: phase.id,
    name: phase.name,
    after: phase.depends_on.filter((id) => included.has(id)),
    ...(completed.has(phase.id) ? { skip: completedReason } : {}),
    about: describePhase(phase),
    ...(checks.length === 0 ? {} : { checks }),
  };
}

/** The refusal of a phase that has neither a real goal nor a plan. */
function describeStub({ id, goal, line }: RoadmapPhase, path: string): string {
  const goalText = goal === "" ? "no goal" : `only the goal ${JSON.stringify(goal)}`;
  return `${path}:${line}: phase ${id} has ${goalText} and no plan: write **Goal**: what will be true, or leave it out.`;
}
