// quality-docs: refuses to start if the required documentation is only in the checkout, in no commit: agents would not see it.

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { listTree } from "../../../verify/gates/tree-facts.ts";
import { git } from "../../../workspace/git/git.ts";
import { docsFolders, isDocument } from "../steps/docs-present.ts";
import { refuse } from "../../../project/respond.ts";

const pathsShownMax = 5;

export async function refuseUncommittedDocs(root: string, target: string): Promise<void> {
  const folders = docsFolders(target);
  const { code, out } = await git({ cwd: root, args: ["ls-tree", "-r", "-z", "--name-only", "HEAD", "--", ...folders], codes: [0, 128] });
  const committed = code === 0 ? out.toString("utf8").split("\0") : [];
  if (committed.some(isDocument)) return;
  const uncommittedDocs = (await Promise.all(folders.map((folder) => listDocuments(root, folder)))).flat();
  const [first] = uncommittedDocs;
  if (first === undefined) return;
  const more = uncommittedDocs.length > pathsShownMax ? ` and ${uncommittedDocs.length - pathsShownMax} more` : "";
  const folder = folders.find((candidate) => first.startsWith(candidate)) ?? "";
  refuse("workspace_unusable", {
    message: `Not committed yet: ${uncommittedDocs.slice(0, pathsShownMax).join(", ")}${more}. A run starts from the last commit, so no agent would see the documentation that --require-docs asks for. Nothing was started.`,
    remediation: [`git add -f ${folder} && git commit -m "reference documentation", then autopilot quality --require-docs`],
    data: { paths: uncommittedDocs },
  });
}

async function listDocuments(root: string, folder: string): Promise<readonly string[]> {
  if (lstatSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const { entries } = await listTree(join(root, folder), { entriesMax: 10_000, depthMax: 16 });
  return [...entries].flatMap(([path, { kind, size }]) => (kind === "file" && size > 0 && isDocument(path) ? [`${folder}${path}`] : []));
}
