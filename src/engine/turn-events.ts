// turn-events: builds the journal events of an agent's turn: how it ended, what it broke, and why
// its step failed.
// Invariants A1 and on: engine/agent-step.ts.

import type { Usage } from "../contracts/budget.ts";
import type { Draft, EventOf } from "../contracts/event.ts";
import { errorFingerprint } from "../core/breaker.ts";
import type { TurnResult } from "../ports/agent.ts";
import type { EndedTurn } from "../ports/turn-receipts.ts";
import type { ChangeSet } from "../ports/workspace.ts";
import type { StepExecution } from "./step-execution.ts";

const excerptCharsMax = 2_000;
const violationsShownMax = 50;

/** What is known of a turn when it ends, before anything it made is read. */
export function buildEndedTurn(
  { attempt }: StepExecution,
  result: Extract<TurnResult, { kind: "ended" }>,
  { agent, usage }: { readonly agent: string; readonly usage: Usage },
): EndedTurn {
  const says =
    result.confidence === null ? result.says : { ...result.says, confidence: result.confidence };
  const event: EndedTurn["event"] = {
    event: "turn_ended",
    attempt,
    actor: `agent:${agent}`,
    reason_code: "ok",
    agent,
    stop: result.stop,
    says,
    said: truncate(result.said),
    promised: result.promised,
    announced_more: result.announcedMore,
    confidence: result.confidence,
    usage,
    ...(result.outside.length === 0 ? {} : { outside: [...result.outside] }),
    ...(result.warnings.length === 0 ? {} : { warnings: [...result.warnings] }),
    ...(result.notes.length === 0 ? {} : { notes: [...result.notes] }),
    ...(result.question === null ? {} : { question: result.question }),
    ...(result.question === null || result.answers === undefined
      ? {}
      : { answers: [...result.answers] }),
    ...transcriptField(result),
  };

  return { event, report: { said: result.said, claim: result.claim } };
}

/** The turn's line: with what it left in its layer, and the blob of what it said and returned. */
export async function buildTurnEnded(
  execution: StepExecution,
  { event, report }: EndedTurn,
  changes: ChangeSet,
): Promise<Draft> {
  const { said, claim } = report;
  if (said.length <= excerptCharsMax && claim === undefined)
    return { ...event, layer: changes.tree };
  const blob = await execution.runtime.journal.putBlob(
    JSON.stringify({ said, claim: claim ?? null }),
  );

  return {
    ...event,
    layer: changes.tree,
    claim: blob,
    ...((claim ?? null) === null ? {} : { returned: true }),
  };
}

const transcriptField = ({ transcript }: TurnResult): Pick<EventOf<"turn_ended">, "transcript"> =>
  transcript === undefined ? {} : { transcript };

/**
 * A2: one path outside the scope, or with a secret in it, and nothing of the attempt is applied.
 * Null if it stayed inside.
 */
export function buildViolation(
  execution: StepExecution,
  changes: ChangeSet,
  outside: readonly string[],
): Draft | null {
  const violations = [
    ...changes.violations.map(({ path, kind, detail }) => ({
      path,
      why: `${path} (${kind}: ${detail})`,
    })),
    ...outside.map((path) => ({
      path,
      why: `${path} (outside_layer: the agent's own tool call names it)`,
    })),
  ];
  if (violations.length === 0) return null;
  const detail = violations
    .map(({ why }) => why)
    .slice(0, violationsShownMax)
    .join("; ");

  const paths = violations.map(({ path }) => path);
  const isSecret =
    outside.length === 0 && changes.violations.every(({ kind }) => kind === "secret");
  const cause = isSecret
    ? ({ by: "secret", reason_code: "secret_in_changes" } as const)
    : ({ by: "scope", reason_code: "scope_violation_blocked" } as const);

  return { event: "step_interrupted", attempt: execution.attempt, paths, detail, ...cause };
}

/** `turn_ended` of a turn that failed or ran out of time. */
export function buildTurnFailed(
  { attempt }: StepExecution,
  result: Exclude<TurnResult, { kind: "ended" }>,
  {
    agent,
    reason,
    usage,
  }: { readonly agent: string; readonly reason: string; readonly usage: Usage },
): Draft {
  return {
    event: "turn_ended",
    attempt,
    actor: `agent:${agent}`,
    agent,
    stop: reason,
    says: {},
    said: result.kind === "failed" ? truncate(result.said) : "",
    promised: false,
    announced_more: false,
    confidence: null,
    usage,
    ...transcriptField(result),
  };
}

export function buildStepFailed(execution: StepExecution, reason: string, detail: string): Draft {
  const facts = { changed: false, promised: false, announced_more: false };
  const fingerprint = errorFingerprint(reason, detail);
  return {
    event: "step_failed",
    attempt: execution.attempt,
    facts,
    progress: false,
    fingerprint,
    detail,
    reason_code: reason,
  };
}

const truncate = (text: string): string =>
  text.length <= excerptCharsMax
    ? text
    : `${text.slice(0, excerptCharsMax)}[cut: ${text.length - excerptCharsMax} characters]`;
