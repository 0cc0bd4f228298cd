// reset-failed-step: step that journals the changes of the state file after a person decided how to
// continue a failed step.

import { findCorrections, areRetriesSpent } from "../views/staged-corrections.ts";
import { parseStagedState } from "../views/parse-staged-state.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import { StagedFile } from "../files/staged-file.ts";
import { readDraftedText } from "../files/staged-record.ts";
import type { StagedParts } from "./staged-parts.ts";
import { findBegin } from "./survey-project.ts";

/** The step `reset_failed_step`. Does nothing if nobody was asked. */
export function createResetFailedStep({
  paths,
  folder,
  readBlob,
}: Pick<StagedParts, "paths" | "folder" | "readBlob">) {
  return {
    version: 1,
    effect: "none" as const,
    async perform({ state, cursor }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const wasAsked = (cursor.last["look"]?.facts["failed"] ?? "no") !== "no";
      if (!wasAsked) return { ok: true, facts: {} };
      const draftedFileText = readDraftedText(state, readBlob);
      const fileStatus = await new StagedFile(paths.root, folder).inspect(draftedFileText);
      // If the file was edited and read since, that text is the one being corrected.
      const recordedState = parseStagedState(
        fileStatus.kind === "known" ? fileStatus.text : (draftedFileText ?? ""),
      ).state;
      const because = areRetriesSpent(recordedState) ? null : "a person reset the step";

      return {
        ok: true,
        facts: {},
        differed: findCorrections(recordedState, findBegin(state, recordedState), because),
      };
    },
  };
}
