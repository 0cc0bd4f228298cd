// parse-roadmap-state: parses a state.json that another tool wrote, so that a run can continue it.
//
// Invariants:
//   R1. Any text gives a state or findings that say why not; nothing is thrown.
//   R2. The state is valid against the schema. What is filled in, renamed or left out is a warning
//       with its line, up to a limit; silent are only the empty parts of an event and `n/a` for a
//       kind of check.
//   R3. The status of the run and of a phase is never guessed. A missing current step is none: then
//       the phase starts from its beginning.

import { roadmapFile } from "../../../contracts/roadmap-places.ts";
import { RoadmapEvent } from "../../../contracts/roadmap-events.ts";
import { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { circuitBreakerDefaults } from "../../../contracts/roadmap-values.ts";
import { type DataPath, type Finding, pathText, shown } from "../../../kit/finding.ts";
import { formatIsoTime, parseIsoTime } from "../../../kit/iso-time.ts";
import { isTooDeep, jsonDepthMax } from "../../../kit/json-hazards.ts";
import { findIssues } from "../../../kit/located-issues.ts";
import { locateJsonValue, positionAt } from "../../../documents/json-place.ts";

export type ParsedRoadmapState = {
  readonly state: RoadmapState | null;
  readonly findings: readonly Finding[];
};

const textCharsMax = 64 * 1_048_576;
/** A fix may uncover the next fault: a field that was filled in has fields of its own. */
const fixPassesMax = 40;
const findingsMax = 200;

/**
 * Every fault of each phase and event is examined, so their number is limited, far beyond any real
 * roadmap.
 */
const phasesMax = 5_000;
const eventsMax = 100_000;

type Tree = Record<string, unknown>;

export function parseRoadmapState(
  text: string,
  file = ".autopilot/state.json",
): ParsedRoadmapState {
  const findings: Finding[] = [];
  const report = (
    severity: Finding["severity"],
    path: DataPath,
    rule: string,
    message: string,
  ): void => {
    if (findings.length < findingsMax) {
      findings.push({
        file,
        ...locateJsonValue(source, path),
        path: pathText(path),
        rule,
        message,
        severity,
      });
    }
  };

  const source = text.replace(/^\uFEFF/, "");
  if (source.length > textCharsMax) {
    return refusal(
      file,
      "too_large",
      `found ${source.length} characters, expected at most ${textCharsMax}`,
    );
  }

  const parsed = parseJson(source, file);
  if ("finding" in parsed) return { state: null, findings: [parsed.finding] }; // R1
  if (isTooDeep(parsed.value)) {
    return refusal(
      file,
      "too_deep",
      `found more than ${jsonDepthMax} levels of nesting, expected less`,
    );
  } // R1

  if (!isTree(parsed.value)) {
    return refusal(file, "wrong_type", `found ${shown(parsed.value)}, expected a mapping`);
  }

  const excess = findExcess(parsed.value);
  if (excess !== null) return refusal(file, "too_many", excess);
  const state = structuredClone(parsed.value);
  const warn: Warn = (path, rule, message) => report("warning", path, rule, message);
  normalizeNames(state, warn);
  normalizeTimes(state, warn);
  dropInvalidEvents(state, warn);

  for (let pass = 0; pass < fixPassesMax; pass++) {
    const { value, issues } = findIssues(RoadmapState, state);
    if (issues.length === 0) return { state: value, findings };
    const fixedIssues = issues.filter((issue) => fixIssue(state, issue, warn));
    if (fixedIssues.length > 0) continue;
    for (const { path, rule, message } of issues) report("error", path, rule, message); // R3

    return { state: null, findings };
  }

  report(
    "error",
    [],
    "too_many_faults",
    "found too many faults to go through, expected a state.json of the roadmap's schema",
  );

  return { state: null, findings };
}

/** Why the state is too large to be examined; null if it isn't. */
function findExcess({ phases, event_log: log }: Tree): string | null {
  const phaseCount = isTree(phases) ? Object.keys(phases).length : 0;
  if (phaseCount > phasesMax) return `found ${phaseCount} phases, expected at most ${phasesMax}`;
  if (Array.isArray(log) && log.length > eventsMax) {
    return `found ${log.length} events in event_log, expected at most ${eventsMax}`;
  }

  return null;
}

type Warn = (path: DataPath, rule: string, message: string) => void;

const isTree = (value: unknown): value is Tree =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function refusal(file: string, rule: string, message: string): ParsedRoadmapState {
  return {
    state: null,
    findings: [{ file, line: 1, column: 1, path: "", rule, message, severity: "error" }],
  };
}

function parseJson(
  source: string,
  file: string,
): { readonly value: unknown } | { readonly finding: Finding } {
  try {
    return { value: JSON.parse(source) as unknown };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const offset = /position (\d+)/.exec(message)?.[1];
    const position = positionAt(source, offset === undefined ? source.length : Number(offset));

    return {
      finding: {
        file,
        ...position,
        path: "",
        rule: "syntax",
        message: `not JSON: ${message}`,
        severity: "error",
      },
    };
  }
}

/** Replaces names that other tools use by those of the format. */
function normalizeNames(state: Tree, warn: Warn): void {
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
    const score = phase["alignment_score"];
    const steps = isTree(phase["steps"]) ? phase["steps"] : {};
    if (typeof score === "number" && !isTree(steps["judge"])) {
      warn(
        ["phases", key, "alignment_score"],
        "score_place",
        "found the phase's own alignment_score, read as the judge's",
      );

      phase["steps"] = { ...steps, judge: { alignment: score, recommendation: null } };
    }

    const automated =
      isTree(steps["verify"]) && isTree(steps["verify"]["automated"])
        ? steps["verify"]["automated"]
        : null;

    for (const kind of ["compile", "tests", "lint"]) {
      if (automated !== null) automated[kind] ??= "n/a";
    }
  }

  state["phases"] = phases;
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

/** Converts times with an offset to UTC. */
function normalizeTimes(state: Tree, warn: Warn): void {
  const visit = (node: unknown, path: DataPath): void => {
    if (Array.isArray(node)) return node.forEach((item, index) => visit(item, [...path, index]));
    if (!isTree(node)) return;
    for (const [name, value] of Object.entries(node)) {
      if (timeNames.has(name) && typeof value === "string" && parseIsoTime(value) === null) {
        const utc = parseUtc(value);
        if (utc !== null) {
          node[name] = utc;
          warn([...path, name], "time_zone", `found ${shown(value)}, read as ${utc}`);
        }
      } else {
        visit(value, [...path, name]);
      }
    }
  };
  visit(state, []);
}

/**
 * `2026-05-15 14:32:01+02:00` → `2026-05-15T12:32:01Z`; a time without a zone is taken as UTC. Null
 * if it is no such time.
 */
function parseUtc(text: string): string | null {
  const match =
    /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2}(?:\.\d+)?)\s*(?:([+-])(\d{2}):?(\d{2})|Z)?$/.exec(
      text.trim(),
    );
  if (match === null) return null;
  const [, date, time, sign, hours, minutes] = match;
  const localMs = parseIsoTime(`${date}T${time}Z`);
  if (localMs === null) return null;
  const offsetMinutes = sign === undefined ? 0 : Number(hours) * 60 + Number(minutes);

  return formatIsoTime(localMs - (sign === "-" ? -1 : 1) * offsetMinutes * 60_000);
}

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

