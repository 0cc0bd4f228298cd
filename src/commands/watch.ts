// watch: follows a run from another terminal: events line by line, and below them a board that is
// redrawn in place. Without a terminal only the lines. Reads only.

import { buildRunResponse } from "../runner/run-response.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { CommandResponse } from "../contracts/command-response.ts";
import type { Entry } from "../contracts/event.ts";
import { openFold } from "../core/fold.ts";
import type { RunView } from "../core/state.ts";
import { renderRunBoard } from "../views/run-board.ts";
import { findOwner } from "../journal/owner.ts";
import { type ReadResult, readJournal } from "../journal/read.ts";
import { parseIsoTime } from "../kit/iso-time.ts";
import { runFolder } from "../project/runs/project-paths.ts";
import { livePath } from "../runner/live-view.ts";
import { showMilestones } from "../runner/show-milestones.ts";
import { readOwnFile } from "../project/own-file.ts";
import type { CommandContext } from "../project/command-context.ts";
import { refuseJournal } from "../project/runs/read-run.ts";
import { catchRefusals, respond } from "../project/respond.ts";
import { loadRun } from "../project/runs/loaded-run.ts";
import { systemClock } from "../project/runs/system-clock.ts";

const pollMs = 250;
/**
 * How many of the lines from before the watcher started are shown; the board shows the state they
 * led to.
 */
const earlierLinesMax = 20;

/** Follows a run until no process works on it or the person interrupts. Each line is shown once. */
export function watch(
  context: CommandContext,
  input: { readonly run?: string | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const { paths, run } = await loadRun(context, input.run);
    const folder = runFolder(paths, run);
    const fold = openFold();
    const view = (): RunView => fold.state as RunView; // `loadRun` has read this journal, so it begins with a draft
    const earlierLines = bufferEarlierLines(context);
    const showIfMilestone = showMilestones({ show: earlierLines.show });
    const onEntry = (entry: Entry): void => {
      fold.apply(entry);
      showIfMilestone(entry, view());
    };

    let readFrom: "start" | ReadResult["end"] = "start";
    for (;;) {
      const owner = findOwner(folder);
      try {
        readFrom = readJournal(folder, { startAt: readFrom, onEntry }).end;
      } catch (error) {
        refuseJournal(error, run);
      }

      earlierLines.end();
      if (owner === null || context.interrupted.aborted) {
        const { status } = view();
        return respond("ok", {
          run_id: run,
          state: status,
          message:
            owner !== null || status === "running"
              ? `${run} is ${status}.`
              : buildRunResponse(view(), "", []).message,
        });
      }

      draw(context, view(), owner, readLive(folder));
      await sleep(pollMs);
    }
  });
}

/**
 * Holds back the lines from before the watcher started, and at `end` shows only the last of them.
 * Without a board every line is shown.
 */
function bufferEarlierLines(context: CommandContext): {
  readonly show: (line: string) => void;
  readonly end: () => void;
} {
  let buffered: string[] | null = context.board === undefined ? null : [];
  let dropped = 0;
  return {
    show: (line) => {
      if (buffered === null) return context.show(line);
      buffered.push(line);

      if (buffered.length > earlierLinesMax) {
        dropped += buffered.splice(0, buffered.length - earlierLinesMax).length;
      }
    },
    end: () => {
      if (buffered === null) return;
      if (dropped > 0) context.show(`… ${dropped} earlier lines: autopilot log`);
      for (const line of buffered) context.show(line);
      buffered = null;
    },
  };
}

function draw(
  context: CommandContext,
  run: RunView,
  owner: { readonly pid: number },
  liveLine: string,
): void {
  if (context.board === undefined) return context.showLive(liveLine);
  const sinceMs = (parseIsoTime(systemClock.now()) ?? 0) - (parseIsoTime(run.updatedAt) ?? 0);
  context.board.draw(
    renderRunBoard(run, {
      owner,
      liveLine,
      rowsMax: context.board.rowsMax(),
      sinceMinutes: Math.max(0, sinceMs) / 60_000,
    }),
  );
}

function readLive(folder: string): string {
  return readOwnFile(livePath(folder)) ?? "";
}
