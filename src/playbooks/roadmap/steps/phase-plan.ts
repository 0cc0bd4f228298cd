// phase-plan: reads a phase's plan from a commit of the run's branch.

import { parsePhaseId } from "../../../documents/phase-id.ts";
import { parsePlan } from "../documents/plan.ts";
import { documentTextBytesMax } from "../../../documents/document-text.ts";
import type { LocatedPlan } from "../documents/phase-criteria.ts";
import type { RunView } from "../../../core/state.ts";
import type { Finding } from "../../../kit/finding.ts";
import { phasesFolder } from "../../../contracts/roadmap-places.ts";
import type { RoadmapParts } from "./roadmap-parts.ts";

export type PhasePlan = LocatedPlan & {
  readonly text: string;
  readonly findings: readonly Finding[];
  /** The plan is unchanged since before the run: the user wrote it. */
  readonly isUserPlan: boolean;
};

/** Null if there is no plan, or it is not text. */
export async function readPlanAt(
  { workspace }: Pick<RoadmapParts, "workspace">,
  state: RunView,
  phase: string,
  commit: string,
): Promise<PhasePlan | null> {
  const path = findPlanPath(await workspace.pathsAt(commit), phase);
  const text = path === null ? null : await workspace.textAt(commit, path, documentTextBytesMax);
  if (path === null || text === null) return null;
  const textBefore = await workspace.textAt(state.drafted.base.commit, path, documentTextBytesMax);
  const { plan, findings } = parsePlan(path, text);

  return { path, text, plan, findings, isUserPlan: textBefore === text };
}

/**
 * The path of a phase's plan: in the phase's own folder, else in one whose name begins with its id:
 * `03-login`. Null if there is none.
 */
export function findPlanPath(paths: readonly string[], phase: string): string | null {
  const ownPath = `${phasesFolder}/${phase}/PLAN.md`;
  if (paths.includes(ownPath)) return ownPath;
  const candidates = paths.filter(
    (path) =>
      path.startsWith(`${phasesFolder}/`) && path.endsWith("/PLAN.md") && phaseIdOf(path) === phase,
  );

  return candidates.toSorted()[0] ?? null;
}

/**
 * `.planning/phases/03-login/PLAN.md` → `3`; null if the folder's name does not begin with a
 * phase's id.
 */
function phaseIdOf(path: string): string | null {
  const [folder = ""] = path.slice(phasesFolder.length + 1).split("/");
  return parsePhaseId(/^[\d.]+(?=-|$)/.exec(folder)?.[0] ?? "");
}
