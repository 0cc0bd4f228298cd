// detect-work: detects work that a run could start from: another tool's run, or documents without a
// run.

import { join } from "node:path";
import type { ForeignRun } from "../playbooks/contract/playbook.ts";
import { playbooks } from "../playbooks/registry/table.ts";
import { isFolderBlocked } from "../project/runs/project-paths.ts";
import { refuse } from "../project/respond.ts";
import { findingText } from "../kit/finding.ts";
import type { CommandContext } from "../project/command-context.ts";

/** Work that a run could start from: another tool's run (`isBegun`), or documents without a run. */
export type DetectedWork = ForeignRun & { readonly isBegun: boolean };

/** Asks every playbook for the work it detects here. Reads only. */
export async function detectWork(
  context: CommandContext,
  root: string,
): Promise<readonly DetectedWork[]> {
  if (isFolderBlocked({ root, folder: join(root, ".autopilot") })) {
    return refuse("workspace_unusable", {
      message: `A file lies where a folder is needed: ${join(root, ".autopilot")}. Runs are kept in a folder of that name.`,
      remediation: ["rename it, then try again"],
    });
  }

  const detectedWork: DetectedWork[] = [];
  for (const load of Object.values(playbooks)) {
    const playbook = await load();
    const foreign = await playbook.findForeign?.(context, root);
    if (foreign !== undefined && foreign !== null) {
      detectedWork.push({ ...foreign, isBegun: true });
      continue;
    }

    const documents = await playbook.documents?.(context, root);
    if (documents !== undefined && documents !== null) {
      detectedWork.push({ ...documents, findings: [], isBegun: false });
    }
  }

  return detectedWork;
}

/**
 * The commands that start from the detected work, one for each; without a flag if there is only
 * one.
 */
export function listResumeCommands(detected: readonly DetectedWork[]): readonly string[] {
  if (detected.length > 1) return detected.map(({ flow }) => `autopilot go --flow ${flow}`);
  return detected.map(({ isBegun }) => (isBegun ? "autopilot resume" : "autopilot go"));
}

/**
 * The only detected work, or null; refuses if there are several, or if the files of the only one
 * cannot be read.
 */
export function onlyCandidate(detected: readonly DetectedWork[]): DetectedWork | null {
  const [onlyWork, ...others] = detected;
  if (onlyWork === undefined) return null;
  if (others.length > 0) {
    return refuse("objective_schema_invalid", {
      message: `Several things could be taken up here: ${detected.map(({ summary }) => summary).join("; ")}. Say which.`,
      state: "idle",
      remediation: detected.map(
        ({ flow, files }) => `autopilot go --flow ${flow}   (${files.join(", ")})`,
      ),
      data: { found: detected.map(toDetectedFields), missing_fields: ["goal"] },
    });
  }

  const errors = onlyWork.findings.filter(({ severity }) => severity === "error");
  if (errors.length > 0) {
    return refuse("file_invalid", {
      message: `${onlyWork.files.join(", ")} cannot be taken up as it is: ${errors.length === 1 ? "one problem" : `${errors.length} problems`}.`,
      state: "idle",
      page: ["Problems", ...errors.map((error) => `  ✗ ${findingText(error)}`)],
      remediation: [
        "fix the lines named above",
        `autopilot go --flow ${onlyWork.flow} begins anew`,
      ],
      data: { problems: errors },
    });
  }

  return onlyWork;
}

/** Detected work as it appears in JSON responses. */
export const toDetectedFields = ({
  flow,
  files,
  summary,
  isBegun,
}: DetectedWork): Record<string, unknown> => ({
  flow,
  files,
  standing: summary,
  begun: isBegun,
});
