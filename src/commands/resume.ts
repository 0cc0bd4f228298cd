// resume: resumes a paused or interrupted run, or imports the run that another tool left here.

import type { CommandResponse } from "../contracts/command-response.ts";
import { isRunOpen } from "../core/selectors.ts";
import { rewriteFinishedFiles } from "../playbooks/registry/rewrite-finished.ts";
import type { GoFlags } from "../runner/go-draft.ts";
import { listObjectiveFlags } from "../playbooks/contract/go-input.ts";
import { findProject, resolveRun } from "../project/runs/project-paths.ts";
import { findOtherOpenRun } from "../project/runs/find-other-open-run.ts";
import type { CommandContext } from "../project/command-context.ts";
import { readRun } from "../project/runs/read-run.ts";
import { catchRefusals } from "../project/respond.ts";
import { isOwnRun } from "../project/runs/run-binding.ts";
import { requireStatus, loadRun, type LoadedRun } from "../project/runs/loaded-run.ts";
import { resumeRun } from "../runner/resume-run.ts";

/** Resumes the open run; if there is none, imports and resumes a run that another tool left. */
export function resume(context: CommandContext, input: GoFlags): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const loaded = await findOpenRun(context, input.run);
    if (loaded === null) {
      const imported = await importForeignRun(context, input);
      if (imported !== null) return imported;
    }

    const target = loaded ?? (await loadRun(context, input.run));
    if (input.run === undefined) await rewriteFinishedFiles(context, target);
    requireStatus(target, "resume", "paused", "running");
    const objectiveFlags = listObjectiveFlags(input);

    return resumeRun(
      context,
      target,
      { ...input, isExplicit: true },
      objectiveFlags.length === 0
        ? []
        : [`${target.run} goes on as it was begun; not taken: ${objectiveFlags.join(", ")}.`],
    );
  });
}

/**
 * The named run if it is open; without a name the current one if it is this user's and open, else
 * another open one.
 */
async function findOpenRun(
  context: CommandContext,
  runName: string | undefined,
): Promise<LoadedRun | null> {
  const paths = findProject(context.cwd);
  const run = resolveRun(paths, runName);
  if (paths === null || run === null) return null;
  const otherOpenRun =
    runName !== undefined || isOwnRun(context, paths, run)
      ? null
      : await findOtherOpenRun(context, paths, run);
  const loaded = otherOpenRun ?? { paths, run, ...(await readRun(paths, run)) };
  if (isRunOpen(loaded.view)) return loaded;

  return runName === undefined ? findOtherOpenRun(context, paths, run) : null;
}

/**
 * Resumes another tool's run as a run of ours. Null if there is none, or a run of ours was named.
 */
async function importForeignRun(
  context: CommandContext,
  input: GoFlags,
): Promise<CommandResponse | null> {
  const paths = findProject(context.cwd);
  if (paths === null || input.run !== undefined) return null;
  const { detectWork, onlyCandidate } = await import("./detect-work.ts"); // a plain resume needs none of this
  const candidate = onlyCandidate(
    (await detectWork(context, paths.root)).filter(({ isBegun }) => isBegun),
  );

  return candidate === null
    ? null
    : (await import("./go-detected.ts")).goDetected(context, candidate, input);
}
