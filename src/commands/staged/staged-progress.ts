// staged-progress: summarises a staged project's progress from its state file, for `status`; reads
// only.

import { parseStagedState } from "../../playbooks/staged/views/parse-staged-state.ts";
import { renderStagedSummary } from "../../playbooks/staged/views/staged-summary.ts";
import { readStagedText } from "../../playbooks/staged/files/staged-file.ts";

type Progress = {
  readonly page: readonly string[];
  readonly data: Readonly<Record<string, unknown>>;
};

/** Lines and fields for `status`; without a readable state file there is nothing to show. */
export async function readStagedProgress(root: string): Promise<Progress> {
  const stateFile = await readStagedText(root);
  if (stateFile === null || "why" in stateFile) return { page: [], data: { staged: null } };
  const { state } = parseStagedState(stateFile.text);
  const { current, completed, decisions, last_session, retry_log, blockers } = state;

  return {
    page: ["", "Staged project", ...renderStagedSummary(state).map((line) => `  ${line}`)],
    data: { staged: { current, completed, decisions, last_session, retry_log, blockers } },
  };
}
