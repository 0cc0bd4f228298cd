// event: the schemas of all journal events. The journal is the only source of truth of a run.
//
// Names are in the past tense. A released event never changes its meaning; a new meaning is a new
// name. Journals of released versions have the words `walk` (a cursor's path) and `oracles`
// (protected tests and settings). Live events are another type: live-event.ts.

import * as v from "valibot";
import { Budget, Usage } from "./budget.ts";
import { CrashState } from "./crash-state.ts";
import { Check, CheckResult, ClaimChecked, LookAt, ProtectedChange } from "./evidence.ts";
import { Flow } from "./flow.ts";
import { DocumentRead, PhaseRead, TaskRead } from "./documents-read.ts";
import { Policy } from "./policy.ts";
import { Actor, AttemptId, BlockId, GitSha, Hash, RunId, CursorPath } from "./ids.ts";
import { IsolationInForce } from "./isolation-in-force.ts";
import { Objective, RunStatus, Verdict } from "./objective.ts";
import { ChildAsks, Facts, Says } from "./outcome.ts";
import { pullRequestEvents } from "./forge/pull-request.ts";
import { Resumed } from "./resumed.ts";
import {
  Base,
  Cast,
  Forked,
  ProviderFault,
  raisedLimit,
  ReviewNote,
  ShortLimit,
} from "./run-parts.ts";
import { TranscriptKept } from "./transcript.ts";

const Scalar = v.union([v.string(), v.number(), v.boolean()]);
const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
const text = v.string();
const maybe = <S extends v.GenericSchema>(schema: S) => v.optional(schema);

/** Fields of every event; the journal adds seq, epoch, ts, prev and crc. */
const commonFields = { actor: Actor, reason_code: text };
/** Fields of an event that changes the run's state. */
const stateChange = { from_state: RunStatus, to_state: RunStatus };

export { Base, Cast, IsolationInForce, ProviderFault };

export const interruptions = [
  "operator",
  "crash",
  "scope",
  "secret",
  "budget",
  "provider",
  "agent",
] as const;

