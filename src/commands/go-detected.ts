// go-detected: `go` with no goal and no open run: drafts a run from work that was detected here,
// another tool's run or documents.

import type { CommandResponse } from "../contracts/command-response.ts";
import { findingText } from "../kit/finding.ts";
import { type GoFlags, goNew } from "../runner/go-draft.ts";
import type { ProjectPaths } from "../project/runs/project-paths.ts";
import { type DetectedWork, detectWork, onlyCandidate } from "./detect-work.ts";
import { respondWithoutGoal } from "./nothing-to-do.ts";
import type { CommandContext } from "../project/command-context.ts";
import { playbooks } from "../playbooks/registry/table.ts";
import { refuse, respond } from "../project/respond.ts";

const findingsShownMax = 8;

/**
 * Starts from the detected work if there is exactly one candidate; otherwise says that the project
 * is finished, or that a goal is missing.
 */
export async function goWithoutGoal(
  context: CommandContext,
  paths: ProjectPaths | null,
  input: GoFlags,
): Promise<CommandResponse> {
  const detected =
    paths === null || input.run !== undefined ? [] : await detectWork(context, paths.root);
  const candidate = onlyCandidate(detected);
  if (candidate?.hasFailed === true) refuseFailedElsewhere(candidate);
  if (candidate !== null) return goDetected(context, candidate, input);
  const finished =
    paths === null || input.run !== undefined ? null : await respondIfFinished(paths.root);

  return finished ?? respondWithoutGoal(input);
}

/** The state of a project in which nothing is left to do; null for any other. */
async function respondIfFinished(root: string): Promise<CommandResponse | null> {
  for (const load of Object.values(playbooks)) {
    const finished = await (await load()).findFinished?.(root);
    if (finished === undefined || finished === null) continue;
    const { message, summary, next } = finished;

    return respond("ok", {
      state: "idle",
      message,
      page: [message, ...(summary.length === 0 ? [] : ["", ...summary])],
      remediation: [...next, 'autopilot "what you want done"'],
    });
  }

  return null;
}

/** A failed run of another tool continues only if a person says `resume`. */
export function refuseFailedElsewhere({ summary, files, flow }: DetectedWork): never {
  return refuse("phase_failed", {
    state: "idle",
    message: `Found ${summary} (${files.join(", ")}). Nothing was run again.`,
    remediation: ["autopilot resume tries once more", `autopilot go --flow ${flow} … starts anew`],
  });
}

/** Drafts a run over the detected work. It needs the same acknowledgement as any other draft. */
export function goDetected(
  context: CommandContext,
  { flow, options, summary, files, findings }: DetectedWork,
  input: GoFlags,
): Promise<CommandResponse> {
  const notes = [
    `Found ${summary} (${files.join(", ")}).`,
    ...findings.slice(0, findingsShownMax).map(findingText),
    ...(findings.length > findingsShownMax
      ? [`… ${findings.length - findingsShownMax} more remarks`]
      : []),
  ];

  return goNew(context, { ...input, flow, options: { ...options, ...input.options } }, notes);
}
