// intake: imports open issues of GitHub, GitLab or Linear as proposed tasks, through the user's own
// program or from an exported file.

import { resolve } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { findRemote, openForge } from "../../forge/remote.ts";
import { draftTasks } from "../../portfolio/planner/draft-tasks.ts";
import { draftIssueTasks, type TrackedIssue } from "../../portfolio/planner/intake.ts";
import type { PortfolioView, ProjectView } from "../../portfolio/planner/state.ts";
import { readTrackerFile } from "../../portfolio/planner/tracker-file.ts";
import { requirePortfolio } from "../../portfolio/store/folder.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { readOwnFile } from "../../project/own-file.ts";
import { catchRefusals, respond } from "../../project/respond.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";
import { requireOutsideRun } from "../../runner/require-may-grant.ts";
import { refuseInput, createRandomTaskId, operatorFields } from "./portfolio-input.ts";

export const trackers = ["github", "gitlab", "linear"] as const;
export type Tracker = (typeof trackers)[number];

export type IntakeInput = {
  readonly from: Tracker;
  readonly file?: string | undefined;
  readonly project?: string | undefined;
  readonly label?: string | undefined;
  readonly limit?: number | undefined;
};

const issuesMaxDefault = 100;
const rowsShownMax = 20;

/**
 * Proposes a task for each issue that isn't one already; if any issue can't be imported, none is.
 */
export function importIssues(
  context: CommandContext,
  input: IntakeInput,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    requireOutsideRun(context);
    const paths = requirePortfolio(context);
    const { state, warnings: openWarnings } = await withPortfolio(context, paths, (portfolio) =>
      Promise.resolve(portfolio),
    );
    const project = chooseProject(state, input.project);
    const issuesMax = input.limit ?? issuesMaxDefault;
    const { issues, isWhole } = await readIssues(context, project, input, issuesMax); // while the portfolio isn't locked: it takes a while

    const cutWarnings = isWhole
      ? []
      : [
          `There are more issues than the ${issues.length} that were read (at most ${issuesMax}: --limit).`,
        ];

    return withPortfolio(context, paths, async (portfolio) => {
      const { tasks, knownCount, problems } = draftIssueTasks(
        portfolio.state,
        project.project_id,
        issues,
      );
      const drafted = draftTasks(portfolio.state, tasks, {
        actor: operatorFields(context).actor,
        newId: createRandomTaskId,
      });
      const allProblems = [...problems, ...drafted.problems];
      if (allProblems.length > 0) {
        refuseInput(
          `${allProblems.length} ${allProblems.length === 1 ? "issue" : "issues"} can't be imported, so none was: ${allProblems.slice(0, rowsShownMax).join("; ")}`,
          { problems: allProblems },
        );
      }

      await portfolio.write(...drafted.changes);
      const count = drafted.ids.length;
      return respond("ok", {
        message: `Proposed ${count} ${count === 1 ? "task" : "tasks"} from ${input.from}; ${knownCount} ${knownCount === 1 ? "was" : "were"} here already.`,
        page: tasks
          .slice(0, rowsShownMax)
          .map(
            ({ objective, link }, index) =>
              `· ${drafted.ids[index] ?? ""}  ${objective}  ${link ?? ""}`,
          ),
        warnings: [...openWarnings, ...portfolio.warnings, ...cutWarnings],
        remediation:
          count === 0 ? [] : ["autopilot portfolio ready TASK, once you have looked at it"],
        data: { ids: drafted.ids, known: knownCount },
      });
    });
  });
}

/** The named project, or the only one. */
function chooseProject(state: PortfolioView, projectName: string | undefined): ProjectView {
  const projects = Object.values(state.projects);
  const project =
    projectName === undefined && projects.length === 1
      ? projects[0]
      : projects.find(({ project_id, name }) => project_id === projectName || name === projectName);

  const names = projects.map(({ project_id }) => project_id).join(", ");
  return (
    project ??
    refuseInput(
      projectName === undefined
        ? `For which project? --project takes one of: ${names || "none yet"}.`
        : `There is no project ${projectName}. There are: ${names || "none"}.`,
    )
  );
}

/**
 * Issues of the exported file, else of the project's repository through `gh` or `glab`. `isWhole`:
 * there were no more.
 */
async function readIssues(
  context: CommandContext,
  project: ProjectView,
  { from, file, label }: IntakeInput,
  issuesMax: number,
): Promise<{ readonly issues: readonly TrackedIssue[]; readonly isWhole: boolean }> {
  if (file !== undefined) {
    if (label !== undefined) {
      return refuseInput(
        "--label is for issues that gh or glab list: choose them when you export the file.",
      );
    }

    const content = readOwnFile(resolve(context.cwd, file));
    if (content === null) return refuseInput(`${file} cannot be read as a file.`);
    const tracked = readTrackerFile(file, content);
    if (typeof tracked === "string") return refuseInput(`${file}: ${tracked}.`);

    return { issues: tracked.slice(0, issuesMax), isWhole: tracked.length <= issuesMax };
  }

  if (from === "linear") {
    return refuseInput(
      "Linear has no program of its own to ask: export the issues (CSV or JSON) and name the file.",
    );
  }

  if (project.repository === null) {
    return refuseInput(`${project.project_id} has no repository to ask for its issues.`);
  }

  const repository = await requireRepository(project.repository);
  const remote = await findRemote(
    repository,
    project.target,
    { tool: from === "github" ? "gh" : "glab" },
    context.env,
  );

  const { issues, isWhole } = await openForge(remote, context.env).listIssues({
    label,
    countMax: issuesMax,
  });

  return { issues: issues.map(({ url, title, body }) => ({ link: url, title, body })), isWhole };
}
