// ingest: takes the result of a run into the portfolio's journal, once, judged by the runner's own
// proof.

import { randomBytes } from "node:crypto";
import type { PortfolioChange, WorkerResult } from "../../contracts/portfolio-journal.ts";
import { listUnraisedLimits } from "../../core/budget-limit-hit.ts";
import { hasFailed, listOpenQuestions } from "../../core/selectors.ts";
import type { RunView } from "../../core/state.ts";
import { canonicalJson } from "../../kit/canonical-json.ts";
import { formatIsoTime, parseIsoTime } from "../../kit/iso-time.ts";
import { createTaskId } from "../planner/ids.ts";
import { buildApprovalQuestion, type SharedCause, type Question } from "../planner/questions.ts";
import {
  listFollowUps,
  parseSubmittedResult,
  decideOnResult,
  buildProof,
  whyResultRefused,
} from "../planner/result.ts";
import { listOpenBlocks, type PortfolioView, type TaskView } from "../planner/state.ts";
import { ask, blockTask } from "../store/ask.ts";
import type { OpenPortfolio } from "../store/open.ts";
import { findCopy, type PortfolioPaths } from "../store/folder.ts";
import { computeResumeTimeMs } from "../../runner/wait-for-provider.ts";
import { openProjectExchange } from "./exchange-for.ts";
import { forEachEntry } from "../../project/runs/read-entries.ts";
import { runFolder } from "../../project/runs/project-paths.ts";
import { openBlobReader } from "../../playbooks/contract/run-journal.ts";
import { openClaimReader } from "../../project/runs/run-blobs.ts";
import { isReasonCode } from "../../contracts/reason.ts";
import { findRetryPolicy } from "../../project/respond.ts";
import { isReportedByPhases, listUserCriteria } from "../../views/criteria-status.ts";
import { formatAmount, plural } from "../../views/wording.ts";
import { delayOrAsk } from "./try-again.ts";
import { createUsageChange, readUsage } from "./charge-usage.ts";
import { summarizeEnd, pathsOfCopy, loadTaskRun } from "./task-runs.ts";

const systemFields = { actor: "system", reason_code: "ok" } as const;

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
  if (loadedRun === null || copy === null || project === undefined || loadedRun.owner !== null) {
    return [];
  }

  const { view } = loadedRun;
  const delivered = {
    task_id: task.task_id,
    run_id: task.run_id ?? "",
    event_nonce: task.event_nonce ?? "",
  };
  if (whyResultRefused(task, delivered) !== null) return [];
  const restChanges = createRestChanges(paths, { state, task, view, now: now() });
  if (restChanges !== null) return restChanges;
  const base = task.base ?? view.drafted.base.commit;
  const exchange =
    project.repository === null
      ? null
      : await openProjectExchange(paths, state, project.repository);

  // Work that continues an earlier attempt must still be merged, even if this run has changed
  // nothing more.
  const isContinued = task.returned_by === "queue" || task.attempt > 1;
  const tip = exchange !== null && isContinued ? await exchange.readTip(project.target) : null; // the journal is locked: git is asked only if needed
  const isUnmerged = tip !== null && exchange !== null && !(await exchange.isWithin(base, tip));
  const end = summarizeEnd(view, isUnmerged || view.tip.commit !== base);
  const proof = buildProof(task.acceptance_criteria, end);
  const wantsResult = view.drafted.options["wants_result"] === true;

  const submitted = wantsResult
    ? parseSubmittedResult(
        task,
        end.is_completed ? await readSubmitted(copy, delivered.run_id) : null,
      )
    : null;

  const decision = decideOnResult(task, project, { end, proof, submitted });
  const commit = end.is_completed && end.has_changes ? view.tip.commit : null;
  if (commit !== null) {
    await exchange?.takeCommit({ copy, commit, since: base, name: task.task_id });
  } // before the journal names it

  const claim = submitted?.claim ?? null;
  const result: PortfolioChange = {
    ...systemFields,
    event: "worker_result_ingested",
    ...delivered,
    to_status: decision.to,
    commit,
    proof,
    claim,
    summary: `${describeEnd(delivered.run_id, view)}; ${decision.because}.`,
    evidence: [
      ...Object.values(view.checks).map(
        ({ latest }) => `${latest.status}: ${latest.check.command}`,
      ),
      `report: autopilot -C ${copy} report --run ${delivered.run_id}`,
    ],
    usage: readUsage(view),
  };
  const changes = [result, ...createFollowUps(state, task, claim)];

  if (decision.to === "running" && commit !== null) {
    return [
      ...changes,
      {
        ...systemFields,
        event: "merge_queued",
        task_id: task.task_id,
        run_id: delivered.run_id,
        commit,
      },
    ];
  }

  if (decision.ask === null) return changes;
  return [
    ...changes,
    ask(createApproval(task, composeDiffCommand(task, { copy, base, commit })), now()),
  ];
}

const describeEnd = (run: string, view: RunView): string =>
  view.status === "completed"
    ? `${run} completed, ${view.verdict ?? "unverified"}`
    : `${run} is ${view.status}: ${view.detail ?? view.reason ?? "no reason"}`;

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
const composeDiffCommand = (
  { run_id, tip }: TaskView,
  {
    copy,
    base,
    commit,
  }: { readonly copy: string; readonly base: string; readonly commit: string | null },
): string =>
  tip === null || tip === base || commit === null
    ? `autopilot -C ${copy} diff --run ${run_id ?? ""}`
    : `git -C ${copy} diff ${tip} ${commit}`;

