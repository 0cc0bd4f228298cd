// agent-turn: the first action of an agent attempt: takes the agent's turn and records it, with
// everything that ends the attempt together with the turn.
// Invariants A1 and on: engine/agent-step.ts.

import type { Usage } from "../contracts/budget.ts";
import type { Draft } from "../contracts/event.ts";
import type { Step } from "../contracts/flow.ts";
import { findAgentSwitch } from "../core/agent-switch.ts";
import { reportedCharge, elapsedShare } from "../core/budget.ts";
import { madeProgress } from "../core/breaker.ts";
import type { RunView, CursorView } from "../core/state.ts";
import type { TurnRequest, TurnResult } from "../ports/agent.ts";
import type { EndedTurn } from "../ports/turn-receipts.ts";
import type { ChangeSet } from "../ports/workspace.ts";
import {
  Cancelled,
  type ExecutionContext,
  type StepExecution,
  readContext,
} from "./step-execution.ts";
import { checkClaims, loadTurn, buildRefusedReturn, type AgentReport } from "./check-claims.ts";
import { fillPath } from "./prove.ts";
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

/** What a turn left behind; known only in the process that ran it. */
export type CompletedTurn = { readonly changes: ChangeSet; readonly report: AgentReport };

type CutResult = Extract<TurnResult, { kind: "cut" }>;
type UnfinishedResult = Exclude<TurnResult, { kind: "ended" }>;

/**
 * Runs the turn, or records one that another process ran: its changes and its text; `over` if the
 * attempt ended with it.
 */
export async function runTurn(execution: StepExecution): Promise<CompletedTurn | "over"> {
  const { runtime, attempt } = execution;
  const receipt = runtime.receipts.read(attempt);
  if (receipt !== null) return recordTurn(execution, receipt); // A6
  runtime.receipts.reserve(attempt); // A6

  const { turnPrompt, request } = await prepareTurn(execution);
  if (execution.cancel.isCancelled) throw new Cancelled();
  const { result, usage } = await takeTurn(execution, request.turn);
  const { agent } = turnPrompt.cast;

  if (result.kind === "ended") {
    const turn = buildEndedTurn(execution, result, { agent, usage });
    runtime.receipts.keep(attempt, turn); // A6
    endIfCancelled(execution, usage);

    return recordTurn(execution, turn, turnPrompt.prompt);
  }

  endIfCancelled(execution, usage);
  const isCutFromOutside =
    result.kind === "cut" && (result.by !== "deadline" || request.isBoundByBudget);
  if (isCutFromOutside) {
    await recordCut(execution, result, usage);
  } else if (result.kind === "failed" && result.reason === "agent_unavailable") {
    await recordUnavailable(execution, result, usage);
  } else {
    await recordFailedTurn(execution, result, agent, usage);
  }

  return "over";
}

type PreparedTurn = {
  readonly turnPrompt: TurnPrompt;
  readonly request: ReturnType<typeof buildTurnRequest>;
};

/**
 * Makes the agent's folder, chooses another agent if the first is at its limit, and renders the
 * prompt.
 */
async function prepareTurn(execution: StepExecution): Promise<PreparedTurn> {
  const { runtime, attempt } = execution;
  const { run, cursor, step, openAttempt } = readContext(execution);

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

  const turnPrompt = await runtime.buildPrompt({ run, cursor, step, openAttempt });
  const previousTurn =
    step.returns === undefined ? null : await loadTurn(execution, cursor.handed?.[step.id]);

  return {
    turnPrompt,
    request: buildTurnRequest(execution, turnPrompt, layer, previousTurn?.claim),
  };
}

/** The patterns of what this attempt may leave behind; undefined if the step keeps everything. */
const layerPatterns = (
  run: RunView,
  { phase, task }: CursorView,
  { keeps }: Step,
): readonly string[] | undefined =>
  keeps?.map((pattern) => fillPath(run.drafted.flow, pattern, phase, task ?? ""));

/**
 * Runs the agent, and works out what the turn is charged: what was reported, else an estimate; a
 * turn that was cut short, its share of it.
 */
async function takeTurn(
  execution: StepExecution,
  request: TurnRequest,
): Promise<{ readonly result: TurnResult; readonly usage: Usage }> {
  const { clock, agents } = execution.runtime;
  const { need: expectedUsage } = readContext(execution).openAttempt;

  const startedMs = clock.monotonicMs();
  const result = await agents.turn(request);
  const minutes = (clock.monotonicMs() - startedMs) / 60_000;

  const usage = reportedCharge(result.usage, {
    expectedUsage,
    minutes,
    source: result.usage?.source,
    share: result.kind === "cut" ? elapsedShare(minutes, expectedUsage, request.minutesMax) : 1,
    receivedBytes: "said" in result ? Buffer.byteLength(result.said) : 0,
  });

  return { result, usage };
}

