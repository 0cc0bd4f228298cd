// agent-step: runs an agent attempt as three actions, each with its journal line: the turn (paid),
// the apply (committed under a key), the proof.
//
// Invariants:
//   A1. A paid turn is recorded before anything else is done with it. If the attempt ends with its
//       turn (the turn failed, left its scope, or left nothing to apply and nothing to prove), both
//       lines are written together.
//   A2. Nothing of an attempt that left its scope, or wrote a secret into a file, is applied
//       (judged in turn-events.ts).
//   A3. The agent's claims decide nothing here: `passed` means that the step's own proof holds.
//   A4. Tasks of one wave are applied in the wave's order, each once those before it are over,
//       whichever turn ends first.
//   A5. The work of a turn that used more than a limit allows is kept, and proved once the limit is
//       raised.
//   A6. Disk space for a turn's outcome is reserved before the turn is paid for, and the outcome is
//       kept there (its receipt) as soon as the turn ends. If anything fails before it is recorded,
//       the next process that opens the run records it.

import type { Usage } from "../contracts/budget.ts";
import type { Step } from "../contracts/flow.ts";
import type { GitSha } from "../contracts/ids.ts";
import { findAgentSwitch } from "../core/agent-switch.ts";
import { reportedCharge, elapsedShare } from "../core/budget.ts";
import { errorFingerprint, madeProgress } from "../core/breaker.ts";
import { findOverdraft } from "../core/overdraft.ts";
import type { RunView, CursorView } from "../core/state.ts";
import type { TurnRequest, TurnResult } from "../ports/agent.ts";
import type { EndedTurn } from "../ports/turn-receipts.ts";
import type { ChangeSet } from "../ports/workspace.ts";
import { Cancelled, type StepExecution, readContext } from "./step-execution.ts";
import { checkClaims, loadTurn, buildRefusedReturn, type AgentReport } from "./check-claims.ts";
import { placeholderField } from "./placeholder-facts.ts";
import { locksField, fillPath, proveStep } from "./prove.ts";
import { buildCommitSubject, describePhase } from "./commit-subject.ts";
import type { TurnPrompt } from "./runtime.ts";
import { buildTurnRequest } from "./turn-request.ts";
import { buildCutFields, buildUnavailableFields } from "./turn-cut.ts";
import {
  buildEndedTurn,
  buildStepFailed,
  buildTurnEnded,
  buildTurnFailed,
  buildViolation,
} from "./turn-events.ts";

export async function runAgentStep(execution: StepExecution): Promise<void> {
  const { stage } = readContext(execution).open;
  const turn = stage === "started" ? await runTurn(execution) : null;
  if (turn === "over") return;
  const turnToApply = execution.waitForPlace();
  if (turnToApply !== null) await waitUncancelled(execution, turnToApply); // A4
  const applied =
    stage === "applied" ? { parent: null } : await applyChanges(execution, turn?.changes ?? null);
  if (applied === "over") return;
  if (findOverdraft(execution.run()) !== null) return recordOverBudget(execution); // A5
  await recordProof(execution, turn, applied.parent);
}

/**
 * The attempt stays open as it is: paid, its work on the run's branch, only the proof still to
 * come.
 */
const recordOverBudget = (execution: StepExecution): Promise<void> =>
  execution.record({
    event: "step_interrupted",
    attempt: execution.attempt,
    by: "budget",
    reason_code: "budget_threshold_reached",
    detail:
      "the turn used more than the budget allows; its work is kept and is checked once the limit is raised",
  });

async function waitUncancelled(execution: StepExecution, place: Promise<void>): Promise<void> {
  await place;
  if (execution.cancel.isCancelled) throw new Cancelled();
}

/** What a turn left behind; known only in the process that ran it. */
type CompletedTurn = { readonly changes: ChangeSet; readonly report: AgentReport };

/**
 * Runs the turn, or records one that another process ran: its changes and its text; `over` if the
 * attempt ended with it.
 */
async function runTurn(execution: StepExecution): Promise<CompletedTurn | "over"> {
  const { runtime, attempt } = execution;
  const receipt = runtime.receipts.read(attempt);
  if (receipt !== null) return recordTurn(execution, receipt); // A6
  runtime.receipts.reserve(attempt); // A6
  const { turnPrompt, request } = await prepareTurn(execution);
  if (execution.cancel.isCancelled) throw new Cancelled();
  const { result, usage } = await takeTurn(execution, request.turn);
  if (result.kind === "ended") {
    const turn = buildEndedTurn(execution, result, { agent: turnPrompt.cast.agent, usage });
    runtime.receipts.keep(attempt, turn); // A6
    endIfCancelled(execution, usage);

    return recordTurn(execution, turn, turnPrompt.prompt);
  }

  endIfCancelled(execution, usage);
  if (result.kind === "cut" && (result.by !== "deadline" || request.isBoundByBudget)) {
    // Nothing is charged for a call that the provider refused before it did anything.
    const isFree = result.by === "provider" && result.usage === null && result.hasWorked !== true;
    const paid = isFree ? {} : { usage };
    await execution.recordAndQuarantine({
      event: "step_interrupted",
      attempt,
      ...paid,
      detail: result.detail,
      ...buildCutFields(result),
    });

    return "over";
  }

  if (result.kind === "failed" && result.reason === "agent_unavailable") {
    await execution.recordAndQuarantine({
      event: "step_interrupted",
      attempt,
      detail: result.detail,
      ...buildUnavailableFields(result.usage, usage),
    });

    return "over";
  }

  return failTurn(execution, result, turnPrompt.cast.agent, usage);
}

