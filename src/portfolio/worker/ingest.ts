// ingest: takes the result of a run into the portfolio's journal, once, judged by the runner's own
// proof.

import { randomBytes } from "node:crypto";
import type { WorkerResult } from "../../contracts/portfolio/worker-result.ts";
import type { PortfolioChange } from "../../contracts/portfolio/portfolio-journal.ts";
import type { RunView } from "../../core/state.ts";
import { openBlobReader } from "../../playbooks/contract/run-journal.ts";
import { forEachEntry } from "../../project/runs/read-entries.ts";
import { runFolder } from "../../project/runs/project-paths.ts";
import { openClaimReader } from "../../project/runs/run-blobs.ts";
import { createTaskId } from "../planner/ids.ts";
import { buildApprovalQuestion, type Question } from "../planner/questions.ts";
import {
  listFollowUps,
  parseSubmittedResult,
  decideOnResult,
  buildProof,
  type RunEnd,
  type SubmittedResult,
  whyResultRefused,
} from "../planner/result.ts";
import type { PortfolioView, ProjectView, TaskView } from "../planner/state.ts";
import { ask } from "../store/ask.ts";
import { findCopy, type PortfolioPaths } from "../store/folder.ts";
import type { OpenPortfolio } from "../store/open.ts";
import { readUsage } from "./charge-usage.ts";
import { openProjectExchange, type ProjectExchange } from "./exchange-for.ts";
import { createRestChanges } from "./resting-run.ts";
import { summarizeEnd, pathsOfCopy, loadTaskRun } from "./task-runs.ts";

const systemFields = { actor: "system", reason_code: "ok" } as const;

/** Names the dispatch that a result is of. */
type DeliveredRun = {
  readonly task_id: string;
  readonly run_id: string;
  readonly event_nonce: string;
};

type EndedRun = {
  readonly task: TaskView;
  readonly project: ProjectView;
  readonly view: RunView;
  readonly copy: string;
  /** The commit that the run began at. */
  readonly base: string;
  readonly delivered: DeliveredRun;
};

/**
 * What to record about a task whose run is no longer driven. Empty if it only needs to be resumed.
 */
export async function ingestResult(
  paths: PortfolioPaths,
  { state, now }: Pick<OpenPortfolio, "state" | "now">,
  task: TaskView,
): Promise<readonly PortfolioChange[]> {
  const loadedRun = await loadTaskRun(paths, task);
  const copy = findCopy(paths, task);
  const project = state.projects[task.project_id];
  if (loadedRun === null || loadedRun.owner !== null) return [];
  if (copy === null || project === undefined) return [];

  const { task_id } = task;
  const delivered = { task_id, run_id: task.run_id ?? "", event_nonce: task.event_nonce ?? "" };
  if (whyResultRefused(task, delivered) !== null) return [];

  const { view } = loadedRun;
  const restChanges = createRestChanges(paths, { state, task, view, now: now() });
  if (restChanges !== null) return restChanges;

  const base = task.base ?? view.drafted.base.commit;
  const ended = { task, project, view, copy, base, delivered };
  return ingestEndedRun(paths, { state, now }, ended);
}

async function ingestEndedRun(
  paths: PortfolioPaths,
  { state, now }: Pick<OpenPortfolio, "state" | "now">,
  ended: EndedRun,
): Promise<readonly PortfolioChange[]> {
  const { task, project, view, copy, base, delivered } = ended;
  const { task_id, run_id } = delivered;
  const { repository } = project;
  const exchange = repository === null ? null : await openProjectExchange(paths, state, repository);

  const isUnmerged = exchange !== null && (await isEarlierWorkUnmerged(exchange, ended));
  const end = summarizeEnd(view, isUnmerged || view.tip.commit !== base);
  const proof = buildProof(task.acceptance_criteria, end);
  const submitted = await readSubmitted(ended, end);
  const decision = decideOnResult(task, project, { end, proof, submitted });

  // Before the journal names it.
  const commit = end.is_completed && end.has_changes ? view.tip.commit : null;
  if (commit !== null) await exchange?.takeCommit({ copy, commit, since: base, name: task_id });

  const claim = submitted?.claim ?? null;
  const result: PortfolioChange = {
    ...systemFields,
    event: "worker_result_ingested",
    ...delivered,
    to_status: decision.to,
    commit,
    proof,
    claim,
    summary: `${describeEnd(run_id, view)}; ${decision.because}.`,
    evidence: listEvidence(ended),
    usage: readUsage(view),
  };
  const changes = [result, ...createFollowUps(state, task, claim)];

  if (decision.to === "running" && commit !== null) {
    const queued = { ...systemFields, event: "merge_queued", task_id, run_id, commit } as const;
    return [...changes, queued];
  }

  if (decision.ask === null) return changes;
  const approval = createApproval(task, composeDiffCommand(ended, commit));
  return [...changes, ask(approval, now())];
}

