// quality-log-volumes: the log files of a quality run, of which the last is the current one, and the
// phase ends that it still has to repeat from those before it.
// Invariants T1 and on: playbooks/quality/views/quality-log.ts.

import {
  phaseNumbers,
  type PhaseNumber,
  type QualityRunEvent,
} from "../../../contracts/quality/quality-run.ts";
import type { ParsedLog } from "./parse-quality-log.ts";
import { toHistoryPath } from "./quality-names.ts";
import { type PhaseEnd, Volume } from "./quality-log-volume.ts";

export class RunVolumes {
  readonly list: Volume[] = [];
  /** Phase ends to be repeated in the current log, each before the events of later phases. */
  readonly #pendingEnds = new Map<number, PhaseEnd>();

  get current(): Volume | null {
    return this.list.at(-1) ?? null;
  }

  add(event: QualityRunEvent): void {
    this.current?.add(event);
  }

  hasEnded(phase: number): boolean {
    return this.current?.endsByPhase.has(phase) === true;
  }

  /** Begins a log, or goes on with one that an earlier run left. */
  open(earlier: ParsedLog | null): void {
    this.list.push(new Volume(earlier));
  }

  /** Notes a log of another run, which is kept unread; returns where. */
  addForeign(ts: string): string {
    const volume = new Volume(null);
    volume.archive = toHistoryPath(ts);
    this.list.push(volume);
    return volume.archive;
  }

  /**
   * Moves the current log to history and returns where it is kept. The ends of its phases are
   * repeated in the next log, but for those that are done again. T2
   */
  archiveCurrent(current: Volume, ts: string, phasesDoneAgain: Iterable<PhaseNumber>): string {
    current.archive = toHistoryPath(ts);
    this.#repeatEndsOf(current);
    for (const phase of phasesDoneAgain) this.#pendingEnds.delete(phase);
    return current.archive;
  }

  /**
   * Leaves all logs to the run that this one was forked from, and returns where they are kept. The
   * ends of their phases are repeated in the next log.
   */
  leaveToOtherRun(current: Volume, ts: string): string {
    this.#repeatEndsOf(current);
    this.list.length = 0;
    return this.addForeign(ts);
  }

  #repeatEndsOf({ endsByPhase }: Volume): void {
    for (const [phase, end] of endsByPhase) this.#pendingEnds.set(phase, end);
  }

  /** Repeats the ends of earlier phases that still hold, then reports that this phase starts. */
  enterPhase(phase: number, ts: string): void {
    this.writePendingEnds(phase, ts);
    this.current?.start(phase, ts);
  }

  /** Repeats the ends of the phases before this one. */
  writePendingEnds(until: number, ts: string): void {
    for (const phase of phaseNumbers) {
      const end = this.#pendingEnds.get(phase);
      if (end === undefined || phase >= until) continue;
      this.#pendingEnds.delete(phase);
      this.current?.start(phase, ts);
      this.current?.end({ ...end, ts });
    }
  }
}
