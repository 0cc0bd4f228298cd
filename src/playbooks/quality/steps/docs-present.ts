// docs-present: step that finds whether reference_docs/ holds documentation to audit the code
// against.

import { optionValue } from "../../../core/selectors.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Workspace } from "../../../ports/workspace.ts";

const textBytesMax = 1024 * 1024;
const documentsReadMax = 200;

/**
 * The step `docs_present`. It looks in the commit that agents will see, and does not fail: the flow
 * decides by its facts.
 */
export function createDocsPresentStep(workspace: Pick<Workspace, "pathsAt" | "textAt">) {
  return {
    version: 1,
    effect: "none" as const,
    async perform({ state, commit }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const folders = listDocsFolders(String(optionValue(state, "target_path")));
      const documentPaths = (await workspace.pathsAt(commit)).filter(
        (path) => folders.some((folder) => path.startsWith(folder)) && isDocument(path),
      );

      const isRequired = optionValue(state, "require_docs") === true;
      for (const path of documentPaths.slice(0, documentsReadMax)) {
        const text = await workspace.textAt(commit, path, textBytesMax);
        // A document that is too large to be read has content.
        if (text === null || text.trim() !== "") {
          return {
            ok: true,
            facts: { present: true, required: isRequired, files: documentPaths.length },
          };
        }
      }

      const reason = `${folders[0] ?? ""} ${describeMissing(documentPaths.length)}${isRequired ? ", and --require-docs was given" : ""}`;
      return {
        ok: true,
        facts: { present: false, required: isRequired, files: documentPaths.length, reason },
        detail: reason,
      };
    },
  };
}

function describeMissing(documents: number): string {
  if (documents === 0) return "holds no committed .md or .txt file";
  if (documents <= documentsReadMax) return "holds only empty .md and .txt files";
  return `holds ${documents} .md and .txt files, of which the first ${documentsReadMax} are empty and the others were not read`;
}

export const isDocument = (path: string): boolean => /\.(?:md|txt)$/i.test(path);

/** Documentation may be beside the audited folder or at the top of the project. */
export function listDocsFolders(targetPath: string): readonly string[] {
  const folder = targetPath.replace(/^\.\//, "").replace(/\/+$/, ""); // ./src/ → src
  const isWholeProject = folder === "" || folder === ".";
  return isWholeProject ? ["reference_docs/"] : [`${folder}/reference_docs/`, "reference_docs/"];
}
