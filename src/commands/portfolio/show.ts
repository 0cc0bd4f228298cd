// show: the state of a portfolio: its projects, what works, what waits and why, what asks for a person.

import { existsSync } from "node:fs";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { definedFields } from "../../core/drafts.ts";
import { parseIsoTime } from "../../kit/iso-time.ts";
import { board, waitingForPeople } from "../../portfolio/views/board.ts";
import { countsOf, metricsOf } from "../../portfolio/views/metrics.ts";
import { phaseOf } from "../../portfolio/views/pages.ts";
import type { Action, Plan } from "../../portfolio/planner/plan-actions.ts";
import { heldLandings } from "../../portfolio/planner/held-landings.ts";
import { tasksNeedingPerson } from "../../portfolio/planner/needs-person.ts";
import { waitingNames } from "../../portfolio/planner/questions.ts";
import { openBlocks, type PortfolioView } from "../../portfolio/planner/state.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, respond } from "../../project/respond.ts";
import { answerFlags, oneLine } from "../../views/wording.ts";
import { portfolioMark } from "../../fleet/shared-mark.ts";
import { readSettings } from "../../project/config/settings.ts";
import { agentName } from "../../portfolio/planner/under-way.ts";
import { checkAvailability } from "../../runner/draft/agent-availability.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { catchUp } from "../../portfolio/store/catch-up.ts";
import { checkedPortfolio } from "../../portfolio/store/checked.ts";
import { visiblePortfolio } from "../../portfolio/store/folder.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";
import { lookAtLandings } from "./look-at-landings.ts";
import { lookAtWorkers } from "./look-at-workers.ts";
import { readPoolTerms } from "./hold-pool.ts";
import { planFor } from "./plan-for.ts";
import { type PoolInput, runPortfolio } from "./pool.ts";
import { type InboxRow, runQuestions } from "./run-questions.ts";

const rowsShown = 40;

export function showPortfolio(
  context: CommandContext,
  input: PoolInput & { readonly rows?: number | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const visible = visiblePortfolio(context);
    const copy = visible.foreign === null ? await catchUp(context.env, visible.paths) : null;
    const { state, planned } = await readPlanned(context, visible, input);
    const counts = countsOf(state);
    const whyBehind = copy?.behind ?? null;
    const shownLines = `${whyBehind === null ? "" : "this machine's copy "}up to line ${state.seq}`;
    const shownFrom = whyBehind === null ? "store" : "copy";
    const isWorkedOn = copy !== null || visible.foreign !== null || readPoolTerms(visible.paths) !== null;
    return respond("ok", {
      ...(whyBehind === null ? {} : { warnings: [`Shown is this machine's copy, up to line ${state.seq}: ${whyBehind}`] }),
      ...onlyShown(visible.foreign),
      message: `${counts.running} running, ${counts.ready} ready, ${counts.blocked_human} blocked, ${counts.done} done of ${Object.keys(state.tasks).length}.`,
      page: [
        ...board(state, planned, { now: systemClock.now(), rows: input.rows ?? rowsShown, isIdle: !isWorkedOn }),
        ...(copy === null ? [] : ["", `${copy.key} in the store, ${shownLines}`]),
      ],
      data: {
        name: state.name,
        foreign: visible.foreign,
        ...(copy === null ? {} : { store: { key: copy.key, line: state.seq, shown: shownFrom } }),
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
        held: heldLandings(state).map(({ held, tasks }) => ({ ...held, tasks: tasks.map(({ task_id }) => task_id) })),
        blocks: openBlocks(state).length,
        needs_you: openBlocks(state).length + tasksNeedingPerson(state, systemClock.now()).length,
      },
    });
  });
}

type Visible = ReturnType<typeof visiblePortfolio>;

