// order: which phases are meant, and in which order they are run.

import type { RoadmapPhase } from "../../../contracts/roadmap.ts";
import { shown } from "../../../kit/finding.ts";
import { inOrder } from "../../../documents/graph.ts";
import { comparePhaseIds, isWithin, parsePhaseId } from "../../../documents/phase-id.ts";

type Ordered = Pick<RoadmapPhase, "id" | "depends_on">;

/**
 * The requested phases, topologically, ties by number. A phase that is not requested passes its order on: with 3 after 2 after 1, asking
 * for 1 and 3 keeps 1 before 3; it delays no other phase.
 */
export function executionOrder(phases: readonly Ordered[], requested?: ReadonlySet<string>): readonly string[] {
  const nodes = phases.map(({ id, depends_on }) => ({ id, after: depends_on }));
  return inOrder(nodes, comparePhaseIds, requested === undefined ? undefined : (id) => requested.has(id));
}

/** The phases that are done: as state and archive know it; only if neither knows a phase, as its box says. */
export function completedPhases(
  phases: readonly Pick<RoadmapPhase, "id" | "checked">[],
  known: ReadonlyMap<string, boolean>,
): ReadonlySet<string> {
  return new Set(phases.filter(({ id, checked }) => known.get(id) ?? checked).map(({ id }) => id));
}

export type Selection = { readonly ids: readonly string[] } | { readonly problem: string };

const partsMax = 500;
const forms = "expected an id (3, 2.1), a range (3-7), a list (3,5,8), next or all";

/**
 * What words such as `3`, `3-7`, `3,5,8`, `2.1`, `next`, `all` mean, in execution order. `next` is the first phase that is not completed,
 * `all` every such phase, and both may be none; ids and ranges take completed ones too, for the person named them.
 */
export function selectPhases(word: string, phases: readonly Ordered[], completed: ReadonlySet<string>): Selection {
  const trimmed = word.trim();
  if (trimmed === "next" || trimmed === "all") {
    const open = executionOrder(phases, new Set(phases.map(({ id }) => id).filter((id) => !completed.has(id))));
    return { ids: trimmed === "all" ? open : open.slice(0, 1) };
  }
  const parts = trimmed.split(",");
  if (parts.length > partsMax) return { problem: `found ${parts.length} parts, expected at most ${partsMax}` };
  const requested = new Set<string>();
  const problems: string[] = [];
  for (const part of parts) {
    const picked = pickedBy(part.trim(), phases);
    if ("problem" in picked) problems.push(picked.problem);
    else for (const id of picked.ids) requested.add(id);
  }
  if (problems.length > 0) return { problem: problems.join("; ") };
  return { ids: executionOrder(phases, requested) };
}

function pickedBy(part: string, phases: readonly Ordered[]): Selection {
  const [, first = "", second] = /^([\d.]+)(?:\s*[-–—]\s*([\d.]+))?$/.exec(part) ?? [];
  const from = parsePhaseId(first);
  const to = second === undefined ? from : parsePhaseId(second);
  if (from === null || to === null) return { problem: `found ${shown(part)}, ${forms}` };
  if (comparePhaseIds(from, to) > 0) return { problem: `found the range ${part}, expected the smaller id first: ${to}-${from}` };
  const ids = phases.map(({ id }) => id).filter((id) => isWithin(id, from, to));
  if (ids.length > 0) return { ids };
  const sorted = phases.map(({ id }) => id).toSorted(comparePhaseIds);
  const there = sorted.length > 12 ? `${sorted.slice(0, 12).join(", ")} …` : sorted.join(", ");
  return { problem: `found ${part}, which names no phase, expected some of ${there}` };
}
