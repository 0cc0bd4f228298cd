// intake: imports open issues of GitHub, GitLab or Linear as proposed tasks, through the user's own
// program or from an exported file.

import { resolve } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { findRemote, openForge } from "../../forge/push-to-forge.ts";
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
    const { issues, isWhole } =
      input.file === undefined
        ? await listForgeIssues(context, project, input, issuesMax) // while the portfolio isn't locked: it takes a while
        : readIssueFile(context, input.file, input.label, issuesMax);

    return withPortfolio(context, paths, async (portfolio) => {
      const { project_id } = project;
      const { tasks, knownCount, problems } = draftIssueTasks(portfolio.state, project_id, issues);
      const drafted = draftTasks(portfolio.state, tasks, {
        actor: operatorFields(context).actor,
        newId: createRandomTaskId,
      });
      refuseProblems([...problems, ...drafted.problems]);
      await portfolio.write(...drafted.changes);

      const count = drafted.ids.length;
      const rows = tasks
        .slice(0, rowsShownMax)
        .map(
          ({ objective, link = "" }, index) =>
            `· ${drafted.ids[index] ?? ""}  ${objective}  ${link}`,
        );
      const cutWarnings = isWhole
        ? []
        : [
            `There are more issues than the ${issues.length} that were read (at most ${issuesMax}: --limit).`,
          ];

      return respond("ok", {
        message: `Proposed ${count} ${count === 1 ? "task" : "tasks"} from ${input.from}; ${knownCount} ${knownCount === 1 ? "was" : "were"} here already.`,
        page: rows,
        warnings: [...openWarnings, ...portfolio.warnings, ...cutWarnings],
        remediation:
          count === 0 ? [] : ["autopilot portfolio ready TASK, once you have looked at it"],
        data: { ids: drafted.ids, known: knownCount },
      });
    });
  });
}

function refuseProblems(problems: readonly string[]): void {
  if (problems.length === 0) return;
  const count = `${problems.length} ${problems.length === 1 ? "issue" : "issues"}`;
  const shownProblems = problems.slice(0, rowsShownMax).join("; ");
  refuseInput(`${count} can't be imported, so none was: ${shownProblems}`, { problems });
}

/** The named project, or the only one. */
function chooseProject(state: PortfolioView, projectName: string | undefined): ProjectView {
  const projects = Object.values(state.projects);
  const [firstProject] = projects;
  const ids = projects.map(({ project_id }) => project_id).join(", ");

  if (projectName === undefined) {
    if (firstProject !== undefined && projects.length === 1) return firstProject;
    return refuseInput(`For which project? --project takes one of: ${ids || "none yet"}.`);
  }

  const project = projects.find(
    ({ project_id, name }) => project_id === projectName || name === projectName,
  );
  if (project !== undefined) return project;
  return refuseInput(`There is no project ${projectName}. There are: ${ids || "none"}.`);
}

/** `isWhole`: there were no more. */
type ReadIssues = { readonly issues: readonly TrackedIssue[]; readonly isWhole: boolean };

/** Issues of an exported file. */
function readIssueFile(
  context: CommandContext,
  file: string,
  label: string | undefined,
  issuesMax: number,
): ReadIssues {
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

/** Issues of the project's repository, through `gh` or `glab`. */
async function listForgeIssues(
  { env }: CommandContext,
  project: ProjectView,
  { from, label }: IntakeInput,
  issuesMax: number,
): Promise<ReadIssues> {
  if (from === "linear") {
    return refuseInput(
      "Linear has no program of its own to ask: export the issues (CSV or JSON) and name the file.",
    );
  }

  if (project.repository === null) {
    return refuseInput(`${project.project_id} has no repository to ask for its issues.`);
  }

  const repository = await requireRepository(project.repository);
  const tool = from === "github" ? "gh" : "glab";
  const remote = await findRemote(repository, project.target, { tool }, env);
  const forge = openForge(remote, env);
  const { issues, isWhole } = await forge.listIssues({ label, countMax: issuesMax });
  return { issues: issues.map(({ url, title, body }) => ({ link: url, title, body })), isWhole };
}
