// narrate: prints the milestones of a run on the terminal as they are journaled.

import type { Entry } from "../contracts/event.ts";
import type { RunView } from "../core/state.ts";
import { milestone, phaseEnding } from "../views/progress.ts";
import type { CommandContext } from "../project/command-context.ts";

/** Tells the person at the terminal what happens, fact by fact. */
export function narrate(place: Pick<CommandContext, "show">): (entry: Entry, run: RunView) => void {
  const kinds = new Map<string, string>();
  return (entry, run) => {
    if (entry.event === "step_started") kinds.set(entry.attempt, entry.kind);
    const line = milestone(entry, (attempt) => kinds.get(attempt) ?? null);
    if (line !== null) place.show(line);
    const ending = phaseEnding(entry, run);
    if (ending !== null) place.show(ending);
  };
}
