// roadmap-here: detects a roadmap with open phases in a project and summarises its progress.

import { join } from "node:path";
import type { CommandContext } from "../../../project/command-context.ts";
import { readRoadmapDocuments, roadmapPaths } from "./roadmap-documents.ts";
import { knownPhases } from "./roadmap-known.ts";
import type { ForeignRun } from "../../contract/playbook.ts";

/** A roadmap with something left to do. A prose one at the root, without phases, is not ours. */
export async function documents(_context: CommandContext, root: string): Promise<Omit<ForeignRun, "findings"> | null> {
  await Promise.resolve();
  const known = knownPhases({ folder: join(root, ".autopilot") });
  const isDone = ({ id, checked }: { readonly id: string; readonly checked: boolean }): boolean => known.get(id) ?? checked;
  const read = readRoadmapDocuments(root, isDone);
  if (read === null) return null;
  const found = { flow: "roadmap", files: [read.path], options: {} };
  if (read.phases.length === 0)
    return read.path === roadmapPaths[0] ? { ...found, summary: "a roadmap in which no phase can be read (autopilot roadmap list)" } : null;
  const open = read.phases.filter((phase) => !isDone(phase));
  const [next] = open;
  if (next === undefined) return null;
  const done = read.phases.length - open.length;
  return {
    ...found,
    summary: `a roadmap of ${read.phases.length} phases, ${done} of them completed; the next is phase ${next.id} (${next.name})`,
  };
}
