// next-actions: lists what a person can do about a run now, as commands to copy if there are some,
// from its state and reason code alone.

import { isReasonCode, type ReasonCode, reasons } from "../contracts/reason.ts";
import type { RunView } from "../core/state.ts";
import type { VerdictWithGaps } from "../core/verdict.ts";
import { unreachable } from "../kit/unreachable.ts";
import { isVerdictQuestion, composeVerdictCommand, listOpenVerdicts } from "./verdicts.ts";
import {
  describeProof,
  unfinishedSentence,
  describeProofAndLanding,
} from "./sentences/verdict-sentences.ts";
import { type Landing, describeLanding } from "./sentences/landing-sentence.ts";
import { listResumeCommands } from "./resume-commands.ts";
import { oneLine, quoteArgument } from "./wording.ts";
import { runBranchName } from "../contracts/run-branch.ts";

/** The process that works on a run, or null if none does. */
export type Owner = { readonly pid: number } | null;

/**
 * At least one action for every state a run can be in. `isCurrent: false` names the run in every
 * command.
 */
export function listNextActions(
  run: RunView,
  owner: Owner = null,
  { isCurrent = true }: { readonly isCurrent?: boolean } = {},
): readonly string[] {
  const actions = [...new Set(listActions(run, owner))];
  return isCurrent ? actions : actions.map((action) => nameRun(action, run.drafted.run_id));
}

function listActions(run: RunView, owner: Owner): readonly string[] {
  switch (run.status) {
    case "draft":
      return run.acknowledged
        ? ["autopilot go"]
        : ["autopilot go --yes", `autopilot ack ${run.drafted.ack.slice(0, 12)}`];
    case "running":
      if (owner !== null) return [...listAnswerCommands(run), "autopilot watch", "autopilot pause"];
      return [...listAnswerCommands(run), "autopilot resume", "autopilot stop"];
    case "paused":
      return [...listAnswerCommands(run), ...listResumeCommands(run), "autopilot stop"];
    case "stopped":
      return [
        ...(run.reason === null || run.reason === "operator_stopped" || !isReasonCode(run.reason)
          ? []
          : [reasons[run.reason].hint]),
        "autopilot report",
        `git log ${runBranchName(run.drafted.run_id)}`,
        'autopilot "what you want done"',
      ];
    case "completed":
      return listCompletedActions(run);
    default:
      return unreachable(run.status);
  }
}

function listAnswerCommands(run: RunView): readonly string[] {
  const verdicts = listOpenVerdicts(run).map(({ phase }) => composeVerdictCommand(phase));
  const others = Object.values(run.blocks).filter((block) => !isVerdictQuestion(block));
  return [
    ...verdicts,
    ...others.flatMap(({ tests }) =>
      (tests?.paths ?? [])
        .slice(0, 1)
        .map((path) => `autopilot diff --file ${quoteArgument(path)}`),
    ),
    ...others.map(({ block, options, recommend }) => {
      const answer = recommend ?? Object.keys(options)[0] ?? '"…"';
      const blockFlag = others.length === 1 ? "" : ` --block '${oneLine(block)}'`;
      const isLastAnswer = run.status === "paused" && others.length === 1 && verdicts.length === 0;

      return `autopilot answer${blockFlag} ${oneLine(answer)}${isLastAnswer ? " && autopilot resume" : ""}`;
    }),
  ];
}

function listCompletedActions(run: RunView): readonly string[] {
  const { flow, objective } = run.drafted;
  const criteria = objective.done_criteria;
  const hasChecks =
    flow.playbook !== undefined ||
    (criteria.length > 0 && criteria.every(({ check }) => check !== null));
  const addCheck =
    run.verdict === "verified" || hasChecks
      ? []
      : ["add a check next time: --done-criteria 'text :: command'"];

  const request = run.pull_request;
  const watchRequest =
    request?.opened == null || request.ended !== null
      ? []
      : [`autopilot pr watch ${run.drafted.run_id}`];
  return [
    ...listLandingActions(run),
    ...watchRequest,
    "autopilot report",
    "autopilot verify",
    ...addCheck,
  ];
}

/** How finished work that is still on the run's own branch gets onto the user's. */
function listLandingActions(run: RunView): readonly string[] {
  const keptBranch = whyBranchKept(run);
  if (keptBranch === null) return [];
  if (isPullRequestDue(run)) return [`autopilot pr ${run.drafted.run_id}`];
  const [branch, base] = [runBranchName(run.drafted.run_id), run.drafted.base.commit.slice(0, 12)];
  const merge = describeMerge(keptBranch.code, branch, base);

  return keptBranch.code === "work_unproved" || keptBranch.code === "changed_tests_held"
    ? [`git diff ${base} ${branch}`, merge]
    : [merge];
}

/**
 * A merge overwrites ignored files in its way, so no plain `git merge` is offered while there are
 * any.
 */
