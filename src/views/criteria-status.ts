// criteria-status: says in sentences what of a run is proved, done, pending and in the way. Status
// and report use the same sentences.

import {
  type Check,
  type CheckResult,
  type CheckStatus,
  couldNotRun,
} from "../contracts/evidence.ts";
import type { Criterion } from "../contracts/objective.ts";
import { isReasonCode, reasons } from "../contracts/reason.ts";
import { findBaseline, judgeChecks } from "../core/completion.ts";
import { listOpenAttempts, listOpenQuestions, stepsOfPhase } from "../core/selectors.ts";
import { ownValue } from "../core/own-values.ts";
import type { RunView } from "../core/state.ts";
import { buildFlowProof } from "./flow-proof.ts";
import { isVerdictQuestion, listOpenVerdicts } from "./verdicts.ts";
import { describeChoices, oneLine, describeCursor } from "./wording.ts";

/** A done criterion; `check` is the command that proves it. */
export type CriterionStatus = {
  readonly id: string;
  readonly text: string;
  readonly check: string | null;
  readonly proved: boolean;
};

/**
 * Each done criterion with whether the runner's own check holds now. One without a check is never
 * proved.
 */
export function listCriteria(run: RunView): readonly CriterionStatus[] {
  return run.drafted.objective.done_criteria.map((criterion) => ({
    ...criterion,
    proved: findLatestResult(run, criterion)?.status === "passed",
  }));
}

/**
 * The criteria that the user gave. Without any, the goal stands in for them; but a flow that
 * follows documents or gates needs no goal.
 */
export function listUserCriteria(run: RunView): readonly CriterionStatus[] {
  const { flow, objective } = run.drafted;
  if (!hasOnlyGoal(objective)) return listCriteria(run);
  return flow.playbook !== undefined || !buildFlowProof(flow).isByCriteria ? [] : listCriteria(run);
}

/** Whether the user gave no criteria, so that the goal itself stands in for them. */
export const hasOnlyGoal = ({
  goal,
  done_criteria,
}: {
  readonly goal: string;
  readonly done_criteria: readonly Criterion[];
}): boolean => done_criteria.every(({ text, check }) => check === null && text === goal);

/** Whether a run is reported by its phases: they were read from documents, or there are several. */
export function isReportedByPhases(run: RunView): boolean {
  const phases = run.phases.filter(({ group }) => group === "phases").length;
  return phases > 1 || (phases > 0 && "read" in run.drafted.flow.phases);
}

function findLatestResult(run: RunView, criterion: Criterion): CheckResult | null {
  if (criterion.check === null) return null;
  const isOfCriterion = ({ kind, id, command }: Check): boolean =>
    kind === "criterion" && (id === `criterion:${criterion.id}` || command === criterion.check);
  return (
    Object.values(run.checks).find(({ latest }) => isOfCriterion(latest.check))?.latest ?? null
  );
}

/**
 * Whether a cycle worked on a criterion. For one that no command can prove, that is the best there
 * is, and it is reported as no proof.
 */
const isWorkedOn = (run: RunView, id: string): boolean =>
  Object.values(run.cursors).some(({ seen }) =>
    Object.values(seen).some(({ facts }) => facts[`done_${id}`] === true),
  );

type PhaseStatus = {
  readonly name: string;
  readonly isOver: boolean;
  readonly done: readonly string[];
  readonly pending: readonly string[];
};

export type StepLists = {
  readonly completed: readonly string[];
  readonly pending: readonly string[];
};

/** Done criteria come first, then the flow's phases; the open phase is listed step by step. */
export function listSteps(run: RunView): StepLists {
  const isOver = run.status === "completed";
  const completed: string[] = [];
  const pending: string[] = [];

  for (const { id, text, check, proved } of listUserCriteria(run)) {
    const line = `criterion ${id}: ${text}`;
    if (proved) {
      completed.push(`${line} (proved)`);
    } else if (isOver || (check === null && isWorkedOn(run, id))) {
      completed.push(`${line} (not proved${check === null ? ": it has no check" : ""})`);
    } else {
      pending.push(line);
    }
  }

  for (const phase of summarizePhases(run)) {
    if (phase.isOver) completed.push(phase.name);
    else completed.push(...phase.done);

    pending.push(...phase.pending);
  }

  return { completed, pending };
}

function summarizePhases(run: RunView): readonly PhaseStatus[] {
  return run.phases.map(({ id, name, status }) => {
    const title = formatPhaseTitle(id, name);
    if (status === "completed" || status === "skipped") {
      return {
        name: status === "skipped" ? `${title} (skipped)` : title,
        isOver: true,
        done: [],
        pending: [],
      };
    }

    if (status !== "open") return { name: title, isOver: false, done: [], pending: [title] };
    const last = run.cursors[id]?.last ?? {};
    const steps = stepsOfPhase(run.drafted.flow, id).map((step) => ({
      line: `${title}: ${step.id}`,
      outcome: last[step.id]?.kind ?? null,
    }));

    return {
      name: title,
      isOver: false,
      done: steps.filter(({ outcome }) => outcome === "passed").map(({ line }) => line),
      pending: steps
        .filter(({ outcome }) => outcome === null || outcome === "failed")
        .map(({ line }) => line),
    };
  });
}

