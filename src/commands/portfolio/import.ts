// import: imports projects and tasks from a YAML or JSON list or a Markdown backlog. If anything is
// wrong, all problems are reported and nothing is imported.

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { isAtLeastAsStrong, toLevel } from "../../contracts/isolation-levels.ts";
import { isolationLevels } from "../../contracts/isolation-levels.ts";
import {
  type PortfolioChange,
  priorityDefault,
} from "../../contracts/portfolio/portfolio-journal.ts";
import { decodeDocument } from "../../documents/document-text.ts";
import { draftTasks, limitProblems } from "../../portfolio/planner/draft-tasks.ts";
import { readBacklog } from "../../portfolio/planner/backlog.ts";
import { type ImportList, readImportList } from "../../portfolio/planner/import-list.ts";
import { setHub } from "../../portfolio/planner/hubs.ts";
import { createProjectId } from "../../portfolio/planner/ids.ts";
import { createEmptyPortfolio, type Portfolio } from "../../portfolio/planner/state.ts";
import { reduce } from "../../portfolio/planner/reduce.ts";
import { withOwnFile } from "../../project/own-file.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { requireSettings } from "../../project/config/settings.ts";
import { requireAgents } from "../../project/named-agents.ts";
import { catchRefusals, Refusal, respond } from "../../project/respond.ts";
import { type HubChange, planHubChange, requireFreeHubs } from "../fleet/project-hubs.ts";
import {
  requireBudget,
  refuseInput,
  createRandomTaskId,
  operatorFields,
  listRepositories,
  requireProjectRepository,
} from "./portfolio-input.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import { type PortfolioPaths, requirePortfolio } from "../../portfolio/store/folder.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";
import { plural } from "../../views/wording.ts";
import { type KnownTerms, readKnownTerms, type RunTerms, findTermFaults } from "./run-terms.ts";

type ProjectRepository = {
  readonly root: string;
  readonly target: string;
  readonly hub: readonly HubChange[];
};
type Projects = ImportList["projects"];
type Tasks = ImportList["tasks"];

const listBytesMax = 64 << 20;

/**
 * Checks everything that needs no lock first, then drafts all changes, and writes them only if
 * there is no problem at all.
 */
export function importBacklog(
  context: CommandContext,
  input: { readonly file: string; readonly propose?: boolean | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = requirePortfolio(context);
    const importList = readList(context, input.file);
    const problems = [...importList.problems];
    const projects = importList.projects.map((project) => ({
      ...project,
      ...resolveAgent(context, project, problems),
    }));
    const repositories = await checkProjects(context, paths, projects, problems);
    await checkTasks(context, paths, importList.tasks, { repositories, problems });

    const tasks = importList.tasks.map((task) => ({
      ...task,
      ...resolveAgent(context, task, problems),
      propose: task.propose ?? input.propose,
    }));

    return withPortfolio(context, paths, async (portfolio) => {
      const toCreate = { projects, repositories, problems };
      const created = createProjects(context, portfolio.state as Portfolio, toCreate);
      const drafted = draftTasks(created.stateAfter, tasks, {
        actor: operatorFields(context).actor,
        newId: createRandomTaskId,
        invalidNames: importList.invalidNames,
      });
      refuseProblems([...problems, ...drafted.problems]);

      const hubChanges = created.changes.filter((change) => change.event === "hub_set");
      requireFreeHubs(portfolio.state, hubChanges);
      await portfolio.write(...created.changes, ...drafted.changes);

      const projectCount = created.changes.length - hubChanges.length;
      const projectIds = created.changes.flatMap((change) =>
        "project_id" in change ? change.project_id : [],
      );
      return respond("ok", {
        message: `Imported ${plural(projectCount, "project")} and ${plural(drafted.ids.length, "task")}.`,
        warnings: portfolio.warnings,
        remediation: ["autopilot portfolio status"],
        data: { projects: projectIds, ids: drafted.ids },
      });
    });
  });
}

function readList(context: CommandContext, file: string): ImportList {
  const bytes = withOwnFile(resolve(context.cwd, file), (fd, size) =>
    size > listBytesMax ? null : readFileSync(fd),
  );
  if (bytes === null) {
    return refuseInput(`${file} cannot be read as a file of at most ${listBytesMax >> 20} MB.`);
  }

  const decoded = decodeDocument(file, bytes, listBytesMax);
  if ("findings" in decoded) {
    const problems = decoded.findings.map(({ line, message }) => `${file}:${line}: ${message}`);
    return refuseInput(problems.join("\n"));
  }

  const isMarkdown = /\.(md|markdown)$/i.test(file);
  if (!isMarkdown) return readImportList(file, decoded.text);
  return { projects: [], invalidNames: new Set(), ...readBacklog(file, decoded.text) };
}

/** Notes a refusal as a problem of one entry, so that the other entries are checked too. */
function addRefusal(problems: string[], place: string, error: unknown): void {
  if (!(error instanceof Refusal)) throw error;
  problems.push(`${place}: ${error.message}`);
}

/** The entry's agent with its paths resolved; adds a problem if it cannot be used. */
function resolveAgent(
  context: CommandContext,
  { agent, place }: { readonly agent?: string | undefined; readonly place: string },
  problems: string[],
): { readonly agent?: string } {
  try {
    return agent === undefined ? {} : { agent: requireAgents(context.cwd, agent) };
  } catch (error) {
    addRefusal(problems, place, error);
    return {};
  }
}

/**
 * Finds each project's repository and hub and checks its agent. Returns the repositories by the
 * project's name.
 */
