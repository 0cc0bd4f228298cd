// quality-log-events: builds the events of run_state.jsonl: header, phase counts and gate results.

import type { EventOf } from "../../../contracts/event.ts";
import type { GateResult, PhaseTally } from "../../../contracts/quality/quality-facts.ts";
import {
  type PhaseNumber,
  type QualityRunEvent,
  type RunEventOf,
  runEventNames,
  qualityLogVersion,
} from "../../../contracts/quality/quality-run.ts";
import { parseIsoTime } from "../../../kit/iso-time.ts";
import { renderGateLog } from "./quality-gate-log.ts";
import { gateLogPath } from "./quality-names.ts";
import { oneLine } from "../../../views/wording.ts";

const messageCharsMax = 1_000;

/** The fields of `_index` and `run_start`. */
export type RunHeader = {
  readonly runId: string;
  readonly benchmark: string;
  readonly leverState: string;
  readonly playbookVersion: string;
  readonly targetPath: string;
  readonly runner: string;
};

export function buildRunHeader({ run_id, options, flow, cast }: EventOf<"run_drafted">): RunHeader {
  const textOption = (name: string, fallback: string): string => {
    const value = options[name];
    return typeof value === "string" && value !== "" ? value : fallback;
  };

  return {
    runId: run_id,
    benchmark: textOption("benchmark", "."),
    leverState: textOption("lever_state", "baseline"),
    playbookVersion: textOption("playbook_version", String(flow.version)),
    targetPath: textOption("target_path", "."),
    runner: textOption("runner", (Object.values(cast)[0] ?? { agent: "unknown" }).agent),
  };
}

/**
 * The first two events of a log. `_index` lists all event types, so that the line never has to be
 * changed later.
 */
export const buildHeadEvents = (header: RunHeader, ts: string): readonly QualityRunEvent[] => [
  {
    event: "_index",
    ts,
    schema_version: qualityLogVersion,
    event_types: [...runEventNames],
    benchmark: header.benchmark,
    lever_state: header.leverState,
    started_at: ts,
  },
  {
    event: "run_start",
    ts,
    runner: header.runner,
    playbook_version: header.playbookVersion,
    target_path: header.targetPath,
    run_id: header.runId,
  },
];

/** The runner's own counts, as events. */
export function buildTallyEvents(
  phase: PhaseNumber,
  tally: PhaseTally,
  ts: string,
): readonly QualityRunEvent[] {
  const { patterns, passes, findings, artifacts } = tally;
  return [
    ...patterns.map(
      ({ pattern, findings_count }) =>
        ({ event: "pattern_walked", ts, phase: 1, pattern, findings_count }) as QualityRunEvent,
    ),
    ...passes.flatMap(({ pass, output_artifact }): readonly QualityRunEvent[] => [
      { event: "pass_started", ts, phase: 4, pass },
      {
        event: "pass_ended",
        ts,
        phase: 4,
        pass,
        ...(output_artifact === undefined ? {} : { output_artifact }),
      },
    ]),
    ...findings.map(({ id, category }): QualityRunEvent => ({
      event: "finding_logged",
      ts,
      phase,
      finding_id: id,
      category,
    })),
    ...artifacts.map(({ path, bytes, lines }): QualityRunEvent => ({
      event: "artifact_written",
      ts,
      relative_path: path,
      ...(bytes === undefined ? {} : { byte_size: bytes }),
      ...(lines === undefined ? {} : { line_count: lines }),
    })),
  ];
}

export const buildGateEvents = ({ checks }: GateResult, ts: string): readonly QualityRunEvent[] =>
  checks.map(({ name, verdict, reason }) => ({
    event: "gate_check",
    ts,
    gate_name: name,
    verdict,
    reason: oneLine(reason, messageCharsMax),
  }));

/** The event for the gate's log file, which the runner writes in the last phase. */
export function buildGateLogEvent(result: GateResult, ts: string): QualityRunEvent {
  const text = renderGateLog({ result, ts });
  return {
    event: "artifact_written",
    ts,
    relative_path: gateLogPath,
    byte_size: new TextEncoder().encode(text).length,
    line_count: text.split("\n").length - 1,
  };
}

type EndedPhase = {
  readonly phase: PhaseNumber;
  readonly startedAt: string;
  readonly ts: string;
  /** Undefined if the phase was not counted. */
  readonly tally: PhaseTally | undefined;
  /** Whether the gate's log is among its artifacts. */
  readonly hasGateLog: boolean;
};

/** The duration is left out if one of its times cannot be read. */
export function buildPhaseEnd({
  phase,
  startedAt,
  ts,
  tally,
  hasGateLog,
}: EndedPhase): RunEventOf<"phase_end"> {
  const [startMs, endMs] = [parseIsoTime(startedAt), parseIsoTime(ts)];
  const tenths =
    startMs === null || endMs === null ? null : Math.max(0, Math.round((endMs - startMs) / 100));
  return {
    event: "phase_end",
    ts,
    phase,
    key_counts: tally?.key_counts ?? {},
    artifacts_produced: [
      ...(tally?.artifacts ?? []).map(({ path }) => path),
      ...(hasGateLog ? [gateLogPath] : []),
    ],
    ...(tenths === null ? {} : { duration_seconds: tenths / 10 }),
  };
}

type RunError = {
  readonly ts: string;
  readonly phase: number | null;
  readonly message: string;
  readonly isRecoverable: boolean;
};

export function buildErrorEvent({ ts, phase, message, isRecoverable }: RunError): QualityRunEvent {
  const phaseField = phase === null ? {} : { phase };
  const text = oneLine(message, messageCharsMax);
  return {
    event: "error",
    ts,
    ...phaseField,
    message: text,
    recoverable: isRecoverable,
  } as QualityRunEvent;
}
