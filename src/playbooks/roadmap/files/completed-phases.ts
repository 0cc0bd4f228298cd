// completed-phases: loads which phases earlier runs completed, from state.json and the archive,
// whichever tool wrote them. Unreadable files are skipped: read-state-files.ts reports the faults
// of state.json, `validate` those of the archive.

import { join } from "node:path";
import { isTree } from "../../../documents/line-rules.ts";
import { parsePhaseId } from "../../../documents/phase-id.ts";
import type { ProjectPaths } from "../../../project/runs/project-paths.ts";
import { readOwnFile } from "../../../project/own-file.ts";
import { listArchives } from "./read-state-files.ts";

export type PhaseRecordSummary = {
  readonly isCompleted: boolean;
  /** The runs that completed it, oldest first. */
  readonly runs: readonly string[];
  /** Its name when it was last completed; null if not recorded. */
  readonly name: string | null;
};

/**
 * True: completed by some run. False: started and never completed. Absent: not started, so that the
 * checkbox in the roadmap decides.
 */
export const loadCompletion = (paths: Pick<ProjectPaths, "folder">): ReadonlyMap<string, boolean> =>
  new Map([...loadPhaseHistory(paths)].map(([id, { isCompleted }]) => [id, isCompleted]));

/** Every phase that some run has started, by its id. */
export function loadPhaseHistory(
  paths: Pick<ProjectPaths, "folder">,
): ReadonlyMap<string, PhaseRecordSummary> {
  const summaries = new Map<string, PhaseRecordSummary>();
  const current =
    readState(join(paths.folder, "state.json")) ??
    readState(join(paths.folder, "state.json.backup"));

  const archiveFolder = join(paths.folder, "archive");
  for (const state of [
    ...listArchives(archiveFolder).map((name) => readState(join(archiveFolder, name))),
    current,
  ]) {
    if (state === null) continue;
    for (const [key, phase] of Object.entries(state.phases)) {
      const id = parsePhaseId(key.replace(/^phase_/, ""));
      const status = phaseStatus(phase);
      if (id === null || status === null || status === "not_started") continue;
      const summary = summaries.get(id) ?? { isCompleted: false, runs: [], name: null };
      const { runs, name } = summary;

      const completedSummary = {
        isCompleted: true,
        runs: [...runs, ...state.runIds],
        name: state.names.get(id) ?? name,
      };
      summaries.set(id, status === "completed" ? completedSummary : summary);
    }
  }

  return summaries;
}

type StateFileContent = {
  /** The id of its run, alone; empty if it names none. */
  readonly runIds: readonly string[];
  readonly phases: Readonly<Record<string, unknown>>;
  /** Names of completed phases at that time. */
  readonly names: ReadonlyMap<string, string>;
};

/** Null if there is no file, or it is not a state file. */
function readState(path: string): StateFileContent | null {
  try {
    const state = JSON.parse((readOwnFile(path) ?? "").replace(/^\ufeff/, "")) as unknown;
    if (!isTree(state) || !isTree(state["phases"])) return null;
    const runId = isTree(state["_meta"]) ? state["_meta"]["run_id"] : null;

    return {
      runIds: typeof runId === "string" ? [runId] : [],
      phases: state["phases"],
      names: findNames(state["event_log"]),
    };
  } catch {
    return null; // not JSON
  }
}

/** The names in the state's event log, by phase. */
function findNames(eventLog: unknown): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const event of Array.isArray(eventLog) ? (eventLog as readonly unknown[]) : []) {
    if (!isTree(event) || event["event"] !== "phase_completed" || !isTree(event["details"])) {
      continue;
    }

    const [phase, name] = [event["phase"], event["details"]["name"]];
    if (typeof phase === "string" && typeof name === "string") {
      names.set(parsePhaseId(phase) ?? phase, name);
    }
  }

  return names;
}

const phaseStatus = (phase: unknown): string | null =>
  isTree(phase) && typeof phase["status"] === "string" ? phase["status"] : null;
