// start: saves an objective as a draft and shows its preview; nothing runs yet.

import type { CommandResponse } from "../contracts/command-response.ts";
import { makeDraft } from "../runner/draft/make-draft.ts";
import { type GoInput, requestsNewRun } from "../playbooks/contract/go-input.ts";
import { findProject, requireProject } from "../project/runs/project-paths.ts";
import { detectWork } from "./detect-work.ts";
import { respondWithoutGoal } from "./nothing-to-do.ts";
import type { CommandContext } from "../project/command-context.ts";
import { buildPreview } from "../runner/draft/build-preview.ts";
import { readRun } from "../project/runs/read-run.ts";
import { catchRefusals, respond, screenRows } from "../project/respond.ts";

/** Registers an objective as a draft and shows what would happen. Nothing runs. */
export function start(context: CommandContext, input: GoInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const project = findProject(context.cwd);
    if (!requestsNewRun(input)) {
      return respondWithoutGoal(
        input,
        project === null ? [] : await detectWork(context, project.root),
      );
    }

    const paths = await requireProject(context.cwd);
    const drafted = await makeDraft(context, paths, input);
    const { view } = await readRun(paths, drafted.run);
    const preview = await buildPreview(context, paths, view);

    return respond("run_drafted", {
      run_id: drafted.run,
      state: "draft",
      message: `Draft ${drafted.run}. Nothing runs until it is acknowledged.`,
      page: preview.page,
      whole: preview.verbosePage,
      rowsMax: screenRows,
      warnings: [...drafted.warnings, ...preview.warnings],
      remediation: [
        `autopilot ack ${view.drafted.ack.slice(0, 12)} && autopilot go`,
        "autopilot go --yes",
      ],
      data: {
        inferred_defaults: preview.data.inferred_defaults,
        preview: preview.data,
        ack: view.drafted.ack,
      },
    });
  });
}
