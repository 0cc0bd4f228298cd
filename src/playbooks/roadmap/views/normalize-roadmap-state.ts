// normalize-roadmap-state: rewrites the ways in which other tools write a state.json into those of
// the format, with a warning for each.
// Invariants R1 and on: playbooks/roadmap/views/parse-roadmap-state.ts.

import { RoadmapEvent } from "../../../contracts/roadmap-events.ts";
import { type DataPath, shown } from "../../../kit/finding.ts";
import { formatIsoTime, parseIsoTime } from "../../../kit/iso-time.ts";
import { findIssues } from "../../../kit/located-issues.ts";

export type Tree = Record<string, unknown>;
export type Warn = (path: DataPath, rule: string, message: string) => void;

export const isTree = (value: unknown): value is Tree =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Changes the state in place. */
export function normalizeState(state: Tree, warn: Warn): void {
  normalizePhases(state, warn);
  normalizeTimes(state, [], warn);
  dropInvalidEvents(state, warn);
}

/** Replaces names that other tools use by those of the format. */
function normalizePhases(state: Tree, warn: Warn): void {
  if (!isTree(state["phases"])) return;
  const phases: Tree = {};

  for (const [key, phase] of Object.entries(state["phases"])) {
    const name = key.startsWith("phase_") ? key : `phase_${key}`;
    if (name !== key) {
      warn(["phases", key], "phase_key", `found the phase key ${shown(key)}, read as ${name}`);
    }

    if (Object.hasOwn(phases, name)) {
      warn(["phases", key], "phase_key", `found ${name} twice, of which the later one counts`);
    }

    phases[name] = phase;
    if (!isTree(phase)) continue;
    moveScoreToJudge(phase, ["phases", key], warn);
    fillKindsOfChecks(phase);
  }

  state["phases"] = phases;
}

/** Other tools give the alignment score to the phase, the format to the judge's step. */
function moveScoreToJudge(phase: Tree, path: DataPath, warn: Warn): void {
  const score = phase["alignment_score"];
  const steps = isTree(phase["steps"]) ? phase["steps"] : {};
  if (typeof score !== "number" || isTree(steps["judge"])) return;
  warn(
    [...path, "alignment_score"],
    "score_place",
    "found the phase's own alignment_score, read as the judge's",
  );

  phase["steps"] = { ...steps, judge: { alignment: score, recommendation: null } };
}

/** A kind of check without a result does not apply. */
function fillKindsOfChecks({ steps }: Tree): void {
  const verify = isTree(steps) ? steps["verify"] : null;
  const automated = isTree(verify) ? verify["automated"] : null;
  if (!isTree(automated)) return;
  for (const kind of ["compile", "tests", "lint"]) automated[kind] ??= "n/a";
}

const timeNames = new Set([
  "started_at",
  "completed_at",
  "last_checkpoint",
  "locked_at",
  "timestamp",
  "cooldown_until",
  "original_run_timestamp",
]);

/** Converts times with an offset to UTC, in every part of the state. */
function normalizeTimes(part: unknown, path: DataPath, warn: Warn): void {
  if (Array.isArray(part)) {
    for (const [index, item] of part.entries()) normalizeTimes(item, [...path, index], warn);
    return;
  }

  if (!isTree(part)) return;
  for (const [name, value] of Object.entries(part)) {
    const isOtherTime =
      timeNames.has(name) && typeof value === "string" && parseIsoTime(value) === null;
    if (!isOtherTime) {
      normalizeTimes(value, [...path, name], warn);
      continue;
    }

    const utc = parseUtc(value);
    if (utc === null) continue;
    part[name] = utc;
    warn([...path, name], "time_zone", `found ${shown(value)}, read as ${utc}`);
  }
}

/**
 * `2026-05-15 14:32:01+02:00` → `2026-05-15T12:32:01Z`; a time without a zone is taken as UTC. Null
 * if it is no such time.
 */
function parseUtc(text: string): string | null {
  const match = timeWithZone.exec(text.trim());
  if (match === null) return null;
  const [, date, time, sign, hours, minutes] = match;
  const localMs = parseIsoTime(`${date}T${time}Z`);
  if (localMs === null) return null;
  if (sign === undefined) return formatIsoTime(localMs);

  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return formatIsoTime(sign === "-" ? localMs + offsetMs : localMs - offsetMs);
}

/** A date, `T` or a space, a time, and a zone such as `Z`, `+02:00` or `-0530`, or none. */
const timeWithZone =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2}(?:\.\d+)?)\s*(?:([+-])(\d{2}):?(\d{2})|Z)?$/;

/** Leaves out events that are not valid: the log is informative and decides nothing. */
function dropInvalidEvents(state: Tree, warn: Warn): void {
  const log = state["event_log"];
  if (!Array.isArray(log)) return;
  state["event_log"] = log.filter((entry: unknown, index) => {
    if (isTree(entry)) {
      entry["details"] ??= {};
      for (const name of ["phase", "step"]) if (entry[name] === null) delete entry[name];
      if (typeof entry["phase"] === "number") entry["phase"] = String(entry["phase"]);
    }

    const [issue] = findIssues(RoadmapEvent, entry).issues;
    if (issue === undefined) return true;
    warn(["event_log", index], "event_left_out", `left out: ${issue.message}`);

    return false;
  });
}
