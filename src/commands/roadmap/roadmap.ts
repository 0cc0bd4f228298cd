// roadmap: runs the phases of a roadmap: resumes the open run, or drafts and starts one of the
// requested phases.

import type { CommandResponse } from "../../contracts/command-response.ts";
import { parsePhaseId } from "../../documents/phase-id.ts";
import { goDraft, goNew, type GoFlags } from "../../runner/go-draft.ts";
import { goDetected, refuseFailedElsewhere } from "../go-detected.ts";
import { listObjectiveFlags } from "../../playbooks/contract/go-input.ts";
import { findProject } from "../../project/runs/project-paths.ts";
import { type DetectedWork, detectWork, onlyCandidate } from "../detect-work.ts";
import { readOpenRun } from "../../project/runs/read-open-run.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, respond } from "../../project/respond.ts";
import { resumeRun } from "../../runner/resume-run.ts";

const flowName = "roadmap";

export type RoadmapInput = GoFlags & {
  readonly complete?: boolean | undefined;
  readonly checkpointEvery?: number | undefined;
};

/**
 * Phases or flags ask for a new run; without any the open run is resumed, or one that another tool
 * left.
 */
export function roadmap(context: CommandContext, input: RoadmapInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const phases = joinPhaseWords(input.words);
    const misuse = findMisuse(phases, input);
    if (misuse !== null) {
      return respond("usage", { message: misuse, remediation: ["autopilot help roadmap"] });
    }

    const options = {
      ...input.options,
      ...(phases === null ? {} : { phases }),
      ...(input.complete === true ? { complete: "true" } : {}),
      ...(input.checkpointEvery === undefined
        ? {}
        : { checkpoint_every: String(input.checkpointEvery) }),
    };
    const isNewRequest =
      Object.keys(options).length > 0 ||
      listObjectiveFlags(input).length > 0 ||
      (input.scope ?? []).length > 0;
    const loaded = isNewRequest ? null : await readOpenRun(context, flowName, input.run);
    if (loaded === null) {
      const foreignRun = isNewRequest ? null : await findForeignRun(context, input.run);
      return foreignRun === null
        ? goNew(context, { ...input, words: [], flow: flowName, options })
        : goDetected(context, foreignRun, { ...input, words: [] });
    }

    const { paths, run, view } = loaded;
    if (view.status !== "draft") return resumeRun(context, loaded, input);
    const { explainStale } = await import("../../runner/draft/draft-in-force.ts");

    return goDraft(context, { paths, run, stale: await explainStale(context, paths, view) }, input);
  });
}

/**
 * Another tool's run of the roadmap, if there is one. Refuses one that cannot be read, or that
 * failed: only `resume` continues that.
 */
async function findForeignRun(
  context: CommandContext,
  run: string | undefined,
): Promise<DetectedWork | null> {
  const paths = findProject(context.cwd);
  if (paths === null || run !== undefined) return null;

  const foreignRun = onlyCandidate(
    (await detectWork(context, paths.root)).filter(
      (detectedWork) => detectedWork.isBegun && detectedWork.flow === flowName,
    ),
  );
  if (foreignRun?.hasFailed === true) refuseFailedElsewhere(foreignRun);
  return foreignRun;
}

/** Joins what a shell split: the words `3,` `5` `8` become `3,5,8`. Null without words. */
function joinPhaseWords(words: readonly string[]): string | null {
  const joined = words
    .join(",")
    .replaceAll(/\s*,[\s,]*/g, ",")
    .replaceAll(/^,|,$/g, "")
    .trim();
  return joined === "" ? null : joined;
}

function findMisuse(phases: string | null, { complete }: RoadmapInput): string | null {
  if (phases === null) return null;
  if (complete === true) {
    return "--complete means every phase that is not completed, so it takes no PHASES.";
  }

  if (phases === "next" || phases === "all") return null;
  const isId = (text: string): boolean => parsePhaseId(text.trim()) !== null;
  const invalidPart = phases
    .split(",")
    .find((part) => !part.split(/[-–—]/, 3).every(isId) || part.split(/[-–—]/).length > 2);

  return invalidPart === undefined
    ? null
    : `PHASES is an id (3, 2.1), a range (3-7), a list (3,5,8), next or all, not ${invalidPart}.`;
}
