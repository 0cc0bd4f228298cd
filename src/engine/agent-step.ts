// agent-step: runs an agent attempt as three actions, each with its journal line: the turn (paid), the apply (committed under a key), the
// proof.
//
// Invariants:
//   A1. A paid turn is recorded before anything else is done with it. A turn that failed, left its scope, or left nothing to apply and
//       nothing to prove is over with it: both lines are written at once.
//   A2. Nothing of an attempt that left its scope, or wrote a secret into a file, is applied.
//   A3. The agent's claims decide nothing here: `passed` means that the step's own proof holds.
//   A4. Tasks of one wave are applied in the wave's order, each once those before it are over, whichever turn ends first.
//   A5. Turn, scope, budget, evidence: work of a turn that used more than a limit allows is kept, and proved once the limit is raised.

import type { Usage } from "../contracts/budget.ts";
import type { Draft, EventOf } from "../contracts/event.ts";
import type { Step } from "../contracts/flow.ts";
import type { GitSha } from "../contracts/ids.ts";
import { switchFor } from "../core/players.ts";
import { reportedCharge, elapsedShare } from "../core/budget.ts";
import { madeProgress, categoryFingerprint } from "../core/breaker.ts";
import { runOverdraft } from "../core/overdraft.ts";
import type { RunView, CursorView } from "../core/state.ts";
import type { TurnResult } from "../ports/agent.ts";
import type { ChangeSet } from "../ports/workspace.ts";
import { Cancelled, type StepExecution, actionSetting } from "./step-execution.ts";
import { checkClaims, recordedTurn, refusedReturn, type AgentReport } from "./check-claims.ts";
import { placeholderField } from "./placeholder-facts.ts";
import { lockedBy, placed, prove } from "./prove.ts";
import { commitSubject, placeFor } from "./commit-subject.ts";
import { buildTurnRequest } from "./turn-request.ts";
import { cutBy, unavailable } from "./turn-cut.ts";

const saidCharsMax = 2_000;
const violationsShownMax = 50;

export async function agentStep(action: StepExecution): Promise<void> {
  const { stage } = actionSetting(action).open;
  const turn = stage === "started" ? await takeTurn(action) : null;
  if (turn === "over") return;
  const place = action.place();
  if (place !== null) await inPlace(action, place); // A4
  const applied = stage === "applied" ? { parent: null } : await applyChanges(action, turn?.changes ?? null);
  if (applied === "over") return;
  if (runOverdraft(action.run()) !== null) return setDown(action); // A5
  await proveStep(action, turn, applied.parent);
}

/** The attempt stays open as it is: paid, its work on the run's branch, only the proof still to come. */
const setDown = (action: StepExecution): Promise<void> =>
  action.record({
    event: "step_interrupted",
    attempt: action.attempt,
    by: "budget",
    reason_code: "budget_threshold_reached",
    detail: "the turn used more than the budget allows; its work is kept and is checked once the limit is raised",
  });

async function inPlace(action: StepExecution, place: Promise<void>): Promise<void> {
  await place;
  if (action.cancel.isCancelled) throw new Cancelled();
}

/** What a turn left; known only in the process that ran it. */
type Taken = { readonly changes: ChangeSet; readonly words: AgentReport };

/** The turn, its changes and its text; `over` if the attempt ended with it. */
async function takeTurn(action: StepExecution): Promise<Taken | "over"> {
  const { runtime, attempt } = action;
  const { run, cursor, step, open } = actionSetting(action);
  const layer = await runtime.workspace.openLayer(attempt, step.masks ?? [], ...keptPatterns(run, cursor, step));
  const switched = switchFor(run, step.agent ?? "", runtime.clock.now());
  if (switched !== null) await action.record({ event: "agent_switched", reason_code: "agent_switched", ...switched });
  const brief = await runtime.brief(run, cursor, step, open);
  const request = buildTurnRequest(
    action,
    brief,
    layer,
    step.returns === undefined ? undefined : (await recordedTurn(action, cursor.handed?.[step.id]))?.claim,
  );
  if (action.cancel.isCancelled) throw new Cancelled();

  const began = runtime.clock.monotonicMs();
  const result = await runtime.agents.turn(request.turn);
  const minutes = (runtime.clock.monotonicMs() - began) / 60_000;
  const share = result.kind === "cut" ? elapsedShare(minutes, open.need, request.turn.minutesMax) : 1;
  const heardBytes = "said" in result ? Buffer.byteLength(result.said) : 0;
  const usage = reportedCharge(result.usage, open.need, minutes, result.usage?.source, share, heardBytes);
  if (action.cancel.isCancelled) {
    action.interruption = usage;
    throw new Cancelled();
  }
  if (result.kind === "cut" && (result.by !== "deadline" || request.isBoundByBudget)) {
    const isFree = result.by === "provider" && result.usage === null && result.hasWorked !== true;
    const paid = isFree ? {} : { usage };
    await action.recordAndQuarantine({ event: "step_interrupted", attempt, ...paid, detail: result.detail, ...cutBy(result) });
    return "over";
  }
  if (result.kind === "failed" && result.reason === "agent_unavailable") {
    await action.recordAndQuarantine({ event: "step_interrupted", attempt, detail: result.detail, ...unavailable(result.usage, usage) });
    return "over";
  }
  if (result.kind !== "ended") return failTurn(action, result, brief.cast.agent, usage);
  const changes = await runtime.workspace.changesOf(attempt);
  const turn = await turnEndedEvent(action, result, changes, brief.cast.agent, usage);
  const words = { said: result.said, claim: result.claim, promised: result.promised, prompt: brief.prompt };
  const isQuiet = changes.paths.length === 0 && changes.violations.length === 0 && result.outside.length === 0;
  if (isQuiet && (step.proof ?? []).length === 0) {
    const progress = stepProgress(step, madeProgress(run, cursor.phase, { tree: run.tip.tree, checks: [], changed: false }));
    const facts = { changed: false, promised: result.promised, announced_more: result.announcedMore, ...asked(result.question) };
    const claimEvents = await checkClaims(action, { agent: brief.cast.agent, words, commit: run.tip.commit, changed: [], results: [] });
    const ended = { ...progress, ...onlyIgnored(changes.ignored) };
    await action.record(turn, ...claimEvents, { event: "step_completed", attempt, facts, checks: [], tree: run.tip.tree, ...ended }); // A1
    return "over";
  }
  const violation = actionViolation(action, changes, result.outside);
  if (violation !== null) {
    await action.recordAndQuarantine(turn, violation); // A1
    return "over";
  }
  await action.record(turn); // A1
  return { changes, words };
}

