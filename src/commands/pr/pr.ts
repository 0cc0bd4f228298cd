// pr: opens the pull request of a finished run, or watches it until it is merged or closed.

import type { CommandResponse } from "../../contracts/command-response.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, respond } from "../../project/respond.ts";
import { type LoadedRun, loadRun } from "../../project/runs/loaded-run.ts";
import { listRuns } from "../../project/runs/project-paths.ts";
import { readRunOrNull } from "../../project/runs/read-run.ts";
import {
  openPullRequest,
  type PullRequestInput,
} from "../../runner/pull-request/open-pull-request.ts";
import { watchPullRequest, type WatchInput } from "../../runner/pull-request/watch-pull-request.ts";
import { withRun } from "../../runner/open-run.ts";

type NamedRun = { readonly run?: string | undefined };

/** Opens the pull request, or finds the one that is open. Unproved work is opened as a draft. */
export function pr(
  context: CommandContext,
  input: NamedRun & PullRequestInput,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const { paths, run } = await findRequestHolder(await loadRun(context, input.run));
    return withRun(context, paths, run, async (openRun) => {
      const { url, number, isDraft, isNew } = await openPullRequest(context, openRun, input);
      const { verdict, gaps, status } = openRun.view();
      const verb = isNew ? "Opened" : "There is";
      const subject = isDraft ? "a draft pull request" : `pull request #${number}`;

      return respond(isDraft ? "pull_request_draft" : "pull_request_opened", {
        run_id: run,
        state: status,
        message: `${verb} ${subject} for ${run}: ${url}`,
        warnings: isDraft ? gaps.map((gap) => `Not proved: ${gap}`) : [],
        remediation: [`autopilot pr watch ${run}`],
        data: { url, number, draft: isDraft, created: isNew, verdict },
      });
    });
  });
}

/** Follows the pull request and carries it on, as docs/PULL-REQUESTS.md says. */
export function watchPr(
  context: CommandContext,
  input: NamedRun & WatchInput,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const { paths, run } = await findRequestHolder(await loadRun(context, input.run));
    return withRun(context, paths, run, (openRun) => watchPullRequest(context, openRun, input));
  });
}

/**
 * The run whose pull request is meant: the run itself, or for a follow-up the run whose pull
 * request it works on.
 */
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