/**
 * Makes the agent's folder, chooses another agent if the first is at its limit, and renders the
 * prompt.
 */
async function prepareTurn(execution: StepExecution): Promise<PreparedTurn> {
  const { runtime, attempt } = execution;
  const { run, cursor, step, open } = readContext(execution);

  const layer = await runtime.workspace.openLayer(
    attempt,
    step.masks ?? [],
    layerPatterns(run, cursor, step),
    (other) => execution.run().open[other] === undefined,
  );

  const agentSwitch = findAgentSwitch(run, step.agent ?? "", runtime.clock.now());
  if (agentSwitch !== null) {
    await execution.record({
      event: "agent_switched",
      reason_code: "agent_switched",
      ...agentSwitch,
    });
  }

  const turnPrompt = await runtime.buildPrompt({ run, cursor, step, open });
  const previousReturn =
    step.returns === undefined
      ? undefined
      : (await loadTurn(execution, cursor.handed?.[step.id]))?.claim;

  return { turnPrompt, request: buildTurnRequest(execution, turnPrompt, layer, previousReturn) };
}

type PreparedTurn = {
  readonly turnPrompt: TurnPrompt;
  readonly request: ReturnType<typeof buildTurnRequest>;
};

/**
 * Runs the agent, and works out what the turn is charged: what was reported, else an estimate; a
 * turn that was cut short, its share of it.
 */
async function takeTurn(
  execution: StepExecution,
  request: TurnRequest,
): Promise<{ readonly result: TurnResult; readonly usage: Usage }> {
  const { clock, agents } = execution.runtime;
  const { need } = readContext(execution).open;
  const startedMs = clock.monotonicMs();
  const result = await agents.turn(request);
  const minutes = (clock.monotonicMs() - startedMs) / 60_000;
  const share = result.kind === "cut" ? elapsedShare(minutes, need, request.minutesMax) : 1;
  const receivedBytes = "said" in result ? Buffer.byteLength(result.said) : 0;

  return {
    result,
    usage: reportedCharge(result.usage, {
      need,
      minutes,
      source: result.usage?.source,
      share,
      receivedBytes,
    }),
  };
}

function endIfCancelled(execution: StepExecution, usage: Usage): void {
  if (!execution.cancel.isCancelled) return;
  execution.usageWhenCancelled = usage;
  throw new Cancelled();
}

/**
 * Records a turn that has ended, with what it left in its layer. `prompt` is unknown if another
 * process ran it.
 */
async function recordTurn(
  execution: StepExecution,
  turn: EndedTurn,
  prompt?: string,
): Promise<CompletedTurn | "over"> {
  const { runtime, attempt } = execution;
  const { run, cursor, step } = readContext(execution);
  const { agent, promised, announced_more, question, outside = [] } = turn.event;
  const changes = await runtime.workspace.changesOf(attempt);
  const endedEvent = await buildTurnEnded(execution, turn, changes);
  const report = { ...turn.report, promised, ...(prompt === undefined ? {} : { prompt }) };
  const isWithoutChanges =
    changes.paths.length === 0 && changes.violations.length === 0 && outside.length === 0;
  if (isWithoutChanges && (step.proof ?? []).length === 0) {
    const progress = progressField(
      step,
      madeProgress(run, cursor.phase, { tree: run.tip.tree, checks: [], changed: false }),
    );

    const facts = { changed: false, promised, announced_more, ...questionFact(question) };
    const claimEvents = await checkClaims(execution, {
      agent,
      report,
      commit: run.tip.commit,
      changed: [],
      results: [],
    });

    const ending = { ...progress, ...ignoredDetail(changes.ignored) };
    await execution.record(endedEvent, ...claimEvents, {
      event: "step_completed",
      attempt,
      facts,
      checks: [],
      tree: run.tip.tree,
      ...ending,
    }); // A1

    return "over";
  }

  const violation = buildViolation(execution, changes, outside);
  if (violation !== null) {
    await execution.recordAndQuarantine(endedEvent, violation); // A1
    return "over";
  }

  await execution.record(endedEvent); // A1
  return { changes, report };
}

/**
 * Changes that git ignores are left out; the detail says so to an agent that changed nothing else.
 */
const ignoredDetail = (ignored: number): { readonly detail?: string } =>
  ignored === 0
    ? {}
    : { detail: `nothing was changed but ${ignored} path(s) that git ignores, which are left out` };

