// roadmap-state-defaults: fills in what another tool's state.json lacks, and leaves out what the
// format does not have, with a warning for each.
// Invariants R1 and on: playbooks/roadmap/views/parse-roadmap-state.ts.

import { roadmapFile } from "../../../contracts/roadmap-places.ts";
import { circuitBreakerDefaults } from "../../../contracts/roadmap-values.ts";
import { type DataPath, shown } from "../../../kit/finding.ts";
import { isTree, type Tree, type Warn } from "./normalize-roadmap-state.ts";

type Issue = { readonly path: DataPath; readonly rule: string; readonly message: string };
/** The value of a missing field; undefined to leave the field out. */
type Default = (state: Tree) => unknown;

/**
 * Fixes one issue if there is a default, with a warning. A step with an invalid record counts as
 * not started and runs again. R2
 */
export function fixIssue(state: Tree, { path, rule, message }: Issue, warn: Warn): boolean {
  if (rule === "unknown_key") {
    warn(path, "unknown_key", `left out: ${message}`);
    return setField(state, path, undefined);
  }

  // The nearest part around the issue that has a default: a whole step, if a field of it is wrong.
  for (let length = path.length; length > 0; length--) {
    const fieldPath = path.slice(0, length);
    const defaultFor = findDefault(fieldPath);
    if (defaultFor === undefined) continue;
    const value = defaultFor(state);
    warn(path, rule, `${message}; read as ${value === undefined ? "not there" : shown(value)}`);

    return setField(state, fieldPath, value);
  }

  return false;
}

const zeroDefault: Default = () => 0;
const nullDefault: Default = () => null;

/** Defaults of missing or unreadable fields; `*` matches any one name. */
const defaults: Readonly<Record<string, Default>> = {
  "_meta.version": () => "1.0",
  "_meta.run_id": buildRunId,
  "_meta.last_checkpoint": startTime,
  "_meta.total_phases": (state) =>
    Object.keys(isTree(state["phases"]) ? state["phases"] : {}).length,
  "_meta.current_phase": nullDefault,
  "_meta.current_step": nullDefault,
  "_meta.orchestrator_context_pct": zeroDefault,
  "_meta.human_deferred_count": zeroDefault,
  "_meta.total_phases_processed": zeroDefault,
  spec: (state) => ({
    path: roadmapFile,
    hash: null,
    locked_at: isTree(state["_meta"]) ? startTime(state) : null,
  }),
  "spec.path": () => roadmapFile,
  "spec.hash": nullDefault,
  "spec.locked_at": startTime,
  roadmap_path: () => roadmapFile,
  "phases.*.phase_type": () => "mixed",
  "phases.*.started_at": nullDefault,
  "phases.*.completed_at": nullDefault,
  "phases.*.steps": () => ({}),
  "phases.*.debug_attempts": zeroDefault,
  "phases.*.replan_attempts": zeroDefault,
  "phases.*.tokens_used": zeroDefault,
  "phases.*.estimated_tokens": zeroDefault,
  "phases.*.human_verify_justification": nullDefault,
  "phases.*.human_verdict": nullDefault,
  "phases.*.steps.*": () => undefined,
  circuit_breaker: () => ({
    state: "closed",
    consecutive_no_progress: 0,
    consecutive_same_error: 0,
    last_error: null,
    cooldown_until: null,
  }),
  "circuit_breaker.state": () => "closed",
  "circuit_breaker.consecutive_no_progress": zeroDefault,
  "circuit_breaker.consecutive_same_error": zeroDefault,
  "circuit_breaker.last_error": nullDefault,
  "circuit_breaker.cooldown_until": nullDefault,
  circuit_breaker_config: () => ({ ...circuitBreakerDefaults }),
  event_log: () => [],
  metrics: () => ({
    total_tokens_used: 0,
    total_duration_minutes: 0,
    phases_completed: 0,
    phases_failed: 0,
    debug_loops_total: 0,
    replan_count: 0,
  }),
  "metrics.*": zeroDefault,
};

/** `phases.phase_1.steps.plan` has the default of `phases.*.steps.*`. */
function findDefault(path: DataPath): Default | undefined {
  const name = path.join(".");
  if (Object.hasOwn(defaults, name)) return defaults[name];

  const pattern = withWildcards(path);
  const patternName = pattern.join(".");
  const isSameDepth = pattern.length === path.length;
  return isSameDepth && Object.hasOwn(defaults, patternName) ? defaults[patternName] : undefined;
}

/** The path with `*` for the key of a phase, the name of a step, or the field of another part. */
function withWildcards(path: DataPath): DataPath {
  const [head = "", ...fields] = path;
  if (head !== "phases") return [head, "*"];
  const [, field, ...subfields] = fields;
  if (field === "steps" && subfields.length > 0) {
    return ["phases", "*", "steps", "*", ...subfields.slice(1)];
  }

  return ["phases", "*", ...fields.slice(1)];
}

/** Sets a field, or deletes it if the value is undefined. False if the path leads nowhere. */
function setField(state: Tree, path: DataPath, value: unknown): boolean {
  const fieldName = path.at(-1);
  const parent = findPart(state, path.slice(0, -1));
  if (parent === undefined || fieldName === undefined) return false;
  if (value === undefined) return Reflect.deleteProperty(parent, fieldName);
  parent[fieldName] = value;

  return true;
}

/** The mapping or list at a path; undefined if there is none. */
function findPart(state: Tree, path: DataPath): Tree | undefined {
  let part: unknown = state;
  for (const name of path) part = isPart(part) ? part[name] : undefined;
  return isPart(part) ? part : undefined;
}

const isPart = (value: unknown): value is Tree => isTree(value) || Array.isArray(value);

/** When the run began; undefined if it is not said. */
function startTime({ _meta: meta }: Tree): unknown {
  return isTree(meta) ? meta["started_at"] : undefined;
}

/** Derives the run id from its start time: `2026-02-09T14:30:52Z` gives `run-2026-02-09-143052`. */
function buildRunId(state: Tree): string | undefined {
  const startedAt = startTime(state);
  if (typeof startedAt !== "string") return undefined;
  const match = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2}):(\d{2})/.exec(startedAt);
  if (match === null) return undefined;
  const [, date, hours, minutes, seconds] = match;

  return `run-${date}-${hours}${minutes}${seconds}`;
}
