// import: a list of projects and tasks from YAML, JSON or a Markdown backlog. Everything that is wrong is reported; then nothing is imported.

import { join, resolve } from "node:path";
import * as v from "valibot";
import type { Answer } from "../../contracts/answer.ts";
import { isAsStrong, levelOf } from "../../contracts/isolation-order.ts";
import type { PortfolioChange } from "../../contracts/portfolio-journal.ts";
import { findingText } from "../../kit/finding.ts";
import { isRefused, parseLocated } from "../../kit/located.ts";
import { draftTasks, readBacklog, type TaskDraft } from "../../portfolio/planner/backlog.ts";
import { projectIdOf } from "../../portfolio/planner/ids.ts";
import { openPortfolio, type Portfolio } from "../../portfolio/planner/state.ts";
import { reduce } from "../../portfolio/planner/reduce.ts";
import { readOwnFile } from "../../project/own-file.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { settingsOf } from "../../project/config/settings.ts";
import { requireAgents } from "../../project/named-agents.ts";
import { answered, Refusal, reply } from "../../project/reply.ts";
import { budgetOf, invalid, newTaskId, operatorOf, repositoryOf } from "./add.ts";
import { requirePortfolio } from "../../portfolio/store/folder.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";

const text = v.string();
const ImportedProject = v.strictObject({
  name: v.pipe(text, v.minLength(1)),
  repo: text,
  objective: v.optional(text),
  priority: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5))),
  target: v.optional(text),
  slots: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  budget: v.optional(text),
  accept_unproved: v.optional(v.boolean()),
  agent: v.optional(text),
});
const ImportedTask = v.strictObject({
  key: v.optional(text),
  project: text,
  objective: text,
  accept: v.optional(v.array(text)),
  after: v.optional(v.array(text)),
  touches: v.optional(v.array(text)),
  priority: v.optional(v.number()),
  agent: v.optional(text),
  flow: v.optional(text),
  isolation: v.optional(text),
  budget: v.optional(text),
  propose: v.optional(v.boolean()),
});
type Imported = {
  readonly projects: readonly v.InferOutput<typeof ImportedProject>[];
  readonly tasks: readonly TaskDraft[];
  readonly problems: readonly string[];
};

export function importBacklog(
  context: CommandContext,
  input: { readonly file: string; readonly propose?: boolean | undefined },
): Promise<Answer> {
  return answered(async () => {
    const paths = requirePortfolio(context);
    const content = readOwnFile(resolve(context.cwd, input.file));
    if (content === null) return invalid(`${input.file} cannot be read as a file.`);
    const read = /\.md$/i.test(input.file) ? { projects: [], ...readBacklog(content) } : readList(input.file, content);
    const problems = [...read.problems];
    const places = new Map<string, { readonly root: string; readonly target: string }>();
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
    const projects = read.projects.map((project) => ({ ...project, ...agentIn(`project ${project.name}`, project.agent) }));
    for (const project of projects) {
      try {
        places.set(project.name, await repositoryOf(resolve(context.cwd, project.repo), project.target));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        problems.push(`project ${project.name}: ${error.message}`);
      }
    }
    // The file may have come with a repository: what it asks for is never weaker than what its user has set.
    const floor = settingsOf(context, { root: paths.root, folder: join(paths.root, ".autopilot") }).isolation;
    for (const { isolation, place: where } of read.tasks)
      if (isolation !== undefined && !isAsStrong(levelOf(isolation), levelOf(floor)))
        problems.push(
          `${where}: isolation ${isolation} is weaker than yours (${floor}); autopilot portfolio edit TASK --isolation ${isolation} sets it`,
        );
    const given = read.tasks.map((task) => ({ ...task, ...agentIn(task.place, task.agent) }));
    return withPortfolio(context, paths, async (open) => {
      const made = projectsOf(context, open.state as Portfolio, projects, places, problems);
      const tasks = given.map((task) => ({ ...task, propose: task.propose ?? input.propose }));
      const drafted = draftTasks(made.after, tasks, operatorOf(context).actor, newTaskId);
      const all = [...problems, ...drafted.problems];
      if (all.length > 0)
        invalid(
          `${input.file}: ${all.length} ${all.length === 1 ? "thing is" : "things are"} wrong, so nothing was imported: ${all.join("; ")}`,
          { problems: all },
        );
      await open.write(...made.changes, ...drafted.changes);
      return reply("ok", {
        message: `Imported ${made.changes.length} projects and ${drafted.ids.length} tasks.`,
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
  places: ReadonlyMap<string, { readonly root: string; readonly target: string }>,
  problems: string[],
): { readonly changes: readonly PortfolioChange[]; readonly after: Portfolio } {
  const after: Portfolio = { ...openPortfolio(), projects: { ...state.projects }, tasks: state.tasks };
  const changes = projects.flatMap((project): PortfolioChange[] => {
    if (Object.values(after.projects).some(({ name }) => name === project.name)) {
      problems.push(`project ${project.name}: there is one already`);
      return [];
    }
    const where = places.get(project.name);
    const project_id = projectIdOf(project.name, (id) => after.projects[id] !== undefined);
    const fields = {
      name: project.name,
      objective: project.objective ?? "",
      repository: where?.root ?? null,
      target: where?.target ?? "main",
      priority: project.priority ?? 3,
      slots: project.slots ?? 1,
      budget: budgetOf(project.budget),
      accept_unproved: project.accept_unproved === true,
      paused: false,
      ...(project.agent === undefined ? {} : { agent: project.agent }),
    };
    const change: PortfolioChange = { ...operatorOf(context), event: "project_created", project_id, fields };
    reduce(after, { ...change, seq: 0, ts: "" });
    return [change];
  });
  return { changes, after };
}

/** JSON is read by itself: a long list has more values than a document with positions may hold. */
function readList(file: string, content: string): Imported {
  const problems: string[] = [];
  let value: unknown;
  if (file.endsWith(".json")) {
    try {
      value = JSON.parse(content);
    } catch (error) {
      return invalid(`${file} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
    }
  } else {
    const parsed = parseLocated(file, content);
    if (isRefused(parsed)) return invalid(parsed.findings.map(findingText).join("; "));
    ({ value } = parsed);
  }
  const list = v.safeParse(
    v.strictObject({ projects: v.optional(v.array(v.unknown()), []), tasks: v.optional(v.array(v.unknown()), []) }),
    value,
  );
  if (!list.success) return invalid(`${file}: expected projects: […] and tasks: […]; ${list.issues[0].message}`);
  const taken = <Item>(schema: v.GenericSchema<unknown, Item>, items: readonly unknown[], name: string): readonly [string, Item][] =>
    items.flatMap((item, at): [string, Item][] => {
      const read = v.safeParse(schema, item);
      if (read.success) return [[`${name}[${at}]`, read.output]];
      problems.push(...read.issues.map((issue) => `${name}[${at}].${v.getDotPath(issue) ?? ""}: ${issue.message}`));
      return [];
    });
  const projects = taken(ImportedProject, list.output.projects, "projects").map(([, project]) => project);
  const tasks = taken(ImportedTask, list.output.tasks, "tasks").map(([where, task]): TaskDraft => ({
    ...task,
    place: where,
    budget: budgetOf(task.budget),
  }));
  return { projects, tasks, problems };
}
