// run-events: the fields of the events of a run as a whole, and of what other processes ask of it;
// part of the one table in ../event.ts.

import * as v from "valibot";
import { Budget } from "../budget.ts";
import { DocumentRead } from "../documents-read.ts";
import { Check } from "../evidence.ts";
import { Flow } from "../flow.ts";
import { GitSha, Hash, RunId } from "../ids.ts";
import { IsolationInForce } from "../isolation-in-force.ts";
import { Objective, Verdict } from "../objective.ts";
import { Policy } from "../policy.ts";
import { Resumed } from "../resumed.ts";
import { Base, Cast, Forked, raisedLimit, ReviewNote, ShortLimit } from "../run-parts.ts";
import { Count, Scalar, maybe, stateChange, text } from "./event-fields.ts";

export const runEvents = {
  run_drafted: {
    run_id: RunId,
    /** Name and version of the program that drafted it. */
    product: text,
    flow: Flow,
    flow_hash: Hash,
    prompts: v.record(text, Hash),
    /** The versions of the actions and proofs that the flow uses, by name. */
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
    /** Which agent works in which role. */
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
    /** The hash of the preview, which a person acknowledges. */
    ack: Hash,
    to_state: v.literal("draft"),
  },
  preview_acknowledged: { ack: Hash },
  run_started: { ack: Hash, ...stateChange },
  run_opened: {
    /** How often a process has opened the run before. */
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
    /** The limits that were too small. */
    short: maybe(v.array(ShortLimit)),
  },
  /** `now`: without waiting for the time that it is paused until. */
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
    /** The hash of the file that the run goes by, and of what is there now. */
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
} as const;
