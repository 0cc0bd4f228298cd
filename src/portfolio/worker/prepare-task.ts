// worker: prepares an ordinary run for a task in a copy of its repository: makes the copy, drafts
// the run, and reads its journal afterwards.
//
// Invariants:
//   K1. Copy, run and nonce are in the journal before the agent starts.
//   K2. A run that can go on is resumed, so that its finished steps aren't repeated. A run that is
//       over is kept until its result is taken in. If the task was edited since, a new run begins.
//   K3. The result of a run is read from its own journal, never from what its agent or its process
//       said.
//   K4. An agent that replaces another one, which is at its provider's limit, begins with the
//       finished work of that one.
//   K5. A run is drafted only after the journal has named it, so that no run is lost: the next
//       planner finds the name, and drafts the run if it is missing.

import { randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { PortfolioBudget } from "../../contracts/portfolio-journal.ts";
import type { RunView } from "../../core/state.ts";
import type { RunEnd } from "../planner/result.ts";
import type { PortfolioView, ProjectView, TaskView } from "../planner/state.ts";
import { agentName } from "../planner/under-way.ts";
import { findBinding, bindRun, isOwnRun } from "../../project/runs/run-binding.ts";
import { makeDraft } from "../../runner/draft/make-draft.ts";
import { withRun } from "../../runner/open-run.ts";
import type { GoInput } from "../../playbooks/contract/go-input.ts";
import {
  type ProjectPaths,
  isBegun,
  claimRunId,
  runFolder,
} from "../../project/runs/project-paths.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { type Failure, refuse } from "../../project/respond.ts";
import type { LoadedRun } from "../../project/runs/loaded-run.ts";
import { readRunOrNull } from "../../project/runs/read-run.ts";
import { findStoreAddress } from "../../fleet/address.ts";
import { markShared, runKey, readSharedMark } from "../../fleet/shared-mark.ts";
import { findClone } from "../store/clones.ts";
import { findCopy, type PortfolioPaths } from "../store/folder.ts";
import { openProjectExchange } from "./exchange-for.ts";
import type { Exchange } from "./git-exchange.ts";
import { raiseLimits } from "./raise-limits.ts";

export const backendDefault = "acp";
export const agentDefault = "codex";

export const pathsOfCopy = (copy: string): ProjectPaths => ({
  root: copy,
  folder: join(copy, ".autopilot"),
});

export type PreparedTask = {
  readonly run: string;
  readonly copy: string;
  readonly base: string;
  /**
   * The commit of the target branch that the copy begins at; null if the journal has it from an
   * earlier dispatch.
   */
  readonly tip: string | null;
  readonly isResumed: boolean;
  readonly nonce: string;
  readonly agent: string;
  readonly conflicts: readonly string[];
  /** After the dispatch is journaled: makes sure that the run is there. */
  readonly begin: () => Promise<void>;
};

type RunRequest = {
  readonly isolation?: string | undefined;
  readonly agent?: string | undefined;
  /** What the run may use. */
  readonly allowance: PortfolioBudget;
};

export type TaskToPrepare = {
  readonly task: TaskView;
  readonly project: ProjectView;
  /** Names the hubs of repositories. */
  readonly state: Pick<PortfolioView, "hubs" | "projects">;
};

/**
 * Makes a copy for a task and claims a run id, or finds the run to resume. `begin` drafts the run
 * once the journal names it (K5).
 */
export async function prepareTask(
  context: CommandContext,
  paths: PortfolioPaths,
  taskFacts: TaskToPrepare,
  request: RunRequest & { readonly agent: string },
): Promise<PreparedTask> {
  const { task, project } = taskFacts;
  const openRun = await findOpenRun(context, paths, task);
  const isSameAgent =
    task.chosen === null || task.chosen === request.agent || openRun?.isOver === true;
  const draftInput = (nonce: string, conflicts: readonly string[]) => ({
    ...buildRunInput(task, nonce, conflicts, request),
    copyOf: project.repository === null ? undefined : findClone(paths, project.repository),
  });

  if (openRun !== null && isSameAgent && task.base !== null && task.event_nonce !== null) {
    const { base, event_nonce: nonce, conflicts } = task;
    const { run, copy, loaded } = openRun;
    if (loaded !== undefined) {
      await raiseLimits({ ...context, cwd: copy }, loaded, task, request.allowance);
    }

    const begin = () =>
      beginDraft(context, task, {
        copy,
        nonce,
        input: { ...draftInput(nonce, conflicts), newId: run },
      });

    const agent = task.worker_agent_id ?? agentDefault;
    return {
      run,
      copy,
      base,
      tip: null,
      nonce,
      conflicts,
      isResumed: openRun.tip !== null,
      agent,
      begin,
    }; // K2
  }

  const nonce = randomBytes(12).toString("hex");
  const { copy, run, base, tip, conflicts } = await prepareCopy(paths, taskFacts, openRun);

  const begin = () =>
    beginDraft(context, task, {
      copy,
      nonce,
      input: { ...draftInput(nonce, conflicts), newId: run },
    });

  return {
    run,
    copy,
    base,
    tip,
    isResumed: false,
    nonce,
    agent: agentName(request.agent),
    conflicts,
    begin,
  };
}

type PreparedCopy = Pick<PreparedTask, "copy" | "run" | "base" | "tip" | "conflicts">;

/**
 * A new copy of the repository, with the work that the task's last run finished, and the id of the
 * run that works in it.
 */
async function prepareCopy(
  paths: PortfolioPaths,
  { task, project, state }: TaskToPrepare,
  lastRun: OpenTaskRun | null,
): Promise<PreparedCopy> {
  const repository = project.repository ?? "";
  const exchange = await openProjectExchange(paths, state, repository);
  const tip = await exchange.readTip(project.target);
  if (tip === null) {
    refuse("portfolio_input_invalid", {
      message: `${repository} has no branch ${project.target}.`,
    });
  }

  await exchange.bringWork(task);
  const work =
    lastRun === null || lastRun.tip === null || task.base === null
      ? null
      : { ...lastRun, tip: lastRun.tip, base: task.base };

  const { base, conflicts } =
    work === null
      ? await prepareBase(exchange, task, tip)
      : await continueWork(exchange, task.task_id, work);

  // A pool that lost the portfolio and wakes must not meet the copy that its successor makes.
  const epoch = paths.planner === undefined ? "" : `-${paths.planner.lease.epoch}`;
  const copies = join(paths.ownFolder, "copies");
  const copy = join(copies, `${task.task_id}.${task.attempt + 1}${epoch}`);
  await exchange.makeCopy(copy, { branch: project.target, commit: base });
  const others = readdirSync(copies).map((name) => pathsOfCopy(join(copies, name)));
  // No other task's run may have this id, since people name a run by its id alone. Nothing is
  // awaited between looking and claiming.
  const run = claimRunId(pathsOfCopy(copy), systemClock.now(), (id) =>
    others.some((other) => existsSync(runFolder(other, id))),
  );

  return { copy, run, base, tip: work === null ? tip : null, conflicts };
}

/** Drafts the run that a dispatch named, or continues a draft that was interrupted (K5). */
async function beginDraft(
  context: CommandContext,
  task: TaskView,
  {
    copy,
    nonce,
    input,
  }: {
    readonly copy: string;
    readonly nonce: string;
    readonly input: GoInput & { readonly newId: string };
  },
): Promise<void> {
  const { newId: run } = input;
  const [copyContext, paths] = [{ ...context, cwd: copy }, pathsOfCopy(copy)];
  const folder = runFolder(paths, run);
  if (
    findStoreAddress(context.env) !== null &&
    !isBegun(paths, run) &&
    readSharedMark(folder) === null
  ) {
    markShared(folder, runKey(run, nonce));
  }

  const begunRun =
    (await readBegunRun(paths, run)) ??
    (await makeDraft(copyContext, paths, input), await readBegunRun(paths, run));
  if (begunRun !== null) bindToDraft(context, paths, run, begunRun.view);
  if (begunRun?.view.status !== "draft" || begunRun.view.outside !== undefined) return;
  if (task.link === undefined || task.quoted === undefined || task.quoted === "") return;
  const items = [
    { key: task.link.slice(0, 300), kind: "issue" as const, by: "the issue", text: task.quoted },
  ];

  const received = {
    event: "evidence_received",
    source: task.link,
    items,
    reason_code: "ok",
  } as const;
  await withRun(copyContext, paths, run, (openRun) => openRun.append(received)); // others' words, so never part of the goal
}

/**
 * A pool that has lost the portfolio since may have drafted the same run in the store first: then
 * that draft counts.
 */
function bindToDraft(
  { env }: CommandContext,
  paths: ProjectPaths,
  run: string,
  { drafted }: RunView,
): void {
  const folder = runFolder(paths, run);
  const binding = findBinding(env, paths, folder, run);
  if (
    readSharedMark(folder) === null ||
    binding.kind !== "ours" ||
    binding.record.ack === drafted.ack
  ) {
    return;
  }

  bindRun(env, paths, folder, { run, ack: drafted.ack, isolation: binding.record.isolation });
}

const readBegunRun = (paths: ProjectPaths, run: string) =>
  isBegun(paths, run) ? readRunOrNull(paths, run) : Promise.resolve(null);

/** Brings over what the agent before has finished, for the next one to begin with (K4). */
async function continueWork(
  exchange: Exchange,
  task_id: string,
  { copy, base, tip }: { readonly copy: string; readonly base: string; readonly tip: string },
): Promise<{ readonly base: string; readonly conflicts: readonly string[] }> {
  if (tip !== base) await exchange.takeCommit({ copy, commit: tip, since: base, name: task_id });
  return { base: tip, conflicts: [] };
}

/**
 * Work that the queue gave back continues on a merge with the branch; conflicts are left in the
 * files for the agent to resolve.
 */
async function prepareBase(
  exchange: Exchange,
  task: TaskView,
  tip: string,
): Promise<{ readonly base: string; readonly conflicts: readonly string[] }> {
  if (task.returned_by !== "queue" || task.commit === null) return { base: tip, conflicts: [] };
  const message = `Merge ${task.task_id} to go on with it\n`;
  const merged = await exchange.merge({ onto: tip, commit: task.commit, message, tip: task.tip });
  if ("commit" in merged) return { base: merged.commit, conflicts: [] };
  if (merged.marked === null) return { base: tip, conflicts: [] };

  return {
    base: await exchange.commitTree(merged.marked, merged.parents, message),
    conflicts: merged.conflicts,
  };
}

const quotePath = (path: string): string => `'${path.replaceAll("'", String.raw`'\''`)}'`;

/** Proves that a conflict was resolved: no file that had one still has its marks. */
const createConflictCriteria = (conflicts: readonly string[]): NonNullable<GoInput["criteria"]> =>
  conflicts.length === 0
    ? []
    : [
        {
          text: "the conflict marks are gone from every file",
          check: `! grep -sE '^(<<<<<<<|>>>>>>>) ' ${conflicts.map(quotePath).join(" ")}`,
        },
      ];

/** The flags of `go` for a task's run. */
export function buildRunInput(
  task: TaskView,
  nonce: string,
  conflicts: readonly string[],
  { agent, isolation: poolIsolation, allowance }: RunRequest,
): GoInput {
  const { tokens, usd } = allowance;
  const isolation = task.isolation ?? poolIsolation;
  const budget = [
    ...(tokens === undefined ? [] : [`tokens=${tokens}`]),
    ...(usd === undefined ? [] : [`usd=${usd}`]),
  ].join(",");

  return {
    words: [],
    isCopy: true,
    goal: buildGoal(task, nonce),
    criteria: [
      ...task.acceptance_criteria.map(({ text, command }) => ({ text, check: command })),
      ...createConflictCriteria(conflicts),
    ],
    ...(task.touches.length === 0 ? {} : { scope: [...task.touches] }),
    ...(agent === undefined ? {} : { agent }),
    ...(isolation === undefined ? {} : { isolation }),
    ...(budget === "" ? {} : { maxBudget: budget }),
    ...(task.flow === null
      ? { options: { land: "false", wants_result: "true" } }
      : { flow: task.flow }),
  };
}

const feedbackCharsMax = 8000;

/**
 * What the agent is told: the objective, the result of the last attempt, and the names its result
 * must have.
 */
const buildGoal = ({ objective, feedback, flow, task_id }: TaskView, nonce: string): string =>
  [
    objective,
    ...(feedback === null
      ? []
      : [
          `What earlier attempts came to, and what was answered to their questions:\n${feedback.slice(0, feedbackCharsMax)}`,
        ]),
    ...(flow === null ? [`task_id: ${task_id}\nevent_nonce: ${nonce}`] : []),
  ].join("\n\n");

type OpenTaskRun = {
  readonly run: string;
  readonly copy: string;
  /** Null if the run was named and never begun. */
  readonly tip: string | null;
  readonly isOver?: boolean;
  readonly loaded?: LoadedRun;
};

/** The run of a task that can go on, or whose result is still to be taken in. */
async function findOpenRun(
  context: CommandContext,
  paths: PortfolioPaths,
  task: TaskView,
): Promise<OpenTaskRun | null> {
  const { run_id: run } = task;
  const copy = findCopy(paths, task);
  if (copy === null || run === null || task.ingested || task.is_edited) return null;
  const loadedRun = await loadTaskRun(paths, task);
  if (loadedRun === null) {
    return existsSync(runFolder(pathsOfCopy(copy), run)) ? { run, copy, tip: null } : null;
  }

  // A run that came with a portfolio from elsewhere is never resumed; its task begins anew.
  if (!isOwnRun(context, pathsOfCopy(copy), run)) return null;
  const { status, tip } = loadedRun.view;
  const loaded = { paths: pathsOfCopy(copy), run, ...loadedRun };

  return {
    run,
    copy,
    tip: tip.commit,
    isOver: status === "completed" || status === "stopped",
    loaded,
  }; // K2
}

/** A task's run from its journal; null if it no longer exists. */
export async function loadTaskRun(
  paths: PortfolioPaths,
  task: TaskView,
): Promise<{ readonly view: RunView; readonly owner: { readonly pid: number } | null } | null> {
  const copy = findCopy(paths, task);
  if (copy === null || task.run_id === null || !existsSync(copy)) return null;
  const projectPaths = pathsOfCopy(copy);

  return isBegun(projectPaths, task.run_id) ? readRunOrNull(projectPaths, task.run_id) : null;
}

/**
 * Works on a run until it rests: `go` for a draft, `resume` for one that can go on, nothing for one
 * that is over. The command passes it in, because this folder may not import `go`. Returns why the
 * run was not even begun; null if it was.
 */
export type Drive = (context: CommandContext, copy: string, run: string) => Promise<Failure | null>;

/** The end of a run as far as it counts for its task, from the run's journal (K3). */
export function summarizeEnd(view: RunView, hasChanges: boolean): RunEnd {
  const latest = Object.values(view.checks).map((check) => check.latest);
  const passed = latest
    .filter(({ status }) => status === "passed")
    .map(({ check }) => check.command);

  const failed = latest
    .filter(({ status }) => status !== "passed")
    .map(({ check }) => check.command);

  return {
    is_completed: view.status === "completed" && view.verdict !== "refuted",
    has_changes: hasChanges,
    passed,
    failed,
  };
}
