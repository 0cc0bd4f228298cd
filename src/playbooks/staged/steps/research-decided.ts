// research-decided: proof that someone decided to move on from research, by option or by later documents.

import { runOption } from "../../../core/selectors.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { lookAtCommit, type TreeLook } from "./tree-look.ts";

const decidedBy = ["_docs/01_solution/solution.md", "_docs/02_document/architecture.md"];

/** Whether documents after research exist, which are written only once that was decided. */
export async function isPlanned(tree: TreeLook): Promise<boolean> {
  const texts = await Promise.all(decidedBy.map((path) => tree.read(path)));
  return texts.some((text) => text !== null && text !== "");
}

/** A named proof that only looks: it was decided to go on from research, in words or by what was written since. */
export function researchDecided(workspace: Workspace) {
  return {
    version: 1,
    async prove({ state, commit }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const isDecided = runOption(state, "research") === "decided" || (await isPlanned(await lookAtCommit(workspace, commit)));
      return { ok: isDecided, facts: {}, detail: isDecided ? "" : "no decision to go on from research is recorded" };
    },
  };
}
