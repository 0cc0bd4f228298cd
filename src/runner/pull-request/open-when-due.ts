// open-when-due: opens the pull request at the end of a run that lands that way. A failure is
// reported; the work stays on its branch.

import type { CommandContext } from "../../project/command-context.ts";
import { Refusal } from "../../project/respond.ts";
import { classifySystemError } from "../../project/system-errors.ts";
import type { OpenRun } from "../open-run.ts";
import { openPullRequest } from "./open-pull-request.ts";

/** Opens the pull request; returns why it could not be opened, or nothing. */
export async function openWhenDue(
  context: CommandContext,
  openRun: OpenRun,
): Promise<readonly string[]> {
  try {
    const { url, isDraft } = await openPullRequest(context, openRun, {});
    context.show(`✓ ${isDraft ? "Draft pull request" : "Pull request"}: ${url}`);
    return [];
  } catch (error) {
    if (error instanceof Refusal) return [`No pull request yet: ${error.message}`];
    const failure = classifySystemError(error);
    if (failure === null || failure.code === "lease_lost") throw error;

    return [
      `No pull request yet: ${failure.message}${failure.hint === undefined ? "" : ` (${failure.hint})`}`,
    ];
  }
}
