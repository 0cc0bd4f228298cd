// portfolio-notices: the notices that an event of a portfolio sends to an absent person. The
// portfolio's runs send none themselves: a verified run doesn't mean that its task is done.
//
// Invariants:
//   N1. A notice's id follows from the journal: the same fact has the same id, however often it is
//       read.

import { shellWord } from "../../kit/shell-word.ts";
import type { PortfolioEntry } from "../../contracts/portfolio-journal.ts";
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
  const next = text.command.replace(/^autopilot\b/, () => `autopilot -C ${shellWord(root)}`);
  const lines = [title, ...goal, ...[line].flat().map((part) => oneLine(part, 400)), next];

  return [
    {
      id: `portfolio:${id}`, // N1
      kind,
      run: task?.task_id ?? state.name,
      project: oneLine(project, 60),
      at: entry.ts,
      reason: entry.reason_code,
      title,
      text: lines.join("\n"),
      next,
    },
  ];
}

function describeEvent(entry: PortfolioEntry, state: PortfolioView): NoticeText | null {
  const status = "autopilot portfolio status";
  switch (entry.event) {
    case "block_opened": {
      const { block_id: id, task_id, question, options, expected_action } = entry;
      const answers =
        Object.keys(options).length === 0
          ? expected_action
          : `Answers: ${describeChoices(options)}`;

      const command = `autopilot portfolio answer --block ${id} ${answerArgument(options)}`;
      const task = state.tasks[task_id ?? ""];
      return {
        id,
        kind: "needs_you",
        task,
        title: "a question waits for you",
        line: [question, answers],
        command,
      };
    }
    case "worker_result_ingested":
    case "task_status_changed":
    case "merge_rejected":
      return describeTaskNotice(entry, state);
    case "worker_rested": {
      const need = listTasksNeedingPerson(state, entry.ts).find(
        ({ task }) => task.task_id === entry.task_id,
      );
      if (entry.short === undefined || need === undefined) return null;
      const id = `${toWaitingNoticeId(need.task)}:${entry.seq}`; // its run may rest again

      return {
        id,
        kind: "needs_you",
        task: need.task,
        title: "a budget is used up",
        line: need.why,
        command: chooseCommand(need),
      };
    }
    case "landing_held": {
      if (entry.because === null) return null;
      const landing = listHeldLandings(state).find(
        ({ held }) => toQueueKey(held) === toQueueKey(entry),
      );

      const id = `${toLandingNoticeId(entry)}:${entry.seq}`;
      const task = landing?.tasks[0];
      return {
        id,
        kind: "needs_you",
        task,
        title: "a landing waits for you",
        line: entry.because,
        command: entry.command,
      };
    }
    case "merge_landed": {
      const line = `It landed on ${entry.target} as ${entry.commit.slice(0, 12)}.`;
      return {
        id: `${entry.task_id}:done`,
        kind: "ended",
        task: state.tasks[entry.task_id],
        title: "a task is done",
        line,
        command: status,
      };
    }
    case "budget_exhausted": {
      const id = `budget:${entry.project_id ?? entry.scope}:${entry.seq}`;
      return {
        id,
        kind: "limit",
        title: "a budget is used up",
        line: entry.because,
        command: status,
      };
    }
    default:
      return null;
  }
}

type TaskChange = Extract<
  PortfolioEntry,
  { readonly event: "worker_result_ingested" | "task_status_changed" | "merge_rejected" }
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
      command: "autopilot portfolio status",
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
  if (entry.event === "landing_held") {
    return ({ id }) =>
      id.startsWith(`portfolio:${toLandingNoticeId(entry)}:`) && !id.endsWith(`:${entry.seq}`);
  }

  if (entry.event === "block_resolved") return ({ id }) => id === `portfolio:${entry.block_id}`;
  if (entry.event !== "task_status_changed" && entry.event !== "task_dispatched") return null;
  const task = state.tasks[entry.task_id];
  const isAnswer =
    entry.event === "task_dispatched" || task?.status === "ready" || task?.status === "canceled";
  if (task === undefined || !isAnswer) return null;

  return ({ id }) => id.startsWith(`portfolio:${toWaitingNoticeId(task)}`);
}
