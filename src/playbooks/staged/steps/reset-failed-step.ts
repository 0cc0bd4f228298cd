// reset-failed-step: after a person has decided to go on from a step whose retries are used up, journals what of the state file that changes.

import { correctionsOf, isSpent } from "../views/staged-corrections.ts";
import { readStagedState } from "../views/staged-state-read.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import { StagedFile } from "../files/staged-file.ts";
import { draftedText } from "../files/staged-record.ts";
import type { StagedParts } from "./parts.ts";
import { beginOf } from "./survey-project.ts";

export function resetFailedStep({ paths, folder, readBlob }: Pick<StagedParts, "paths" | "folder" | "readBlob">) {
  return {
    version: 1,
    effect: "none" as const,
    async perform({ state, cursor }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const wasAsked = (cursor.last["look"]?.facts["failed"] ?? "no") !== "no";
      if (!wasAsked) return { ok: true, facts: {} };
      const first = draftedText(state, readBlob);
      const looked = await new StagedFile(paths.root, folder).look(first);
      // It may have been edited and read since: then that text is replaced.
      const found = readStagedState(looked.kind === "known" ? looked.text : (first ?? "")).state;
      const because = isSpent(found) ? null : "a person reset the step";
      return { ok: true, facts: {}, differed: correctionsOf(found, beginOf(state, found), because) };
    },
  };
}
