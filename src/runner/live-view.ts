// live-view: the last glimpse of what passes by, on this terminal and, in a file that is overwritten, for `watch`.
// What has ended is no longer to be seen.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "../contracts/event.ts";
import type { Signal } from "../contracts/signal.ts";
import { liveLine } from "../views/progress.ts";
import type { FileWriter } from "../playbooks/contract/file-writer.ts";
import type { CommandContext } from "../project/command-context.ts";
import { systemClock } from "../project/runs/system-clock.ts";

const everyMs = 150;
const file = "live";

/** Where a run's last glimpse lies. */
export const livePath = (folder: string): string => join(folder, file);

export type LiveView = { readonly signal: (signal: Signal) => void; readonly fact: (entry: Entry) => void };

export function openLiveView(
  place: Pick<CommandContext, "live">,
  folder: string,
  hear: (signal: Signal) => () => Signal,
  desk: Pick<FileWriter, "signal">,
): LiveView {
  let shownAt = Number.NEGATIVE_INFINITY;
  let attempt: string | null = null;
  const show = (line: string): void => {
    place.live(line);
    try {
      writeFileSync(livePath(folder), line, { mode: 0o600 });
    } catch {
      // A glimpse that cannot be kept is no reason to end a run; what matters goes to the journal, which says so.
    }
  };
  return {
    signal: (signal) => {
      const redacted = hear(signal);
      if (signal.signal === "tool" || signal.signal === "checking") desk.signal(redacted());
      if (systemClock.monotonicMs() - shownAt < everyMs) return;
      const line = liveLine(redacted());
      if (line === null) return;
      shownAt = systemClock.monotonicMs();
      ({ attempt } = signal);
      show(line);
    },
    fact: (entry) => {
      if (attempt === null || !ends(entry, attempt)) return;
      attempt = null;
      show("");
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
