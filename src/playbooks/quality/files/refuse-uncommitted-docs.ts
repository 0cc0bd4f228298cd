// refuse-uncommitted-docs: refuses to start if the required documentation is only in the checkout,
// in no commit: agents would not see it.

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { listSome } from "../../../kit/list-some.ts";
import { listTree } from "../../../verify/gates/tree-facts.ts";
import { git } from "../../../workspace/git/git.ts";
import { listDocsFolders, isDocument } from "../steps/docs-present.ts";
import { refuse } from "../../../project/respond.ts";

const pathsShownMax = 5;

/**
 * Returns if one document is committed, or if there is none at all: then the run itself reports
 * what is missing.
 */
export async function refuseUncommittedDocs(root: string, targetPath: string): Promise<void> {
  const folders = listDocsFolders(targetPath);
  const args = ["ls-tree", "-r", "-z", "--name-only", "HEAD", "--", ...folders];
  const { code, out } = await git({ cwd: root, args, acceptedExitCodes: [0, 128] }); // 128: there is no commit yet
  const committedPaths = code === 0 ? out.toString("utf8").split("\0") : [];
  if (committedPaths.some(isDocument)) return;
  const uncommittedDocs = (
    await Promise.all(folders.map((folder) => listDocuments(root, folder)))
  ).flat();
  const [firstDocument] = uncommittedDocs;
  if (firstDocument === undefined) return;
  const folder = folders.find((candidate) => firstDocument.startsWith(candidate)) ?? "";
  const pathsText = listSome(uncommittedDocs, pathsShownMax);
  refuse("workspace_unusable", {
    message: `Not committed yet: ${pathsText}. A run starts from the last commit, so no agent would see the documentation that --require-docs asks for. Nothing was started.`,
    remediation: [
      `git add -f ${folder} && git commit -m "reference documentation", then autopilot quality --require-docs`,
    ],
    data: { paths: uncommittedDocs },
  });
}

/** The documents with content in a folder of the checkout. */
async function listDocuments(root: string, folder: string): Promise<readonly string[]> {
  if (lstatSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const { entries } = await listTree(join(root, folder), { entriesMax: 10_000, depthMax: 16 });
  return [...entries]
    .filter(([path, { kind, size }]) => kind === "file" && size > 0 && isDocument(path))
    .map(([path]) => `${folder}${path}`);
}