async function checkProjects(
  context: CommandContext,
  paths: PortfolioPaths,
  projects: Projects,
  problems: string[],
): Promise<ReadonlyMap<string, ProjectRepository>> {
  const repositories = new Map<string, ProjectRepository>();
  const usedRepositories = [...(await listRepositories(paths))];
  const expected = structuredClone(await readPortfolio(paths)) as Portfolio; // with the hubs of the entries so far
  const findFaults = await openTermsCheck(context, paths, repositories);

  for (const { name = "", repo, target, hub, agent, place } of projects) {
    try {
      if (repo !== undefined) {
        const folder = resolve(context.cwd, repo);
        const repository = await requireProjectRepository(folder, target, usedRepositories);
        const hubRequest = {
          repository: repository.root,
          target: repository.target,
          hub,
          expected,
        };
        const hubChanges = await planHubChange(context, paths, hubRequest);
        for (const change of hubChanges) setHub(expected, change, { seq: 0, ts: "" });

        usedRepositories.push(repository.root);
        repositories.set(name, { ...repository, hub: hubChanges });
      }

      const faults = await findFaults(name, { agent });
      problems.push(...faults.map((fault) => `${place}: ${fault}`));
    } catch (error) {
      addRefusal(problems, place, error);
    }
  }

  return repositories;
}

async function checkTasks(
  context: CommandContext,
  paths: PortfolioPaths,
  tasks: Tasks,
  {
    repositories,
    problems,
  }: { readonly repositories: ReadonlyMap<string, ProjectRepository>; readonly problems: string[] },
): Promise<void> {
  const findFaults = await openTermsCheck(context, paths, repositories);
  for (const task of tasks) {
    const faults = await findFaults(task.project, task);
    problems.push(...faults.map((fault) => `${task.place}: ${fault}`));
  }

  // The file may have come with a repository, so it must not ask for weaker isolation than its user
  // has set.
  const projectPaths = { root: paths.root, folder: join(paths.root, ".autopilot") };
  const { isolation: floor } = requireSettings(context, projectPaths);

  for (const { isolation, place } of tasks) {
    const isLevel = isolation !== undefined && isolationLevels.some((level) => level === isolation);
    if (isLevel && !isAtLeastAsStrong(toLevel(isolation), toLevel(floor))) {
      problems.push(
        `${place}: isolation ${isolation} is weaker than yours (${floor}); autopilot portfolio edit TASK --isolation ${isolation} sets it`,
      );
    }
  }
}

/**
 * Returns a check of whether a run in the named project could start with given terms. A project
 * that is unknown, or wrong itself, has no repository; then the portfolio's own settings count.
 */
async function openTermsCheck(
  context: CommandContext,
  paths: PortfolioPaths,
  repositories: ReadonlyMap<string, ProjectRepository>,
) {
  const { projects } = await readPortfolio(paths);
  const knownByRoot = new Map<string, KnownTerms>();

  return async (name: string, terms: RunTerms): Promise<readonly string[]> => {
    const project =
      projects[name] ?? Object.values(projects).find((candidate) => candidate.name === name);
    const root = repositories.get(name)?.root ?? project?.repository ?? paths.root;
    const knownTerms = knownByRoot.get(root) ?? (await readKnownTerms(context, root));
    knownByRoot.set(root, knownTerms);

    return findTermFaults(knownTerms, terms);
  };
}

function refuseProblems(problems: readonly string[]): void {
  if (problems.length === 0) return;
  const shownProblems = limitProblems(problems);
  const count = `${problems.length} ${problems.length === 1 ? "thing is" : "things are"} wrong`;
  refuseInput(`${count}, so nothing was imported: ${shownProblems.join("; ")}`, {
    problems: shownProblems,
  });
}

type ProjectsToCreate = {
  readonly projects: Projects;
  readonly repositories: ReadonlyMap<string, ProjectRepository>;
  readonly problems: string[];
};

/** The changes that create the projects, and the state as it will be with them. */
function createProjects(
  context: CommandContext,
  state: Portfolio,
  { projects, repositories, problems }: ProjectsToCreate,
): { readonly changes: readonly PortfolioChange[]; readonly stateAfter: Portfolio } {
  const stateAfter: Portfolio = {
    ...createEmptyPortfolio(),
    projects: { ...state.projects },
    tasks: state.tasks,
  };

  const changes: PortfolioChange[] = [];
  for (const project of projects) {
    const { name, place } = project;
    if (name === undefined) continue; // reported when the list was read
    if (Object.values(stateAfter.projects).some((other) => other.name === name)) {
      problems.push(`${place}: there is a project ${name} already`);
      continue;
    }

    const repository = repositories.get(name);
    const change: PortfolioChange = {
      ...operatorFields(context),
      event: "project_created",
      project_id: createProjectId(name, (id) => stateAfter.projects[id] !== undefined),
      fields: collectFields(name, project, repository),
    };

    reduce(stateAfter, { ...change, seq: 0, ts: "" });
    changes.push(change, ...(repository?.hub ?? []));
  }

  return { changes, stateAfter };
}

function collectFields(
  name: string,
  project: Projects[number],
  repository: ProjectRepository | undefined,
) {
  const agentField = project.agent === undefined ? {} : { agent: project.agent };

  return {
    name,
    objective: project.objective ?? "",
    repository: repository?.root ?? null,
    target: repository?.target ?? "main",
    priority: project.priority ?? priorityDefault,
    slots: project.slots ?? 1,
    budget: requireBudget(project.budget),
    accept_unproved: project.accept_unproved === true,
    paused: false,
    ...agentField,
  };
}
