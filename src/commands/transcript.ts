// transcript: shows what the agent said and did in each turn, from the recorded transcripts.

import type { CommandResponse } from "../contracts/command-response.ts";
import { transcriptPage } from "../views/transcript.ts";
import { plural } from "../views/wording.ts";
import { runFolder } from "../project/runs/project-paths.ts";
import type { CommandContext } from "../project/command-context.ts";
import { catchRefusals, refuse, respond } from "../project/respond.ts";
import { loadRun } from "../project/runs/loaded-run.ts";
import { readTranscripts } from "../project/runs/transcript-read.ts";

type Input = {
  readonly run?: string | undefined;
  readonly turn?: number | undefined;
  readonly all: boolean;
};

/** Shows the turns of a run: all, one, or as many as fit. */
export function transcript(context: CommandContext, input: Input): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const { paths, run, view } = await loadRun(context, input.run);
    const turns = readTranscripts(runFolder(paths, run));
    const runFields = { run_id: run, state: view.status };

    if (turns.length === 0) {
      return refuse("transcript_missing", {
        ...runFields,
        message: `${run} has no transcript: no turn has begun, or it was cleaned away.`,
      });
    }

    if (input.turn !== undefined && turns[input.turn - 1] === undefined) {
      return refuse("transcript_missing", {
        ...runFields,
        message: `${run} has ${plural(turns.length, "turn")}; there is no turn ${input.turn}.`,
        remediation: ["autopilot transcript --all"],
      });
    }

    return respond("ok", {
      ...runFields,
      message: `${plural(turns.length, "turn")} of ${run}.`,
      page: transcriptPage({
        turns,
        turn: input.all ? "all" : (input.turn ?? null),
        named: input.run === undefined ? "" : ` ${run}`,
      }),
      data: { turns: input.turn === undefined ? turns : turns.slice(input.turn - 1, input.turn) },
    });
  });
}
