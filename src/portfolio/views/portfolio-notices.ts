// portfolio-notices: the notices that an event of a portfolio sends to an absent person. The
// portfolio's runs send none themselves: a verified run doesn't mean that its task is done.
//
// Invariants:
//   N1. A notice's id follows from the journal: the same fact has the same id, however often it is
//       read.

import { shellWord } from "../../kit/shell-word.ts";
import type { PortfolioEntry } from "../../contracts/portfolio/portfolio-journal.ts";
import type { NoticeKind } from "../../contracts/config.ts";
import type { Notice } from "../../views/outbound/notices.ts";
import { answerArgument, describeChoices, oneLine } from "../../views/wording.ts";
import {
  type TaskNeedingPerson,
  listTasksNeedingPerson,
  findTaskNeed,
} from "../planner/needs-person.ts";
import { listHeldLandings } from "../planner/held-landings.ts";
import { type PortfolioView, toQueueKey, type TaskView } from "../planner/state.ts";

const titleCharsMax = 120;

type NoticeText = {
  readonly id: string;
  readonly kind: NoticeKind;
  readonly task?: TaskView | undefined;
  readonly title: string;
  readonly line: string | readonly string[];
  /** The command to copy, as one would write it inside the portfolio's folder. */
  readonly command: string;
};

/** At most one notice. `root`: the portfolio's folder, which the command to copy names. */
export function buildPortfolioNotices(
  entry: PortfolioEntry,
  state: PortfolioView,
  root: string,
): readonly Notice[] {
  const text = describeEvent(entry, state);
  if (text === null) return [];

  const { id, kind, task, line } = text;
  const project = state.projects[task?.project_id ?? ""]?.name ?? state.name;
  const title = oneLine(`${project}: ${text.title}`, titleCharsMax);
  const goal = task === undefined ? [] : [`${oneLine(task.objective, 200)}  (${task.task_id})`];
  const details = [line].flat().map((part) => oneLine(part, 400));
  const next = text.command.replace(/^autopilot\b/, () => `autopilot -C ${shellWord(root)}`);

  const notice: Notice = {
    id: `portfolio:${id}`, // N1
    kind,
    run: task?.task_id ?? state.name,
    project: oneLine(project, 60),
    at: entry.ts,
    reason: entry.reason_code,
    title,
    text: [title, ...goal, ...details, next].join("\n"),
    next,
  };
  return [notice];
}

const statusCommand = "autopilot portfolio status";

function describeEvent(entry: PortfolioEntry, state: PortfolioView): NoticeText | null {
  switch (entry.event) {
    case "block_opened":
      return describeQuestion(entry, state);
    case "worker_result_ingested":
    case "task_status_changed":
    case "merge_rejected":
      return describeTaskNotice(entry, state);
    case "worker_rested":
      return describeRest(entry, state);
    case "landing_held":
      return describeHeldLanding(entry, state);
    case "merge_landed":
      return {
        id: `${entry.task_id}:done`,
        kind: "ended",
        task: state.tasks[entry.task_id],
        title: "a task is done",
        line: `It landed on ${entry.target} as ${entry.commit.slice(0, 12)}.`,
        command: statusCommand,
      };
    case "budget_exhausted":
      return {
        id: `budget:${entry.project_id ?? entry.scope}:${entry.seq}`,
        kind: "limit",
        title: "a budget is used up",
        line: entry.because,
        command: statusCommand,
      };
    default:
      return null;
  }
}

type PortfolioEntryOf<Name extends PortfolioEntry["event"]> = Extract<
  PortfolioEntry,
  { readonly event: Name }
>;

function describeQuestion(
  entry: PortfolioEntryOf<"block_opened">,
  state: PortfolioView,
): NoticeText {
  const { block_id, task_id, question, options, expected_action } = entry;
  const hasOptions = Object.keys(options).length > 0;
  const answers = hasOptions ? `Answers: ${describeChoices(options)}` : expected_action;

  return {
    id: block_id,
    kind: "needs_you",
    task: state.tasks[task_id ?? ""],
    title: "a question waits for you",
    line: [question, answers],
    command: `autopilot portfolio answer --block ${block_id} ${answerArgument(options)}`,
  };
}

