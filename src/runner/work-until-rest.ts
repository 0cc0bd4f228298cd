// work-until-rest: opens a run and drives it until it rests, waiting for providers and asking the
// person at the terminal on the way.

import type { CommandResponse } from "../contracts/command-response.ts";
import { hasFailed } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import type { StagedAsks } from "../contracts/staged-asks.ts";
import { buildInvocationOptions } from "../playbooks/contract/flow-flag-options.ts";
import { readTestsPatch } from "../project/runs/tests-patch.ts";
import type { ProjectPaths } from "../project/runs/project-paths.ts";
import { showMilestones } from "./show-milestones.ts";
import { isPullRequestDue } from "../views/next-actions.ts";
import { type OpenRun, withRun } from "./open-run.ts";
import { buildRunResponse } from "./run-response.ts";
import type { CommandContext } from "../project/command-context.ts";

/** What the caller of `workUntilRest` decides about one invocation. */
export type WorkOptions = {
  readonly maxCycles?: number | undefined;
  readonly asks?: StagedAsks | undefined;
  /** Returns at a provider's limit instead of waiting. */
  readonly leavesParked?: boolean | undefined;
};

export type RunWork = {
  readonly paths: ProjectPaths;
  readonly run: string;
  readonly options: WorkOptions;
  /** Warnings to show before anything is paid for. */
  readonly warnings: readonly string[];
  /** Lines that a page has just shown: a warning in them is not shown again. */
  readonly shownLines?: readonly string[];
  /** Journals what the run continues with, before it is driven. */
  readonly begin: (openRun: OpenRun) => Promise<void>;
};

/** Opens a run, begins it, and drives it until it rests. */
export async function workUntilRest(
  context: CommandContext,
  { paths, run, options, warnings, shownLines = [], begin }: RunWork,
): Promise<CommandResponse> {
  return withRun(context, paths, run, async (openRun) => {
    const invocationOptions = buildInvocationOptions(
      openRun.view().drafted.flow,
      options.asks ?? {},
      context.isTerminal,
    );

    await begin(openRun);
    for (const warning of warnings) {
      if (!shownLines.some((line) => line.includes(warning))) context.show(`! ${warning}`);
    }

    const overrides = {
      ...(options.maxCycles === undefined ? {} : { max_cycles: options.maxCycles }),
      ...invocationOptions,
    };

    const drive = (): Promise<string> =>
      openRun.drive({
        watch: showMilestones(context),
        ...(Object.keys(overrides).length === 0 ? {} : { overrides }),
      });
    let restReason = await drive();

    while (await waitOrAsk(context, openRun, options.leavesParked === true)) {
      restReason = await drive();
    }

    const pullRequestWarnings = await openDuePullRequest(context, openRun);
    const view = openRun.view();
    const patches: Record<string, readonly string[]> = {};

    for (const block of Object.keys(view.blocks)) {
      patches[block] = await readTestsPatch(paths, view, block);
    }

    return buildRunResponse(view, restReason, [...warnings, ...pullRequestWarnings], patches);
  });
}

/**
 * Waits for the provider of a resting run, or asks its question at the terminal. True: the run
 * continues in this invocation.
 */
async function waitOrAsk(
  context: CommandContext,
  openRun: OpenRun,
  leavesParked: boolean,
): Promise<boolean> {
  const run = openRun.view();
  if (hasFailed(run)) return false; // an answer to something else is not a `resume`
  // Both modules are rarely needed, so they are loaded on demand.
  if (isParked(run)) {
    const { resumeWithOtherAgent, waitForProvider } = await import("./wait-for-provider.ts");
    return (
      (await resumeWithOtherAgent(context, openRun)) ||
      (!leavesParked && waitForProvider(context, openRun))
    );
  }

  const canAsk =
    run.status === "paused" &&
    Object.keys(run.blocks).length > 0 &&
    context.isTerminal &&
    !context.interrupted.aborted;
  return canAsk && (await import("./ask-open-question.ts")).askOpenQuestion(context, openRun);
}

const isParked = ({ status, parked }: RunView): boolean =>
  status === "paused" && parked !== undefined;

/** Opens the run's pull request if it is due; returns warnings if it could not be opened. */
async function openDuePullRequest(
  context: CommandContext,
  openRun: OpenRun,
): Promise<readonly string[]> {
  return isPullRequestDue(openRun.view())
    ? (await import("./pull-request/open-when-due.ts")).openWhenDue(context, openRun)
    : [];
}