/** The warning about another user's portfolio, which is only shown. */
const onlyShown = (foreign: string | null) =>
  foreign === null
    ? {}
    : {
        result: "WARN" as const,
        warnings: [`This portfolio isn't yours: ${foreign}. It is shown as its journal tells it, and nothing of it is executed.`],
        remediation: ["autopilot portfolio adopt"],
      };

/** The state with what is true of its workers now, and what a tick would do. Nothing is written. */
async function readPlanned(
  context: CommandContext,
  { paths, foreign }: Visible,
  input: PoolInput,
): Promise<{ readonly state: PortfolioView; readonly planned: Plan }> {
  if (foreign !== null) {
    const state = await checkedPortfolio(paths);
    return { state, planned: planFor(context, { state, now: () => systemClock.now() }, { input, paths }, new Set()) }; // its runs are not opened
  }
  const state = await readPortfolio(paths);
  const terms = { ...readPoolTerms(paths), ...definedFields({ jobs: input.jobs, agent: input.agent }) };
  const open = { state, now: () => systemClock.now(), write: () => Promise.resolve() };
  const { gone } = await lookAtWorkers({ paths, active: new Map() }, open);
  const planned = planFor(context, open, { input: terms, paths }, gone);
  const { held, state: currentState } = await lookAtLandings(paths, state, planned.actions, open.now());
  const plannedNow = planFor(context, { ...open, state: currentState }, { input: terms, paths, held }, gone);
  const isElsewhere = portfolioMark(paths.own) !== null; // workers of other machines have agents of their own
  return { state: currentState, planned: isElsewhere ? plannedNow : await withoutMeans(context, currentState, plannedNow) };
}

/** A task whose repository is gone or whose agent can't be used here is not said to start: the tick that tries it asks a person. */
async function withoutMeans(context: CommandContext, { projects, tasks }: PortfolioView, { actions, waiting }: Plan): Promise<Plan> {
  const problems = new Map<string, string | null>();
  const problemOf = async (root: string, agent: string): Promise<string | null> => {
    const key = `${root}\n${agent}`;
    const known = problems.get(key);
    if (known !== undefined) return known;
    const read = readSettings(context, root);
    const { problem } = await checkAvailability(context, agent, read.kind === "settings" ? read.config : {});
    problems.set(key, problem);
    return problem;
  };
  const unable: Plan["waiting"][number][] = [];
  for (const action of actions) {
    if (action.do !== "dispatch" || action.is_approved) continue;
    const agent = agentName(action.agent);
    const repository = projects[tasks[action.task_id]?.project_id ?? ""]?.repository ?? context.cwd;
    if (!existsSync(repository)) {
      const because = `${repository} is not there; the tick that tries it asks you`;
      unable.push({ task_id: action.task_id, code: "no_repository", because });
      continue;
    }
    const problem = await problemOf(repository, agent);
    const because = `${agent} can't be used here (${problem ?? ""}); the tick that tries it asks you`;
    if (problem !== null) unable.push({ task_id: action.task_id, code: "agent", because });
  }
  const ids = new Set(unable.map(({ task_id }) => task_id));
  return { actions: actions.filter((action) => action.do !== "dispatch" || !ids.has(action.task_id)), waiting: [...waiting, ...unable] };
}

/** One tick; with --dry-run only what it would do, and why everything else waits. */
export function tickPortfolio(context: CommandContext, input: PoolInput & { readonly dryRun: boolean }): Promise<CommandResponse> {
  if (!input.dryRun) return runPortfolio(context, { ...input, ticksMax: 1 });
  return catchRefusals(async () => {
    const visible = visiblePortfolio(context);
    const { planned } = await readPlanned(context, visible, input);
    const { actions, waiting } = planned;
    return respond("ok", {
      ...onlyShown(visible.foreign),
      message: `${actions.length} ${actions.length === 1 ? "action" : "actions"}; ${waiting.length} wait. Nothing was done.`,
      page: [
        ...(actions.length === 0
          ? ["Nothing to do now."]
          : actions.map(
              (action) =>
                `would ${"is_approved" in action && action.is_approved ? "queue the approved work of" : action.do.replaceAll("_", " ")} ${subjectOf(action)}`,
            )),
        ...(waiting.length === 0 ? [] : ["", ...waiting.map(({ task_id, code, because }) => `waits ${task_id}  ${code}: ${because}`)]),
      ],
      data: { actions, waiting },
    });
  });
}

