// draft-tasks: turns tasks as people write them, in a list or in Markdown, into `task_created`
// changes. All mistakes are reported together; if there are any, the caller creates nothing.

import {
  type Criterion,
  type PortfolioBudget,
  type PortfolioChange,
  priorityDefault,
  prioritiesMax,
  type TaskFields,
} from "../../contracts/portfolio/portfolio-journal.ts";
import { didYouMean } from "../../kit/suggest.ts";
import { oneLine } from "../../views/wording.ts";
import { findNewCycles } from "./dependency-cycles.ts";
import type { PortfolioView } from "./state.ts";
import { parseCriterion } from "./task-notation.ts";

export type TaskDraft = {
  /** Where it was written, for messages: `list.md:12`, `tasks[3]`. */
  readonly place: string;
  /** What other tasks of the same list call it in `after`. */
  readonly key?: string | undefined;
  readonly project: string;
  readonly objective: string;
  readonly accept?: readonly string[] | undefined;
  readonly after?: readonly string[] | undefined;
  readonly touches?: readonly string[] | undefined;
  readonly priority?: number | undefined;
  readonly budget?: PortfolioBudget | undefined;
  readonly agent?: string | undefined;
  readonly flow?: string | undefined;
  readonly isolation?: string | undefined;
  readonly propose?: boolean | undefined;
  /** Keys whose value was invalid and has been reported: the other keys are still checked. */
  readonly faulty?: ReadonlySet<string> | undefined;
  /** The issue it comes from, and what that says. */
  readonly link?: string | undefined;
  readonly quoted?: string | undefined;
};

export type DraftedTasks = {
  readonly changes: readonly PortfolioChange[];
  readonly ids: readonly string[];
  readonly problems: readonly string[];
};

export type DraftingInput = {
  readonly actor: string;
  readonly newId: (objective: string) => string;
  /**
   * Projects and tasks of the same list that are invalid themselves: naming one is not another
   * mistake.
   */
  readonly invalidNames?: ReadonlySet<string>;
};

const objectiveCharsMax = 20_000;
export const problemsMax = 50;
const problemCharsMax = 400;
/** How many names are compared to suggest one: a portfolio may have many thousands of tasks. */
const suggestionsMax = 1000;

/** The first mistakes, each shortened to a line, and how many more there are. */
export function limitProblems(problems: readonly string[]): readonly string[] {
  const shown = problems.slice(0, problemsMax).map((problem) => oneLine(problem, problemCharsMax));
  const more = problems.length - shown.length;

  return more === 0 ? shown : [...shown, `… and ${more} more`];
}

/** What a draft's names are looked up in, and where a mistake is reported. */
type Lookup = {
  readonly state: PortfolioView;
  readonly idsByKey: ReadonlyMap<string, string>;
  readonly invalidNames: ReadonlySet<string>;
  readonly problems: string[];
};

/**
 * Drafts every task; names in `after` and `project` are looked up in the same list and in the
 * portfolio.
 */
export function draftTasks(
  state: PortfolioView,
  drafts: readonly TaskDraft[],
  { actor, newId, invalidNames = new Set() }: DraftingInput,
): DraftedTasks {
  const problems: string[] = [];
  const ids = drafts.map(({ objective }) => newId(objective));
  const idsByKey = indexKeys(drafts, ids, problems);
  const lookup = { state, idsByKey, invalidNames, problems };

  const changes = drafts.map((draft, index): PortfolioChange => ({
    event: "task_created",
    actor,
    reason_code: "ok",
    task_id: ids[index] ?? "",
    project_id: findProject(lookup, draft),
    status: draft.propose === true ? "proposed" : "ready",
    fields: createTaskFields(lookup, draft),
  }));

  for (const cycleIds of findNewCycles(changes)) {
    const cycle = cycleIds.flatMap((id) => drafts[ids.indexOf(id)] ?? []);
    problems.push(describeCycle(cycle));
  }

  return { changes, ids, problems };
}

/** The ids by the keys that the drafts give themselves; a key that is used twice is reported. */
function indexKeys(
  drafts: readonly TaskDraft[],
  ids: readonly string[],
  problems: string[],
): ReadonlyMap<string, string> {
  const idsByKey = new Map<string, string>();

  for (const [index, { key, place }] of drafts.entries()) {
    if (key === undefined) continue;
    if (idsByKey.has(key)) problems.push(`${place}: the key ${key} is used twice`);
    idsByKey.set(key, ids[index] ?? "");
  }

  return idsByKey;
}

