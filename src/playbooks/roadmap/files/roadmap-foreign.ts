// roadmap-foreign: detects a roadmap run that another tool began, by its state.json.

import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import type { Finding } from "../../../kit/finding.ts";
import { isBegun, listRuns } from "../../../project/runs/project-paths.ts";
import type { ForeignRun } from "../../contract/playbook.ts";
import { backupFile, stateFile } from "../../../contracts/roadmap-places.ts";
import { readProjectState } from "./read-state-files.ts";

/**
 * Null if there is no state.json, if a journal here belongs to it, or if it is finished: then it is
 * archived when a run starts. If state.json is damaged, its backup is used. If neither can be read,
 * the result has only findings; null if a run of ours is here, which writes the file anew.
 */
export async function findForeignRoadmap(paths: {
  readonly root: string;
  readonly folder: string;
}): Promise<ForeignRun | null> {
  const { state, source, exists, findings } = await readProjectState(paths.root);
  if (!exists) return null;
  if (state === null) return listRuns(paths).length > 0 ? null : unreadableRun(findings);
  if (isBegun(paths, state._meta.run_id) || state._meta.status === "completed") return null;

  return {
    flow: "roadmap",
    files: [source ?? stateFile],
    summary: describeState(state),
    options: resumeOptions(state),
    findings: source === backupFile ? [...findings.map(asWarning), backupWarning] : findings,
    hasFailed: state._meta.status === "failed",
  };
}

const asWarning = (finding: Finding): Finding => ({ ...finding, severity: "warning" });

const backupWarning: Finding = {
  file: backupFile,
  line: 1,
  column: 1,
  path: "",
  rule: "backup_used",
  message: `${stateFile} cannot be read, so its backup is taken`,
  severity: "warning",
};

const unreadableRun = (findings: readonly Finding[]): ForeignRun => ({
  flow: "roadmap",
  files: [stateFile],
  summary: `a roadmap's run of another tool, of which neither ${stateFile} nor its backup can be read`,
  options: {},
  findings,
});

function describeState({ _meta: meta, phases }: RoadmapState): string {
  const records = Object.values(phases);
  const completedCount = records.filter(({ status }) => status === "completed").length;
  const stepText = meta.current_step === null ? "" : `, step ${meta.current_step}`;
  const phaseText = meta.current_phase === null ? "" : ` in phase ${meta.current_phase}${stepText}`;

  const statusText = {
    running: "cut short",
    paused: "paused",
    failed: "failed",
    completed: "completed",
  }[meta.status];

  return `${meta.run_id}, a roadmap's run of another tool, ${statusText}${phaseText}; ${completedCount} of ${records.length} phases completed`;
}

/**
 * The options of the run that continues it: all phases that are not completed, including the
 * current one, which may have no record yet; and the specification it was locked to, so that a
 * change since then is noticed.
 */
function resumeOptions({ _meta, phases, spec }: RoadmapState): ForeignRun["options"] {
  const { current_phase: currentPhase } = _meta;
  const openKeys = Object.keys(phases).filter((key) => phases[key]?.status !== "completed");
  const openIds = openKeys.map((key) => key.replace(/^phase_/, ""));
  const isCurrentUnlisted =
    openIds.length > 0 && currentPhase !== null && !Object.hasOwn(phases, `phase_${currentPhase}`);
  const phaseIds = isCurrentUnlisted ? [...openIds, currentPhase] : openIds;

  return {
    phases: phaseIds.length === 0 ? "all" : phaseIds.join(","),
    resumes: _meta.run_id,
    spec_path: spec.path,
    ...(spec.hash === null ? {} : { spec_hash: spec.hash }),
  };
}
