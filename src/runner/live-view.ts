// live-view: shows the latest live events on this terminal and, in a file that is overwritten, for `watch`. What has ended is removed.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "../contracts/event.ts";
import type { LiveEvent } from "../contracts/signal.ts";
import type { RunView } from "../core/state.ts";
import { nowLines } from "../views/now-lines.ts";
import { liveLine } from "../views/progress.ts";
import type { FileWriter } from "../playbooks/contract/file-writer.ts";
import type { CommandContext } from "../project/command-context.ts";
import { systemClock } from "../project/runs/system-clock.ts";

const everyMs = 150;
const file = "live";

/** The path of a run's live-event file. */
export const livePath = (folder: string): string => join(folder, file);

const drawEveryMs = 1000;

export type LiveView = {
  readonly signal: (signal: LiveEvent) => void;
  readonly fact: (entry: Entry, run: RunView) => void;
  readonly close: () => void;
};

export function openLiveView(
  context: Pick<CommandContext, "live" | "board">,
  folder: string,
  onEvent: (signal: LiveEvent) => () => LiveEvent,
  fileWriter: Pick<FileWriter, "onLiveEvent">,
): LiveView {
  let shownAt = Number.NEGATIVE_INFINITY;
  let attempt: string | null = null;
  let run: RunView | null = null;
  const began = new Map<string, number>();
  const seen = new Map<string, string>();
  const now = (): number => systemClock.monotonicMs();
  const draw = (): void => {
    if (run === null) return;
    const ageMs = (of: string): number => now() - (began.get(of) ?? now());
    context.board?.draw(nowLines(run, { seenOf: (of) => seen.get(of) ?? null, ageMs }));
  };
  const timer = context.board === undefined ? null : setInterval(draw, drawEveryMs).unref();
  const show = (line: string): void => {
    if (context.board === undefined) context.live(line);
    else draw();
    try {
      writeFileSync(livePath(folder), line, { mode: 0o600 });
    } catch {
      // A live event that cannot be written is no reason to end a run; the journal reports disk trouble.
    }
  };
  return {
    signal: (signal) => {
      const redacted = onEvent(signal);
      if (signal.signal === "tool" || signal.signal === "checking") fileWriter.onLiveEvent(redacted());
      if (now() - shownAt < everyMs) return;
      const line = liveLine(redacted());
      if (line === null) return;
      shownAt = now();
      ({ attempt } = signal);
      seen.set(attempt, line);
      show(line);
    },
    fact: (entry, view) => {
      run = view;
      if (entry.event === "step_started") began.set(entry.attempt, now());
      if (attempt === null || !ends(entry, attempt)) return draw();
      began.set(attempt, now()); // what comes after a turn is its own time
      seen.delete(attempt);
      attempt = null;
      show("");
    },
    close: () => {
      if (timer !== null) clearInterval(timer);
      context.board?.draw([]);
    },
  };
}

function ends(entry: Entry, attempt: string): boolean {
  switch (entry.event) {
    case "turn_ended":
    case "step_completed":
    case "step_failed":
    case "step_interrupted":
      return entry.attempt === attempt;
    default:
      return false;
  }
}
