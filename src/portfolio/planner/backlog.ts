// backlog: turns tasks as people write them, in a list or in Markdown, into `task_created` changes.
// All mistakes are reported together; if there are any, the caller creates nothing.

import {
  type Criterion,
  type PortfolioBudget,
  type PortfolioChange,
  priorityDefault,
  prioritiesMax,
  type TaskFields,
} from "../../contracts/portfolio-journal.ts";
import { findCycles } from "../../documents/graph.ts";
import { parseMarkdownLines } from "../../documents/markdown-lines.ts";
import { readQuantity } from "../../kit/quantity.ts";
import { didYouMean } from "../../kit/suggest.ts";
import { oneLine } from "../../views/wording.ts";
import type { PortfolioView } from "./state.ts";

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

type MutableDraft = { -readonly [Key in keyof TaskDraft]: TaskDraft[Key] };

export type DraftedTasks = {
  readonly changes: readonly PortfolioChange[];
  readonly ids: readonly string[];
  readonly problems: readonly string[];
};

const objectiveCharsMax = 20_000;
export const problemsMax = 50;
const problemCharsMax = 400;
/** How many names are compared to suggest one: a portfolio may have many thousands of tasks. */
const suggestionsMax = 1000;

/** The first mistakes, each shortened to a line, and how many more there are. */
export const limitProblems = (problems: readonly string[]): readonly string[] => [
  ...problems.slice(0, problemsMax).map((problem) => oneLine(problem, problemCharsMax)),
  ...(problems.length > problemsMax ? [`… and ${problems.length - problemsMax} more`] : []),
];

export type DraftingInput = {
  readonly actor: string;
  readonly newId: (objective: string) => string;
  /**
   * Projects and tasks of the same list that are invalid themselves: naming one is not another
   * mistake.
   */
  readonly invalidNames?: ReadonlySet<string>;
};

/**
 * Drafts every task; names in `after` and `project` are looked up in the same list and in the
 * portfolio.
 */
export function draftTasks(
  state: PortfolioView,
  drafts: readonly TaskDraft[],
  input: DraftingInput,
): DraftedTasks {
  const problems: string[] = [];
  const idsByKey = new Map<string, string>();

  const ids = drafts.map(({ key, objective, place }) => {
    const id = input.newId(objective);
    if (key === undefined) return id;
    if (idsByKey.has(key)) problems.push(`${place}: the key ${key} is used twice`);
    idsByKey.set(key, id);

    return id;
  });

  const { actor, invalidNames = new Set() } = input;
  const changes = drafts.map((draft, index): PortfolioChange => {
    const report = (problem: string): void => void problems.push(`${draft.place}: ${problem}`);
    const lookup = { idsByKey, invalidNames, report };
    const project_id = findProject(state, draft, lookup);
    const fields = createTaskFields(state, draft, lookup);
    const status = draft.propose === true ? "proposed" : "ready";

    return {
      event: "task_created",
      actor,
      reason_code: "ok",
      task_id: ids[index] ?? "",
      project_id,
      status,
      fields,
    };
  });
  for (const cycleIds of findNewCycles(changes)) {
    const cycle = cycleIds.map((id) => drafts[ids.indexOf(id)]);
    const taskNames = cycle.map(
      (draft) => `${draft?.key ?? oneLine(draft?.objective ?? "", 40)} (${draft?.place ?? ""})`,
    );

    problems.push(
      `${cycle[0]?.place ?? ""}: these depend on each other in a ring: ${taskNames.join(" → ")}`,
    );
  }

  return { changes, ids, problems };
}

type Report = (problem: string) => void;
type NameLookup = {
  readonly idsByKey: ReadonlyMap<string, string>;
  readonly invalidNames: ReadonlySet<string>;
  readonly report: Report;
};

const isValidField = (draft: TaskDraft, key: keyof TaskDraft): boolean =>
  draft.faulty?.has(key) !== true;

/**
 * The id of the project that a draft names by id or name; empty, and reported, if there is none.
 */
function findProject(
  state: PortfolioView,
  draft: TaskDraft,
  { invalidNames, report }: NameLookup,
): string {
  const projects = Object.values(state.projects);
  const project = projects.find(
    ({ project_id, name }) => project_id === draft.project || name === draft.project,
  );
  if (project !== undefined) return project.project_id;
  const ids = projects.map(({ project_id }) => project_id);

  if (isValidField(draft, "project") && !invalidNames.has(draft.project)) {
    report(`there is no project ${draft.project}.${didYouMean(draft.project, ids)}`);
  }

  return "";
}

/**
 * The ids of the tasks that a draft names in `after`: keys of its list, or tasks that are there.
 */
