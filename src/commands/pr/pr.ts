// pr: opens the pull request of a finished run, or watches it until it is merged or closed.

import type { CommandResponse } from "../../contracts/command-response.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, respond } from "../../project/respond.ts";
import { type LoadedRun, loadRun } from "../../project/runs/loaded-run.ts";
import { listRuns } from "../../project/runs/project-paths.ts";
import { readRunOrNull } from "../../project/runs/read-run.ts";
import { openPullRequest, type PullRequestInput } from "../../runner/pull-request/open-pull-request.ts";
import { watchPullRequest, type WatchInput } from "../../runner/pull-request/watch-pull-request.ts";
import { withRun } from "../../runner/open-run.ts";

type Named = { readonly run?: string | undefined };

export function pr(context: CommandContext, input: Named & PullRequestInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const { paths, run } = await findRequestHolder(await loadRun(context, input.run));
    return withRun(context, paths, run, async (openRun) => {
      const { url, number, isDraft, isNew } = await openPullRequest(context, openRun, input);
      const { verdict, gaps, status } = openRun.view();
      const verb = isNew ? "Opened" : "There is";
      return respond(isDraft ? "pull_request_draft" : "pull_request_opened", {
        run_id: run,
        state: status,
        message: `${verb} ${isDraft ? "a draft pull request" : "pull request"} ${isDraft ? "" : `#${number} `}for ${run}: ${url}`.replace(
          "  ",
          " ",
        ),
        warnings: isDraft ? gaps.map((gap) => `Not proved: ${gap}`) : [],
        remediation: [`autopilot pr watch ${run}`],
        data: { url, number, draft: isDraft, created: isNew, verdict },
      });
    });
  });
}

export function watchPr(context: CommandContext, input: Named & WatchInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const { paths, run } = await findRequestHolder(await loadRun(context, input.run));
    return withRun(context, paths, run, (openRun) => watchPullRequest(context, openRun, input));
  });
}

/** A follow-up works on another run's pull request: then that run is the one to open or watch. Else it is the run itself. */
async function findRequestHolder(loaded: LoadedRun): Promise<Pick<LoadedRun, "paths" | "run">> {
  const { paths, view } = loaded;
  const source = view.outside?.source;
  if (source === undefined || view.pull_request !== undefined) return loaded;
  for (const run of listRuns(paths).toReversed()) {
    const loadedRun = await readRunOrNull(paths, run);
    if (loadedRun?.view.pull_request?.opened?.url === source) return { paths, run };
  }
  return loaded;
}
