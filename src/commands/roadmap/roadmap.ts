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

    const options = collectOptions(phases, input);
    const isNewRequest =
      Object.keys(options).length > 0 ||
      listObjectiveFlags(input).length > 0 ||
      (input.scope ?? []).length > 0;
    if (isNewRequest) {
      return goNew(context, { ...input, words: [], flow: flowName, options });
    }

    const loaded = await readOpenRun(context, flowName, input.run);
    if (loaded === null) {
      const foreignRun = await findForeignRun(context, input.run);
      if (foreignRun !== null) return goDetected(context, foreignRun, { ...input, words: [] });
      return goNew(context, { ...input, words: [], flow: flowName, options });
    }

    const { paths, run, view } = loaded;
    if (view.status !== "draft") return resumeRun(context, loaded, input);

    const { explainStale } = await import("../../runner/draft/draft-in-force.ts");
    const stale = await explainStale(context, paths, view);
    return goDraft(context, { paths, run, stale }, input);
  });
}

function collectOptions(phases: string | null, input: RoadmapInput): Record<string, string> {
  const options: Record<string, string> = { ...input.options };
  if (phases !== null) options["phases"] = phases;
  if (input.complete === true) options["complete"] = "true";
  if (input.checkpointEvery !== undefined) {
    options["checkpoint_every"] = String(input.checkpointEvery);
  }

  return options;
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

  const detected = await detectWork(context, paths.root);
  const begun = detected.filter(({ isBegun, flow }) => isBegun && flow === flowName);
  const foreignRun = onlyCandidate(begun);
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
  const invalidPart = phases.split(",").find((part) => !isIdOrRange(part));
  if (invalidPart === undefined) return null;
  return `PHASES is an id (3, 2.1), a range (3-7), a list (3,5,8), next or all, not ${invalidPart}.`;
}

function isIdOrRange(part: string): boolean {
  const ids = part.split(/[-–—]/);
  return ids.length <= 2 && ids.every((id) => parsePhaseId(id.trim()) !== null);
}