function findDependencies(
  { tasks }: PortfolioView,
  draft: TaskDraft,
  { idsByKey, invalidNames, report }: NameLookup,
): readonly string[] {
  return (draft.after ?? []).flatMap((name) => {
    const id = idsByKey.get(name) ?? (tasks[name] === undefined ? undefined : name);
    if (id === undefined && !invalidNames.has(name)) {
      report(
        `it depends on ${name}, which is no task.${didYouMean(name, [...idsByKey.keys(), ...Object.keys(tasks)].slice(0, suggestionsMax))}`,
      );
    }

    return id === undefined ? [] : [id];
  });
}

/**
 * The fields of a new task, with our defaults for what its draft leaves out; what is wrong is
 * reported.
 */
function createTaskFields(state: PortfolioView, draft: TaskDraft, lookup: NameLookup): TaskFields {
  const { report } = lookup;
  const objective = draft.objective.trim();
  if (objective === "" && isValidField(draft, "objective")) report("its objective is empty");
  if (objective.length > objectiveCharsMax) {
    report(
      `its objective has ${objective.length} characters, at most ${objectiveCharsMax} are taken`,
    );
  }

  const priority = draft.priority ?? priorityDefault;
  if (!Number.isInteger(priority) || priority < 1 || priority > prioritiesMax) {
    report(`its priority is ${priority}, expected 1 (highest) to ${prioritiesMax}`);
  }

  const dependencies = findDependencies(state, draft, lookup);
  const criteria = (draft.accept ?? []).map((text) => parseCriterion(text));
  for (const criterion of criteria) if (typeof criterion === "string") report(criterion);
  const validCriteria = criteria.filter((criterion) => typeof criterion !== "string");

  return {
    objective,
    acceptance_criteria:
      criteria.length === 0 ? [{ text: objective, command: null }] : validCriteria,
    dependencies: [...new Set(dependencies)],
    touches: [...(draft.touches ?? [])],
    priority,
    budget: draft.budget ?? {},
    agent: draft.agent ?? null,
    flow: draft.flow ?? null,
    isolation: draft.isolation ?? null,
    ...(draft.link === undefined ? {} : { link: draft.link }),
    ...(draft.quoted === undefined ? {} : { quoted: draft.quoted }),
  };
}

/**
 * `text :: command`, or a sentence that only a person can judge. A string says what is wrong with
 * it.
 */
export function parseCriterion(text: string): Criterion | string {
  const separator = " :: ";
  const index = text.indexOf(separator);
  if (index < 0) {
    if (/\S::\S/.test(text)) return `the criterion "${text}" needs spaces around ::`;
    return text.trim() === "" ? "a criterion is empty" : { text: text.trim(), command: null };
  }

  const [message, command] = [
    text.slice(0, index).trim(),
    text.slice(index + separator.length).trim(),
  ];
  return message === "" || command === ""
    ? `the criterion "${text}" needs words before :: and a command after it`
    : { text: message, command };
}

/**
 * Cycles of dependencies among new tasks, by their ids, in the order of the list: one for each
 * group of tasks that depend on each other.
 */
function findNewCycles(changes: readonly PortfolioChange[]): readonly (readonly string[])[] {
  const nodes = changes.flatMap((change) =>
    change.event === "task_created"
      ? [{ id: change.task_id, after: change.fields.dependencies }]
      : [],
  );
  const order = new Map(nodes.map(({ id }, index) => [id, index]));
  const compare = (a: string, b: string): number => (order.get(a) ?? 0) - (order.get(b) ?? 0);

  return findCycles(nodes, compare).toSorted(([a = ""], [b = ""]) => compare(a, b));
}

/** Why an existing task may not depend on these: it would depend on itself. Null if it may. */
export function whyCyclic(
  state: PortfolioView,
  task_id: string,
  dependencies: readonly string[],
): string | null {
  const visited = new Set<string>();
  const toVisit = [...dependencies];
  for (let id = toVisit.pop(); id !== undefined; id = toVisit.pop()) {
    if (id === task_id) return `${task_id} would depend on itself`;
    if (visited.has(id)) continue;
    visited.add(id);
    toVisit.push(...(state.tasks[id]?.dependencies ?? []));
  }

  return null;
}

/**
 * `tokens=250k,usd=3`. A string says what is wrong. A value that isn't text gives no budget: the
 * schema reports it.
 */