/** A task that waits for a person and asks nothing. */
type TaskRow = {
  readonly task: string;
  readonly project: string;
  readonly status: string;
  readonly objective: string;
  readonly why: string;
  readonly age_ms: number;
  readonly commands: readonly string[];
};

const taskRows = (state: PortfolioView, now: string): readonly TaskRow[] =>
  tasksNeedingPerson(state, now).map(({ task, why, commands, since }) => ({
    task: task.task_id,
    project: task.project_id,
    status: task.status,
    objective: task.objective,
    why,
    age_ms: Math.max(0, (parseIsoTime(now) ?? 0) - (parseIsoTime(since ?? task.changed_at) ?? 0)),
    commands,
  }));

export const inboxRows = (state: PortfolioView, now: string): readonly InboxRow[] =>
  openBlocks(state).map((block) => ({
    block: block.block_id,
    project: block.project_id,
    who: waitingNames(block),
    task: block.task_id,
    tasks: Object.keys(block.tasks),
    question: block.question,
    expected_action: block.expected_action,
    impact: block.impact,
    options: block.options,
    age_ms: Math.max(0, (parseIsoTime(now) ?? 0) - (parseIsoTime(block.opened_at) ?? 0)),
    content: block.content,
    command: `autopilot portfolio answer --block ${block.block_id} ${answerFlags(block.options)}`,
  }));

export function portfolioInbox(context: CommandContext): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const { paths, foreign } = visiblePortfolio(context);
    // What runs have come to ask since the last tick is asked here too.
    const { rows, tasks, warnings } =
      foreign === null
        ? await withPortfolio(context, paths, async (open) => {
            const { gone } = await lookAtWorkers({ paths, active: new Map() }, open);
            const { actions } = planFor(context, open, { input: {}, paths }, gone);
            const { state } = await lookAtLandings(paths, open.state, actions, open.now());
            return {
              rows: [...inboxRows(state, open.now()), ...(await runQuestions(context, state))],
              tasks: taskRows(state, open.now()),
              warnings: open.warnings,
            };
          })
        : await checkedPortfolio(paths).then((state) => ({
            rows: inboxRows(state, systemClock.now()),
            tasks: taskRows(state, systemClock.now()),
            warnings: [],
          }));
    const message = `${waitingForPeople(rows.length, tasks.length) ?? "Nothing waits for you"}.`;
    const page = rows.flatMap(({ question, who, expected_action, impact, options, age_ms, command }) => [
      "",
      question,
      `  ${who}, ${Math.floor(age_ms / 60_000)} min; ${impact}`,
      ...Object.entries(options).map(([key, about]) => `  ${key}  ${about}`),
      `  ${expected_action}`,
      `  ${command}`,
    ]);
    const stuck = tasks.flatMap(({ task, objective, status, why, age_ms, commands }) => [
      "",
      `${oneLine(objective, 100)}  ${task}`,
      `  ${status}, ${Math.floor(age_ms / 60_000)} min: ${why}`,
      ...commands.map((command) => `  ${command}`),
    ]);
    return respond("ok", {
      warnings,
      ...onlyShown(foreign),
      message,
      page: [message, ...page, ...stuck],
      data: { blocks: rows, tasks, foreign },
    });
  });
}

/** What an action is about; one without a name does not compile. */
function subjectOf(action: Action): string {
  if ("ended" in action) return `of ${action.ended.project_id ?? action.ended.scope}: ${action.ended.because}`;
  if ("tasks" in action) return action.tasks.join(", ");
  return "task_id" in action ? action.task_id : action.project_id;
}
