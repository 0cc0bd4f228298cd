// portfolio-notices: what an absent person should be notified of, from one event and the state after it. Its runs send no notices: a
// verified run says nothing of its task, and their folders are copies.
//
// Invariants:
//   N1. A notice's id follows from the journal: the same fact has the same id, however often it is read.

import { shellWord } from "../../kit/shell-word.ts";
import type { PortfolioEntry } from "../../contracts/portfolio-journal.ts";
import type { NoticeKind } from "../../contracts/config.ts";
import type { Notice } from "../../views/outbound/notices.ts";
import { answerFlags, choices, oneLine } from "../../views/wording.ts";
import { whatTaskNeeds, tasksNeedingPerson } from "../planner/needs-person.ts";
import { heldLandings } from "../planner/held-landings.ts";
import { type PortfolioView, queueOf, type TaskView } from "../planner/state.ts";

const titleCharsMax = 120;

export function portfolioNotices(entry: PortfolioEntry, state: PortfolioView, root: string): readonly Notice[] {
  const here = `autopilot -C ${shellWord(root)}`;
  const notice = (
    id: string,
    kind: NoticeKind,
    task: TaskView | undefined,
    said: string,
    lines: readonly string[],
    next: string,
  ): Notice => {
    const project = state.projects[task?.project_id ?? ""]?.name ?? state.name;
    const title = oneLine(`${project}: ${said}`, titleCharsMax);
    const goal = task === undefined ? [] : [`${oneLine(task.objective, 200)}  (${task.task_id})`];
    const text = [title, ...goal, ...lines.map((line) => oneLine(line, 400)), next].join("\n");
    const run = task?.task_id ?? state.name;
    return { id: `portfolio:${id}`, kind, run, project: oneLine(project, 60), at: entry.ts, reason: entry.reason_code, title, text, next };
  };
  switch (entry.event) {
    case "block_opened": {
      const { block_id, task_id, question, options, expected_action } = entry;
      const answers = Object.keys(options).length === 0 ? expected_action : `Answers: ${choices(options)}`;
      const next = `${here} portfolio answer --block ${block_id} ${answerFlags(options)}`;
      return [notice(block_id, "needs_you", state.tasks[task_id ?? ""], "a question waits for you", [question, answers], next)];
    }
    case "worker_result_ingested":
    case "task_status_changed":
    case "merge_rejected": {
      const task = state.tasks[entry.task_id];
      if (task === undefined) return [];
      if (task.status === "done" && entry.event === "worker_result_ingested")
        return [notice(`${entry.task_id}:done`, "ended", task, "a task is done", [entry.summary], `${here} portfolio status`)];
      const [waits] = task.status === "ready" ? [] : whatTaskNeeds(state, task);
      if (waits === undefined) return [];
      const [first = "autopilot inbox"] = waits.commands;
      return [notice(stuckId(task), "needs_you", task, "a task waits for you", [waits.why], first.replace("autopilot", here))];
    }
    case "worker_rested": {
      const waits = tasksNeedingPerson(state, entry.ts).find(({ task }) => task.task_id === entry.task_id);
      if (entry.short === undefined || waits === undefined) return [];
      const [first = "autopilot inbox"] = waits.commands;
      const id = `${stuckId(waits.task)}:${entry.seq}`; // its run may rest again
      return [notice(id, "needs_you", waits.task, "a budget is used up", [waits.why], first.replace("autopilot", here))];
    }
    case "landing_held": {
      if (entry.because === null) return [];
      const next = entry.command.replace(/^autopilot\b/, here);
      const [waits] = heldLandings(state).filter(({ held }) => queueOf(held) === queueOf(entry));
      return [notice(`${heldId(entry)}:${entry.seq}`, "needs_you", waits?.tasks[0], "a landing waits for you", [entry.because], next)];
    }
    case "merge_landed": {
      const task = state.tasks[entry.task_id];
      const landed = `It landed on ${entry.target} as ${entry.commit.slice(0, 12)}.`;
      return [notice(`${entry.task_id}:done`, "ended", task, "a task is done", [landed], `${here} portfolio status`)];
    }
    case "budget_exhausted": {
      const what = entry.project_id ?? entry.scope;
      return [
        notice(`budget:${what}:${entry.seq}`, "limit", undefined, "a budget is used up", [entry.because], `${here} portfolio status`),
      ];
    }
    default:
      return [];
  }
}

const heldId = (place: Parameters<typeof queueOf>[0]): string => `landing:${queueOf(place).replace("\n", ":")}`;
const stuckId = ({ task_id, attempt }: Pick<TaskView, "task_id" | "attempt">): string => `${task_id}:${attempt}:waits`;

/** Whether an event is the answer to a notice: a question that is answered, a task that goes on. Null if it answers none. */
export function answeredIn(entry: PortfolioEntry, state: PortfolioView): ((notice: Notice) => boolean) | null {
  if (entry.event === "landing_held") return ({ id }) => id.startsWith(`portfolio:${heldId(entry)}:`) && !id.endsWith(`:${entry.seq}`);
  if (entry.event === "block_resolved") return ({ id }) => id === `portfolio:${entry.block_id}`;
  if (entry.event !== "task_status_changed" && entry.event !== "task_dispatched") return null;
  const task = state.tasks[entry.task_id];
  const isAnswer = entry.event === "task_dispatched" || task?.status === "ready" || task?.status === "canceled";
  if (task === undefined || !isAnswer) return null;
  return ({ id }) => id.startsWith(`portfolio:${stuckId(task)}`);
}
