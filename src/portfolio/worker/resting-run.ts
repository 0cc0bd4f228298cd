// resting-run: decides what to record about a task's run that waits: for a person, for its provider
// or for a budget, or because the pool was stopped.

import type {
  PortfolioChange,
  PortfolioChangeOf,
} from "../../contracts/portfolio/portfolio-journal.ts";
import { isReasonCode, type ReasonCode } from "../../contracts/reason.ts";
import { listUnraisedLimits } from "../../core/react-to-limit.ts";
import { hasFailed, listOpenQuestions } from "../../core/selectors.ts";
import type { RunView } from "../../core/state.ts";
import { canonicalJson } from "../../kit/canonical-json.ts";
import { formatIsoTime, parseIsoTime } from "../../kit/iso-time.ts";
import { findRetryPolicy } from "../../project/respond.ts";
import { computeResumeTimeMs } from "../../runner/wait-for-provider.ts";
import { isReportedByPhases, listUserCriteria } from "../../views/criteria-status.ts";
import { formatAmount, plural } from "../../views/wording.ts";
import type { SharedCause } from "../planner/questions.ts";
import { listOpenBlocks, type PortfolioView, type TaskView } from "../planner/state.ts";
import { ask, blockTask } from "../store/ask.ts";
import type { PortfolioPaths } from "../store/folder.ts";
import { createUsageChange, readUsage } from "./charge-usage.ts";
import { loadTaskRun } from "./task-runs.ts";
import { delayOrAsk } from "./try-again.ts";

export type RunAtRest = {
  readonly state: PortfolioView;
  readonly task: TaskView;
  readonly view: RunView;
  readonly now: string;
};

/** What to record about a run that waits; null if the run is over. */
export function createRestChanges(
  paths: PortfolioPaths,
  atRest: RunAtRest,
): readonly PortfolioChange[] | null {
  const { view } = atRest;

  switch (view.status) {
    case "draft":
      return [];
    case "running":
      return view.resting === null ? [] : null; // a run out of cycles is over; one whose process was killed isn't
    case "paused":
      return createPauseChanges(paths, atRest);
    default:
      return null;
  }
}

function createPauseChanges(
  paths: PortfolioPaths,
  atRest: RunAtRest,
): readonly PortfolioChange[] | null {
  const { task, view } = atRest;
  const [question] = listOpenQuestions(view);
  if (question !== undefined) return askForRun(atRest, question);
  if (view.parked !== undefined) return waitForProvider(atRest, view.parked);

  const short = listUnraisedLimits(view);
  if (short.length > 0) {
    const because = `${describeProgress(view)}; its work is kept`;
    return [{ ...createRest(task, view), because, until: null, short: [...short] }];
  }

  if (view.short !== undefined) return []; // its limits were raised meanwhile: it only needs to be resumed
  if (view.reason !== null && isOutage(view.reason)) {
    return waitForOutage(paths, atRest, view.reason);
  }

  return hasFailed(view) || view.reason !== "operator_paused" ? null : [];
}

const isOutage = (reason: string): reason is ReasonCode =>
  isReasonCode(reason) && findRetryPolicy(reason) === "always";

type Rest = Omit<PortfolioChangeOf<"worker_rested">, "because" | "until" | "short">;

const createRest = ({ task_id, run_id }: TaskView, view: RunView): Rest => ({
  event: "worker_rested",
  actor: "system",
  reason_code: "ok",
  task_id,
  run_id: run_id ?? "",
  usage: readUsage(view),
});

/** Asks a run's question in the portfolio; nothing if it is asked already. */
function askForRun(
  { state, task, view, now }: RunAtRest,
  { block, question, options }: ReturnType<typeof listOpenQuestions>[number],
): readonly PortfolioChange[] {
  const { task_id, project_id } = task;
  const run_id = task.run_id ?? "";
  const asked = {
    kind: "run",
    project_id,
    task_id,
    question,
    expected_action: "answer it; the run goes on with your words",
    impact: `${task_id} waits`,
    options: { ...options },
    about: "",
    asked_by: { run_id, block },
  } as const;

  const opened = ask(asked, now);
  const isOpen = listOpenBlocks(state).some(({ content }) => content === opened.content);
  return isOpen ? [] : [...createUsageChange(task, run_id, view), opened];
}

