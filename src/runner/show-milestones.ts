// show-milestones: prints the milestones of a run on the terminal as they are journaled.

import type { Entry } from "../contracts/event.ts";
import type { RunView } from "../core/state.ts";
import { openMilestones, describePhaseEnding } from "../views/progress.ts";
import type { CommandContext } from "../project/command-context.ts";

/** Returns the function that prints an entry's milestones. */
export function showMilestones(
  context: Pick<CommandContext, "show">,
): (entry: Entry, run: RunView) => void {
  const milestones = openMilestones();
  return (entry, run) => {
    for (const line of milestones(entry, run)) context.show(line);
    const ending = describePhaseEnding(entry, run);
    if (ending !== null) context.show(ending);
  };
}
