// ingest: the result of a run, taken into the portfolio's journal: once, and by the runner's own proof.

import { randomBytes } from "node:crypto";
import type { PortfolioChange, WorkerResult } from "../../contracts/portfolio-journal.ts";
import { unraisedLimits } from "../../core/limit-hit.ts";
import { hasFailed, questionsOpen } from "../../core/selectors.ts";
import type { RunView } from "../../core/state.ts";
import { canonicalJson } from "../../kit/canonical-json.ts";
import { formatIsoTime, parseIsoTime } from "../../kit/iso-time.ts";
import { taskIdOf } from "../planner/ids.ts";
import { approvalOf, type Cause, type Question } from "../planner/questions.ts";
import { followUpsOf, handedIn, judge, proofOf, whyNotOurs } from "../planner/result.ts";
import { openBlocks, type PortfolioView, type TaskView } from "../planner/state.ts";
import { ask, holdUp } from "../store/ask.ts";
import type { OpenPortfolio } from "../store/open.ts";
import { copyIn, type PortfolioPaths } from "../store/folder.ts";
import { resumeTimeMs } from "../../runner/wait-for-provider.ts";
import { exchangeFor } from "./exchange-for.ts";
import { eachEntry } from "../../project/runs/entries.ts";
import { runFolder } from "../../project/runs/project-paths.ts";
import { blobReader } from "../../playbooks/contract/run-journal.ts";
import { openClaimReader } from "../../project/runs/run-blobs.ts";
import { isReasonCode } from "../../contracts/reason.ts";
import { retryOf } from "../../project/respond.ts";
import { isByPhases, listOwnCriteria } from "../../views/criteria-status.ts";
import { amount, plural } from "../../views/wording.ts";
import { laterOrAsked } from "./try-again.ts";
import { chargeOf, endOf, homeOfCopy, usageOf, viewOf } from "./worker.ts";

const system = { actor: "system", reason_code: "ok" } as const;

/** What to record about a task whose run is no longer driven. Empty if it only needs to be resumed. */
export async function ingest(
  paths: PortfolioPaths,
  { state, now }: Pick<OpenPortfolio, "state" | "now">,
  task: TaskView,
): Promise<readonly PortfolioChange[]> {
  const loadedRun = await viewOf(paths, task);
  const copy = copyIn(paths, task);
  const project = state.projects[task.project_id];
  if (loadedRun === null || copy === null || project === undefined || loadedRun.owner !== null) return [];
  const { view } = loadedRun;
  const delivered = { task_id: task.task_id, run_id: task.run_id ?? "", event_nonce: task.event_nonce ?? "" };
  if (whyNotOurs(task, delivered) !== null) return [];
  const waits = restOf(paths, state, task, view, now());
  if (waits !== null) return waits;
  const base = task.base ?? view.drafted.base.commit;
  const exchange = project.repository === null ? null : await exchangeFor(paths, state, project.repository);
  // Work that goes on from an earlier attempt is still to be merged, though this run may have changed nothing more.
  const goesOn = task.returned_by === "queue" || task.attempt > 1;
  const tip = exchange !== null && goesOn ? await exchange.tipOf(project.target) : null; // the journal is held: no question that isn't needed
  const isNew = tip !== null && exchange !== null && !(await exchange.holds(base, tip));
  const end = endOf(view, base, isNew);
  const proof = proofOf(task.acceptance_criteria, end);
  const isAsked = view.drafted.options["wants_result"] === true;
  const handed = isAsked ? handedIn(task, end.is_completed ? await handedInBy(copy, delivered.run_id) : null) : null;
  const judgement = judge(task, project, end, proof, handed);
  const commit = end.is_completed && end.has_changes ? view.tip.commit : null;
  if (commit !== null) await exchange?.takeCommit({ copy, commit, since: base, name: task.task_id }); // before the journal names it
  const evidence = [
    ...Object.values(view.checks).map(({ latest }) => `${latest.status}: ${latest.check.command}`),
    `report: autopilot -C ${copy} report --run ${delivered.run_id}`,
  ];
  const summary =
    view.status === "completed"
      ? `${delivered.run_id} completed, ${view.verdict ?? "unverified"}; ${judgement.because}.`
      : `${delivered.run_id} is ${view.status}: ${view.detail ?? view.reason ?? "no reason"}; ${judgement.because}.`;
  const result: PortfolioChange = {
    ...system,
    event: "worker_result_ingested",
    ...delivered,
    to_status: judgement.to,
    commit,
    proof,
    claim: handed?.claim ?? null,
    summary,
    evidence,
    usage: usageOf(view),
  };
  const changes = [result, ...followUps(state, task, handed?.claim ?? null)];
  if (judgement.to === "running" && commit !== null)
    return [...changes, { ...system, event: "merge_queued", task_id: task.task_id, run_id: delivered.run_id, commit }];
  if (judgement.ask === null) return changes;
  const approval: Question = {
    kind: "approve",
    project_id: task.project_id,
    task_id: task.task_id,
    ...approvalOf(task),
    expected_action: `${task.returned_by === "queue" ? "the merge queue gave it back, and it was worked on again: " : ""}look at the diff (${diffFor(task, copy, base, commit)}), then answer A or B`,
    impact: "its work is not merged before",
    options: { A: "it does; merge it", B: "it does not; try again" },
    asked_by: null,
  };
  return [...changes, ask(approval, now())];
}