const report = ({ problems }: Lookup, { place }: TaskDraft, problem: string): void =>
  void problems.push(`${place}: ${problem}`);

const isValidField = (draft: TaskDraft, key: keyof TaskDraft): boolean =>
  draft.faulty?.has(key) !== true;

/**
 * The id of the project that a draft names by id or name; empty, and reported, if there is none.
 */
function findProject(lookup: Lookup, draft: TaskDraft): string {
  const projects = Object.values(lookup.state.projects);
  const project = projects.find(
    ({ project_id, name }) => project_id === draft.project || name === draft.project,
  );
  if (project !== undefined) return project.project_id;

  if (isValidField(draft, "project") && !lookup.invalidNames.has(draft.project)) {
    const ids = projects.map(({ project_id }) => project_id);
    const suggestion = didYouMean(draft.project, ids);
    report(lookup, draft, `there is no project ${draft.project}.${suggestion}`);
  }

  return "";
}

/**
 * The fields of a new task, with our defaults for what its draft leaves out; what is wrong is
 * reported.
 */
function createTaskFields(lookup: Lookup, draft: TaskDraft): TaskFields {
  const { link, quoted } = draft;
  const objective = checkObjective(lookup, draft);
  const priority = checkPriority(lookup, draft);
  const dependencies = findDependencies(lookup, draft);
  const criteria = readCriteria(lookup, draft);

  return {
    objective,
    acceptance_criteria: criteria,
    dependencies,
    touches: [...(draft.touches ?? [])],
    priority,
    budget: draft.budget ?? {},
    agent: draft.agent ?? null,
    flow: draft.flow ?? null,
    isolation: draft.isolation ?? null,
    ...(link === undefined ? {} : { link }),
    ...(quoted === undefined ? {} : { quoted }),
  };
}

function checkObjective(lookup: Lookup, draft: TaskDraft): string {
  const objective = draft.objective.trim();
  const { length } = objective;

  if (length === 0 && isValidField(draft, "objective")) {
    report(lookup, draft, "its objective is empty");
  }

  if (length > objectiveCharsMax) {
    const limitText = `at most ${objectiveCharsMax} are taken`;
    report(lookup, draft, `its objective has ${length} characters, ${limitText}`);
  }

  return objective;
}

function checkPriority(lookup: Lookup, draft: TaskDraft): number {
  const priority = draft.priority ?? priorityDefault;

  if (!Number.isInteger(priority) || priority < 1 || priority > prioritiesMax) {
    report(lookup, draft, `its priority is ${priority}, expected 1 (highest) to ${prioritiesMax}`);
  }

  return priority;
}

/**
 * The ids of the tasks that a draft names in `after`: keys of its list, or tasks that are there.
 */
function findDependencies(lookup: Lookup, draft: TaskDraft): string[] {
  const { state, idsByKey, invalidNames } = lookup;
  const ids = new Set<string>();

  for (const name of draft.after ?? []) {
    const existing = state.tasks[name] === undefined ? undefined : name;
    const id = idsByKey.get(name) ?? existing;
    if (id !== undefined) {
      ids.add(id);
    } else if (!invalidNames.has(name)) {
      report(lookup, draft, `it depends on ${name}, which is no task.${suggestTask(lookup, name)}`);
    }
  }

  return [...ids];
}

function suggestTask({ state, idsByKey }: Lookup, name: string): string {
  const names = [...idsByKey.keys(), ...Object.keys(state.tasks)];
  return didYouMean(name, names.slice(0, suggestionsMax));
}

/** The criteria of a draft; if it has none, its objective is the one that a person judges. */
function readCriteria(lookup: Lookup, draft: TaskDraft): Criterion[] {
  if (draft.accept === undefined || draft.accept.length === 0) {
    return [{ text: draft.objective.trim(), command: null }];
  }

  const criteria: Criterion[] = [];
  for (const text of draft.accept) {
    const criterion = parseCriterion(text);
    if (typeof criterion === "string") report(lookup, draft, criterion);
    else criteria.push(criterion);
  }

  return criteria;
}

function describeCycle(cycle: readonly TaskDraft[]): string {
  const names = cycle.map(
    ({ key, objective, place }) => `${key ?? oneLine(objective, 40)} (${place})`,
  );

  return `${cycle[0]?.place ?? ""}: these depend on each other in a ring: ${names.join(" → ")}`;
}
