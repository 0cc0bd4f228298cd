// live-view: shows the latest live event of a run (text streaming by, a tool at work) on this
// terminal and, through a file that is overwritten, in `watch`. It disappears when its turn or step
// ends.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "../contracts/event.ts";
import type { LiveEvent } from "../contracts/live-event.ts";
import type { RunView } from "../core/state.ts";
import { renderNowLines } from "../views/now-lines.ts";
import { formatLiveLine } from "../views/log-lines.ts";
import type { FileWriter } from "../playbooks/contract/file-writer.ts";
import type { CommandContext } from "../project/command-context.ts";
import { systemClock } from "../project/runs/system-clock.ts";

const showIntervalMs = 150;
const liveFile = "live";

/** The path of a run's live-event file. */
export const livePath = (folder: string): string => join(folder, liveFile);

const drawIntervalMs = 1000;

export type LiveView = {
  readonly onLiveEvent: (event: LiveEvent) => void;
  readonly onEntry: (entry: Entry, run: RunView) => void;
  readonly close: () => void;
};

export type LiveViewParts = {
  readonly context: Pick<CommandContext, "showLive" | "board">;
  readonly folder: string;
  /** Reads each event as it comes; its result redacts that event on demand. */
  readonly redactEvent: (event: LiveEvent) => () => LiveEvent;
  readonly fileWriter: Pick<FileWriter, "onLiveEvent">;
};

export function openLiveView({
  context,
  folder,
  redactEvent,
  fileWriter,
}: LiveViewParts): LiveView {
  let shownAtMs = Number.NEGATIVE_INFINITY;
  let shownAttempt: string | null = null;
  let run: RunView | null = null;
  const startedAtMs = new Map<string, number>();
  const latestLines = new Map<string, string>();
  const nowMs = (): number => systemClock.monotonicMs();

  const draw = (): void => {
    if (run === null) return;
    const ageMs = (attempt: string): number => nowMs() - (startedAtMs.get(attempt) ?? nowMs());
    context.board?.draw(
      renderNowLines(run, { latestLineOf: (attempt) => latestLines.get(attempt) ?? null, ageMs }),
    );
  };
  const timer = context.board === undefined ? null : setInterval(draw, drawIntervalMs).unref();

  const show = (line: string): void => {
    if (context.board === undefined) context.showLive(line);
    else draw();

    try {
      writeFileSync(livePath(folder), line, { mode: 0o600 });
    } catch {
      // A live event that cannot be written is no reason to end a run; the journal reports disk
      // trouble.
    }
  };

  return {
    onLiveEvent: (event) => {
      const redacted = redactEvent(event);
      if (event.signal === "tool" || event.signal === "checking") {
        fileWriter.onLiveEvent(redacted());
      }

      if (nowMs() - shownAtMs < showIntervalMs) return;
      const line = formatLiveLine(redacted());
      if (line === null) return;
      shownAtMs = nowMs();
      shownAttempt = event.attempt;
      latestLines.set(event.attempt, line);
      show(line);
    },
    onEntry: (entry, view) => {
      run = view;
      if (entry.event === "step_started") startedAtMs.set(entry.attempt, nowMs());
      if (shownAttempt === null || !endsActivity(entry, shownAttempt)) return draw();
      startedAtMs.set(shownAttempt, nowMs()); // what follows a turn is timed separately
      latestLines.delete(shownAttempt);
      shownAttempt = null;
      show("");
    },
    close: () => {
      if (timer !== null) clearInterval(timer);
      context.board?.draw([]);
    },
  };
}

function endsActivity(entry: Entry, attempt: string): boolean {
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