/** The patterns of what this attempt may leave behind; undefined if the step keeps everything. */
const layerPatterns = (
  run: RunView,
  { phase, task }: CursorView,
  { keeps }: Step,
): readonly string[] | undefined =>
  keeps?.map((pattern) => fillPath(run.drafted.flow, pattern, phase, task ?? ""));

/**
 * A step that only reports, and passed without a change, is not a sign of no progress: it counts
 * neither way.
 */
const progressField = ({ keeps }: Step, progress: boolean): { readonly progress?: boolean } =>
  keeps !== undefined && !progress ? {} : { progress };

const questionFact = (question: string | null | undefined): { readonly agent_asks?: string } =>
  question === null || question === undefined || question === "" ? {} : { agent_asks: question };

/** A failed turn is charged anyway; what it left behind is set aside. */
async function failTurn(
  execution: StepExecution,
  result: Exclude<TurnResult, { kind: "ended" }>,
  agent: string,
  usage: Usage,
): Promise<"over"> {
  const reason = result.kind === "cut" ? "agent_timeout" : result.reason;
  const turn = buildTurnFailed(execution, result, { agent, reason, usage });
  const claimEvents =
    reason === "return_invalid" ? buildRefusedReturn(execution, agent, result.detail) : [];
  await execution.recordAndQuarantine(
    turn,
    ...claimEvents,
    buildStepFailed(execution, reason, result.detail),
  ); // A1

  return "over";
}

/**
 * `over` if the attempt ended: it left its scope, or another attempt changed the same files
 * meanwhile. After a crash, `turnChanges` is null.
 */
async function applyChanges(
  execution: StepExecution,
  turnChanges: ChangeSet | null,
): Promise<{ readonly parent: GitSha | null } | "over"> {
  const { runtime, attempt } = execution;
  const { run, cursor, step, open } = readContext(execution);
  const isCommitted =
    turnChanges === null && (await runtime.workspace.inspect(attempt, null)).commit !== null;
  const changes = isCommitted
    ? null
    : (turnChanges ?? (await runtime.workspace.changesOf(attempt)));
  // Only after a crash: otherwise the turn's line and the refusal are written together.
  const violation =
    changes === null ? null : buildViolation(execution, changes, open.turn?.outside ?? []);
  if (violation !== null) {
    await execution.recordAndQuarantine(violation);
    return "over";
  }

  if (changes?.paths.length === 0) return { parent: null };
  const subject = buildCommitSubject({
    ...describePhase(run, cursor.phase),
    step: cursor.task ?? step.id,
    paths: changes?.paths ?? [],
    goal: run.drafted.objective.goal,
  });
  const applied = await runtime.workspace.apply(attempt, subject);
  if (applied === null) return { parent: null };
  if ("conflict" in applied) {
    await execution.recordAndQuarantine(
      buildStepFailed(
        execution,
        "merge_conflict",
        `another attempt changed ${applied.conflict.join(", ")} meanwhile`,
      ),
    );

    return "over";
  }

  const { commit, parent, tree, paths, notApplied } = applied;
  await execution.record({
    event: "changes_applied",
    attempt,
    commit,
    parent,
    tree,
    paths: [...paths],
    not_applied: notApplied,
  });

  return { parent };
}

async function recordProof(
  execution: StepExecution,
  turn: CompletedTurn | null,
  parent: GitSha | null,
): Promise<void> {
  const { run, cursor, step, open } = readContext(execution);
  const proof = await proveStep(execution, turn?.report.prompt); // A3

  const claimEvents = await checkClaims(execution, {
    agent: open.turn?.agent ?? "",
    report: turn?.report ?? null,
    commit: open.commit ?? run.tip.commit,
    changed: open.paths,
    results: proof.checks,
    ...(parent === null ? {} : { parent }),
    ...(turn === null ? {} : { ignored: turn.changes.ignored }),
  });

  if (execution.cancel.isCancelled) throw new Cancelled();
  const isChanged = open.commit !== null;
  const tree = open.tree ?? run.tip.tree; // with parallel attempts the tip may be another's: progress is judged by what this one left

  const progress = madeProgress(run, cursor.phase, {
    tree,
    checks: proof.checks,
    changed: isChanged,
  });

  const facts = {
    changed: isChanged,
    promised: open.turn?.promised ?? false,
    announced_more: open.turn?.announced_more ?? false,
    ...questionFact(open.turn?.question),
    ...proof.facts,
  };

  const common = { attempt: execution.attempt, facts, checks: [...proof.checks], tree };
  if (proof.holds) {
    const passed = { ...common, ...(isChanged ? { progress } : progressField(step, progress)) };
    return execution.record(...claimEvents, {
      event: "step_completed",
      ...passed,
      ...locksField(proof.locks),
      ...placeholderField(proof.hollow),
    });
  }

  const reason_code = proof.reason ?? "proof_missing";
  const fingerprint = errorFingerprint(reason_code, proof.detail);
  return execution.record(...claimEvents, {
    event: "step_failed",
    ...common,
    progress,
    fingerprint,
    detail: proof.detail,
    reason_code,
  });
}
