// backlog: tasks as people write them, made into tasks of a portfolio. Everything that is wrong is reported at once; then nothing is made.

import {
  type Criterion,
  type PortfolioBudget,
  type PortfolioChange,
  priorityDefault,
  prioritiesMax,
  type TaskFields,
} from "../../contracts/portfolio-journal.ts";
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
    const project = projects.find(({ project_id, name }) => project_id === draft.project || name === draft.project);
    if (project === undefined && !unread.has(draft.project))
      wrong(
        `there is no project ${draft.project}.${didYouMean(
          draft.project,
          projects.map(({ project_id }) => project_id),
        )}`,
      );
    const objective = draft.objective.trim();
    if (objective === "") wrong("its objective is empty");
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
  const ring = ringAmong(changes)?.map((id) => drafts[ids.indexOf(id)]);
  if (ring !== undefined) {
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

/** A ring of dependencies among new tasks, by their ids; null if there is none. */
function ringAmong(changes: readonly PortfolioChange[]): readonly string[] | null {
  const after = new Map(
    changes.flatMap((change) => (change.event === "task_created" ? [[change.task_id, change.fields.dependencies] as const] : [])),
  );
  const done = new Set<string>();
  for (const start of after.keys()) {
    const path: string[] = [];
    const stack: { id: string; next: number }[] = [{ id: start, next: 0 }];
    while (stack.length > 0) {
      const top = stack.at(-1);
      if (top === undefined) break;
      if (top.next === 0) path.push(top.id);
      const next = done.has(top.id) ? undefined : after.get(top.id)?.[top.next];
      top.next += 1;
      if (next === undefined) {
        done.add(top.id);
        path.pop();
        stack.pop();
      } else if (path.includes(next)) return [...path.slice(path.indexOf(next)), next];
      else if (!done.has(next)) stack.push({ id: next, next: 0 });
    }
  }
  return null;
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
  for (const [at, row] of text.split(/\r?\n/).entries()) {
    const place = `${file}:${at + 1}`;
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
