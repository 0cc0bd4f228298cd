// backlog: tasks as people write them, made into tasks of a portfolio. Everything that is wrong is reported at once; then nothing is made.

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
  /** Its position, for messages: `line 12`, `tasks[3]`. */
  readonly place: string;
  /** How others of the same list call it. */
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
  /** Keys whose value could not be read, which was said of it: what is left of it is looked at all the same. */
  readonly faulty?: ReadonlySet<string> | undefined;
  /** The issue it comes from, and what that says. */
  readonly link?: string | undefined;
  readonly quoted?: string | undefined;
};

export type Drafted = {
  readonly changes: readonly PortfolioChange[];
  readonly ids: readonly string[];
  readonly problems: readonly string[];
};

const objectiveCharactersMax = 20_000;
export const problemsMax = 50;
const problemCharsMax = 400;

/** What a person is shown of many mistakes, each of them short. */
export const problemsShown = (problems: readonly string[]): readonly string[] => [
  ...problems.slice(0, problemsMax).map((one) => oneLine(one, problemCharsMax)),
  ...(problems.length > problemsMax ? [`… and ${problems.length - problemsMax} more`] : []),
];

export function draftTasks(
  state: PortfolioView,
  drafts: readonly TaskDraft[],
  actor: string,
  newId: (objective: string) => string,
  /** Projects and tasks of the same list that are wrong themselves. */
  unread: ReadonlySet<string> = new Set(),
): Drafted {
  const problems: string[] = [];
  const keys = new Map<string, string>();
  const ids = drafts.map(({ key, objective, place }) => {
    const id = newId(objective);
    if (key === undefined) return id;
    if (keys.has(key)) problems.push(`${place}: the key ${key} is used twice`);
    keys.set(key, id);
    return id;
  });
  const projects = Object.values(state.projects);
  const changes = drafts.flatMap((draft, at): PortfolioChange[] => {
    const wrong = (what: string): void => void problems.push(`${draft.place}: ${what}`);
    const isRead = (key: keyof TaskDraft): boolean => draft.faulty?.has(key) !== true;
    const project = projects.find(({ project_id, name }) => project_id === draft.project || name === draft.project);
    if (project === undefined && isRead("project") && !unread.has(draft.project))
      wrong(
        `there is no project ${draft.project}.${didYouMean(
          draft.project,
          projects.map(({ project_id }) => project_id),
        )}`,
      );
    const objective = draft.objective.trim();
    if (objective === "" && isRead("objective")) wrong("its objective is empty");
    if (objective.length > objectiveCharactersMax)
      wrong(`its objective has ${objective.length} characters, at most ${objectiveCharactersMax} are taken`);
    const priority = draft.priority ?? priorityDefault;
    if (!Number.isInteger(priority) || priority < 1 || priority > prioritiesMax)
      wrong(`its priority is ${priority}, expected 1 (highest) to ${prioritiesMax}`);
    const dependencies = (draft.after ?? []).flatMap((name) => {
      const id = keys.get(name) ?? (state.tasks[name] === undefined ? undefined : name);
      if (id === undefined && !unread.has(name))
        wrong(`it depends on ${name}, which is no task.${didYouMean(name, [...keys.keys(), ...Object.keys(state.tasks)].slice(0, 1000))}`);
      return id === undefined ? [] : [id];
    });
    const criteria = (draft.accept ?? []).map((text) => criterionOf(text));
    for (const one of criteria) if (typeof one === "string") wrong(one);
    const fields: TaskFields = {
      objective,
      acceptance_criteria: criteria.length === 0 ? [{ text: objective, command: null }] : criteria.filter((one) => typeof one !== "string"),
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
    const status = draft.propose === true ? "proposed" : "ready";
    return [
      { event: "task_created", actor, reason_code: "ok", task_id: ids[at] ?? "", project_id: project?.project_id ?? "", status, fields },
    ];
  });
  for (const ringIds of ringsAmong(changes)) {
    const ring = ringIds.map((id) => drafts[ids.indexOf(id)]);
    const taskNames = ring.map((draft) => `${draft?.key ?? oneLine(draft?.objective ?? "", 40)} (${draft?.place ?? ""})`);
    problems.push(`${ring[0]?.place ?? ""}: these depend on each other in a ring: ${taskNames.join(" → ")}`);
  }
  return { changes, ids, problems };
}

/** `text :: command`, or a sentence that only a person can judge. A string is what is wrong. */
export function criterionOf(text: string): Criterion | string {
  const at = text.indexOf(" :: ");
  if (at < 0) {
    if (/\S::\S/.test(text)) return `the criterion "${text}" needs spaces around ::`;
    return text.trim() === "" ? "a criterion is empty" : { text: text.trim(), command: null };
  }
  const [message, command] = [text.slice(0, at).trim(), text.slice(at + 4).trim()];
  return message === "" || command === ""
    ? `the criterion "${text}" needs words before :: and a command after it`
    : { text: message, command };
}

/** Rings of dependencies among new tasks, by their ids, in the order of the list: one of each group that depends on itself. */
function ringsAmong(changes: readonly PortfolioChange[]): readonly (readonly string[])[] {
  const nodes = changes.flatMap((change) =>
    change.event === "task_created" ? [{ id: change.task_id, after: change.fields.dependencies }] : [],
  );
  const order = new Map(nodes.map(({ id }, at) => [id, at]));
  const compare = (one: string, other: string): number => (order.get(one) ?? 0) - (order.get(other) ?? 0);
  return findCycles(nodes, compare).toSorted(([one = ""], [other = ""]) => compare(one, other));
}

/** Whether a task that is there may depend on these without a ring. */
export function whyRing(state: PortfolioView, task_id: string, dependencies: readonly string[]): string | null {
  const visited = new Set<string>();
  const open = [...dependencies];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === task_id) return `${task_id} would depend on itself`;
    if (visited.has(id)) continue;
    visited.add(id);
    open.push(...(state.tasks[id]?.dependencies ?? []));
  }
  return null;
}

