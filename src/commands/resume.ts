// resume: resumes a paused or interrupted run, or imports the run that another tool left here.

import type { Answer } from "../contracts/answer.ts";
import { isOpen } from "../core/selectors.ts";
import { drawEnded } from "../playbooks/registry/draw-ended.ts";
import type { GoFlags } from "../runner/go-draft.ts";
import { describedBy } from "../playbooks/contract/go-input.ts";
import { findProject, namedRun } from "../project/runs/project-paths.ts";
import { openInstead } from "../project/runs/open-instead.ts";
import type { CommandContext } from "../project/command-context.ts";
import { readRun } from "../project/runs/read-run.ts";
import { answered } from "../project/reply.ts";
import { isOurs } from "../project/runs/run-binding.ts";
import { requireStatus, loadRun, type LoadedRun } from "../project/runs/loaded-run.ts";
import { resumeRun } from "../runner/resume-run.ts";

/** Takes a paused run up again, or one whose owner died, after validating its gates anew; else what another tool left of one. */
export function resume(place: CommandContext, input: GoFlags): Promise<Answer> {
  return answered(async () => {
    const standing = await openHere(place, input.run);
    if (standing === null) {
      const imported = await importHere(place, input);
      if (imported !== null) return imported;
    }
    const known = standing ?? (await loadRun(place, input.run));
    if (input.run === undefined) await drawEnded(place, known);
    requireStatus(known, "resume", "paused", "running");
    const described = describedBy(input);
    return resumeRun(
      place,
      known,
      { ...input, isExplicit: true },
      described.length === 0 ? [] : [`${known.run} goes on as it was begun; not taken: ${described.join(", ")}.`],
    );
  });
}

/** The run that is meant, where it can be resumed. */
async function openHere(place: CommandContext, named: string | undefined): Promise<LoadedRun | null> {
  const home = findProject(place.cwd);
  const run = namedRun(home, named);
  if (home === null || run === null) return null;
  const instead = named !== undefined || isOurs(place, home, run) ? null : await openInstead(place, home, run);
  const standing = instead ?? { home, run, ...(await readRun(home, run)) };
  if (isOpen(standing.view)) return standing;
  return named === undefined ? openInstead(place, home, run) : null;
}

/** A run of another tool's is taken up as a run of ours. Null where there is none, or a run of ours was named. */
async function importHere(place: CommandContext, input: GoFlags): Promise<Answer | null> {
  const home = findProject(place.cwd);
  if (home === null || input.run !== undefined) return null;
  const { detectWork, onlyCandidate } = await import("./detect-work.ts"); // a run that is only taken up again needs none of this
  const one = onlyCandidate((await detectWork(place, home.root)).filter(({ isBegun }) => isBegun));
  return one === null ? null : (await import("./go-found.ts")).goDetected(place, one, input);
}