function describeMerge(code: string, branch: string, base: string): string {
  const merge = `git merge ${branch}`;
  if (code === "checkout_dirty") {
    return `commit, stash or move away what is named above, then ${merge}`;
  }

  if (code === "checkout_busy") return `finish or abort what is named above, then ${merge}`;
  if (code === "checkout_unwritable") return `mend what is named above, then ${merge}`;
  if (code === "merge_unproved") return `${merge}, then mend what fails`;

  return code === "branch_rewritten" ? `git cherry-pick ${base}..${branch}` : merge;
}

/** Whether its work was to become a pull request and has not yet. */
export const isPullRequestDue = (run: RunView): boolean =>
  run.status === "completed" &&
  findLastLanding(listOutcomes(run))?.facts["why"] === "pull_request" &&
  (run.pull_request?.opened ?? null) === null;

/** Whether the newest work of this run that was to land has landed on the user's branch. */
export const hasLanded = (run: RunView): boolean =>
  findLastLanding(listOutcomes(run))?.facts["landed"] === true;

const listOutcomes = (run: RunView) =>
  Object.values(run.cursors).flatMap(({ last }) => Object.values(last));
// If each phase lands by itself, the landing of the last phase decides.
const findLastLanding = (outcomes: ReturnType<typeof listOutcomes>) =>
  outcomes.findLast(({ facts }) => facts["landed"] !== undefined);

/**
 * A sentence or two about a completed run: whether all of it is done, what was proved, and where
 * the work is.
 */
export function describeEnding(
  run: RunView,
  proof: VerdictWithGaps = { verdict: run.verdict ?? "unverified", gaps: run.gaps },
): string {
  const unmergedWork = whyBranchKept(run) === null ? "nothing" : "kept";
  const landing: Landing = hasLanded(run) ? "landed" : unmergedWork;
  const branch = runBranchName(run.drafted.run_id);
  const undone = listUndonePhases(run);
  const opened = run.pull_request?.opened ?? null;
  if (undone.length === 0 && opened !== null) {
    return `${describeProof(proof.verdict, proof.gaps)} It is in ${oneLine(opened.url)}.`;
  }

  if (undone.length === 0) return describeProofAndLanding({ ...proof, landing, branch });
  const landingText =
    landing === "landed"
      ? "What was completed is on your branch."
      : describeLanding(proof.verdict, landing, branch);

  return `${unfinishedSentence(undone)} ${landingText}`.trimEnd();
}

/**
 * Phases that should be done and are not: failed, blocked by a failed one, or not reached. Those
 * left out on purpose don't count.
 */
export const listUndonePhases = (run: RunView): readonly string[] =>
  run.phases
    .filter(({ group, status, because }) => {
      if (group !== "phases" || status === "completed") return false;
      return status === "skipped" ? because?.startsWith("blocked_by_") === true : true;
    })
    .map(({ id }) => id);

/**
 * Why finished work is still on the run's own branch: from the run, a phase, or the landing step.
 * Null if it landed or there is none.
 */
export function whyBranchKept(
  run: RunView,
): { readonly code: ReasonCode; readonly detail: string | null } | null {
  const outcomes = listOutcomes(run);
  const newest = findLastLanding(outcomes);
  const landingReason = newest?.facts["why"];
  if (isPullRequestDue(run)) return { code: "pull_request_pending", detail: null };
  if ((run.pull_request?.opened ?? null) !== null) return null;
  if (
    run.tip.commit === run.drafted.base.commit ||
    newest?.facts["landed"] === true ||
    landingReason === "nothing_to_land"
  ) {
    return null;
  }

  const candidateReasons = [
    newest?.reason ?? null,
    run.reason,
    ...run.phases.map(({ because }) => because),
    ...outcomes.map(({ reason }) => reason),
  ];
  const code =
    candidateReasons.find(
      (reason): reason is ReasonCode => reason !== null && branchKeepingReasons.has(reason),
    ) ?? "branch_kept";

  return { code, detail: newest?.detail ?? null };
}

const branchKeepingReasons: ReadonlySet<string> = new Set([
  "branch_kept",
  "work_unproved",
  "changed_tests_held",
  "checkout_dirty",
  "checkout_busy",
  "checkout_moved",
  "checkout_unwritable",
  "branch_rewritten",
  "merge_conflict",
  "merge_unproved",
]);

/**
 * Adds `--run ID` to commands that are about one run: `autopilot resume` becomes `autopilot resume
 * --run ID`.
 */
const nameRun = (action: string, run: string): string =>
  action.replace(
    /\bautopilot (status|go|pause|resume|stop|report|ack|approve|answer|diff|verdict|trace|inbox|budget|verify|log|watch)\b/g,
    (_, command: string) => `autopilot ${command} --run ${run}`,
  );