const zeroDefault = (): unknown => 0;
const nullDefault = (): unknown => null;

/** Defaults of missing or unreadable fields; `*` matches any one name. */
const defaults: Readonly<Record<string, (state: Tree) => unknown>> = {
  "_meta.version": () => "1.0",
  "_meta.run_id": (state) => buildRunId(state),
  "_meta.last_checkpoint": (state) =>
    isTree(state["_meta"]) ? state["_meta"]["started_at"] : undefined,
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
    locked_at: isTree(state["_meta"]) ? state["_meta"]["started_at"] : null,
  }),
  "spec.path": () => roadmapFile,
  "spec.hash": nullDefault,
  "spec.locked_at": (state) => (isTree(state["_meta"]) ? state["_meta"]["started_at"] : undefined),
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

type Issue = { readonly path: DataPath; readonly rule: string; readonly message: string };

/**
 * Fixes one issue if there is a default, with a warning. A step with an invalid record counts as
 * not started and runs again. R2
 */
function fixIssue(state: Tree, { path, rule, message }: Issue, warn: Warn): boolean {
  if (rule === "unknown_key") {
    warn(path, "unknown_key", `left out: ${message}`);
    return setField(state, path, undefined);
  }

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

/** `phases.phase_1.steps.plan` has the default of `phases.*.steps.*`. */
function findDefault(path: DataPath): ((state: Tree) => unknown) | undefined {
  const name = path.join(".");
  if (Object.hasOwn(defaults, name)) return defaults[name];
  const pattern = withWildcards(path);
  const patternName = pattern.join(".");

  return pattern.length === path.length && Object.hasOwn(defaults, patternName)
    ? defaults[patternName]
    : undefined;
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
  let parent: unknown = state;
  for (const part of path.slice(0, -1)) {
    parent = isTree(parent) || Array.isArray(parent) ? (parent as Tree)[part] : undefined;
  }

  const fieldName = path.at(-1);
  if ((!isTree(parent) && !Array.isArray(parent)) || fieldName === undefined) return false;
  if (value === undefined) return Reflect.deleteProperty(parent, fieldName);
  (parent as Tree)[fieldName] = value;

  return true;
}

/** Derives the run id from its start time: `2026-02-09T14:30:52Z` gives `run-2026-02-09-143052`. */
function buildRunId(state: Tree): unknown {
  const startedAt = isTree(state["_meta"]) ? state["_meta"]["started_at"] : undefined;
  const [, date, time] =
    typeof startedAt === "string"
      ? (/^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})/.exec(startedAt) ?? [])
      : [];
  return date === undefined || time === undefined
    ? undefined
    : `run-${date}-${time.replaceAll(":", "")}`;
}
