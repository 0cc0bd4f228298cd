// quality-log-phase-rules: checks the start and end events of the six phases of a run_state.jsonl:
// each once, and in order.

import { type PhaseNumber, phaseNumbers } from "../../../contracts/quality/quality-run.ts";

export type PhaseRules = {
  /** What is wrong with the event; null if it may be here. */
  readonly startPhase: (phase: unknown, line: number) => string | null;
  readonly endPhase: (phase: unknown, line: number) => string | null;
  /** The phases that have not ended. */
  readonly listOpen: () => readonly PhaseNumber[];
};

export function createPhaseRules(): PhaseRules {
  const startLines = new Map<unknown, number>();
  const endLines = new Map<unknown, number>();
  const isPhase = (phase: unknown): phase is PhaseNumber =>
    (phaseNumbers as readonly unknown[]).includes(phase);
  let latestPhase: PhaseNumber | null = null;

  return {
    startPhase: (phase, line) => {
      if (!isPhase(phase)) return null;
      const firstLine = startLines.get(phase);
      if (firstLine !== undefined) {
        return `phase ${phase} starts a second time, after line ${firstLine}`;
      }

      startLines.set(phase, line);
      if (latestPhase !== null && phase < latestPhase) {
        return `phase ${phase} starts after phase ${latestPhase}, expected the phases in order`;
      }

      const openPhase = latestPhase !== null && !endLines.has(latestPhase) ? latestPhase : null;
      latestPhase = phase;
      if (openPhase === null) return null;

      return `phase ${phase} starts while phase ${openPhase} of line ${startLines.get(openPhase) ?? 0} has not ended`;
    },
    endPhase: (phase, line) => {
      if (!isPhase(phase)) return null;
      const firstLine = endLines.get(phase);
      if (firstLine !== undefined) {
        return `phase ${phase} ends a second time, after line ${firstLine}`;
      }

      endLines.set(phase, line);
      return startLines.has(phase) ? null : `phase ${phase} ends without having started`;
    },
    listOpen: () => phaseNumbers.filter((phase) => !endLines.has(phase)),
  };
}