/** Work that git ignores is left out, and an agent that did nothing else is told so. */
const onlyIgnored = (ignored: number): { readonly detail?: string } =>
  ignored === 0 ? {} : { detail: `nothing was changed but ${ignored} path(s) that git ignores, which are left out` };

const everything: readonly [] = [];

/** The patterns of what this attempt may leave behind, as a layer takes them; empty if the step keeps everything. */
const keptPatterns = (run: RunView, { phase, task }: CursorView, { keeps }: Step): readonly [] | readonly [readonly string[]] =>
  keeps === undefined ? everything : [keeps.map((pattern) => placed(run.drafted.flow, pattern, phase, task ?? ""))];

/** A step that only reports, and passed without a change, is not a sign of no progress: it counts neither way. */
const stepProgress = ({ keeps }: Step, progress: boolean): { readonly progress?: boolean } =>
  keeps !== undefined && !progress ? {} : { progress };

const asked = (question: string | null | undefined): { readonly agent_asks?: string } =>
  question === null || question === undefined || question === "" ? {} : { agent_asks: question };

/** A failed turn is charged anyway; what it left behind is set aside. */
async function failTurn(
  action: StepExecution,
  result: Exclude<TurnResult, { kind: "ended" }>,
  agent: string,
  usage: Usage,
): Promise<"over"> {
  const reason = result.kind === "cut" ? "agent_timeout" : result.reason;
  const text = result.kind === "failed" ? cut(result.said) : "";
  const turn: Draft = {
    event: "turn_ended",
    attempt: action.attempt,
    actor: `agent:${agent}`,
    agent,
    stop: reason,
    says: {},
    said: text,
    promised: false,
    announced_more: false,
    confidence: null,
    usage,
    ...turnTranscript(result),
  };
  const claimEvents = reason === "return_invalid" ? refusedReturn(action, agent, result.detail) : [];
  await action.recordAndQuarantine(turn, ...claimEvents, failure(action, reason, result.detail)); // A1
  return "over";
}

async function turnEndedEvent(
  action: StepExecution,
  result: Extract<TurnResult, { kind: "ended" }>,
  changes: ChangeSet,
  agent: string,
  usage: Usage,
): Promise<Draft> {
  const isLong = result.said.length > saidCharsMax || result.claim !== undefined;
  const claim = isLong
    ? await action.runtime.journal.putBlob(JSON.stringify({ said: result.said, claim: result.claim ?? null }))
    : undefined;
  const says = result.confidence === null ? result.says : { ...result.says, confidence: result.confidence };
  return {
    event: "turn_ended",
    attempt: action.attempt,
    actor: `agent:${agent}`,
    agent,
    stop: result.stop,
    says,
    said: cut(result.said),
    promised: result.promised,
    announced_more: result.announcedMore,
    confidence: result.confidence,
    usage,
    layer: changes.tree,
    ...(claim === undefined ? {} : { claim }),
    ...(claim === undefined || (result.claim ?? null) === null ? {} : { returned: true }),
    ...(result.outside.length === 0 ? {} : { outside: [...result.outside] }),
    ...(result.warnings.length === 0 ? {} : { warnings: [...result.warnings] }),
    ...(result.notes.length === 0 ? {} : { notes: [...result.notes] }),
    ...(result.question === null ? {} : { question: result.question }),
    ...(result.question === null || result.answers === undefined ? {} : { answers: [...result.answers] }),
    ...turnTranscript(result),
  };
}