export function parseBudget(text: unknown): PortfolioBudget | string {
  const budget: PortfolioBudget = {};
  for (const part of (typeof text === "string" ? text : "")
    .split(",")
    .filter((item) => item.trim() !== "")) {
    const [name = "", amount = "", ...more] = part.split("=").map((word) => word.trim());
    const value = readQuantity(amount);
    if ((name !== "tokens" && name !== "usd") || value === null || more.length > 0) {
      return `The budget "${part.trim()}" is not understood; expected tokens=250k,usd=3.`;
    }

    if (budget[name] !== undefined) {
      return `The budget has ${name} twice; expected tokens=250k,usd=3.`;
    }

    budget[name] = value;
  }

  return budget;
}

/** The keys of the items below a task. */
export const backlogKeys = [
  "key",
  "accept",
  "after",
  "touches",
  "priority",
  "agent",
  "flow",
  "isolation",
  "budget",
] as const;

/**
 * A Markdown backlog: headings name projects, open check boxes are tasks, items below one say more:
 * `accept: …`. Anything else is a note.
 */
export function readBacklog(
  file: string,
  text: string,
): { readonly tasks: readonly TaskDraft[]; readonly problems: readonly string[] } {
  const tasks: MutableDraft[] = [];
  const problems: string[] = [];
  let project = "";
  let taskAbove: "none" | "open" | "done" = "none";
  const { lines, findings } = parseMarkdownLines(file, text);
  for (const { line, message } of findings) problems.push(`${file}:${line}: ${message}`);
  for (const { number, text: row, is } of lines) {
    if (is !== "text") continue; // a task in a code block or a comment is an example
    const place = `${file}:${number}`;
    const report = (problem: string): void => void problems.push(`${place}: ${problem}`);
    const heading = /^#{1,6}\s+(.+?)\s*#*\s*$/.exec(row)?.[1]; // "## Shop"
    const box = /^(?:[-*+]|\d+[.)])\s+\[([ xX])\]\s+(\S.*)$/.exec(row); // "- [ ] add a basket"
    const detail = /^\s+[-*+]\s+([A-Za-z_-]+):(?:\s+(.*))?$/.exec(row); // "  - priority: 2"

    if (heading !== undefined) {
      [project, taskAbove] = [heading, "none"];
    } else if (box !== null) {
      taskAbove = box[1] === " " ? "open" : "done";
      if (taskAbove === "done") continue;
      if (project === "") report("no heading names a project before this task");
      tasks.push({ place, project, objective: (box[2] ?? "").trim() });
    } else if (looksLikeBox(row)) {
      report(
        'not a check box as a task has it, expected "- [ ] what is to be done" at the margin, or [x]',
      );
    } else if (detail !== null && taskAbove !== "done") {
      readDetail(
        taskAbove === "open" ? tasks.at(-1) : undefined,
        { key: detail[1] ?? "", value: detail[2] ?? "" },
        report,
      );
    }
  }

  return { tasks, problems };
}

const isKey = (word: string): word is (typeof backlogKeys)[number] =>
  backlogKeys.some((key) => key === word);

/**
 * A mistyped box: `- []`, `-[ ] x`, `- [y] x`, or an indented one. A link in brackets isn't one,
 * and a ticked box is no task anyway.
 */
const looksLikeBox = (row: string): boolean =>
  /^\s*(?:[-*+]|\d+[.)])\s*\[(?:\s*|[^\]xX]|[xX]?\s+|\s+[xX]?)\](?![([])/.test(row);

/** An item below a task: `accept: the tests pass :: npm test`. */
function readDetail(
  task: MutableDraft | undefined,
  item: { readonly key: string; readonly value: string },
  report: Report,
): void {
  const [key, value] = [item.key.toLowerCase(), item.value.trim()];
  if (task === undefined) {
    report(`${key}: belongs to no task`);
  } else if (!isKey(key)) {
    report(`${key} is unknown, expected ${backlogKeys.join(", ")}.${didYouMean(key, backlogKeys)}`);
  } else if (value === "") {
    report(`${key}: says nothing`);
  } else {
    setTaskDetail(task, { key, value }, report);
  }
}

/** Sets the field that an item below a task names; a list adds to what earlier items said. */
function setTaskDetail(
  task: MutableDraft,
  { key, value }: { readonly key: (typeof backlogKeys)[number]; readonly value: string },
  report: Report,
): void {
  const items = value
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");

  if (key === "accept") {
    task.accept = [...(task.accept ?? []), value];
  } else if (key === "after" || key === "touches") {
    task[key] = [...(task[key] ?? []), ...items];
  } else if (key === "priority") {
    if (/^\d$/.test(value)) task.priority = Number(value);
    else report(`its priority is ${value}, expected 1 (highest) to ${prioritiesMax}`);
  } else if (key === "budget") {
    const budget = parseBudget(value);
    if (typeof budget === "string") report(budget);
    else task.budget = budget;
  } else {
    task[key] = value;
  }
}