/** `tokens=250k,usd=3`. A string is what is wrong. A value that isn't text is reported elsewhere. */
export function budgetIn(text: unknown): PortfolioBudget | string {
  const budget: PortfolioBudget = {};
  for (const part of (typeof text === "string" ? text : "").split(",").filter((one) => one.trim() !== "")) {
    const [name = "", amount = ""] = part.split("=").map((one) => one.trim());
    const value = readQuantity(amount);
    if ((name !== "tokens" && name !== "usd") || value === null)
      return `The budget "${part.trim()}" is not understood; expected tokens=250k,usd=3.`;
    budget[name] = value;
  }
  return budget;
}

/** What an item below a task may say of it. */
export const backlogKeys = ["key", "accept", "after", "touches", "priority", "agent", "flow", "isolation", "budget"] as const;

/** A Markdown backlog: headings name projects, open check boxes are tasks, items below one say more: `accept: …`. */
export function readBacklog(file: string, text: string): { readonly tasks: readonly TaskDraft[]; readonly problems: readonly string[] } {
  const tasks: { -readonly [Key in keyof TaskDraft]: TaskDraft[Key] }[] = [];
  const problems: string[] = [];
  let project = "";
  let above: "nothing" | "open" | "done" = "nothing";
  const { lines, findings } = parseMarkdownLines(file, text);
  for (const { line, message } of findings) problems.push(`${file}:${line}: ${message}`);
  for (const { number, text: row, is } of lines) {
    if (is !== "text") continue; // code and comments show tasks, and are none
    const place = `${file}:${number}`;
    const wrong = (what: string): void => void problems.push(`${place}: ${what}`);
    const heading = /^#{1,6}\s+(.+?)\s*#*\s*$/.exec(row)?.[1];
    const box = /^(?:[-*+]|\d+[.)])\s+\[([ xX])\]\s+(\S.*)$/.exec(row);
    const more = /^\s+[-*+]\s+([A-Za-z_-]+):(?:\s+(.*))?$/.exec(row);
    const last = tasks.at(-1);
    if (heading !== undefined) [project, above] = [heading, "nothing"];
    else if (box !== null) {
      above = box[1] === " " ? "open" : "done";
      if (above === "done") continue;
      if (project === "") wrong("no heading names a project before this task");
      tasks.push({ place, project, objective: (box[2] ?? "").trim() });
    } else if (looksLikeBox(row)) wrong('not a check box as a task has it, expected "- [ ] what is to be done" at the margin, or [x]');
    else if (more !== null && above !== "done") {
      const [word, value] = [(more[1] ?? "").toLowerCase(), (more[2] ?? "").trim()];
      if (above === "nothing" || last === undefined) wrong(`${word}: belongs to no task`);
      else if (!isKey(word)) wrong(`${word} is unknown, expected ${backlogKeys.join(", ")}.${didYouMean(word, backlogKeys)}`);
      else if (value === "") wrong(`${word}: says nothing`);
      else saysMore(last, word, value, wrong);
    }
  }
  return { tasks, problems };
}

const isKey = (word: string): word is (typeof backlogKeys)[number] => backlogKeys.some((key) => key === word);

/** `- []`, `-[ ] x`, `- [y] x`, an indented box. A link in brackets isn't one; a ticked box is not a task anywhere. */
const looksLikeBox = (row: string): boolean => /^\s*(?:[-*+]|\d+[.)])\s*\[(?:\s*|[^\]xX]|[xX]?\s+|\s+[xX]?)\](?![([])/.test(row);

function saysMore(
  task: { -readonly [Key in keyof TaskDraft]: TaskDraft[Key] },
  word: (typeof backlogKeys)[number],
  value: string,
  wrong: (what: string) => void,
): void {
  const list = value
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
  if (word === "accept") task.accept = [...(task.accept ?? []), value];
  else if (word === "after" || word === "touches") task[word] = [...(task[word] ?? []), ...list];
  else if (word === "priority") {
    if (/^\d$/.test(value)) task.priority = Number(value);
    else wrong(`its priority is ${value}, expected 1 (highest) to ${prioritiesMax}`);
  } else if (word === "budget") {
    const budget = budgetIn(value);
    if (typeof budget === "string") wrong(budget);
    else task.budget = budget;
  } else task[word] = value;
}