/** All that merging changes: a run that goes on from other work, or from a conflict, began later than the target branch. */
const diffFor = ({ run_id, tip }: TaskView, copy: string, base: string, commit: string | null): string =>
  tip === null || tip === base || commit === null
    ? `autopilot -C ${copy} diff --run ${run_id ?? ""}`
    : `git -C ${copy} diff ${tip} ${commit}`;

/** What the worker says should follow: proposed, never ready by itself. */
function followUps(state: PortfolioView, task: TaskView, claim: WorkerResult | null): readonly PortfolioChange[] {
  const siblings = (state.projects[task.project_id]?.tasks ?? []).flatMap((id) => state.tasks[id]?.objective ?? []);
  return followUpsOf(task, claim, siblings).map((fields): PortfolioChange => ({
    event: "followup_task_created",
    actor: `agent:${task.worker_agent_id ?? "unknown"}`,
    reason_code: "ok",
    task_id: taskIdOf(fields.objective, randomBytes(6)),
    project_id: task.project_id,
    parent_task_id: task.task_id,
    status: "proposed",
    fields,
  }));
}

/** The last result that a run's worker handed in, as it came; null if there is none. */
async function handedInBy(copy: string, run: string): Promise<unknown> {
  const projectPaths = homeOfCopy(copy);
  let hash: string | undefined;
  await eachEntry(projectPaths, run, (entry) => {
    if (entry.event === "turn_ended" && entry.returned === true && /\/report#/.test(entry.attempt)) hash = entry.claim;
  });
  return hash === undefined ? null : openClaimReader(blobReader(runFolder(projectPaths, run)))(hash);
}

/** A run that waits: for a person, for its provider, or because the pool was stopped. Null if it is over, well or not. */
function restOf(
  paths: PortfolioPaths,
  state: PortfolioView,
  task: TaskView,
  view: RunView,
  now: string,
): readonly PortfolioChange[] | null {
  const run_id = task.run_id ?? "";
  if (view.status === "draft") return [];
  if (view.status === "running") return view.resting === null ? [] : null; // out of cycles is an end; cut short is not
  if (view.status !== "paused") return null;
  const [question] = questionsOpen(view);
  if (question !== undefined) {
    const asked_by = { run_id, block: question.block };
    const opened = ask(
      {
        kind: "run",
        project_id: task.project_id,
        task_id: task.task_id,
        question: question.question,
        expected_action: "answer it; the run goes on with your words",
        impact: `${task.task_id} waits`,
        options: { ...question.options },
        about: "",
        asked_by,
      },
      now,
    );
    return openBlocks(state).some(({ content }) => opened.event === "block_opened" && content === opened.content)
      ? []
      : [...chargeOf(task, run_id, view), opened];
  }
  if (view.parked !== undefined) {
    const resumesAt = resumeTimeMs(view, parseIsoTime(now) ?? 0);
    if (resumesAt === null) return [...chargeOf(task, run_id, view), ...holdUp(state, providerCause(task, view.parked), task.task_id, now)];
    const until = formatIsoTime(resumesAt);
    return [
      {
        ...system,
        event: "worker_rested",
        task_id: task.task_id,
        run_id,
        because: `its provider is at a limit: ${view.parked.detail}`,
        until,
        usage: usageOf(view),
      },
    ];
  }
  const short = unraisedLimits(view);
  if (short.length > 0) {
    const because = `${restText(view)}; its work is kept`;
    return [
      { ...system, event: "worker_rested", task_id: task.task_id, run_id, because, until: null, usage: usageOf(view), short: [...short] },
    ];
  }
  if (view.short !== undefined) return []; // they were raised meanwhile: it only needs to be resumed
  const outage = view.reason !== null && isReasonCode(view.reason) && retryOf(view.reason) === "always" ? view.reason : null;
  if (outage !== null) {
    const failure = { code: outage, message: view.detail ?? outage };
    return [...chargeOf(task, run_id, view), ...laterOrAsked(paths, { state, now: () => now }, task, "start", failure)]; // its run goes on when it is over
  }
  return hasFailed(view) || view.reason !== "operator_paused" ? null : [];
}

/** For a task whose run rested at limits that were raised there since, as a line for the journal; empty if they were not. */
export async function raisedSince(paths: PortfolioPaths, task: TaskView): Promise<readonly PortfolioChange[]> {
  const { task_id, run_id, short } = task;
  const loaded = short === null || run_id === null ? null : await viewOf(paths, task);
  if (loaded === null || run_id === null || loaded.owner !== null || unraisedLimits(loaded.view).length > 0) return [];
  const { tokens, usd } = loaded.view.limits.run;
  const allowance = { ...(tokens === undefined ? {} : { tokens }), ...(usd === undefined ? {} : { usd }) };
  return [{ event: "run_limits_raised", actor: "system", reason_code: "limit_raised", task_id, run_id, allowance }];
}

/** What a run that rests at its budget has used, and what is done so far. */
function restText(view: RunView): string {
  const { tokens, usd } = usageOf(view);
  const turns = view.turns.filter(({ isOver }) => isOver).length;
  const criteria = listOwnCriteria(view);
  const phases = isByPhases(view) ? view.phases.filter(({ group }) => group === "phases") : [];
  const done = [
    plural(turns, "turn"),
    ...(phases.length === 0
      ? []
      : [`${phases.filter(({ status }) => status === "completed").length} of ${plural(phases.length, "phase")}`]),
    ...(criteria.length === 0
      ? []
      : [`${criteria.filter(({ proved }) => proved).length} of ${plural(criteria.length, "criterion", "criteria")} proved`]),
  ];
  return `its run has used ${amount("tokens", tokens)}${usd > 0 ? ` and ${amount("usd", usd)}` : ""}; done so far: ${done.join(", ")}`;
}

/** What time does not fix: a refused key, a model that is not there, a limit that has lasted too long. */
const providerCause = ({ worker_agent_id: agent }: TaskView, { fault, detail }: NonNullable<RunView["parked"]>): Cause => ({
  kind: "provider",
  question: `The provider of ${agent ?? "the agent"} refuses: ${detail.slice(0, 500)} Try again?`,
  expected_action: "fix the login, the key or the limit, then answer A",
  about: canonicalJson({ agent, fault }), // its words name a request each time
});
