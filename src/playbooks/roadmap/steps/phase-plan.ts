// phase-plan: a phase's plan as it is on the run's branch.

import { parsePhaseId } from "../../../documents/phase-id.ts";
import { readPlan } from "../documents/plan.ts";
import { documentTextBytesMax } from "../../../documents/document-text.ts";
import type { PlanAt } from "../documents/phase-criteria.ts";
import type { RunView } from "../../../core/state.ts";
import type { Finding } from "../../../kit/finding.ts";
import { phasesFolder } from "../../../contracts/roadmap-places.ts";
import type { RoadmapParts } from "./parts.ts";

export type PlanFound = PlanAt & {
  readonly text: string;
  readonly findings: readonly Finding[];
  /** As the user had it before the run began, word for word. */
  readonly isUsers: boolean;
};

/** The plan of a phase on a commit; null if there is none, or it isn't text. */
export async function planAt(
  { workspace }: Pick<RoadmapParts, "workspace">,
  state: RunView,
  phase: string,
  commit: string,
): Promise<PlanFound | null> {
  const path = planPath(await workspace.pathsAt(commit), phase);
  const text = path === null ? null : await workspace.textAt(commit, path, documentTextBytesMax);
  if (path === null || text === null) return null;
  const before = await workspace.textAt(state.drafted.base.commit, path, documentTextBytesMax);
  const { plan, findings } = readPlan(path, text);
  return { path, text, plan, findings, isUsers: before === text };
}

/** In the phase's own folder, else in one whose name begins with its id: `03-login`. */
export function planPath(paths: readonly string[], phase: string): string | null {
  const own = `${phasesFolder}/${phase}/PLAN.md`;
  if (paths.includes(own)) return own;
  const named = paths.filter((path) => path.startsWith(`${phasesFolder}/`) && path.endsWith("/PLAN.md") && pathId(path) === phase);
  return named.toSorted()[0] ?? null;
}

function pathId(path: string): string | null {
  const [folder = ""] = path.slice(phasesFolder.length + 1).split("/");
  return parsePhaseId(/^[\d.]+(?=-|$)/.exec(folder)?.[0] ?? "");
}
