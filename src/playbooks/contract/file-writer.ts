// file-writer: writes a playbook's files while a run works.
//
// Invariants:
//   W1. No acknowledgement waits for a file: entries are queued at once, files are written later.
//   W2. While a run is active its files are written at least every `refreshMs`, and once more when
//       it closes if anything is pending.
//   W3. The first failed write is reported, and none ends the run: the journal is the source of
//       truth, and the files are written again with the next entry or when the run is next opened.

import type { Entry } from "../../contracts/event.ts";
import type { LiveEvent } from "../../contracts/live-event.ts";
import type { RunView } from "../../core/state.ts";
import type { Clock } from "../../ports/clock.ts";
import type { OpenedPlaybook } from "./playbook.ts";

/** Entries come in bursts: one write serves all that arrive within this time. */
const writeDelayMs = 200;
/** Readers of the files assume a crash after ten minutes without an update. */
const refreshMs = 4 * 60_000;

export type FileWriter = {
  readonly onEntry: (entry: Entry, run: RunView) => void;
  readonly onLiveEvent: (liveEvent: LiveEvent) => void;
  /** Learnings for a role's prompt; empty if the playbook keeps none. */
  readonly learnings: NonNullable<OpenedPlaybook["learnings"]>;
  /** For the prompt of a phase's agents; empty if there is nothing to say. */
  readonly phaseNotes: (phase: string) => string;
  /** Writes what is still pending and stops. */
  readonly close: () => Promise<void>;
};

const noLearnings = (): Promise<string> => Promise.resolve("");
/** For runs whose flow has no playbook. */
export const noFileWriter: FileWriter = {
  onEntry: () => undefined,
  onLiveEvent: () => undefined,
  learnings: noLearnings,
  phaseNotes: () => "",
  close: () => Promise.resolve(),
};

/**
 * Writes the files once soon after opening, then after each entry. `report` shows a problem to the
 * user.
 */
export function openFileWriter(
  playbook: OpenedPlaybook,
  clock: Pick<Clock, "now">,
  report: (problem: string) => void,
): FileWriter {
  /** An entry came after the last write began. */
  let isStale = true;
  let hasReportedFailure = false;
  let pendingWrite: NodeJS.Timeout | null = null;
  let lastWrite: Promise<void> = Promise.resolve();

  const reportFailure = (error: unknown): void => {
    if (hasReportedFailure) return;
    hasReportedFailure = true;
    report(`The run's files could not be written: ${errorText(error)}`); // W3
  };

  const startWrite = (): void => {
    pendingWrite = null;
    isStale = false;
    // One write after the other, so that older content never replaces newer.
    lastWrite = lastWrite
      .then(() => playbook.writeFiles(clock.now()))
      .finally(() => playbook.takeWarnings?.().forEach(report))
      .catch(reportFailure);
  };

  const scheduleWrite = (): void => {
    isStale = true;
    pendingWrite ??= setTimeout(startWrite, writeDelayMs).unref(); // W1
  };

  const refreshTimer = setInterval(() => {
    if (pendingWrite === null) startWrite(); // W2
  }, refreshMs).unref();

  scheduleWrite();
  return {
    onEntry: (entry, run) => {
      playbook.onEntry(entry, run);
      scheduleWrite();
    },
    onLiveEvent: (liveEvent) => {
      try {
        playbook.onLiveEvent?.(liveEvent, clock.now());
      } catch (error) {
        reportFailure(error); // W3: a full disk must not end the turn that is at work
      }
    },
    learnings: playbook.learnings ?? noLearnings,
    phaseNotes: playbook.phaseNotes ?? (() => ""),
    close: async () => {
      clearInterval(refreshTimer);
      if (pendingWrite !== null) clearTimeout(pendingWrite);
      if (pendingWrite !== null || isStale) startWrite(); // W2
      await lastWrite;
      await playbook.close?.().catch((error: unknown) => {
        report(`The run's pages could not be committed: ${errorText(error)}`); // W3
      });
    },
  };
}

const errorText = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