/** The run waits for its provider's limit to end, or for a person if waiting doesn't end it. */
function waitForProvider(
  { state, task, view, now }: RunAtRest,
  parked: NonNullable<RunView["parked"]>,
): readonly PortfolioChange[] {
  const resumesAt = computeResumeTimeMs(view, parseIsoTime(now) ?? 0);
  if (resumesAt === null) {
    const cause = describeProviderCause(task, parked);
    const blocked = blockTask(state, cause, task.task_id, now);
    return [...createUsageChange(task, task.run_id ?? "", view), ...blocked];
  }

  const because = `its provider is at a limit: ${parked.detail}`;
  return [{ ...createRest(task, view), because, until: formatIsoTime(resumesAt) }];
}

/**
 * A provider's refusal that waiting doesn't end: a wrong key, a model that doesn't exist, a limit
 * that has lasted too long.
 */
const describeProviderCause = (
  { worker_agent_id: agent }: TaskView,
  { fault, detail }: NonNullable<RunView["parked"]>,
): SharedCause => ({
  kind: "provider",
  question: `The provider of ${agent ?? "the agent"} refuses: ${detail.slice(0, 500)} Try again?`,
  expected_action: "fix the login, the key or the limit, then answer A",
  about: canonicalJson({ agent, fault }), // not `detail`: it names another request each time
});

/** The run goes on when the outage is over. */
function waitForOutage(
  paths: PortfolioPaths,
  { state, task, view, now }: RunAtRest,
  reason: ReasonCode,
): readonly PortfolioChange[] {
  const failure = { code: reason, message: view.detail ?? reason };
  const delayed = delayOrAsk(paths, { state, now: () => now }, task, { doing: "start", failure });
  return [...createUsageChange(task, task.run_id ?? "", view), ...delayed];
}

/** What a run that rests at its budget has used, and what is done so far. */
function describeProgress(view: RunView): string {
  const { tokens, usd } = readUsage(view);
  const tokensText = formatAmount("tokens", tokens);
  const usedText = usd > 0 ? `${tokensText} and ${formatAmount("usd", usd)}` : tokensText;

  return `its run has used ${usedText}; done so far: ${listProgress(view).join(", ")}`;
}

function listProgress(view: RunView): readonly string[] {
  const turns = view.turns.filter(({ isOver }) => isOver);
  const progress = [plural(turns.length, "turn")];

  const phases = view.phases.filter(({ group }) => group === "phases");
  if (isReportedByPhases(view) && phases.length > 0) {
    const completed = phases.filter(({ status }) => status === "completed");
    progress.push(`${completed.length} of ${plural(phases.length, "phase")}`);
  }

  const criteria = listUserCriteria(view);
  if (criteria.length > 0) {
    const proved = criteria.filter((criterion) => criterion.proved);
    const criteriaText = plural(criteria.length, "criterion", "criteria");
    progress.push(`${proved.length} of ${criteriaText} proved`);
  }

  return progress;
}

/**
 * The change for a task whose run rested at limits that were raised in the run itself since; empty
 * if they were not.
 */
export async function findRaisedLimits(
  paths: PortfolioPaths,
  task: TaskView,
): Promise<readonly PortfolioChange[]> {
  const { task_id, run_id, short } = task;
  if (short === null || run_id === null) return [];

  const loaded = await loadTaskRun(paths, task);
  if (loaded === null || loaded.owner !== null) return [];
  if (listUnraisedLimits(loaded.view).length > 0) return [];

  const { tokens, usd } = loaded.view.limits.run;
  const allowance = {
    ...(tokens === undefined ? {} : { tokens }),
    ...(usd === undefined ? {} : { usd }),
  };

  const raised: PortfolioChange = {
    event: "run_limits_raised",
    actor: "system",
    reason_code: "limit_raised",
    task_id,
    run_id,
    allowance,
  };
  return [raised];
}
