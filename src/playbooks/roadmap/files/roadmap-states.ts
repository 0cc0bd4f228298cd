// roadmap-states: the state files of a project, of any tool: the one in force, its backup, those in the archive.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { readRoadmapState } from "../views/roadmap-state-read.ts";
import { parseField } from "../views/roadmap-audit.ts";
import type { Finding } from "../../../kit/finding.ts";
import { parseIsoTime } from "../../../kit/iso-time.ts";
import { archiveFolder, backupFile, stateBytesMax, stateFile } from "../../../contracts/roadmap-places.ts";
import { readBounded } from "../../contract/whole-file.ts";

export type StateRead = {
  /** The state, from whichever file holds one; null if none does. */
  readonly state: RoadmapState | null;
  readonly text: string;
  readonly from: typeof stateFile | typeof backupFile | null;
  /** Whether anything is under the file's own name. */
  readonly isThere: boolean;
  readonly findings: readonly Finding[];
};

/** `state.json`, or where it is damaged its backup: the format's order. */
export async function readStateHere(root: string): Promise<StateRead> {
  const first = await readState(root, stateFile);
  if (first === null) return { state: null, text: "", from: null, isThere: false, findings: [] };
  if (first.state !== null) return { ...first, from: stateFile, isThere: true };
  const second = await readState(root, backupFile);
  const findings = [...first.findings, ...(second?.findings ?? [])];
  if (second === null || second.state === null) return { state: null, text: "", from: null, isThere: true, findings };
  return { state: second.state, text: second.text, from: backupFile, isThere: true, findings };
}

type OneRead = { readonly state: RoadmapState | null; readonly text: string; readonly findings: readonly Finding[] };

/** Null if there is no such file. */
export async function readState(root: string, path: string): Promise<OneRead | null> {
  const read = await readBounded(root, path, stateBytesMax);
  if (read.kind === "absent") return null;
  if (read.kind === "unusable") {
    const finding: Finding = { file: path, line: 1, column: 1, path: "", rule: read.rule, message: `it ${read.why}`, severity: "error" };
    return { state: null, text: "", findings: [finding] };
  }
  const text = read.bytes.toString("utf8");
  return { ...readRoadmapState(text, path), text };
}

const archivesMax = 1_000;

/** When phases were completed by earlier runs, by id: the first time counts. What cannot be read knows nothing. */
export async function completedEarlier(root: string, exceptRun: string): Promise<Readonly<Record<string, string>>> {
  const earlier = Object.create(null) as Record<string, string>; // a phase may have any name
  for (const path of [...archivedIn(root).map((name) => `${archiveFolder}/${name}`), stateFile]) {
    const read = await readBounded(root, path, stateBytesMax);
    const state = read.kind === "read" ? parsed(read.bytes) : undefined;
    if (parseField(parseField(state, "_meta"), "run_id") === exceptRun) continue;
    const phases = parseField(state, "phases");
    for (const [key, phase] of Object.entries(typeof phases === "object" && phases !== null ? phases : {})) {
      const at = parseField(phase, "completed_at");
      const id = key.replace(/^phase_/, "");
      if (parseField(phase, "status") === "completed" && typeof at === "string" && parseIsoTime(at) !== null) earlier[id] ??= at;
    }
  }
  return earlier;
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}

/** Names of archived states, oldest first. */
export function archivedIn(root: string): readonly string[] {
  try {
    return readdirSync(join(root, archiveFolder))
      .filter((name) => /^run-.*\.json$/.test(name))
      .toSorted()
      .slice(-archivesMax);
  } catch {
    return []; // nothing was archived yet
  }
}