/** `phase 1 (Parser)`; the groups around the phases need no prefix in a title. */
function formatPhaseTitle(id: string, name: string): string {
  const short = id.replace(/^(before|after)\./, "");
  return name === "" || name === short ? `phase ${short}` : `phase ${short} (${name})`;
}

/** Everything that keeps the run from going on, worst first; empty if nothing does. */
export function listBlockers(run: RunView): readonly string[] {
  return [
    ...describeUnchosenPause(run),
    ...listOpenVerdicts(run).map(
      ({ phase, name }) => `${formatPhaseTitle(phase, name)} needs your verdict`,
    ),
    ...listOpenQuestions(run)
      .filter((block) => !isVerdictQuestion(block))
      .map(
        ({ question, options }) =>
          `a question waits for you: ${oneLine(question)} [${describeChoices(options)}]`,
      ),
    ...describeFailingChecks(run),
    ...listProblems(run),
    ...run.gaps.map((gap) => `not proved: ${oneLine(gap)}`),
  ];
}

export const describeFailingChecks = (run: RunView): readonly string[] =>
  listFailingChecks(run).map(({ check, status, exit_code, why }) => {
    const problem =
      check.kind === "project"
        ? describeProjectCheck(run, check.id)
        : `the ${check.kind.replace("_", "-")} check fails`;

    const failure =
      status === "failed" ? (why ?? `exit ${exit_code ?? "unknown"}`) : status.replace("_", " ");
    return `${problem}: ${oneLine(check.command)} (${failure})`;
  });

/** Failed phases, an open circuit breaker, a hold. */
export function listProblems(run: RunView): readonly string[] {
  const { breaker, hold } = run;
  const failedPhases = run.phases
    .filter(({ status }) => status === "failed")
    .map((phase) => describeFailedPhase(run, phase));

  // If the run is paused for the breaker, the pause says so already.
  const isBreakerOpen =
    breaker.state === "open" && run.status !== "completed" && run.reason !== "breaker_open";
  const breakerReason = (breaker.because ?? "no progress").replaceAll("_", " ");
  return [
    ...failedPhases,
    ...(isBreakerOpen
      ? [
          `the circuit breaker is open (${breakerReason}) until ${breaker.cooldown_until ?? "it is reset"}`,
        ]
      : []),
    ...(hold === null || run.status === "paused" ? [] : [`held: ${hold.replaceAll("_", " ")}`]),
  ];
}

function describeFailedPhase(
  run: RunView,
  { id, name, because }: RunView["phases"][number],
): string {
  const reason = because === null ? "" : `: ${because.replaceAll("_", " ")}`;
  return `${formatPhaseTitle(id, name)} failed${reason}${hasFailedToUndo(run, id) ? "; its changes could not be undone" : ""}`;
}

const hasFailedToUndo = (run: RunView, phase: string): boolean =>
  Object.values(ownValue(run.cursors, phase)?.last ?? {}).some(
    ({ kind, facts }) => kind === "failed" && facts["rollback_performed"] === false,
  );

const chosenPauses: readonly string[] = [
  "operator_paused",
  "boundary_reached",
  "session_boundary",
  "checkpoint_reached",
  "human_block_open",
  "approval_required",
];

/** Pauses that the user chose aren't blockers; every other one is, with its meaning. */
function describeUnchosenPause(run: RunView): readonly string[] {
  if (run.status !== "paused" || run.reason === null || chosenPauses.includes(run.reason)) {
    return [];
  }

  if (listOpenQuestions(run).some(({ question }) => question === run.detail)) return []; // the question is listed
  const meaning = isReasonCode(run.reason) ? reasons[run.reason].meaning : "The run is paused.";
  return [`${run.reason}: ${meaning}${run.detail === null ? "" : ` (${oneLine(run.detail)})`}`];
}

function describeProjectCheck(run: RunView, id: string): string {
  const baseline = findBaseline(run.checks[id]);
  if (baseline === null) return "a check of the project fails";
  return `a check that ${baseline.status === "passed" ? "passed before the run fails" : "failed before the run fails worse"} now`;
}

/**
 * A criterion that has failed since before the first turn is work to do, not a blocker; a project
 * check counts only if it is worse than then.
 */
export function listFailingChecks(run: RunView): readonly CheckResult[] {
  const byPhases = isReportedByPhases(run);
  return Object.values(run.checks)
    .filter(({ baseline, latest }) => {
      if (latest.status === "passed") return false;
      if (latest.check.kind === "project") return !judgeChecks([latest], run.checks).passed;
      return !byPhases && latest.evidence !== baseline.evidence; // a phase's own checks are reported with the phase
    })
    .map(({ latest }) => latest);
}

/** Where the run is: its open attempts, or its open phases if no attempt is open. */
export function describeCurrentPlaces(run: RunView): readonly string[] {
  const attempts = listOpenAttempts(run);
  if (attempts.length > 0) {
    return attempts.map(
      ({ step, cursor, stage }) => `${step} of ${describeCursor(cursor)} (${stage})`,
    );
  }

  return run.phases
    .filter(({ status }) => status === "open")
    .map(({ id, name }) => formatPhaseTitle(id, name));
}

/** A check's result at the start of a line. */
export function checkMark(status: CheckStatus): string {
  if (status === "passed") return "✓";
  return couldNotRun({ status }) ? "!" : "✗";
}
