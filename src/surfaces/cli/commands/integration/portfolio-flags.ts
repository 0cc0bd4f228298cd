// portfolio-flags: the flags of `portfolio` commands that describe a project, a task or a budget,
// and how their values are read.

import { isolationLevels } from "../../../../contracts/isolation-levels.ts";
import { omitUndefined } from "../../../../kit/omit-undefined.ts";
import type { FlagSpec, ParsedInput } from "../../spec.ts";

export const priorityFlag: FlagSpec = {
  name: "priority",
  kind: "number",
  min: 1,
  placeholder: "N",
  about: "1 (highest) to 5.",
  defaultText: "3",
};
export const budgetFlag: FlagSpec = {
  name: "budget",
  kind: "text",
  placeholder: "BUDGET",
  about: "What it may use: tokens=250k,usd=3.",
};
export const dayBudgetFlag: FlagSpec = {
  ...budgetFlag,
  name: "day-budget",
  about: "What one day may use: tokens=1M,usd=20.",
};
export const slotsFlag: FlagSpec = {
  name: "slots",
  kind: "number",
  min: 1,
  placeholder: "N",
  about: "How many tasks of the project run at once.",
  defaultText: "1",
};
export const repoFlag: FlagSpec = {
  name: "repo",
  kind: "text",
  placeholder: "DIR",
  about: "The project's repository.",
  defaultText: "this folder",
};
export const objectiveFlag: FlagSpec = {
  name: "objective",
  kind: "text",
  placeholder: "TEXT",
  about: "What is to be reached.",
};
export const unprovedFlag: FlagSpec = {
  name: "accept-unproved",
  kind: "flag",
  about: "Don't ask about criteria that no command proves.",
};
const agentFlag: FlagSpec = {
  name: "agent",
  kind: "text",
  placeholder: "NAME",
  about:
    "Who works on it, or on the tasks of a project that name nobody; several in order: codex,claude.",
};
export const taskFlags: readonly FlagSpec[] = [
  {
    name: "accept",
    kind: "text",
    isRepeatable: true,
    placeholder: "CRITERION",
    about: "When it is done: `text :: command`; without a command you are asked.",
  },
  {
    name: "after",
    kind: "text",
    isRepeatable: true,
    placeholder: "TASK",
    about: "A task that must be done first; `none` drops them all when you edit.",
  },
  {
    name: "touches",
    kind: "text",
    isRepeatable: true,
    placeholder: "GLOB",
    about: "What it may change; nothing else is kept, and tasks that overlap wait for each other.",
    defaultText: "anything",
  },
  agentFlag,
  {
    name: "flow",
    kind: "text",
    placeholder: "NAME",
    about: "Which flow it runs.",
    defaultText: "objective",
    names: "flows",
  },
  {
    name: "isolation",
    kind: "enum",
    values: isolationLevels,
    about: "What holds the agent.",
    defaultText: "auto",
  },
];
/** Flags that only a project or only a task has. */
const flagsByKind = {
  project: ["repo", "target", "hub", "slots", "accept-unproved"],
  task: ["accept", "after", "touches", "flow", "isolation", "propose"],
} as const;
/**
 * Says which flags don't apply to what is added or edited, so that none is silently ignored; null
 * if all do.
 */
export const describeMisplacedFlags = (
  input: ParsedInput,
  kind: "project" | "task",
): string | null => {
  const otherKind = kind === "project" ? "task" : "project";
  const misplaced = flagsByKind[otherKind]
    .filter((name) => input.flag(name))
    .map((name) => `--${name}`);
  if (misplaced.length === 0) return null;

  return `${misplaced.join(", ")} ${misplaced.length === 1 ? "is" : "are"} for a ${otherKind}, and this is a ${kind}.`;
};

export const readTaskFlags = (input: ParsedInput) =>
  omitUndefined({
    accept: input.texts("accept"),
    after: input.texts("after"),
    touches: input.texts("touches"),
    agent: input.text("agent"),
    flow: input.text("flow"),
    isolation: input.text("isolation"),
    priority: input.number("priority"),
    budget: input.text("budget"),
  });
export const readProjectFlags = (input: ParsedInput) =>
  omitUndefined({
    repo: input.text("repo"),
    objective: input.text("objective"),
    priority: input.number("priority"),
    budget: input.text("budget"),
    agent: input.text("agent"),
    target: input.text("target"),
    hub: input.text("hub"),
    slots: input.number("slots"),
    acceptUnproved: input.flag("accept-unproved") || undefined,
  });
