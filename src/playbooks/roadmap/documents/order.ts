// order: selects phases by an expression such as `3-7`, and puts them in execution order.

import type { RoadmapPhase } from "../../../contracts/roadmap.ts";
import { shown } from "../../../kit/finding.ts";
import { sortTopologically } from "../../../documents/graph.ts";
import { comparePhaseIds, isWithin, parsePhaseId } from "../../../documents/phase-id.ts";

type OrderedPhase = Pick<RoadmapPhase, "id" | "depends_on">;

/**
 * The requested phases in topological order, ties by number. Dependencies through a phase that is
 * not requested still count: if 3 depends on 2 and 2 on 1, requesting 1 and 3 keeps 1 before 3.
 */
export function orderPhases(
  phases: readonly OrderedPhase[],
  requested?: ReadonlySet<string>,
): readonly string[] {
  const nodes = phases.map(({ id, depends_on }) => ({ id, after: depends_on }));
  return sortTopologically(
    nodes,
    comparePhaseIds,
    requested === undefined ? undefined : (id) => requested.has(id),
  );
}

/** The completed phases by state and archive; if neither knows a phase, its checkbox decides. */
export function selectCompletedPhases(
  phases: readonly Pick<RoadmapPhase, "id" | "checked">[],
  recorded: ReadonlyMap<string, boolean>,
): ReadonlySet<string> {
  return new Set(
    phases.filter(({ id, checked }) => recorded.get(id) ?? checked).map(({ id }) => id),
  );
}

type SelectedPhases = { readonly ids: readonly string[] } | { readonly problem: string };

const partsMax = 500;
const examplesMax = 12;
const expectedForms = "expected an id (3, 2.1), a range (3-7), a list (3,5,8), next or all";

/**
 * The phases that `3`, `3-7`, `3,5,8`, `2.1`, `next` or `all` names, in execution order. `next` is
 * the first phase that is not completed, `all` every such phase, and both may be empty; ids and
 * ranges include completed phases.
 */
export function selectPhases(
  expression: string,
  phases: readonly OrderedPhase[],
  completed: ReadonlySet<string>,
): SelectedPhases {
  const trimmed = expression.trim();
  if (trimmed === "next" || trimmed === "all") {
    const openIds = orderPhases(
      phases,
      new Set(phases.map(({ id }) => id).filter((id) => !completed.has(id))),
    );

    return { ids: trimmed === "all" ? openIds : openIds.slice(0, 1) };
  }

  const parts = trimmed.split(",");
  if (parts.length > partsMax) {
    return { problem: `found ${parts.length} parts, expected at most ${partsMax}` };
  }

  const requested = new Set<string>();
  const problems: string[] = [];

  for (const part of parts) {
    const selection = selectPart(part.trim(), phases);
    if ("problem" in selection) problems.push(selection.problem);
    else for (const id of selection.ids) requested.add(id);
  }

  if (problems.length > 0) return { problem: problems.join("; ") };
  return { ids: orderPhases(phases, requested) };
}

/** `3`, `2.1` or `3-7` */
function selectPart(part: string, phases: readonly OrderedPhase[]): SelectedPhases {
  const [, firstId = "", lastId] = /^([\d.]+)(?:\s*[-–—]\s*([\d.]+))?$/.exec(part) ?? [];
  const from = parsePhaseId(firstId);
  const to = lastId === undefined ? from : parsePhaseId(lastId);
  if (from === null || to === null) return { problem: `found ${shown(part)}, ${expectedForms}` };
  if (comparePhaseIds(from, to) > 0) {
    return { problem: `found the range ${part}, expected the smaller id first: ${to}-${from}` };
  }

  const ids = phases.map(({ id }) => id).filter((id) => isWithin(id, from, to));
  if (ids.length > 0) return { ids };
  const sortedIds = phases.map(({ id }) => id).toSorted(comparePhaseIds);
  const examples =
    sortedIds.length > examplesMax
      ? `${sortedIds.slice(0, examplesMax).join(", ")} …`
      : sortedIds.join(", ");

  return { problem: `found ${part}, which names no phase, expected some of ${examples}` };
}
