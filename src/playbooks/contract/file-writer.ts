// file-writer: writes a playbook's files while a run works.
//
// Invariants:
//   W1. No acknowledgement waits for a file: entries are queued at once, files are written later.
//   W2. Files are never older than the refresh while a run lives, and are whole when it rests.
//   W3. A file that cannot be written is reported once and ends no run: the journal is the source of truth, and it is written again at the
//       next opening.

import type { Entry } from "../../contracts/event.ts";
import type { LiveEvent } from "../../contracts/signal.ts";
import type { RunView } from "../../core/state.ts";
import type { Clock } from "../../ports/clock.ts";
import type { OpenedPlaybook } from "./playbook.ts";

const drawnAfterMs = 200;
/** A reader of the files takes ten minutes without a sign for a crash. */
const refreshMs = 4 * 60_000;

export type FileWriter = {
  readonly take: (entry: Entry, run: RunView) => void;
  readonly signal: (signal: LiveEvent) => void;
  /** Learnings for a role's prompt; empty if the playbook keeps none. */
  readonly learnings: NonNullable<OpenedPlaybook["learnings"]>;
  /** For the prompt of a phase's agents; empty if there is nothing to say. */
  readonly recorded: (phase: string) => string;
  /** Draws once more and is done. */
  readonly close: () => Promise<void>;
};

const nothingLearned = (): Promise<string> => Promise.resolve("");
export const noFileWriter: FileWriter = {
  take: () => undefined,
  signal: () => undefined,
  learnings: nothingLearned,
  recorded: () => "",
  close: () => Promise.resolve(),
};

export function openFileWriter(playbookName: OpenedPlaybook, clock: Pick<Clock, "now">, report: (problem: string) => void): FileWriter {
  let isStale = true;
  let hasReported = false;
  let soon: NodeJS.Timeout | null = null;
  let drawing: Promise<void> = Promise.resolve();

  const draw = (): void => {
    soon = null;
    isStale = false;
    // One after the other, so that an older drawing never comes after a newer one.
    drawing = drawing
      .then(() => playbookName.draw(clock.now()))
      .finally(() => playbookName.remarks?.().forEach(report))
      .catch((error: unknown) => {
        if (hasReported) return;
        hasReported = true;
        report(`The run's files could not be written: ${error instanceof Error ? error.message : String(error)}`); // W3
      });
  };
  const note = (): void => {
    isStale = true;
    soon ??= setTimeout(draw, drawnAfterMs).unref(); // W1
  };
  const refresh = setInterval(() => void (soon === null && draw()), refreshMs).unref(); // W2
  note();
  return {
    take: (entry, run) => {
      playbookName.take(entry, run);
      note();
    },
    signal: (signal) => playbookName.signal?.(signal, clock.now()),
    learnings: playbookName.learnings ?? nothingLearned,
    recorded: playbookName.recorded ?? (() => ""),
    close: async () => {
      clearInterval(refresh);
      if (soon !== null) clearTimeout(soon);
      if (soon !== null || isStale) draw(); // W2
      await drawing;
      await playbookName.rest?.().catch((error: unknown) => {
        report(`The run's pages could not be committed: ${error instanceof Error ? error.message : String(error)}`); // W3
      });
    },
  };
}
