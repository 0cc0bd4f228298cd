// roadmap-learnings: renders the run's learnings for an agent's prompt, without those whose
// re-check (a command that passes while the learning is true) fails.

import { renderLearningLines } from "../views/learnings.ts";
import {
  type Learning,
  learningRoles,
  selectLearnings,
  listRechecks,
} from "../insight/learnings.ts";

/** Whether a command passes on the current tree; null if unknown. */
export type RunRecheck = (command: string) => Promise<boolean | null>;

/**
 * As many as learnings are shown; older ones are not re-checked, and shown only in place of newer
 * ones that failed.
 */
const rechecksMax = 12;

/** The entries, newest first; empty for roles that see no learnings. */
export async function renderLearningsFor(
  role: string,
  learnings: readonly Learning[],
  runRecheck: RunRecheck,
): Promise<string> {
  if (!learningRoles.includes(role) || learnings.length === 0) return "";
  const results = new Map<string, boolean>();

  for (const command of listRechecks(learnings.toReversed()).slice(0, rechecksMax)) {
    const passes = await runRecheck(command);
    if (passes !== null) results.set(command, passes);
  }

  return selectLearnings(role, learnings, results)
    .map((learning) => renderLearningLines(learning).join("\n"))
    .join("\n\n");
}
