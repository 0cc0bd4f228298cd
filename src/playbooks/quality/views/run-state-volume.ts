// run-state-volume: one log of a quality run while it grows.
//
// Invariants:
//   L1. Only added to. `phase_start` and `phase_end` stand there once a phase, and the phases in order.
//   L2. Nothing comes after `run_end`.
//   L3. To a log that another tool began only events are added whose type its `_index` lists.

import type { QualityRunEvent, RunEventOf } from "../../../contracts/quality-run.ts";
import type { LogRead } from "./run-state-read.ts";

export type PhaseEnd = RunEventOf<"phase_end">;

export class Volume {
  /** The earlier log, if this run continues one. */
  readonly earlier: LogRead | null;
  /** Where it goes when it is over; null while it is the log in force. */
  archive: string | null = null;
  readonly lines: string[] = [];
  /** All of it, what another tool wrote included. */
  readonly events: QualityRunEvent[];
  readonly startedAt = new Map<number, string>();
  readonly ended = new Map<number, PhaseEnd>();
  #isOver = false;

  constructor(earlier: LogRead | null) {
    this.earlier = earlier;
    this.events = [...(earlier?.events ?? [])];
    for (const event of this.events) if (event.event === "phase_start") this.startedAt.set(event.phase, event.ts);
    for (const [phase, end] of earlier?.ended ?? []) this.ended.set(phase, end);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  add(event: QualityRunEvent): void {
    if (this.#isOver) return; // L2
    if (this.earlier !== null && !this.earlier.types.has(event.event)) return; // L3
    this.lines.push(JSON.stringify(event));
    this.events.push(event);
    if (event.event === "run_end") this.#isOver = true;
  }

  start(phase: number, ts: string): void {
    if (this.startedAt.has(phase)) return; // L1
    this.startedAt.set(phase, ts);
    this.add({ event: "phase_start", ts, phase } as RunEventOf<"phase_start">);
  }

  end(event: PhaseEnd): void {
    if (this.ended.has(event.phase)) return; // L1
    this.start(event.phase, event.ts);
    this.ended.set(event.phase, event);
    this.add(event);
  }
}
