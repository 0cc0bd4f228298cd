// roadmap-here: detects a roadmap with open phases in a project and summarises its progress.

import { join } from "node:path";
import type { CommandContext } from "../../../project/command-context.ts";
import { readRoadmapDocuments, roadmapPaths } from "./roadmap-documents.ts";
import { loadCompletion } from "./completed-phases.ts";
import type { ForeignRun } from "../../contract/playbook.ts";

/** Null if nothing is left to do. A ROADMAP.md at the root without phases is plain prose and ignored. */
export async function findRoadmap(_context: CommandContext, root: string): Promise<Omit<ForeignRun, "findings"> | null> {
  await Promise.resolve();
  const recorded = loadCompletion({ folder: join(root, ".autopilot") });
  const isDone = ({ id, checked }: { readonly id: string; readonly checked: boolean }): boolean => recorded.get(id) ?? checked;
  const documents = readRoadmapDocuments(root, isDone);
  if (documents === null) return null;
  const common = { flow: "roadmap", files: [documents.path], options: {} };
  if (documents.phases.length === 0)
    return documents.path === roadmapPaths[0]
      ? { ...common, summary: "a roadmap in which no phase can be read (autopilot roadmap list)" }
      : null;
  const open = documents.phases.filter((phase) => !isDone(phase));
  const [next] = open;
  if (next === undefined) return null;
  const done = documents.phases.length - open.length;
  return {
    ...common,
    summary: `a roadmap of ${documents.phases.length} phases, ${done} of them completed; the next is phase ${next.id} (${next.name})`,
  };
}
