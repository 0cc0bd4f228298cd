// find-roadmap: detects a roadmap with open phases in a project and summarises its progress.

import { join } from "node:path";
import type { CommandContext } from "../../../project/command-context.ts";
import { readRoadmapDocuments, roadmapPaths } from "./roadmap-documents.ts";
import { loadCompletion } from "./completed-phases.ts";
import type { ForeignRun } from "../../contract/playbook.ts";

/**
 * Null if there is no roadmap, or nothing is left to do. A ROADMAP.md at the root without phases is
 * plain prose and ignored.
 */
export async function findRoadmap(
  _context: CommandContext,
  root: string,
): Promise<Omit<ForeignRun, "findings"> | null> {
  await Promise.resolve(); // the contract is asynchronous, and there is nothing to wait for
  const recordedCompletion = loadCompletion({ folder: join(root, ".autopilot") });
  const isDone = ({ id, checked }: { readonly id: string; readonly checked: boolean }): boolean =>
    recordedCompletion.get(id) ?? checked;
  const documents = readRoadmapDocuments(root, isDone);
  if (documents === null) return null;
  const { path, phases } = documents;
  const foundRoadmap = { flow: "roadmap", files: [path], options: {} };
  if (phases.length === 0 && path !== roadmapPaths[0]) return null;
  if (phases.length === 0) {
    return {
      ...foundRoadmap,
      summary: "a roadmap in which no phase can be read (autopilot roadmap list)",
    };
  }

  const openPhases = phases.filter((phase) => !isDone(phase));
  const [nextPhase] = openPhases;
  if (nextPhase === undefined) return null;
  const nextText = `the next is phase ${nextPhase.id} (${nextPhase.name})`;
  const completedCount = phases.length - openPhases.length;

  return {
    ...foundRoadmap,
    summary: `a roadmap of ${phases.length} phases, ${completedCount} of them completed; ${nextText}`,
  };
}