/** A run that rests at its budget, if only a person can move it on. */
function describeRest(
  entry: PortfolioEntryOf<"worker_rested">,
  state: PortfolioView,
): NoticeText | null {
  if (entry.short === undefined) return null;

  const needs = listTasksNeedingPerson(state, entry.ts);
  const need = needs.find(({ task }) => task.task_id === entry.task_id);
  if (need === undefined) return null;

  return {
    id: `${toWaitingNoticeId(need.task)}:${entry.seq}`, // its run may rest again
    kind: "needs_you",
    task: need.task,
    title: "a budget is used up",
    line: need.why,
    command: chooseCommand(need),
  };
}

function describeHeldLanding(
  entry: PortfolioEntryOf<"landing_held">,
  state: PortfolioView,
): NoticeText | null {
  if (entry.because === null) return null;

  const queue = toQueueKey(entry);
  const landing = listHeldLandings(state).find(({ held }) => toQueueKey(held) === queue);
  return {
    id: `${toLandingNoticeId(entry)}:${entry.seq}`,
    kind: "needs_you",
    task: landing?.tasks[0],
    title: "a landing waits for you",
    line: entry.because,
    command: entry.command,
  };
}

type TaskChange = PortfolioEntryOf<
  "worker_result_ingested" | "task_status_changed" | "merge_rejected"
>;

/** A task that is done without a merge, or that only a person can move on. */
function describeTaskNotice(entry: TaskChange, state: PortfolioView): NoticeText | null {
  const task = state.tasks[entry.task_id];
  if (task === undefined) return null;

  if (task.status === "done" && entry.event === "worker_result_ingested") {
    return {
      id: `${entry.task_id}:done`,
      kind: "ended",
      task,
      title: "a task is done",
      line: entry.summary,
      command: statusCommand,
    };
  }

  const [need] = task.status === "ready" ? [] : findTaskNeed(state, task);
  if (need === undefined) return null;
  return {
    id: toWaitingNoticeId(task),
    kind: "needs_you",
    task,
    title: "a task waits for you",
    line: need.why,
    command: chooseCommand(need),
  };
}

const chooseCommand = ({ commands: [first = "autopilot inbox"] }: TaskNeedingPerson): string =>
  first;

const toLandingNoticeId = (branch: Parameters<typeof toQueueKey>[0]): string =>
  `landing:${toQueueKey(branch).replace("\n", ":")}`;
const toWaitingNoticeId = ({ task_id, attempt }: Pick<TaskView, "task_id" | "attempt">): string =>
  `${task_id}:${attempt}:waits`;

/**
 * Matches the notices that an event makes obsolete: its question was answered, its task goes on.
 * Null if there can be none.
 */
export function findAnsweredNotices(
  entry: PortfolioEntry,
  state: PortfolioView,
): ((notice: Notice) => boolean) | null {
  switch (entry.event) {
    case "block_resolved":
      return ({ id }) => id === `portfolio:${entry.block_id}`;
    case "landing_held": {
      const prefix = `portfolio:${toLandingNoticeId(entry)}:`;
      return ({ id }) => id.startsWith(prefix) && !id.endsWith(`:${entry.seq}`);
    }
    case "task_status_changed":
    case "task_dispatched":
      return findTaskNotices(entry, state);
    default:
      return null;
  }
}

/** The notices that a task waits, if it waits no longer. */
function findTaskNotices(
  { event, task_id }: PortfolioEntryOf<"task_status_changed" | "task_dispatched">,
  { tasks }: PortfolioView,
): ((notice: Notice) => boolean) | null {
  const task = tasks[task_id];
  if (task === undefined) return null;

  const isAnswer =
    event === "task_dispatched" || task.status === "ready" || task.status === "canceled";
  if (!isAnswer) return null;

  const prefix = `portfolio:${toWaitingNoticeId(task)}`;
  return ({ id }) => id.startsWith(prefix);
}
