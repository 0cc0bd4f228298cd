// written-document: proof that the document a step should write exists and has content.

import { findStep } from "../../../core/selectors.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { Step } from "../../../contracts/flow.ts";
import { fillPhaseFolder } from "../../../engine/prove.ts";
import { documentTextBytesMax } from "../../../documents/document-text.ts";
import { invariant } from "../../../kit/invariant.ts";
import type { StepResult, StepInput, RoadmapParts } from "./roadmap-parts.ts";
import { sha256 } from "../../../project/sha256.ts";

/** This cursor's current step, as the flow has it. */
export function findOpenStep(state: RunView, cursor: CursorView): Step {
  const openAttempt = cursor.open === null ? undefined : state.open[cursor.open];
  invariant(openAttempt !== undefined, `a proof is made in an attempt: ${cursor.path}`);
  return findStep(state, cursor, openAttempt.step);
}

/** The path of the document that a step writes, in the folder of its phase. */
export const findDocumentPath = (
  state: RunView,
  { writes }: Pick<Step, "writes">,
  { phase }: CursorView,
): string | null =>
  writes?.[0] === undefined ? null : `${fillPhaseFolder(state.drafted.flow, phase)}/${writes[0]}`;

/**
 * The proof `written`. Its facts record the hash of the document, so that a later proof can see
 * whether it was changed.
 */
export function createWrittenProof({ workspace }: Pick<RoadmapParts, "workspace">) {
  return {
    version: 1,
    async prove({ state, cursor, commit }: StepInput): StepResult {
      const path = findDocumentPath(state, findOpenStep(state, cursor), cursor);
      const text =
        path === null ? null : await workspace.textAt(commit, path, documentTextBytesMax);
      if (text === null || text.trim() === "") {
        return { ok: false, facts: {}, detail: `${path ?? "no document"} is not there or empty` };
      }

      const bytes = Buffer.from(text, "utf8");
      return { ok: true, facts: { output_hash: sha256(bytes), output_bytes: bytes.length } };
    },
  };
}