const events = {
  // The run.
  run_drafted: {
    run_id: RunId,
    product: text,
    flow: Flow,
    flow_hash: Hash,
    prompts: v.record(text, Hash),
    registry: v.record(text, Count),
    objective: Objective,
    /** The objective's fields that were defaulted: reported whenever the draft is previewed. */
    inferred_defaults: maybe(v.array(text)),
    options: v.record(text, Scalar),
    budget: Budget,
    limits: v.strictObject({
      run: v.record(text, v.number()),
      phase: v.record(text, v.number()),
    }),
    base: Base,
    checks: v.array(Check),
    cast: v.record(text, Cast),
    isolation: text,
    policy: maybe(Policy),
    /**
     * The flows that its steps call, as they were when it was drafted; their prompts are kept as
     * blobs too.
     */
    called: maybe(
      v.array(v.strictObject({ flow: Flow, flow_hash: Hash, prompts: v.record(text, Hash) })),
    ),
    /**
     * The user's documents that the run follows, as they were when it was drafted; each is kept as
     * a blob.
     */
    documents: maybe(v.array(DocumentRead)),
    /** Set if it continues a run that another tool began. */
    resumes: maybe(Resumed),
    config_hash: Hash,
    ack: Hash,
    to_state: v.literal("draft"),
  },
  preview_acknowledged: { ack: Hash },
  run_started: { ack: Hash, ...stateChange },
  run_opened: {
    opening: Count,
    owner: v.strictObject({ pid: Count, host: text }),
    product: text,
    isolation: IsolationInForce,
    options: maybe(v.record(text, Scalar)),
  },
  journal_repaired: { cut_bytes: Count, at_byte: Count },
  /** `phase`, `phases`: the failed phase, or all of several, that it is paused for. */
  run_paused: {
    ...stateChange,
    phase: maybe(text),
    phases: maybe(v.array(text)),
    detail: maybe(text),
    short: maybe(v.array(ShortLimit)),
  },
  run_resumed: { ...stateChange, request: text, now: maybe(v.boolean()) },
  run_stopped: { ...stateChange, detail: maybe(text) },
  run_completed: { ...stateChange, verdict: Verdict, gaps: v.array(text) },
  /**
   * A user adopted a run that came from elsewhere, after its preview; `root`: the repository's
   * folder at that time.
   */
  run_adopted: { root: text },
  /**
   * The lines before this one were copied from another run; what was paid for them is in that run's
   * journal.
   */
  run_forked: Forked.entries,
  policy_changed: {
    path: text,
    recorded: Hash,
    found: Hash,
    adopted: v.boolean(),
    cast: maybe(v.record(text, Cast)),
    isolation: maybe(text),
    policy: maybe(Policy),
    /**
     * If a document changed and not the config: the options and documents in force from here on.
     */
    options: maybe(v.record(text, Scalar)),
    documents: maybe(v.array(DocumentRead)),
  },

  /**
   * A file that others may write differs from what is recorded: which of the two holds, and why.
   */
  document_differed: { path: text, field: text, found: text, kept: text, because: text },

  // Requests of other processes; `request` is the key by which each is journaled once.
  control_requested: {
    request: text,
    control: v.picklist(["pause", "stop"]),
    now: v.boolean(),
    detail: maybe(text),
  },
  /** A person approved changed protected files; valid for exactly this content. */
  oracles_approved: { request: text, content: Hash, detail: maybe(text) },
  /**
   * A person's notes on lines of the change up to a commit, for the next turn that changes
   * something.
   */
  review_noted: {
    request: text,
    commit: GitSha,
    notes: v.pipe(v.array(ReviewNote), v.minLength(1), v.maxLength(200)),
  },
  limit_raised: { request: text, ...raisedLimit, detail: maybe(text) },

  // Pull requests.
  ...pullRequestEvents,

  // Phases.
  phases_read: { phases: v.array(PhaseRead) },
  artifacts_surveyed: {
    gone: v.array(text),
    proved: v.array(text),
    /** Of phases under way: the first step that had passed and whose artifacts are gone. */
    lost: maybe(v.array(v.strictObject({ walk: CursorPath, step: text }))),
  },
  phase_started: { walk: CursorPath },
  /**
   * `again`: finished phases that come after all others and are run again, since what they
   * inspected changes.
   */
  phase_reopened: { walk: CursorPath, visit: Count, because: text, again: maybe(v.array(text)) },
  phases_rewound: {
    walk: CursorPath,
    step: text,
    to: text,
    count: maybe(text),
    per: maybe(text),
    retry: maybe(v.boolean()),
  },
  phase_skipped: { walk: CursorPath, because: text },
  phase_completed: { walk: CursorPath, because: maybe(text), pause: maybe(text) },
  phase_failed: { walk: CursorPath, because: maybe(text), pause: maybe(text) },
  closing_completed: { walk: CursorPath, because: maybe(text), pause: maybe(text) },
  closing_failed: { walk: CursorPath, because: maybe(text), pause: maybe(text) },

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
    look: maybe(v.array(LookAt)),
  },
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

  // People and the breaker.
  /**
   * `free`: any text is an answer too. `tests`: it asks what becomes of these changed tests, in
   * exactly this content.
   */
  block_opened: {
    block: BlockId,
    walk: CursorPath,
    step: text,
    hold: v.boolean(),
    house: maybe(v.boolean()),
    question: text,
    options: v.record(text, text),
    recommend: maybe(text),
    show: maybe(v.array(text)),
    code: maybe(text),
    free: maybe(v.boolean()),
    tests: maybe(v.object({ content: Hash, paths: v.array(text) })),
  },
  block_answered: { request: text, block: BlockId, answer: text, issues: maybe(v.array(text)) },
  circuit_breaker_opened: {
    because: v.picklist(["no_progress", "same_error", "probe_failed", "phase_cap"]),
    cooldown_until: text,
    detail: maybe(text),
    short: maybe(v.array(ShortLimit)),
  },
  circuit_breaker_closed: {},
  agent_switched: { role: text, from: text, to: text, player: Cast, until: maybe(text) },
} as const;
export type EventName = keyof typeof events;
export const eventNames = Object.keys(events) as EventName[];

const buildEventSchema = (name: EventName): v.StrictObjectSchema<v.ObjectEntries, undefined> =>
  v.strictObject({ event: v.literal(name), ...commonFields, ...events[name] });
/** One strict schema per event, by name. */
export const eventSchemas = Object.fromEntries(
  eventNames.map((name) => [name, buildEventSchema(name)]),
) as Readonly<Record<EventName, ReturnType<typeof buildEventSchema>>>;

type DataOf<Entries> = Entries extends v.ObjectEntries
  ? v.InferOutput<v.StrictObjectSchema<Entries, undefined>>
  : never;
export type EventOf<N extends EventName> = {
  readonly event: N;
  readonly actor: Actor;
  readonly reason_code: string;
} & Readonly<DataOf<(typeof events)[N]>>;
export type Event = { [N in EventName]: EventOf<N> }[EventName];
/** Before its actor and reason are known; the engine fills in both. */
export type Draft = {
  [N in EventName]: Omit<EventOf<N>, "actor" | "reason_code"> & {
    actor?: Actor;
    reason_code?: string;
  };
}[EventName];

/**
 * The journal's envelope of an event. One line is
 * `{"seq":…,"epoch":…,"ts":…,"active_ms":…,"event":…,"actor":…,"reason_code":…,…data,"prev":"<sha256
 * of the line before>","crc":"<crc32 of this line up to here>"}`. The first line also has
 * `"journal":1`, the version of the format.
 */
export type Envelope = {
  readonly seq: number;
  readonly epoch: number;
  readonly ts: string;
  readonly active_ms: number;
  readonly prev: string;
  readonly crc: string;
};
export type Entry = Event & Envelope;
