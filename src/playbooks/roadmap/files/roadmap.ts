// roadmap: the roadmap playbook: documents in .planning/, state in .autopilot/state.json, pages per
// phase.

import { findProject } from "../../../project/runs/project-paths.ts";
import type { Playbook } from "../../contract/playbook.ts";
import { findForeignRoadmap } from "./roadmap-foreign.ts";
import { findRoadmap } from "./find-roadmap.ts";
import { openRoadmapPlaybook } from "./roadmap-open.ts";
import { ownedInPhases } from "../../../contracts/roadmap-places.ts";
import { prepareRoadmap } from "./roadmap-prepare.ts";
import { previewRoadmap } from "./roadmap-preview.ts";
import { prepareRoadmapResume } from "./roadmap-prepare-resume.ts";

export const roadmapPlaybook: Playbook = {
  ownedPaths: ownedInPhases,
  prepare: prepareRoadmap,
  preview: previewRoadmap,
  prepareResume: prepareRoadmapResume,
  open: openRoadmapPlaybook,
  documents: findRoadmap,
  findForeign: (_context, root) => {
    const paths = findProject(root);
    return paths === null ? Promise.resolve(null) : findForeignRoadmap(paths);
  },
};
