// log: shows a run's journal as readable lines, or as raw JSON lines.

import type { CommandResponse } from "../contracts/command-response.ts";
import { isMilestone, formatLogLine, formatShortLogLine } from "../views/log-lines.ts";
import { safeJson } from "../kit/safe-json.ts";
import { forEachEntry, readEntries } from "../project/runs/read-entries.ts";
import type { CommandContext } from "../project/command-context.ts";
import { catchRefusals, respond } from "../project/respond.ts";
import { loadRun } from "../project/runs/loaded-run.ts";

type Input = {
  readonly run?: string | undefined;
  readonly since?: number | undefined;
  readonly jsonl?: boolean | undefined;
  readonly print?: ((line: string) => void) | undefined;
};

/** Shows milestones, or with `-v` every event; with `jsonl` prints the entries as they are read. */
export function log(context: CommandContext, input: Input): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const { paths, run, view } = await loadRun(context, input.run);
    const since = input.since ?? 0;

    if (input.jsonl === true) {
      await forEachEntry(paths, run, (entry) => {
        if (entry.seq >= since) input.print?.(safeJson(entry));
      });

      return respond("ok", { run_id: run, state: view.status, message: "", page: [] });
    }

    const events = (await readEntries(paths, run)).entries.filter(({ seq }) => seq >= since);
    const milestones = events.filter(isMilestone);
    const hint =
      milestones.length === events.length
        ? []
        : ["", `${milestones.length} of ${events.length} events; all: autopilot log -v`];

    return respond("ok", {
      run_id: run,
      state: view.status,
      message: `${events.length} events of ${run}.`,
      page: [
        ...milestones.map((entry) =>
          formatShortLogLine(entry, (ts) => new Date(ts).toTimeString().slice(0, 8)),
        ),
        ...hint,
      ],
      whole: events.map(formatLogLine),
      data: { events },
    });
  });
}