const turnTranscript = ({ transcript }: TurnResult): Pick<EventOf<"turn_ended">, "transcript"> =>
  transcript === undefined ? {} : { transcript };

/** A2: one path outside the scope, or with a secret in it, and nothing of the attempt is applied. Null if it stayed inside. */
function actionViolation(action: StepExecution, changes: ChangeSet, outside: readonly string[]): Draft | null {
  const named = [
    ...changes.violations.map(({ path, kind, detail }) => ({ path, why: `${path} (${kind}: ${detail})` })),
    ...outside.map((path) => ({ path, why: `${path} (outside_layer: the agent's own tool call names it)` })),
  ];
  if (named.length === 0) return null;
  const detail = named
    .map(({ why }) => why)
    .slice(0, violationsShownMax)
    .join("; ");
  const paths = named.map(({ path }) => path);
  const isSecret = outside.length === 0 && changes.violations.every(({ kind }) => kind === "secret");
  const why = isSecret
    ? ({ by: "secret", reason_code: "secret_in_changes" } as const)
    : ({ by: "scope", reason_code: "scope_violation_blocked" } as const);
  return { event: "step_interrupted", attempt: action.attempt, paths, detail, ...why };
}

/** `over` where the attempt ended: it left its scope, or another attempt changed the same files meanwhile. After a crash, `seen` is null. */
async function applyChanges(action: StepExecution, seen: ChangeSet | null): Promise<{ readonly parent: GitSha | null } | "over"> {
  const { runtime, attempt } = action;
  const { run, cursor, step, open } = actionSetting(action);
  const isCommitted = seen === null && (await runtime.workspace.inspect(attempt, null)).commit !== null;
  const changes = isCommitted ? null : (seen ?? (await runtime.workspace.changesOf(attempt)));
  // Only after a crash: otherwise the turn's line and the refusal are written together.
  const violation = changes === null ? null : actionViolation(action, changes, open.turn?.outside ?? []);
  if (violation !== null) {
    await action.recordAndQuarantine(violation);
    return "over";
  }
  if (changes?.paths.length === 0) return { parent: null };
  const subject = commitSubject({
    ...placeFor(run, cursor.phase),
    step: cursor.task ?? step.id,
    paths: changes?.paths ?? [],
    goal: run.drafted.objective.goal,
  });
  const applied = await runtime.workspace.apply(attempt, subject);
  if (applied === null) return { parent: null };
  if ("conflict" in applied) {
    await action.recordAndQuarantine(failure(action, "merge_conflict", `another attempt changed ${applied.conflict.join(", ")} meanwhile`));
    return "over";
  }
  const { commit, parent, tree, paths, notApplied } = applied;
  await action.record({ event: "changes_applied", attempt, commit, parent, tree, paths: [...paths], not_applied: notApplied });
  return { parent };
}

async function proveStep(action: StepExecution, turn: Taken | null, parent: GitSha | null): Promise<void> {
  const { run, cursor, step, open } = actionSetting(action);
  const proof = await prove(action, turn?.words.prompt); // A3
  const claimEvents = await checkClaims(action, {
    agent: open.turn?.agent ?? "",
    words: turn?.words ?? null,
    commit: open.commit ?? run.tip.commit,
    changed: open.paths,
    results: proof.checks,
    ...(parent === null ? {} : { parent }),
    ...(turn === null ? {} : { ignored: turn.changes.ignored }),
  });
  if (action.cancel.isCancelled) throw new Cancelled();
  const isChanged = open.commit !== null;
  const tree = open.tree ?? run.tip.tree; // with parallel attempts the tip may be another's: progress is judged by what this one left
  const progress = madeProgress(run, cursor.phase, { tree, checks: proof.checks, changed: isChanged });
  const facts = {
    changed: isChanged,
    promised: open.turn?.promised ?? false,
    announced_more: open.turn?.announced_more ?? false,
    ...asked(open.turn?.question),
    ...proof.facts,
  };
  const common = { attempt: action.attempt, facts, checks: [...proof.checks], tree };
  if (proof.holds) {
    const passed = { ...common, ...(isChanged ? { progress } : stepProgress(step, progress)) };
    return action.record(...claimEvents, {
      event: "step_completed",
      ...passed,
      ...lockedBy(proof.locks),
      ...placeholderField(proof.hollow),
    });
  }
  const reason_code = proof.reason ?? "proof_missing";
  const fingerprint = categoryFingerprint(reason_code, proof.detail);
  return action.record(...claimEvents, { event: "step_failed", ...common, progress, fingerprint, detail: proof.detail, reason_code });
}

function failure(action: StepExecution, reason: string, detail: string): Draft {
  const facts = { changed: false, promised: false, announced_more: false };
  const fingerprint = categoryFingerprint(reason, detail);
  return { event: "step_failed", attempt: action.attempt, facts, progress: false, fingerprint, detail, reason_code: reason };
}

const cut = (text: string): string =>
  text.length <= saidCharsMax ? text : `${text.slice(0, saidCharsMax)}[cut: ${text.length - saidCharsMax} characters]`;
