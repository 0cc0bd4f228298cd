// runs: lists the runs of this project with state, goal, age, cost and disk use; reads only.

import type { CommandResponse } from "../contracts/command-response.ts";
import { runsPage } from "../views/runs-page.ts";
import { findProject } from "../project/runs/project-paths.ts";
import { listRunRows } from "../project/runs/run-rows.ts";
import type { CommandContext } from "../project/command-context.ts";
import { plural } from "../views/wording.ts";
import { catchRefusals, respond } from "../project/respond.ts";
import { systemClock } from "../project/runs/system-clock.ts";

export function runs(
  context: CommandContext,
  input: { readonly all: boolean },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = findProject(context.cwd);
    const rows = paths === null ? [] : await listRunRows(context, paths);
    return respond("ok", {
      message: rows.length === 0 ? "No runs here." : `${plural(rows.length, "run")}.`,
      page: runsPage(rows, systemClock.now(), input.all),
      data: { runs: rows },
    });
  });
}
