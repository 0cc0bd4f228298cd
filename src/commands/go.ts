// go: starts a run or resumes the open one, and works until it completes, pauses or reaches its
// cycle limit.

import type { CommandResponse } from "../contracts/command-response.ts";
import type { GoFlags } from "../runner/go-draft.ts";
import { listObjectiveFlags, requestsNewRun } from "../playbooks/contract/go-input.ts";
import { findProject, resolveRun, type ProjectPaths } from "../project/runs/project-paths.ts";
import { findOtherOpenRun } from "../project/runs/find-other-open-run.ts";
import type { CommandContext } from "../project/command-context.ts";
import { readRun } from "../project/runs/read-run.ts";
import { catchRefusals, refuse } from "../project/respond.ts";
import { isOwnRun } from "../project/runs/run-binding.ts";
import { resumeRun } from "../runner/resume-run.ts";
import { requireStatus, type LoadedRun } from "../project/runs/loaded-run.ts";

/** Starts a new run if a goal is given; otherwise starts the draft or resumes the open run here. */
export function go(context: CommandContext, input: GoFlags): Promise<CommandResponse> {
  return catchRefusals(async () => {
    // Drafting is loaded on demand: a resumed run must not wait for the parsers and linters of
    // flows.
    if (requestsNewRun(input)) return (await import("../runner/go-draft.ts")).goNew(context, input);
    const paths = findProject(context.cwd);
    const loaded = paths === null ? null : await findRunToWorkOn(context, paths, input.run);
    if (paths === null || loaded === null) {
      return (await import("./go-detected.ts")).goWithoutGoal(context, paths, input);
    }

    const { run, view } = loaded;
    const objectiveFlags = listObjectiveFlags(input);

    switch (view.status) {
      case "draft": {
        if (objectiveFlags.length > 0) refuseWithoutGoal(run, objectiveFlags);
        const { goDraft } = await import("../runner/go-draft.ts");
        const { explainStale } = await import("../runner/draft/draft-in-force.ts");

        return goDraft(
          context,
          { paths, run, stale: await explainStale(context, paths, view) },
          input,
        );
      }
      case "running":
      case "paused":
        return resumeRun(
          context,
          loaded,
          input,
          objectiveFlags.length === 0
            ? []
            : [`${run} goes on as it was begun; not taken: ${objectiveFlags.join(", ")}.`],
        );
      default:
        if (input.run !== undefined) requireStatus(loaded, "go", "draft", "running", "paused");
        return (await import("./go-detected.ts")).goWithoutGoal(context, paths, input);
    }
  });
}

/**
 * The named run, else the current one if it is this user's and open, else the newest open one, else
 * the current one as it is.
 */
async function findRunToWorkOn(
  context: CommandContext,
  paths: ProjectPaths,
  runName: string | undefined,
): Promise<LoadedRun | null> {
  const run = resolveRun(paths, runName);
  if (run === null) return null;
  const otherOpenRun =
    runName !== undefined || isOwnRun(context, paths, run)
      ? null
      : await findOtherOpenRun(context, paths, run);
  if (otherOpenRun !== null) return otherOpenRun;
  const loaded = { paths, run, ...(await readRun(paths, run)) };
  if (runName !== undefined || !isClosed(loaded)) return loaded;

  return (await findOtherOpenRun(context, paths, run)) ?? loaded;
}

const isClosed = ({ view }: LoadedRun): boolean =>
  view.status === "completed" || view.status === "stopped";

function refuseWithoutGoal(run: string, objectiveFlags: readonly string[]): never {
  return refuse("objective_schema_invalid", {
    run_id: run,
    state: "draft",
    message: `${objectiveFlags.join(", ")} would change the objective of ${run}: say the goal with it.`,
    remediation: [
      `autopilot start "…" ${objectiveFlags[0]} … drafts it anew`,
      "autopilot go starts the draft as it is",
    ],
    data: { missing_fields: ["goal"] },
  });
}
