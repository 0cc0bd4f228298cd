// import: a list of projects and tasks from YAML, JSON or a Markdown backlog. Everything that is wrong is reported; then nothing is imported.

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { isAsStrong, toLevel } from "../../contracts/isolation-order.ts";
import { isolationLevels } from "../../contracts/objective.ts";
import type { PortfolioChange } from "../../contracts/portfolio-journal.ts";
import { decodeDocument } from "../../documents/document-text.ts";
import { draftTasks, problemsShown, readBacklog } from "../../portfolio/planner/backlog.ts";
import { type Imported, readImportList } from "../../portfolio/planner/import-list.ts";
import { setHub } from "../../portfolio/planner/hubs.ts";
import { projectIdOf } from "../../portfolio/planner/ids.ts";
import { openPortfolio, type Portfolio } from "../../portfolio/planner/state.ts";
import { reduce } from "../../portfolio/planner/reduce.ts";
import { withOwnFile } from "../../project/own-file.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { settingsOf } from "../../project/config/settings.ts";
import { requireAgents } from "../../project/named-agents.ts";
import { catchRefusals, Refusal, respond } from "../../project/respond.ts";
import { type HubChange, hubChange, stillFree } from "../fleet/project-hubs.ts";
import { budgetOf, invalid, newTaskId, operatorOf, repositoriesIn, repositoryOf } from "./add.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import { requirePortfolio } from "../../portfolio/store/folder.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";
import { plural } from "../../views/wording.ts";
import { type Known, knownIn, type RunTerms, termFaults } from "./run-terms.ts";

type Place = { readonly root: string; readonly target: string; readonly hub: readonly HubChange[] };

const listBytesMax = 64 << 20;

