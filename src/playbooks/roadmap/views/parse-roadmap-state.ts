// parse-roadmap-state: parses a state.json that another tool wrote, so that a run can continue it.
//
// Invariants:
//   R1. Any text gives a state or findings that say why not; nothing is thrown.
//   R2. The state is valid against the schema. What is filled in, renamed or left out is a warning
//       with its line, up to a limit; silent are only the empty parts of an event and `n/a` for a
//       kind of check.
//   R3. The status of the run and of a phase is never guessed. A missing current step is none: then
//       the phase starts from its beginning.

import { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { type DataPath, type Finding, pathText, shown } from "../../../kit/finding.ts";
import { isTooDeep, jsonDepthMax } from "../../../kit/json-hazards.ts";
import { findIssues } from "../../../kit/located-issues.ts";
import { locateJsonValue, positionAt } from "../../../documents/json-place.ts";
import { isTree, normalizeState, type Tree, type Warn } from "./normalize-roadmap-state.ts";
import { fixIssue } from "./roadmap-state-defaults.ts";

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

/** The part of a state.json that is read, or the refusal of one that is not. */
type Opened = { readonly tree: Tree } | { readonly refused: Finding };
type Report = (
  severity: Finding["severity"],
  path: DataPath,
  rule: string,
  message: string,
) => void;

export function parseRoadmapState(
  text: string,
  file = ".autopilot/state.json",
): ParsedRoadmapState {
  const source = text.replace(/^\uFEFF/, ""); // a byte order mark
  const opened = openTree(source, file);
  if ("refused" in opened) return { state: null, findings: [opened.refused] }; // R1

  const findings: Finding[] = [];
  const report: Report = (severity, path, rule, message) => {
    if (findings.length >= findingsMax) return;
    const place = locateJsonValue(source, path);
    findings.push({ file, ...place, path: pathText(path), rule, message, severity });
  };

  const state = structuredClone(opened.tree);
  const warn: Warn = (path, rule, message) => report("warning", path, rule, message);
  normalizeState(state, warn);
  return { state: fixState(state, report, warn), findings };
}

/** Parses the text, unless it is too large to be examined. */
function openTree(source: string, file: string): Opened {
  const refuseFile = (rule: string, message: string): Opened => ({
    refused: { file, line: 1, column: 1, path: "", rule, message, severity: "error" },
  });

  if (source.length > textCharsMax) {
    const message = `found ${source.length} characters, expected at most ${textCharsMax}`;
    return refuseFile("too_large", message);
  }

  const parsed = parseJson(source, file);
  if ("refused" in parsed) return parsed;
  if (isTooDeep(parsed.value)) {
    const message = `found more than ${jsonDepthMax} levels of nesting, expected less`;
    return refuseFile("too_deep", message);
  }

  if (!isTree(parsed.value)) {
    return refuseFile("wrong_type", `found ${shown(parsed.value)}, expected a mapping`);
  }

  const excess = findExcess(parsed.value);
  return excess === null ? { tree: parsed.value } : refuseFile("too_many", excess);
}

function parseJson(
  source: string,
  file: string,
): { readonly value: unknown } | { readonly refused: Finding } {
  try {
    return { value: JSON.parse(source) as unknown };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const offset = /position (\d+)/.exec(reason)?.[1];
    const position = positionAt(source, offset === undefined ? source.length : Number(offset));
    const message = `not JSON: ${reason}`;

    return {
      refused: { file, ...position, path: "", rule: "syntax", message, severity: "error" },
    };
  }
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

/** Fixes what can be fixed until the state is valid; null if something is left. */
function fixState(state: Tree, report: Report, warn: Warn): RoadmapState | null {
  for (let pass = 0; pass < fixPassesMax; pass++) {
    const { value, issues } = findIssues(RoadmapState, state);
    if (issues.length === 0) return value;

    const fixedIssues = issues.filter((issue) => fixIssue(state, issue, warn));
    if (fixedIssues.length > 0) continue;
    for (const { path, rule, message } of issues) report("error", path, rule, message); // R3

    return null;
  }

  report(
    "error",
    [],
    "too_many_faults",
    "found too many faults to go through, expected a state.json of the roadmap's schema",
  );
  return null;
}
