// git-visibility: documents a run would not see or could not keep. It begins from the last commit, and agents' documents reach the branch by git.

import { git } from "../../../workspace/git/git.ts";
import { findGitPlaces } from "../../../workspace/git/places.ts";
import { userViewCall } from "../../../workspace/git/user-view.ts";
import { refuse } from "../../../project/reply.ts";
import type { PlanFound } from "./roadmap-documents.ts";
import { findIgnoreRule } from "../../contract/ignored-paths.ts";
import { phasesFolder } from "../../../contracts/roadmap-places.ts";

/** Files that agents leave in a phase's folder and that its later steps need. */
const left = ["RESEARCH.md", "PLAN.md", "JUDGE-REPORT.md"];

export async function refuseIgnored(root: string, [first]: readonly string[]): Promise<void> {
  const paths = first === undefined ? [] : left.map((name) => `${phasesFolder}/${first}/${name}`);
  const rule = await findIgnoreRule(root, paths);
  if (rule === null) return;
  const { path, source, line, pattern } = rule;
  refuse("workspace_unusable", {
    message: `Git ignores ${path} (${source}:${line}: ${pattern}), so what agents write there could not be kept. Nothing was started.`,
    remediation: [
      pattern.includes("planning")
        ? `take ${pattern} out of ${source}, commit .planning, then autopilot roadmap`
        : `echo '!/${phasesFolder}/**' >> .gitignore && git add .gitignore && git commit -m 'keep the pages of phases', then autopilot roadmap`,
    ],
    data: { path, source, line, pattern },
  });
}

/** An existing plan that is in no commit: the run would plan the phase again, and find the plan in its way when it lands. */
export async function refuseUncommitted(root: string, wanted: readonly string[], plans: ReadonlyMap<string, PlanFound>): Promise<void> {
  const paths = wanted.flatMap((id) => plans.get(id)?.path ?? []);
  if (paths.length === 0) return;
  const args = ["status", "--porcelain=v1", "-z", "--no-renames", "--ignored=matching", "--untracked-files=all", "--", ...paths];
  const places = findGitPlaces(root);
  if (places === null) return; // without a repository nothing begins anyhow
  const { out } = await git({ ...userViewCall(places), args, codes: [0, 128] });
  const lines = out.toString("utf8").split("\0");
  const open = paths.filter((path) => lines.some((line) => line.slice(3) === path));
  if (open.length === 0) return;
  refuse("workspace_unusable", {
    message: `Not committed yet: ${open.join(", ")}. A run begins from the last commit and would not see ${open.length === 1 ? "it" : "them"}. Nothing was started.`,
    remediation: [`git add ${open.join(" ")} && git commit -m "${open.length === 1 ? "plan" : "plans"}", then again`],
    data: { paths: open },
  });
}