/**
 * Whether the run continues an earlier attempt whose work must still be merged, even if this run
 * has changed nothing more.
 */
async function isEarlierWorkUnmerged(
  exchange: ProjectExchange,
  { task, project, base }: EndedRun,
): Promise<boolean> {
  const isContinued = task.returned_by === "queue" || task.attempt > 1;
  if (!isContinued) return false; // the journal is locked: git is asked only if needed

  const tip = await exchange.readTip(project.target);
  return tip !== null && !(await exchange.isWithin(base, tip));
}

const describeEnd = (run: string, view: RunView): string =>
  view.status === "completed"
    ? `${run} completed, ${view.verdict ?? "unverified"}`
    : `${run} is ${view.status}: ${view.detail ?? view.reason ?? "no reason"}`;

function listEvidence({ view, copy, delivered }: EndedRun): string[] {
  const checks = Object.values(view.checks).map(({ latest }) => latest);
  const checkTexts = checks.map(({ status, check }) => `${status}: ${check.command}`);
  return [...checkTexts, `report: autopilot -C ${copy} report --run ${delivered.run_id}`];
}

function createApproval(task: TaskView, diff: string): Question {
  const againText =
    task.returned_by === "queue"
      ? "the merge queue gave it back, and it was worked on again: "
      : "";

  return {
    kind: "approve",
    project_id: task.project_id,
    task_id: task.task_id,
    ...buildApprovalQuestion(task),
    expected_action: `${againText}look at the diff (${diff}), then answer A or B`,
    impact: "its work is not merged before",
    options: { A: "it does; merge it", B: "it does not; try again" },
    asked_by: null,
  };
}

/**
 * Shows all that merging changes: a run that continues earlier work, or a merge with conflicts, did
 * not begin at the target branch.
 */
function composeDiffCommand(
  { task: { run_id, tip }, copy, base }: EndedRun,
  commit: string | null,
): string {
  if (tip === null || tip === base || commit === null) {
    return `autopilot -C ${copy} diff --run ${run_id ?? ""}`;
  }

  return `git -C ${copy} diff ${tip} ${commit}`;
}

/** The follow-up tasks that the worker suggests; a person makes them ready. */
function createFollowUps(
  state: PortfolioView,
  task: TaskView,
  claim: WorkerResult | null,
): readonly PortfolioChange[] {
  const siblingIds = state.projects[task.project_id]?.tasks ?? [];
  const objectives = siblingIds.flatMap((id) => state.tasks[id]?.objective ?? []);

  return listFollowUps(task, claim, objectives).map((fields): PortfolioChange => ({
    event: "followup_task_created",
    actor: `agent:${task.worker_agent_id ?? "unknown"}`,
    reason_code: "ok",
    task_id: createTaskId(fields.objective, randomBytes(6)),
    project_id: task.project_id,
    parent_task_id: task.task_id,
    status: "proposed",
    fields,
  }));
}

/** What the run's worker handed in; null if its flow asks for no result. */
async function readSubmitted(
  { task, view, copy, delivered }: EndedRun,
  { is_completed }: RunEnd,
): Promise<SubmittedResult | null> {
  if (view.drafted.options["wants_result"] !== true) return null;

  const value = is_completed ? await readLastResult(copy, delivered.run_id) : null;
  return parseSubmittedResult(task, value);
}

/** The last result that a run's worker submitted, as it came; null if there is none. */
async function readLastResult(copy: string, run: string): Promise<unknown> {
  const paths = pathsOfCopy(copy);
  let hash: string | undefined;

  await forEachEntry(paths, run, (entry) => {
    if (entry.event !== "turn_ended" || entry.returned !== true) return;
    if (isReport(entry.attempt)) hash = entry.claim;
  });
  if (hash === undefined) return null;

  const readClaim = openClaimReader(openBlobReader(runFolder(paths, run)));
  return readClaim(hash);
}

/** The flow's step `report` asks for the result: `work@1/report#2`. */
const isReport = (attempt: string): boolean => attempt.includes("/report#");
