// documents-kept: proof that the run did not change the roadmap, specification or planning config.

import type { StepResult, StepInput, RoadmapParts } from "./roadmap-parts.ts";
import { getRoadmapPath, readTextOption } from "./recorded-documents.ts";

/** The proof `documents_kept`. */
export function createDocumentsKeptProof({ workspace }: Pick<RoadmapParts, "workspace">) {
  return {
    version: 1,
    async prove({ state, commit }: StepInput): StepResult {
      const lockedPaths = new Set([
        getRoadmapPath(state),
        readTextOption(state, "spec_path") ?? getRoadmapPath(state),
        ...(state.drafted.documents ?? []).map(({ path }) => path),
      ]);

      const changes = (await workspace.differences(state.drafted.base.commit, commit)).filter(
        ({ path }) => lockedPaths.has(path),
      );

      const facts = { documents: changes.length === 0 ? "kept" : "changed" };
      if (changes.length === 0) return { ok: true, facts };
      const detail = changes
        .map(({ path, kind }) => `${path} was ${kind}, and the run is locked to it: put it back`)
        .join("; ");

      return { ok: false, facts, reason: "scope_violation_blocked", detail };
    },
  };
}
