// roadmap-foreign: a roadmap's run that another tool began, known only by its state.json.

import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import type { Finding } from "../../../kit/finding.ts";
import { isBegun, listRuns } from "../../../project/runs/project-paths.ts";
import type { ForeignRun } from "../../contract/playbook.ts";
import { backupFile, stateFile } from "../../../contracts/roadmap-places.ts";
import { readStateHere } from "./roadmap-states.ts";

/**
 * Null if nothing is here, where a journal of ours accounts for it, or where it is finished: then it is archived when a run begins.
 * Where state.json is damaged its backup counts; where neither can be read, the findings say so and nothing can be taken from it.
 */
export async function foreignRoadmap(home: { readonly root: string; readonly folder: string }): Promise<ForeignRun | null> {
  const { state, from, isThere, findings } = await readStateHere(home.root);
  if (!isThere) return null;
  if (state === null) return listRuns(home).length > 0 ? null : unreadable(findings);
  if (isBegun(home, state._meta.run_id) || state._meta.status === "completed") return null;
  return {
    flow: "roadmap",
    files: [from ?? stateFile],
    summary: roadmapSummary(state),
    options: roadmapOptions(state),
    findings: from === backupFile ? [...findings.map(asWarning), useOfBackup] : findings,
    hasFailed: state._meta.status === "failed",
  };
}

const asWarning = (finding: Finding): Finding => ({ ...finding, severity: "warning" });

const useOfBackup: Finding = {
  file: backupFile,
  line: 1,
  column: 1,
  path: "",
  rule: "backup_used",
  message: `${stateFile} cannot be read, so its backup is taken`,
  severity: "warning",
};

const unreadable = (findings: readonly Finding[]): ForeignRun => ({
  flow: "roadmap",
  files: [stateFile],
  summary: `a roadmap's run of another tool, of which neither ${stateFile} nor its backup can be read`,
  options: {},
  findings,
});

function roadmapSummary({ _meta: meta, phases }: RoadmapState): string {
  const all = Object.values(phases);
  const done = all.filter(({ status }) => status === "completed").length;
  const step = meta.current_step === null ? "" : `, step ${meta.current_step}`;
  const where = meta.current_phase === null ? "" : ` in phase ${meta.current_phase}${step}`;
  const word = { running: "cut short", paused: "paused", failed: "failed", completed: "completed" }[meta.status];
  return `${meta.run_id}, a roadmap's run of another tool, ${word}${where}; ${done} of ${all.length} phases completed`;
}

/**
 * What is not completed is run, with the phase it stopped in, of which there may be no record yet; and with the specification it was locked
 * to, so that a change since is noticed.
 */
function roadmapOptions({ _meta: { current_phase: current, run_id: run }, phases, spec }: RoadmapState): ForeignRun["options"] {
  const known = Object.entries(phases).flatMap(([key, { status }]) => (status === "completed" ? [] : [key.replace(/^phase_/, "")]));
  const isUnknown = known.length > 0 && current !== null && !Object.hasOwn(phases, `phase_${current}`);
  const open = isUnknown ? [...known, current] : known;
  return {
    phases: open.length === 0 ? "all" : open.join(","),
    resumes: run,
    spec_path: spec.path,
    ...(spec.hash === null ? {} : { spec_hash: spec.hash }),
  };
}
