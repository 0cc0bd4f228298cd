// show: how a portfolio stands: its projects, what works, what waits and why, what asks for a person.

import type { Answer } from "../../contracts/answer.ts";
import { columned } from "../../views/columned.ts";
import { oneLine } from "../../views/wording.ts";
import { msOf } from "../../kit/iso-time.ts";
import { countsOf, metricsOf } from "../../portfolio/views/metrics.ts";
import { phaseOf } from "../../portfolio/views/pages.ts";
import type { Plan } from "../../portfolio/planner/plan.ts";
import { openBlocks, type PortfolioView } from "../../portfolio/planner/state.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { answered, reply } from "../../project/reply.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { type PortfolioPaths, requirePortfolio } from "../../portfolio/store/folder.ts";
import { readPortfolio, withPortfolio } from "../../portfolio/store/open.ts";
import { lookAtWorkers, planFor, type PoolInput, runPortfolio } from "./pool.ts";

const rowsShown = 12;

export function showPortfolio(place: CommandContext, input: PoolInput): Promise<Answer> {
  return answered(async () => {
    const paths = requirePortfolio(place);
    const { state, planned } = await looked(place, paths, input);
    const counts = countsOf(state);
    return reply("ok", {
      message: `${counts.running} running, ${counts.ready} ready, ${counts.blocked_human} blocked, ${counts.done} done of ${Object.keys(state.tasks).length}.`,
      page: board(state, planned),
      data: {
        name: state.name,
        paused: state.paused,
        planner_heartbeat_at: state.heartbeat,
        counts,
        metrics: metricsOf(state),
        spent: state.spent,
        projects: Object.values(state.projects).map((project) => ({
          id: project.project_id,
          name: project.name,
          phase: phaseOf(state, project),
          ...countsOf(state, project.tasks),
          spent: project.spent,
        })),
        tasks: Object.values(state.tasks).map(({ task_id, project_id, status, stage, run_id, priority, landed }) => ({
          id: task_id,
          project_id,
          status,
          stage,
          run_id,
          priority,
          landed,
        })),
        waiting: planned.waiting,
        blocks: openBlocks(state).length,
      },
    });
  });
}

/** The state with what is true of its workers now, and what a tick would do. Nothing is written. */
async function looked(
  place: CommandContext,
  paths: PortfolioPaths,
  input: PoolInput,
): Promise<{ readonly state: PortfolioView; readonly planned: Plan }> {
  const state = readPortfolio(paths);
  const open = { state, now: () => systemClock.now(), write: () => Promise.resolve() };
  const { gone } = await lookAtWorkers({ paths, active: new Map() }, open);
  return { state, planned: planFor(place, open, { input, paths }, gone) };
}

/** One terminal page. */
export function board(state: PortfolioView, planned: Plan): readonly string[] {
  const why = new Map(planned.waiting.map(({ task_id, because }) => [task_id, because]));
  const starting = new Set(planned.actions.flatMap((action) => (action.do === "dispatch" ? action.task_id : [])));
  const open = Object.values(state.tasks).filter(({ status }) => status !== "done" && status !== "canceled");
  const order = ["running", "blocked_human", "needs_adjustment", "failed", "ready", "proposed"];
  const shown = open.toSorted(
    (a, b) => order.indexOf(a.status) - order.indexOf(b.status) || a.priority - b.priority || a.created - b.created,
  );
  const blocks = openBlocks(state);
  return [
    `Portfolio ${state.name}${state.paused ? " (paused)" : ""}   last tick ${state.heartbeat ?? "never"}   ${state.spent.tokens} tokens, $${state.spent.usd.toFixed(2)}`,
    "",
    ...columned([
      ["project", "phase", "ready", "running", "blocked", "done"],
      ...Object.values(state.projects).map((project) => {
        const own = countsOf(state, project.tasks);
        return [
          project.project_id,
          phaseOf(state, project),
          String(own.ready),
          String(own.running),
          String(own.blocked_human),
          String(own.done),
        ];
      }),
    ]),
    "",
    ...shown
      .slice(0, rowsShown)
      .flatMap((task) => [
        `${task.status.padEnd(16)} ${task.task_id}  ${oneLine(task.objective, 60)}`,
        `                 ${starting.has(task.task_id) ? "starts at the next tick" : (why.get(task.task_id) ?? "")}`,
      ]),
    ...(shown.length > rowsShown ? [`… and ${shown.length - rowsShown} more`] : []),
    ...(blocks.length === 0
      ? []
      : ["", `${blocks.length} ${blocks.length === 1 ? "question waits" : "questions wait"} for you: autopilot portfolio inbox`]),
  ];
}

/** One tick; with --dry-run only what it would do, and why everything else waits. */
export function tickPortfolio(place: CommandContext, input: PoolInput & { readonly dryRun: boolean }): Promise<Answer> {
  if (!input.dryRun) return runPortfolio(place, { ...input, ticksMax: 1 });
  return answered(async () => {
    const paths = requirePortfolio(place);
    const { planned } = await looked(place, paths, input);
    const { actions, waiting } = planned;
    return reply("ok", {
      message: `${actions.length} ${actions.length === 1 ? "action" : "actions"}; ${waiting.length} wait. Nothing was done.`,
      page: [
        ...(actions.length === 0
          ? ["Nothing to do now."]
          : actions.map(
              (action) =>
                `would ${action.do.replaceAll("_", " ")} ${"task_id" in action ? action.task_id : "tasks" in action ? action.tasks.join(", ") : "project_id" in action ? action.project_id : ""}`,
            )),
        ...(waiting.length === 0 ? [] : ["", ...waiting.map(({ task_id, code, because }) => `waits ${task_id}  ${code}: ${because}`)]),
      ],
      data: { actions, waiting },
    });
  });
}

export type InboxRow = {
  readonly block: string;
  readonly project: string | null;
  readonly task: string | null;
  readonly question: string;
  readonly expected_action: string;
  readonly impact: string;
  readonly options: Readonly<Record<string, string>>;
  readonly age_ms: number;
  readonly content: string;
  readonly command: string;
};

export const inboxRows = (state: PortfolioView, now: string): readonly InboxRow[] =>
  openBlocks(state).map((block) => ({
    block: block.block_id,
    project: block.project_id,
    task: block.task_id,
    question: block.question,
    expected_action: block.expected_action,
    impact: block.impact,
    options: block.options,
    age_ms: Math.max(0, (msOf(now) ?? 0) - (msOf(block.opened_at) ?? 0)),
    content: block.content,
    command: `autopilot portfolio answer --block ${block.block_id} <answer>`,
  }));

export function portfolioInbox(place: CommandContext): Promise<Answer> {
  return answered(async () => {
    const paths = requirePortfolio(place);
    // What runs have come to ask since the last tick is asked here too.
    const rows = await withPortfolio(place, paths, async (open) => {
      await lookAtWorkers({ paths, active: new Map() }, open);
      return inboxRows(open.state, open.now());
    });
    const message =
      rows.length === 0
        ? "No question waits for you."
        : `${rows.length} ${rows.length === 1 ? "question waits" : "questions wait"} for you.`;
    const page = rows.flatMap(({ question, task, project, expected_action, impact, options, age_ms, command }) => [
      question,
      `  ${task ?? project ?? "portfolio"}, ${Math.floor(age_ms / 60_000)} min; ${impact}`,
      ...Object.entries(options).map(([key, about]) => `  ${key}  ${about}`),
      `  ${expected_action}`,
      `  ${command}`,
      "",
    ]);
    return reply("ok", { message, page: [message, "", ...page], data: { blocks: rows } });
  });
}
