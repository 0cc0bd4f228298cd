// read-state-files: reads the state files of a project, of any tool: the current one, its backup
// and the archived ones.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { parseRoadmapState } from "../views/parse-roadmap-state.ts";
import { readField } from "../../contract/agent-return.ts";
import type { Finding } from "../../../kit/finding.ts";
import { parseIsoTime } from "../../../kit/iso-time.ts";
import {
  archiveFolder,
  backupFile,
  stateBytesMax,
  stateFile,
} from "../../../contracts/roadmap-places.ts";
import { readBounded } from "../../contract/whole-file.ts";

export type ProjectState = {
  /** Null if neither file has a valid state. */
  readonly state: RoadmapState | null;
  readonly text: string;
  readonly source: typeof stateFile | typeof backupFile | null;
  /** Whether `state.json` exists at all. */
  readonly exists: boolean;
  readonly findings: readonly Finding[];
};

/** `state.json`, or its backup if it is damaged. */
export async function readProjectState(root: string): Promise<ProjectState> {
  const current = await readStateFile(root, stateFile);
  if (current === null) return { state: null, text: "", source: null, exists: false, findings: [] };
  if (current.state !== null) return { ...current, source: stateFile, exists: true };
  const backup = await readStateFile(root, backupFile);
  const findings = [...current.findings, ...(backup?.findings ?? [])];

  if (backup === null || backup.state === null) {
    return { state: null, text: "", source: null, exists: true, findings };
  }

  return { state: backup.state, text: backup.text, source: backupFile, exists: true, findings };
}

type StateFileResult = {
  readonly state: RoadmapState | null;
  readonly text: string;
  readonly findings: readonly Finding[];
};

/** Null if there is no such file. */
export async function readStateFile(root: string, path: string): Promise<StateFileResult | null> {
  const file = await readBounded(root, path, stateBytesMax);
  if (file.kind === "absent") return null;
  if (file.kind === "unusable") {
    const finding: Finding = {
      file: path,
      line: 1,
      column: 1,
      path: "",
      rule: file.rule,
      message: `it ${file.why}`,
      severity: "error",
    };

    return { state: null, text: "", findings: [finding] };
  }

  const text = file.bytes.toString("utf8");
  return { ...parseRoadmapState(text, path), text };
}

const archivesMax = 1_000;
const archiveName = /^run-.*\.json$/; // run-2026-02-09-143052.json

/** When earlier runs completed each phase for the first time. Unreadable files are skipped. */
export async function readCompletionTimes(
  root: string,
  exceptRun: string,
): Promise<Readonly<Record<string, string>>> {
  const times = Object.create(null) as Record<string, string>; // a phase may have any name, even __proto__
  for (const path of [
    ...listArchives(join(root, archiveFolder)).map((name) => `${archiveFolder}/${name}`),
    stateFile,
  ]) {
    const file = await readBounded(root, path, stateBytesMax);
    const state = file.kind === "read" ? parseJson(file.bytes) : undefined;
    if (readField(readField(state, "_meta"), "run_id") === exceptRun) continue;
    const phases = readField(state, "phases");
    for (const [key, phase] of Object.entries(
      typeof phases === "object" && phases !== null ? phases : {},
    )) {
      const completedAt = readField(phase, "completed_at");
      const id = key.replace(/^phase_/, "");

      if (
        readField(phase, "status") === "completed" &&
        typeof completedAt === "string" &&
        parseIsoTime(completedAt) !== null
      ) {
        times[id] ??= completedAt;
      }
    }
  }

  return times;
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch {
    return undefined; // not JSON
  }
}

/**
 * Names of the newest archived states in a folder, oldest first: they are named after the time
 * their run began.
 */
export function listArchives(folder: string, countMax = archivesMax): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => archiveName.test(name))
      .toSorted()
      .slice(-countMax);
  } catch {
    return []; // nothing was archived yet
  }
}
