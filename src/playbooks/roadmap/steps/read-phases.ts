// read-phases: the reader `roadmap`: the phases of the recorded roadmap that run, in execution order.
//
// Invariants:
//   R1. Only the roadmap recorded with the draft counts, not the file in the checkout.
//   R2. Phases come in execution order, after those they depend on.
//   R3. A phase that is already completed, by any tool, is reported and not run.

import type { RoadmapPhase } from "../../../contracts/roadmap.ts";
import type { RunView } from "../../../core/state.ts";
import { completedPhases, executionOrder, selectPhases } from "../documents/order.ts";
import { buildChecks, phaseCriteria } from "../documents/phase-criteria.ts";
import { findingText } from "../../../kit/finding.ts";
import type { PhaseFound, Unreadable } from "../../../ports/functions.ts";
import { loadCompletion } from "../files/completed-phases.ts";
import { describePhase } from "./about.ts";
import type { RoadmapParts } from "./parts.ts";
import { findPlanPath } from "./phase-plan.ts";
import { isOptionOn, loadRoadmap, getRoadmapPath, textOption } from "./recorded-documents.ts";

const completedReason = "already_completed";

export function readPhases(parts: RoadmapParts): (state: RunView) => Promise<readonly PhaseFound[] | Unreadable> {
  return async (state) => {
    const refuse = (problem: string): Unreadable => ({ problem, code: "roadmap_invalid" });
    const roadmap = loadRoadmap(parts, state); // R1
    if (roadmap === null) return refuse(`The run was drafted without its roadmap ${getRoadmapPath(state)}.`);
    const errors = roadmap.findings.filter(({ severity }) => severity === "error");
    if (errors.length > 0) return refuse(errors.map(findingText).join("; "));
    const { phases } = roadmap;
    const completed = completedPhases(phases, loadCompletion(parts.paths)); // R3
    const isWhole = isOptionOn(state, "complete");
    const expression = isWhole ? "all" : (textOption(state, "phases") ?? "next");
    const selection = selectPhases(expression, phases, completed);
    if ("problem" in selection) return refuse(`Which phases? ${JSON.stringify(expression)}: ${selection.problem}.`);
    const requested = new Set(selection.ids);
    const paths = await parts.workspace.pathsAt(state.tip.commit);
    const stubs = phases.filter(({ id, stub }) => requested.has(id) && stub && !completed.has(id) && findPlanPath(paths, id) === null);
    if (stubs.length > 0) return refuse(stubs.map((phase) => describeStub(phase, roadmap.path)).join(" "));
    const selected = selectWithDependencies(phases, requested, completed, isWhole);
    const byId = new Map(phases.map((phase) => [phase.id, phase]));
    return executionOrder(phases, selected).flatMap((id) => {
      const phase = byId.get(id);
      return phase === undefined ? [] : [buildPhase(phase, selected, completed, roadmap.path)]; // R2
    });
  };
}

/** The requested phases and the completed ones they depend on; with --complete every completed phase is included. */
function selectWithDependencies(
  phases: readonly RoadmapPhase[],
  requested: ReadonlySet<string>,
  completed: ReadonlySet<string>,
  isWhole: boolean,
): ReadonlySet<string> {
  const completedDependencies = phases
    .filter(({ id }) => requested.has(id))
    .flatMap(({ depends_on }) => depends_on.filter((other) => completed.has(other)));
  return new Set([...requested, ...completedDependencies, ...(isWhole ? completed : [])]);
}

function buildPhase(phase: RoadmapPhase, selected: ReadonlySet<string>, completed: ReadonlySet<string>, path: string): PhaseFound {
  const checks = buildChecks(phaseCriteria(phase, path, null));
  return {
    id: phase.id,
    name: phase.name,
    after: phase.depends_on.filter((other) => selected.has(other)),
    ...(completed.has(phase.id) ? { skip: completedReason } : {}),
    about: describePhase(phase),
    ...(checks.length === 0 ? {} : { checks }),
  };
}

const describeStub = ({ id, goal, line }: RoadmapPhase, path: string): string =>
  `${path}:${line}: phase ${id} has ${goal === "" ? "no goal" : `only the goal ${JSON.stringify(goal)}`} and no plan: write **Goal**: what will be true, or leave it out.`;
