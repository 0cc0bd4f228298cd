// git-visibility: refuses to start if documents are uncommitted, so that the run would not see
// them, or ignored, so that it could not commit them.

import { git } from "../../../workspace/git/git.ts";
import { findGitPlaces } from "../../../workspace/git/git-places.ts";
import { openUserView } from "../../../workspace/git/user-view.ts";
import { refuse } from "../../../project/respond.ts";
import type { PlanFile } from "./roadmap-documents.ts";
import { findIgnoreRule } from "../../contract/ignored-paths.ts";
import { phasesFolder } from "../../../contracts/roadmap-places.ts";

/** Files that agents write into a phase's folder and that later steps need. */
const agentFiles = ["RESEARCH.md", "PLAN.md", "JUDGE-REPORT.md"];

/** Checks the folder of every phase that runs: a rule may be about one of them. */
export async function refuseIgnored(root: string, phaseIds: readonly string[]): Promise<void> {
  const paths = phaseIds.flatMap((id) => agentFiles.map((name) => `${phasesFolder}/${id}/${name}`));
  const rule = await findIgnoreRule(root, paths);
  if (rule === null) return;
  const { path, source, line, pattern } = rule;
  refuse("workspace_unusable", {
    message: `Git ignores ${path} (${source}:${line}: ${pattern}), so what agents write there could not be kept. Nothing was started.`,
    remediation: [
      pattern.includes("planning") // the rule is about this folder, so it can be taken out; a general one may be needed elsewhere
        ? `take ${pattern} out of ${source}, commit .planning, then autopilot roadmap`
        : `echo '!/${phasesFolder}/**' >> .gitignore && git add .gitignore && git commit -m 'keep the pages of phases', then autopilot roadmap`,
    ],
    data: { path, source, line, pattern },
  });
}

/**
 * If an existing plan were uncommitted, the run would plan the phase again, and the file would
 * block its landing.
 */
export async function refuseUncommitted(
  root: string,
  phaseIds: readonly string[],
  plans: ReadonlyMap<string, PlanFile>,
): Promise<void> {
  const paths = phaseIds.flatMap((id) => plans.get(id)?.path ?? []);
  if (paths.length === 0) return;

  const args = [
    "status",
    "--porcelain=v1",
    "-z",
    "--no-renames",
    "--ignored=matching",
    "--untracked-files=all",
    "--",
    ...paths,
  ];

  const places = findGitPlaces(root);
  if (places === null) return; // without a repository the run is refused elsewhere
  const { out } = await git({ ...(await openUserView(places)), args, acceptedExitCodes: [0, 128] }); // 128: git cannot tell
  const statusLines = out.toString("utf8").split("\0"); // two letters, a space and the path: `?? .planning/phases/1/PLAN.md`
  const uncommitted = paths.filter((path) => statusLines.some((line) => line.slice(3) === path));
  if (uncommitted.length === 0) return;
  const [pronoun, noun] = uncommitted.length === 1 ? ["it", "plan"] : ["them", "plans"];
  refuse("workspace_unusable", {
    message: `Not committed yet: ${uncommitted.join(", ")}. A run begins from the last commit and would not see ${pronoun}. Nothing was started.`,
    remediation: [`git add ${uncommitted.join(" ")} && git commit -m "${noun}", then again`],
    data: { paths: uncommitted },
  });
}
