// read-phases: the reader `roadmap`: which phases of the recorded roadmap are run, in which order, and what is known of each.
//
// Invariants:
//   R1. Only the recorded roadmap counts; what is in a folder meanwhile does not.
//   R2. Phases come in execution order, and wait for those of them they depend on.
//   R3. A phase that is already completed, by any tool, is reported and not run.

import type { RoadmapPhase } from "../../../contracts/roadmap.ts";
import type { RunView } from "../../../core/state.ts";
import { completedPhases, executionOrder, selectPhases } from "../documents/order.ts";
import { findChecks, phaseCriteria } from "../documents/phase-criteria.ts";
import { findingText } from "../../../kit/finding.ts";
import type { PhaseFound, Unreadable } from "../../../ports/functions.ts";
import { knownPhases } from "../files/roadmap-known.ts";
import { aboutPhase } from "./about.ts";
import type { RoadmapParts } from "./parts.ts";
import { planPath } from "./phase-plan.ts";
import { isOptionOn, partsRoadmap, getRoadmapPath, textOption } from "./recorded.ts";

const skipDone = "already_completed";

export function readPhases(parts: RoadmapParts): (state: RunView) => Promise<readonly PhaseFound[] | Unreadable> {
  return async (state) => {
    const invalid = (problem: string): Unreadable => ({ problem, code: "roadmap_invalid" });
    const roadmap = partsRoadmap(parts, state); // R1
    if (roadmap === null) return invalid(`The run was drafted without its roadmap ${getRoadmapPath(state)}.`);
    const errors = roadmap.findings.filter(({ severity }) => severity === "error");
    if (errors.length > 0) return invalid(errors.map(findingText).join("; "));
    const { phases } = roadmap;
    const completed = completedPhases(phases, knownPhases(parts.paths)); // R3
    const isWhole = isOptionOn(state, "complete");
    const word = isWhole ? "all" : (textOption(state, "phases") ?? "next");
    const selection = selectPhases(word, phases, completed);
    if ("problem" in selection) return invalid(`Which phases? ${JSON.stringify(word)}: ${selection.problem}.`);
    const asked = new Set(selection.ids);
    const paths = await parts.workspace.pathsAt(state.tip.commit);
    const stubs = phases.filter(({ id, stub }) => asked.has(id) && stub && !completed.has(id) && planPath(paths, id) === null);
    if (stubs.length > 0) return invalid(stubs.map((phase) => refusal(phase, roadmap.path)).join(" "));
    const walked = wantedOf(phases, asked, completed, isWhole);
    const byId = new Map(phases.map((phase) => [phase.id, phase]));
    return executionOrder(phases, walked).flatMap((id) => {
      const phase = byId.get(id);
      return phase === undefined ? [] : [foundOf(phase, walked, completed, roadmap.path)]; // R2
    });
  };
}

/** What was asked for, and the completed phases it rests on; with the whole roadmap every completed phase is reported. */
function wantedOf(
  phases: readonly RoadmapPhase[],
  asked: ReadonlySet<string>,
  completed: ReadonlySet<string>,
  isWhole: boolean,
): ReadonlySet<string> {
  const restsOn = phases.filter(({ id }) => asked.has(id)).flatMap(({ depends_on }) => depends_on.filter((other) => completed.has(other)));
  return new Set([...asked, ...restsOn, ...(isWhole ? completed : [])]);
}

function foundOf(phase: RoadmapPhase, walked: ReadonlySet<string>, completed: ReadonlySet<string>, path: string): PhaseFound {
  const checks = findChecks(phaseCriteria(phase, path, null));
  return {
    id: phase.id,
    name: phase.name,
    after: phase.depends_on.filter((other) => walked.has(other)),
    ...(completed.has(phase.id) ? { skip: skipDone } : {}),
    about: aboutPhase(phase),
    ...(checks.length === 0 ? {} : { checks }),
  };
}

const refusal = ({ id, goal, line }: RoadmapPhase, path: string): string =>
  `${path}:${line}: phase ${id} has ${goal === "" ? "no goal" : `only the goal ${JSON.stringify(goal)}`} and no plan: write **Goal**: what will be true, or leave it out.`;
