// roadmap-learnings: the run's learnings for agents: only for those who plan and work, and only what still holds.

import { learningLines } from "../views/learnings.ts";
import { type Learning, learningRoles, learningsFor, learningRechecks } from "../insight/learnings.ts";

/** Whether a command holds on the tree as it is; null if that could not be found out. */
export type Holds = (command: string) => Promise<boolean | null>;

const rechecksMax = 12;

/** The entries as the file has them, newest first; empty for every other role. */
export async function learningsText(role: string, learnings: readonly Learning[], holds: Holds): Promise<string> {
  if (!learningRoles.includes(role) || learnings.length === 0) return "";
  const known = new Map<string, boolean>();
  for (const command of learningRechecks(learnings.toReversed()).slice(0, rechecksMax)) {
    const isHolding = await holds(command);
    if (isHolding !== null) known.set(command, isHolding);
  }
  return learningsFor(role, learnings, known)
    .map((learning) => learningLines(learning).join("\n"))
    .join("\n\n");
}
