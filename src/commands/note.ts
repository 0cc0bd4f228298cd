// note: records a person's notes on lines of a run's change, all at once, for the next turn that
// changes something.

import * as v from "valibot";
import type { CommandResponse } from "../contracts/command-response.ts";
import type { ReviewNote } from "../contracts/run-parts.ts";
import { GitSha } from "../contracts/ids.ts";
import { sendToRun, refuseLate } from "../runner/send-to-run.ts";
import type { CommandContext } from "../project/command-context.ts";
import { catchRefusals, refuse, respond } from "../project/respond.ts";
import { loadRun, requireStatus } from "../project/runs/loaded-run.ts";

type Input = {
  readonly run?: string | undefined;
  /** The newest commit of the change as it was inspected. */
  readonly commit: string;
  readonly notes: readonly ReviewNote[];
};

/**
 * Sends notes to an open run. They name the commit they are about, since the change may move on
 * meanwhile.
 */
export function note(context: CommandContext, input: Input): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const loaded = await loadRun(context, input.run);
    const runFields = { run_id: loaded.run, state: loaded.view.status };
    requireStatus(loaded, "note", "running", "paused");

    if (!v.safeParse(GitSha, input.commit).success) {
      refuse("usage", {
        ...runFields,
        message: `${input.commit} is not a commit.`,
        remediation: ["autopilot diff"],
      });
    }

    const { view, outcome } = await sendToRun(
      context,
      loaded,
      {
        event: "review_noted",
        commit: input.commit,
        notes: input.notes.map((reviewNote) => ({ ...reviewNote })),
      },
      () => true, // notes need no effect in the run's state: being journaled is enough
    );
    if (outcome === "late") refuseLate(loaded, view, "It came too late to count.");
    const isOutdated = input.commit !== loaded.view.tip.commit;

    return respond("review_noted", {
      ...runFields,
      state: view.status,
      message: `${input.notes.length} ${input.notes.length === 1 ? "note" : "notes"} recorded for the next turn that changes something.`,
      warnings: isOutdated
        ? [
            "The change has moved on since it was looked at; the notes name the commit they are about.",
          ]
        : [],
      remediation: view.status === "paused" ? ["autopilot resume"] : [],
      data: { notes: input.notes.length, commit: input.commit },
    });
  });
}