/** The follow-up tasks that the worker suggests; a person makes them ready. */
function createFollowUps(
  state: PortfolioView,
  task: TaskView,
  claim: WorkerResult | null,
): readonly PortfolioChange[] {
  const siblings = (state.projects[task.project_id]?.tasks ?? []).flatMap(
    (id) => state.tasks[id]?.objective ?? [],
  );
  return listFollowUps(task, claim, siblings).map((fields): PortfolioChange => ({
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

/** The last result that a run's worker submitted, as it came; null if there is none. */
async function readSubmitted(copy: string, run: string): Promise<unknown> {
  const projectPaths = pathsOfCopy(copy);
  let hash: string | undefined;
  await forEachEntry(projectPaths, run, (entry) => {
    // The flow's step `report` asks for the result: `work@1/report#2`.
    if (
      entry.event === "turn_ended" &&
      entry.returned === true &&
      /\/report#/.test(entry.attempt)
    ) {
      hash = entry.claim;
    }
  });

  return hash === undefined
    ? null
    : openClaimReader(openBlobReader(runFolder(projectPaths, run)))(hash);
}

type RunAtRest = {
  readonly state: PortfolioView;
  readonly task: TaskView;
  readonly view: RunView;
  readonly now: string;
};

/**
 * What to record about a run that waits: for a person, for its provider, or because the pool was
 * stopped. Null if the run is over.
 */
function createRestChanges(
  paths: PortfolioPaths,
  { state, task, view, now }: RunAtRest,
): readonly PortfolioChange[] | null {
  const run_id = task.run_id ?? "";
  if (view.status === "draft") return [];
  if (view.status === "running") return view.resting === null ? [] : null; // a run out of cycles is over; one whose process was killed isn't
  if (view.status !== "paused") return null;
  const [question] = listOpenQuestions(view);
  if (question !== undefined) return askForRun({ state, task, view, now }, question);

  const restedChange = {
    ...systemFields,
    event: "worker_rested",
    task_id: task.task_id,
    run_id,
    usage: readUsage(view),
  } as const;

  if (view.parked !== undefined) {
    const resumesAt = computeResumeTimeMs(view, parseIsoTime(now) ?? 0);
    if (resumesAt === null) {
      return [
        ...createUsageChange(task, run_id, view),
        ...blockTask(state, describeProviderCause(task, view.parked), task.task_id, now),
      ];
    }

    return [
      {
        ...restedChange,
        because: `its provider is at a limit: ${view.parked.detail}`,
        until: formatIsoTime(resumesAt),
      },
    ];
  }

  const short = listUnraisedLimits(view);
  if (short.length > 0) {
    return [
      {
        ...restedChange,
        because: `${describeProgress(view)}; its work is kept`,
        until: null,
        short: [...short],
      },
    ];
  }

  if (view.short !== undefined) return []; // its limits were raised meanwhile: it only needs to be resumed
  const { reason } = view;
  if (reason !== null && isReasonCode(reason) && findRetryPolicy(reason) === "always") {
    const failure = { code: reason, message: view.detail ?? reason };
    // The run goes on when the outage is over.
    return [
      ...createUsageChange(task, run_id, view),
      ...delayOrAsk(paths, { state, now: () => now }, task, { doing: "start", failure }),
    ];
  }

  return hasFailed(view) || reason !== "operator_paused" ? null : [];
}

/** Asks a run's question in the portfolio; nothing if it is asked already. */
function askForRun(
  { state, task, view, now }: RunAtRest,
  { block, question, options }: ReturnType<typeof listOpenQuestions>[number],
): readonly PortfolioChange[] {
  const run_id = task.run_id ?? "";
  const opened = ask(
    {
      kind: "run",
      project_id: task.project_id,
      task_id: task.task_id,
      question,
      expected_action: "answer it; the run goes on with your words",
      impact: `${task.task_id} waits`,
      options: { ...options },
      about: "",
      asked_by: { run_id, block },
    },
    now,
  );

  const isOpen = listOpenBlocks(state).some(({ content }) => content === opened.content);
  return isOpen ? [] : [...createUsageChange(task, run_id, view), opened];
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
  const loaded = short === null || run_id === null ? null : await loadTaskRun(paths, task);
  if (
    loaded === null ||
    run_id === null ||
    loaded.owner !== null ||
    listUnraisedLimits(loaded.view).length > 0
  ) {
    return [];
  }

  const { tokens, usd } = loaded.view.limits.run;
  const allowance = {
    ...(tokens === undefined ? {} : { tokens }),
    ...(usd === undefined ? {} : { usd }),
  };

  return [
    {
      event: "run_limits_raised",
      actor: "system",
      reason_code: "limit_raised",
      task_id,
      run_id,
      allowance,
    },
  ];
}

/** What a run that rests at its budget has used, and what is done so far. */
function describeProgress(view: RunView): string {
  const { tokens, usd } = readUsage(view);
  const turns = view.turns.filter(({ isOver }) => isOver).length;
  const criteria = listUserCriteria(view);
  const phases = isReportedByPhases(view)
    ? view.phases.filter(({ group }) => group === "phases")
    : [];

  const done = [
    plural(turns, "turn"),
    ...(phases.length === 0
      ? []
      : [
          `${phases.filter(({ status }) => status === "completed").length} of ${plural(phases.length, "phase")}`,
        ]),
    ...(criteria.length === 0
      ? []
      : [
          `${criteria.filter(({ proved }) => proved).length} of ${plural(criteria.length, "criterion", "criteria")} proved`,
        ]),
  ];

  return `its run has used ${formatAmount("tokens", tokens)}${usd > 0 ? ` and ${formatAmount("usd", usd)}` : ""}; done so far: ${done.join(", ")}`;
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