export function importBacklog(
  context: CommandContext,
  input: { readonly file: string; readonly propose?: boolean | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = requirePortfolio(context);
    const bytes = withOwnFile(resolve(context.cwd, input.file), (fd, size) => (size > listBytesMax ? null : readFileSync(fd)));
    if (bytes === null) return invalid(`${input.file} cannot be read as a file of at most ${listBytesMax >> 20} MB.`);
    const decoded = decodeDocument(input.file, bytes, listBytesMax);
    if ("findings" in decoded) return invalid(decoded.findings.map(({ line, message }) => `${input.file}:${line}: ${message}`).join("\n"));
    const content = decoded.text;
    const isMarkdown = /\.(md|markdown)$/i.test(input.file);
    const read: Imported = isMarkdown
      ? { projects: [], unread: new Set(), ...readBacklog(input.file, content) }
      : readImportList(input.file, content);
    const problems = [...read.problems];
    const places = new Map<string, Place>();
    /** What a person would be told when they give it by hand is a problem of its place here. */
    const agentIn = (where: string, agent: string | undefined): { readonly agent?: string } => {
      try {
        return agent === undefined ? {} : { agent: requireAgents(context.cwd, agent) };
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        problems.push(`${where}: ${error.message}`);
        return {};
      }
    };
    const projects = read.projects.map((project) => ({ ...project, ...agentIn(project.place, project.agent) }));
    const taken = await repositoriesIn(paths);
    const there = (await readPortfolio(paths)).projects;
    const checks = new Map<string, Known>();
    const expected = structuredClone(await readPortfolio(paths)) as Portfolio;
    /** A project that is wrong itself, or unknown, has no repository: the portfolio's own settings count. */
    const checkTerms = async (where: string, name: string, terms: RunTerms): Promise<void> => {
      const named = there[name] ?? Object.values(there).find((one) => one.name === name);
      const root = places.get(name)?.root ?? named?.repository ?? paths.root;
      const known = checks.get(root) ?? (await knownIn(context, root));
      checks.set(root, known);
      for (const fault of termFaults(known, terms)) problems.push(`${where}: ${fault}`);
    };
    for (const { name = "", repo, target, hub, agent, place } of projects) {
      try {
        const others = [...taken, ...[...places.values()].map(({ root }) => root)];
        if (repo !== undefined) {
          const found = await repositoryOf(resolve(context.cwd, repo), target, others);
          const settled = await hubChange(context, paths, { repository: found.root, target: found.target }, hub, expected);
          for (const change of settled) setHub(expected, change, { seq: 0, ts: "" });
          places.set(name, { ...found, hub: settled });
        }
        await checkTerms(place, name, { agent });
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        problems.push(`${place}: ${error.message}`);
      }
    }
    // The file may have come with a repository: what it asks for is never weaker than what its user has set.
    const floor = settingsOf(context, { root: paths.root, folder: join(paths.root, ".autopilot") }).isolation;
    for (const task of read.tasks) await checkTerms(task.place, task.project, task);
    for (const { isolation, place: where } of read.tasks)
      if (isolation !== undefined && isolationLevels.some((one) => one === isolation) && !isAsStrong(toLevel(isolation), toLevel(floor)))
        problems.push(
          `${where}: isolation ${isolation} is weaker than yours (${floor}); autopilot portfolio edit TASK --isolation ${isolation} sets it`,
        );
    const given = read.tasks.map((task) => ({ ...task, ...agentIn(task.place, task.agent) }));
    return withPortfolio(context, paths, async (open) => {
      const made = projectsOf(context, open.state as Portfolio, projects, places, problems);
      const tasks = given.map((task) => ({ ...task, propose: task.propose ?? input.propose }));
      const drafted = draftTasks(made.after, tasks, operatorOf(context).actor, newTaskId, read.unread);
      const all = [...problems, ...drafted.problems];
      const shown = problemsShown(all);
      if (all.length > 0)
        invalid(`${all.length} ${all.length === 1 ? "thing is" : "things are"} wrong, so nothing was imported: ${shown.join("; ")}`, {
          problems: shown,
        });
      stillFree(
        open.state,
        made.changes.flatMap((change) => (change.event === "hub_set" ? change : [])),
      );
      await open.write(...made.changes, ...drafted.changes);
      return respond("ok", {
        message: `Imported ${plural(made.changes.filter(({ event }) => event === "project_created").length, "project")} and ${plural(drafted.ids.length, "task")}.`,
        warnings: open.warnings,
        remediation: ["autopilot portfolio status"],
        data: { projects: made.changes.flatMap((change) => ("project_id" in change ? change.project_id : [])), ids: drafted.ids },
      });
    });
  });
}

/** The new projects, and the state as it will be with them. */
function projectsOf(
  context: CommandContext,
  state: Portfolio,
  projects: Imported["projects"],
  places: ReadonlyMap<string, Place>,
  problems: string[],
): { readonly changes: readonly PortfolioChange[]; readonly after: Portfolio } {
  const after: Portfolio = { ...openPortfolio(), projects: { ...state.projects }, tasks: state.tasks };
  const changes = projects.flatMap(({ name, ...project }): PortfolioChange[] => {
    if (name === undefined) return []; // said before
    if (Object.values(after.projects).some((other) => other.name === name)) {
      problems.push(`${project.place}: there is a project ${name} already`);
      return [];
    }
    const where = places.get(name);
    const project_id = projectIdOf(name, (id) => after.projects[id] !== undefined);
    const fields = {
      name,
      objective: project.objective ?? "",
      repository: where?.root ?? null,
      target: where?.target ?? "main",
      priority: project.priority ?? 3,
      slots: project.slots ?? 1,
      budget: budgetOf(project.budget), // read before
      accept_unproved: project.accept_unproved === true,
      paused: false,
      ...(project.agent === undefined ? {} : { agent: project.agent }),
    };
    const change: PortfolioChange = { ...operatorOf(context), event: "project_created", project_id, fields };
    reduce(after, { ...change, seq: 0, ts: "" });
    return [change, ...(where?.hub ?? [])];
  });
  return { changes, after };
}
