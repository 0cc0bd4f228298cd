// intake: imports open issues of GitHub, GitLab or Linear as proposed tasks, through the user's own program or from an exported file.

import { resolve } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { findRemote, openForge } from "../../forge/remote.ts";
import { draftTasks } from "../../portfolio/planner/backlog.ts";
import { tasksOfIssues, type TrackedIssue } from "../../portfolio/planner/intake.ts";
import type { PortfolioView, ProjectView } from "../../portfolio/planner/state.ts";
import { readTrackerFile } from "../../portfolio/planner/tracker-file.ts";
import { requirePortfolio } from "../../portfolio/store/folder.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { readOwnFile } from "../../project/own-file.ts";
import { catchRefusals, respond } from "../../project/respond.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";
import { requireOutsideRun } from "../../runner/require-may-grant.ts";
import { invalid, newTaskId, operatorOf } from "./add.ts";

export const trackers = ["github", "gitlab", "linear"] as const;
export type Tracker = (typeof trackers)[number];

export type IntakeInput = {
  readonly from: Tracker;
  readonly file?: string | undefined;
  readonly project?: string | undefined;
  readonly label?: string | undefined;
  readonly limit?: number | undefined;
};

const countMaxDefault = 100;
const shownMax = 20;

export function importIssues(context: CommandContext, input: IntakeInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    requireOutsideRun(context);
    const paths = requirePortfolio(context);
    const { state, warnings: found } = await withPortfolio(context, paths, (open) => Promise.resolve(open));
    const project = projectOf(state, input.project);
    const countMax = input.limit ?? countMaxDefault;
    const { issues, isWhole } = await issuesOf(context, project, input, countMax); // asked for before the portfolio is taken in hand
    const cut = isWhole ? [] : [`There are more issues than the ${issues.length} that were read (at most ${countMax}: --limit).`];
    return withPortfolio(context, paths, async (open) => {
      const { tasks, known, problems } = tasksOfIssues(open.state, project.project_id, issues);
      const drafted = draftTasks(open.state, tasks, { actor: operatorOf(context).actor, newId: newTaskId });
      const allProblems = [...problems, ...drafted.problems];
      if (allProblems.length > 0)
        invalid(
          `${allProblems.length} ${allProblems.length === 1 ? "issue" : "issues"} can't be imported, so none was: ${allProblems.slice(0, shownMax).join("; ")}`,
          { problems: allProblems },
        );
      await open.write(...drafted.changes);
      const count = drafted.ids.length;
      return respond("ok", {
        message: `Proposed ${count} ${count === 1 ? "task" : "tasks"} from ${input.from}; ${known} ${known === 1 ? "was" : "were"} here already.`,
        page: tasks.slice(0, shownMax).map(({ objective, link }, at) => `· ${drafted.ids[at] ?? ""}  ${objective}  ${link ?? ""}`),
        warnings: [...found, ...open.warnings, ...cut],
        remediation: count === 0 ? [] : ["autopilot portfolio ready TASK, once you have looked at it"],
        data: { ids: drafted.ids, known },
      });
    });
  });
}

function projectOf(state: PortfolioView, wanted: string | undefined): ProjectView {
  const projects = Object.values(state.projects);
  const found =
    wanted === undefined && projects.length === 1
      ? projects[0]
      : projects.find(({ project_id, name }) => project_id === wanted || name === wanted);
  const names = projects.map(({ project_id }) => project_id).join(", ");
  return (
    found ??
    invalid(
      wanted === undefined
        ? `For which project? --project takes one of: ${names || "none yet"}.`
        : `There is no project ${wanted}. There are: ${names || "none"}.`,
    )
  );
}

async function issuesOf(
  context: CommandContext,
  project: ProjectView,
  { from, file, label }: IntakeInput,
  countMax: number,
): Promise<{ readonly issues: readonly TrackedIssue[]; readonly isWhole: boolean }> {
  if (file !== undefined) {
    const content = readOwnFile(resolve(context.cwd, file));
    if (content === null) return invalid(`${file} cannot be read as a file.`);
    const read = readTrackerFile(file, content);
    if (typeof read === "string") return invalid(`${file}: ${read}.`);
    return { issues: read.slice(0, countMax), isWhole: read.length <= countMax };
  }
  if (from === "linear") return invalid("Linear has no program of its own to ask: export the issues (CSV or JSON) and name the file.");
  if (project.repository === null) return invalid(`${project.project_id} has no repository to ask for its issues.`);
  const repository = await requireRepository(project.repository);
  const remote = await findRemote(repository, project.target, { tool: from === "github" ? "gh" : "glab" }, context.env);
  const { issues, isWhole } = await openForge(remote, context.env).issues({ label, countMax });
  return { issues: issues.map(({ url, title, body }) => ({ link: url, title, body })), isWhole };
}