function endIfCancelled(execution: StepExecution, usage: Usage): void {
  if (!execution.cancel.isCancelled) return;
  execution.usageWhenCancelled = usage;
  throw new Cancelled();
}

/** The budget, the provider or another limit of the run ended the turn: the attempt isn't failed. */
async function recordCut(execution: StepExecution, result: CutResult, usage: Usage): Promise<void> {
  // Nothing is charged for a call that the provider refused before it did anything.
  const isFree = result.by === "provider" && result.usage === null && result.hasWorked !== true;
  await execution.recordAndQuarantine({
    event: "step_interrupted",
    attempt: execution.attempt,
    ...(isFree ? {} : { usage }),
    detail: result.detail,
    ...buildCutFields(result),
  });
}

const recordUnavailable = (
  execution: StepExecution,
  result: UnfinishedResult,
  usage: Usage,
): Promise<void> =>
  execution.recordAndQuarantine({
    event: "step_interrupted",
    attempt: execution.attempt,
    detail: result.detail,
    ...buildUnavailableFields(result.usage, usage),
  });

/** A failed turn is charged anyway; what it left behind is set aside. */
async function recordFailedTurn(
  execution: StepExecution,
  result: UnfinishedResult,
  agent: string,
  usage: Usage,
): Promise<void> {
  const reason = result.kind === "cut" ? "agent_timeout" : result.reason;
  const claimEvents =
    reason === "return_invalid" ? buildRefusedReturn(execution, agent, result.detail) : [];

  await execution.recordAndQuarantine(
    buildTurnFailed(execution, result, { agent, reason, usage }),
    ...claimEvents,
    buildStepFailed(execution, reason, result.detail),
  ); // A1
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
  const context = readContext(execution);
  const { promised, outside = [] } = turn.event;
  const changes = await execution.runtime.workspace.changesOf(execution.attempt);
  const endedEvent = await buildTurnEnded(execution, turn, changes);
  const report = { ...turn.report, promised, ...(prompt === undefined ? {} : { prompt }) };

  const hasLeftNothing =
    changes.paths.length === 0 && changes.violations.length === 0 && outside.length === 0;
  const hasNothingToProve = (context.step.proof ?? []).length === 0;
  if (hasLeftNothing && hasNothingToProve) {
    const completion = await buildEmptyCompletion(execution, context, turn, { report, changes });
    await execution.record(endedEvent, ...completion); // A1
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

/** The events that complete an attempt with nothing to apply and nothing to prove. */
async function buildEmptyCompletion(
  execution: StepExecution,
  { run, cursor, step }: ExecutionContext,
  turn: EndedTurn,
  { report, changes }: CompletedTurn,
): Promise<readonly Draft[]> {
  const { agent, promised, announced_more, question } = turn.event;
  const { commit, tree } = run.tip;
  const hasProgressed = madeProgress(run, cursor.phase, { tree, checks: [], changed: false });

  const claimEvents = await checkClaims(execution, {
    agent,
    report,
    commit,
    changed: [],
    results: [],
  });

  return [
    ...claimEvents,
    {
      event: "step_completed",
      attempt: execution.attempt,
      facts: { changed: false, promised, announced_more, ...questionFact(question) },
      checks: [],
      tree,
      ...progressField(step, hasProgressed),
      ...ignoredDetail(changes.ignored),
    },
  ];
}

/**
 * Changes that git ignores are left out; the detail says so to an agent that changed nothing else.
 */
const ignoredDetail = (ignored: number): { readonly detail?: string } =>
  ignored === 0
    ? {}
    : { detail: `nothing was changed but ${ignored} path(s) that git ignores, which are left out` };

/**
 * A step that only reports, and passed without a change, is not a sign of no progress: it counts
 * neither way.
 */
export const progressField = (
  { keeps }: Step,
  hasProgressed: boolean,
): { readonly progress?: boolean } =>
  keeps !== undefined && !hasProgressed ? {} : { progress: hasProgressed };

export const questionFact = (
  question: string | null | undefined,
): { readonly agent_asks?: string } =>
  question === null || question === undefined || question === "" ? {} : { agent_asks: question };
