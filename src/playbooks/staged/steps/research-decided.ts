// research-decided: proof that someone decided to move on from research, by option or by later
// documents.

import { optionValue } from "../../../core/selectors.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { viewCommit, type TreeView } from "./tree-view.ts";

const laterDocuments = ["_docs/01_solution/solution.md", "_docs/02_document/architecture.md"];

/** Whether documents exist that are written only after the decision. */
export async function hasPlan(tree: TreeView): Promise<boolean> {
  const texts = await Promise.all(laterDocuments.map((path) => tree.read(path)));
  return texts.some((text) => text !== null && text !== "");
}

/** The proof `research_decided`. */
export function createResearchDecidedProof(workspace: Workspace) {
  return {
    version: 1,
    async prove({ state, commit }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const isDecided =
        optionValue(state, "research") === "decided" ||
        (await hasPlan(await viewCommit(workspace, commit)));

      return {
        ok: isDecided,
        facts: {},
        detail: isDecided ? "" : "no decision to go on from research is recorded",
      };
    },
  };
}
