// docs-note: step that adds a note to the top of EXPLORATION.md, for readers of that file alone:
// the project has no documentation. The flow runs it only then.

import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Workspace } from "../../../ports/workspace.ts";

const explorationPath = "quality/EXPLORATION.md";
const textBytesMax = 8 * 1024 * 1024;
const heading = "## Documentation status: code-only mode";

/** The step `docs_note`. */
export function createDocsNoteStep(workspace: Pick<Workspace, "textAt" | "commitFiles">) {
  return {
    version: 1,
    effect: "keyed" as const,
    async perform({
      attempt,
      state,
      commit,
    }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const text = await workspace.textAt(commit, explorationPath, textBytesMax);
      if (text === null || /^#+\s+Documentation status: code-only mode\s*$/m.test(text)) {
        return { ok: true, facts: { noted: false } };
      }

      const files = [
        { path: explorationPath, text: `${renderNote(missingDocsReason(state))}${text}` },
      ];

      const applied = await workspace.commitFiles({
        attempt,
        since: commit,
        files,
        subject: "autopilot: documentation status of the audit",
      });
      if (applied !== null && "conflict" in applied) {
        return {
          ok: false,
          facts: { noted: false },
          reason: "merge_conflict",
          detail: `another attempt changed ${explorationPath} meanwhile`,
        };
      }

      return {
        ok: true,
        facts: { noted: applied !== null },
        ...(applied === null ? {} : { applied }),
      };
    },
  };
}

function renderNote(reason: string): string {
  const sentence = `${reason[0]?.toUpperCase() ?? ""}${reason.slice(1)}`;
  return `${heading}

${sentence}, so nothing but the code and its tests says what this code is meant to do.
Requirements found here are read from the code; where the code is wrong they may be wrong with it.

`;
}

/** What the step `docs_present` found at the start of the run. */
function missingDocsReason(state: RunView): string {
  const reason = state.cursors["before.docs"]?.last["look"]?.facts["reason"];
  return typeof reason === "string" ? reason : "reference_docs/ holds no .md or .txt file";
}
