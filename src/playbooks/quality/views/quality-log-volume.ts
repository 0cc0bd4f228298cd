// quality-log-volume: one log file of a quality run while it grows. A run has several if phases are
// repeated.
//
// Invariants:
//   L1. Lines are only appended. Each phase has one `phase_start` and one `phase_end`; that phases
//       are in order is kept in quality-log.ts.
//   L2. Nothing comes after `run_end`.
//   L3. A log that another tool began only gets events whose type its `_index` lists.

import type { QualityRunEvent, RunEventOf } from "../../../contracts/quality/quality-run.ts";
import type { ParsedLog } from "./parse-quality-log.ts";

export type PhaseEnd = RunEventOf<"phase_end">;

export class Volume {
  /** The earlier log, if this run continues one. */
  readonly earlier: ParsedLog | null;
  /** The path it is moved to when a new volume replaces it; null for the current one. */
  archive: string | null = null;
  readonly lines: string[] = [];
  /** All events, including those another tool wrote. */
  readonly events: QualityRunEvent[];
  readonly startTimes = new Map<number, string>();
  readonly endsByPhase = new Map<number, PhaseEnd>();
  #isOver = false;

  constructor(earlier: ParsedLog | null) {
    this.earlier = earlier;
    this.events = [...(earlier?.events ?? [])];

    for (const event of this.events) {
      if (event.event === "phase_start") this.startTimes.set(event.phase, event.ts);
    }

    for (const [phase, end] of earlier?.endsByPhase ?? []) this.endsByPhase.set(phase, end);
  }

  /** Whether the run has ended in this volume. */
  get isOver(): boolean {
    return this.#isOver;
  }

  add(event: QualityRunEvent): void {
    if (this.#isOver) return; // L2
    if (this.earlier !== null && !this.earlier.eventTypes.has(event.event)) return; // L3
    this.lines.push(JSON.stringify(event));
    this.events.push(event);
    if (event.event === "run_end") this.#isOver = true;
  }

  start(phase: number, ts: string): void {
    if (this.startTimes.has(phase)) return; // L1
    this.startTimes.set(phase, ts);
    this.add({ event: "phase_start", ts, phase } as RunEventOf<"phase_start">);
  }

  end(event: PhaseEnd): void {
    if (this.endsByPhase.has(event.phase)) return; // L1
    this.start(event.phase, event.ts);
    this.endsByPhase.set(event.phase, event);
    this.add(event);
  }
}
