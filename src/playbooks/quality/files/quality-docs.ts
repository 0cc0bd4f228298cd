// quality-docs: documentation that is in the checkout and is in no commit. Agents would not see it, and a run must not call it missing.

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { listTree } from "../../../verify/gates/tree-facts.ts";
import { git } from "../../../workspace/git/git.ts";
import { docsFolders, isDocument } from "../steps/docs-present.ts";
import { refuse } from "../../../project/reply.ts";

const shownMax = 5;

/** Where documentation is required and all that is there is in no commit: what is missing is the commit, not the documentation. */
export async function refuseUncommittedDocs(root: string, target: string): Promise<void> {
  const folders = docsFolders(target);
  const { code, out } = await git({ cwd: root, args: ["ls-tree", "-r", "-z", "--name-only", "HEAD", "--", ...folders], codes: [0, 128] });
  const committed = code === 0 ? out.toString("utf8").split("\0") : [];
  if (committed.some(isDocument)) return;
  const detected = (await Promise.all(folders.map((folder) => readDocuments(root, folder)))).flat();
  const [first] = detected;
  if (first === undefined) return;
  const more = detected.length > shownMax ? ` and ${detected.length - shownMax} more` : "";
  const folder = folders.find((candidate) => first.startsWith(candidate)) ?? "";
  refuse("workspace_unusable", {
    message: `Not committed yet: ${detected.slice(0, shownMax).join(", ")}${more}. A run starts from the last commit, so no agent would see the documentation that --require-docs asks for. Nothing was started.`,
    remediation: [`git add -f ${folder} && git commit -m "reference documentation", then autopilot quality --require-docs`],
    data: { paths: detected },
  });
}

async function readDocuments(root: string, folder: string): Promise<readonly string[]> {
  if (lstatSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const { entries } = await listTree(join(root, folder), { entriesMax: 10_000, depthMax: 16 });
  return [...entries].flatMap(([path, { kind, size }]) => (kind === "file" && size > 0 && isDocument(path) ? [`${folder}${path}`] : []));
}
