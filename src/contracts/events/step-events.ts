// step-events: the fields of the events of steps, their attempts, tasks and waves; part of the one
// table in ../event.ts.

import * as v from "valibot";
import { Usage } from "../budget.ts";
import { CrashState } from "../crash-state.ts";
import { TaskRead } from "../documents-read.ts";
import { Check, CheckResult, ClaimChecked, ReviewPoint, ProtectedChange } from "../evidence.ts";
import { AttemptId, CursorPath, GitSha, Hash } from "../ids.ts";
import { ChildAsks, Facts, Says } from "../outcome.ts";
import { ProviderFault } from "../run-parts.ts";
import { TranscriptKept } from "../transcript.ts";
import { Count, maybe, text } from "./event-fields.ts";

export const interruptions = [
  "operator",
  "crash",
  "scope",
  "secret",
  "budget",
  "provider",
  "agent",
] as const;

export const stepEvents = {
  // Steps. An agent attempt is three actions with a line each: the turn, the apply, the proof.
  step_started: {
    walk: CursorPath,
    step: text,
    attempt: AttemptId,
    kind: v.picklist(["agent", "run", "check", "tasks", "flow"]),
    try: Count,
    need: maybe(Usage),
  },
  session_opened: {
    attempt: AttemptId,
    session: text,
    agent: text,
    how: maybe(v.picklist(["new", "resumed", "loaded"])),
  },
  return_asked_again: {
    attempt: AttemptId,
    ask: Count,
    errors: v.array(text),
    raw: maybe(Hash),
    usage: maybe(Usage),
  },
  turn_ended: {
    attempt: AttemptId,
    agent: text,
    stop: text,
    says: Says,
    claim: maybe(Hash),
    /** Something was returned, and the blob keeps it beside the text. */
    returned: maybe(v.boolean()),
    said: text,
    promised: v.boolean(),
    announced_more: v.boolean(),
    confidence: v.nullable(v.number()),
    usage: Usage,
    layer: maybe(GitSha),
    /** Paths outside the layer that the agent's own tool calls name as changed. */
    outside: maybe(v.array(text)),
    warnings: maybe(v.array(text)),
    notes: maybe(v.array(text)),
    question: maybe(text),
    answers: maybe(v.array(text)),
    /**
     * What the agent said and did, in a file of the run's folder, as it was when the turn ended.
     */
    transcript: maybe(TranscriptKept),
  },
  changes_applied: {
    attempt: AttemptId,
    commit: GitSha,
    parent: GitSha,
    tree: GitSha,
    paths: v.array(text),
    not_applied: Count,
  },
  step_completed: {
    attempt: AttemptId,
    facts: Facts,
    checks: maybe(v.array(CheckResult)),
    tree: maybe(GitSha),
    progress: maybe(v.boolean()),
    detail: maybe(text),
    /**
     * What a child run used in total, less what an earlier attempt was charged; turns are charged
     * where they end.
     */
    usage: maybe(Usage),
    asks: maybe(ChildAsks),
    /** Checks that judge this cursor from here on, replacing those it had. */
    locks: maybe(v.array(Check)),
    /**
     * Artifacts that satisfy the step's gate but have no content, and why; null: a former
     * placeholder has content now.
     */
    hollow: maybe(v.array(v.strictObject({ file: text, why: v.nullable(text) }))),
  },
  step_failed: {
    attempt: AttemptId,
    facts: Facts,
    checks: maybe(v.array(CheckResult)),
    tree: maybe(GitSha),
    progress: maybe(v.boolean()),
    fingerprint: text,
    detail: maybe(text),
    usage: maybe(Usage),
  },
  /**
   * Protected files that differ from the base, before checks are run: those not allowed are taken
   * from the base.
   */
  oracles_judged: {
    attempt: AttemptId,
    commit: GitSha,
    content: Hash,
    changes: v.array(ProtectedChange),
    look: maybe(v.array(ReviewPoint)),
  },
  /**
   * Everything passes with the changed tests, and not with the older ones: the run goes on with
   * them, and its work is not merged until a person has looked. Valid for exactly this content.
   */
  tests_held: { walk: text, step: text, content: Hash, paths: v.array(text) },
  tests_put_back: {
    attempt: AttemptId,
    commit: GitSha,
    parent: GitSha,
    tree: GitSha,
    paths: v.array(text),
  },
  /**
   * An agent's claims in a turn, checked one by one; a claim that only a check can decide waits for
   * the next check of its cursor.
   */
  claims_checked: {
    attempt: AttemptId,
    agent: text,
    role: text,
    model: maybe(text),
    claims: v.array(ClaimChecked),
    waiting: maybe(v.array(ClaimChecked)),
  },
  step_interrupted: {
    attempt: AttemptId,
    by: v.picklist(interruptions),
    usage: maybe(Usage),
    paths: maybe(v.array(text)),
    detail: maybe(text),
    fault: maybe(ProviderFault),
    until: maybe(text),
  },
  attempt_settled: {
    attempt: AttemptId,
    doubt: CrashState,
    remedy: v.picklist(["close", "continue", "repeat", "ask"]),
    why: text,
    usage: maybe(Usage),
  },
  step_skipped: { walk: CursorPath, step: text },
  step_retried: {
    walk: CursorPath,
    step: text,
    n: Count,
    reset: maybe(v.boolean()),
    put_back: maybe(v.boolean()),
  },
  route_taken: {
    walk: CursorPath,
    step: text,
    to: text,
    count: maybe(text),
    per: maybe(text),
    retry: maybe(v.boolean()),
    because: maybe(text),
    pause: maybe(text),
    rest: maybe(text),
  },

  // Tasks and waves of a tasks step.
  tasks_read: { attempt: AttemptId, waves: v.array(v.array(TaskRead)), left: v.array(text) },
  task_completed: { walk: CursorPath, because: maybe(text), pause: maybe(text) },
  task_failed: { walk: CursorPath, because: maybe(text), pause: maybe(text) },
  task_skipped: { walk: CursorPath, because: text },
  wave_completed: { walk: CursorPath, because: maybe(text), pause: maybe(text) },
  wave_failed: { walk: CursorPath, because: maybe(text), pause: maybe(text) },
} as const;
