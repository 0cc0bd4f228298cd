// drive: the loop of a run: read, fold, decide; write the intent, execute, write the outcome.
//
// Invariants:
//   E1. No execution without its intent in the journal first; no execution's end without its
//       outcome after, or, if this process is shut down, at the next opening (engine/recover-attempt.ts).
//   E2. State moves only by an event that the journal has acknowledged.
//   E3. Deciding and recording share one mutex, so no decision is made during a write.
//   E4. Cancelled means ended: the execution has returned and its processes are dead before
//       `step_interrupted` is written.
//   E5. The loop is bounded, and asserts it.

import type { Usage } from "../contracts/budget.ts";
import type { Draft, Entry } from "../contracts/event.ts";
import type { AttemptId } from "../contracts/ids.ts";
import { decide } from "../core/decide.ts";
import type { Fold } from "../core/fold.ts";
import type { NextAction } from "../core/next-action.ts";
import { isInOrder } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import { InvariantBroken, invariant } from "../kit/invariant.ts";
import { unreachable } from "../kit/unreachable.ts";
import { Cancel } from "./cancel.ts";
import { Cancelled, type StepExecution } from "./step-execution.ts";
import { performAttempt } from "./perform.ts";
import { buildInterrupted, recordRequests } from "./record-requests.ts";
import { recoverAttempt } from "./recover-attempt.ts";
import { surveyArtifacts } from "./survey.ts";
import { Mutex } from "./mutex.ts";
import { WakeSignal } from "./wake-signal.ts";
import type { Runtime } from "./runtime.ts";

const eventsMax = 2_000_000;
/** Watching a folder may miss a request, so they are looked for now and then. */
const requestPollMs = 250;

/**
 * Drives a run from wherever its journal left it to its next rest, and returns why it rests. Safe
 * to call again after any crash.
 */
export async function drive(runtime: Runtime, fold: Fold): Promise<string> {
  const loop = new RunLoop(runtime, fold);
  try {
    return await loop.runUntilRest();
  } finally {
    await loop.end();
  }
}

/**
 * `wait`: for an execution or a request. `why`: the loop ends, for this reason. Null: the loop
 * continues at once.
 */
type LoopOutcome = "wait" | { why: string } | { cancel: AttemptId } | null;

class RunLoop {
  readonly #runtime: Runtime;
  readonly #fold: Fold;
  readonly #mutex = new Mutex();
  readonly #wake = new WakeSignal();
  readonly #executions = new Map<
    AttemptId,
    { readonly execution: StepExecution; readonly ended: Promise<void> }
  >();
  /** Actions whose turn ended before those of earlier tasks in the wave. */
  readonly #waiting = new Map<AttemptId, () => void>();
  readonly #cleanups: (() => void)[] = [];
  #stopPolling: () => void = () => undefined;
  #hasRequests = true;
  #fault: unknown = null;
  #events = 0;

  constructor(runtime: Runtime, fold: Fold) {
    this.#runtime = runtime;
    this.#fold = fold;
    this.#cleanups.push(runtime.requests.watch(() => this.#noteRequest()));
    this.#cleanups.push(() => this.#stopPolling());
    this.#pollLater();
  }

  #noteRequest(): void {
    this.#hasRequests = true;
    this.#wake.ring();
  }

  #pollLater(): void {
    this.#stopPolling = this.#runtime.clock.after(requestPollMs, () => {
      this.#noteRequest();
      this.#pollLater();
    });
  }

  get #run(): RunView {
    const { state } = this.#fold;
    invariant(state.status !== "unborn", "a run is drafted before it is driven");
    return state;
  }

  async runUntilRest(): Promise<string> {
    for (;;) {
      if (this.#fault !== null) throw this.#fault;
      invariant(this.#events < eventsMax, "E5: the flow's limits bound the loop");
      const outcome = await this.#decideOnce();
      if (outcome === null) continue;
      if (outcome === "wait") await this.#wake.wait();
      else if ("cancel" in outcome) await this.#cancel(outcome.cancel);
      else return outcome.why;
    }
  }

  /** One decision, carried out as far as that needs no waiting. */
  async #decideOnce(): Promise<LoopOutcome> {
    const gate = this.#mutex.enter(); // E3
    if (gate !== null) await gate;
    try {
      if (this.#hasRequests) {
        this.#hasRequests = false;
        await recordRequests(this.#runtime.requests, this.#run, (event) => this.#record(event));
      }

      const outcome = this.#carryOut(decide(this.#fold.state));
      return outcome instanceof Promise ? await outcome : outcome;
    } finally {
      this.#mutex.leave();
    }
  }

  /** Null if the loop continues; a promise only if there is something to wait for. */
  #carryOut(next: NextAction): LoopOutcome | Promise<LoopOutcome> {
    switch (next.do) {
      case "record":
        return this.#record(next.event);
      case "attempt":
        return this.#attempt(next.event);
      case "settle":
        return this.#recoverAttempt(next.attempt);
      case "cancel":
        return { cancel: next.attempt };
      case "survey":
        return this.#surveyArtifacts();
      case "read":
        return this.#readPhases(next.reader);
      case "wait":
        if (this.#fault !== null) throw this.#fault; // the execution to wait for has failed meanwhile
        invariant(this.#executions.size > 0, "who waits, waits for an execution");
        return "wait";
      case "rest":
        return { why: next.why };
      default:
        return unreachable(next);
    }
  }

  async #attempt(event: Extract<NextAction, { do: "attempt" }>["event"]): Promise<null> {
    this.#runtime.receipts.drop(event.attempt); // of an earlier try under this name
    await this.#record(event); // E1
    this.#startExecution(event.attempt);

    return null;
  }

  async #surveyArtifacts(): Promise<null> {
    return this.#record({
      event: "artifacts_surveyed",
      ...(await surveyArtifacts(this.#runtime, this.#run)),
    });
  }

  async #readPhases(name: string): Promise<null> {
    const reader = this.#runtime.functions.phases[name];
    invariant(reader !== undefined, `a reader of phases is in the registry: ${name}`);
    const phases = await reader(this.#run);
    if (!("problem" in phases)) {
      return this.#record({
        event: "phases_read",
        phases: phases.map((phase) => ({ ...phase, after: [...phase.after] })),
      });
    }

    const { problem: detail, code: reason_code = "phases_invalid" } = phases;
    return this.#record({
      event: "run_paused",
      from_state: this.#run.status,
      to_state: "paused",
      detail,
      reason_code,
    });
  }

  async #record(...events: readonly Draft[]): Promise<null> {
    const entries = await this.#runtime.journal.append(events.map(withDefaults));
    for (const entry of entries) this.#accept(entry);
    return null;
  }

  #accept(entry: Entry): void {
    this.#events++;
    this.#fold.apply(entry); // E2
    if ("attempt" in entry) this.#dropReceipt(entry.attempt);
    if (this.#waiting.size > 0) this.#releaseWaiting();
    this.#runtime.onEntry(entry, this.#run);
  }

  /** A receipt has served once the branch has the attempt's work, or the attempt is over. */
  #dropReceipt(attempt: AttemptId): void {
    const open = this.#run.open[attempt];
    if (open === undefined || open.stage === "applied") this.#runtime.receipts.drop(attempt);
  }

  #startExecution(attempt: AttemptId): void {
    const execution: StepExecution = {
      attempt,
      cancel: new Cancel(),
      runtime: this.#runtime,
      run: () => this.#run,
      record: (...events) => this.#writeEvents(execution, events, "stays"),
      recordDone: (...events) => this.#writeEvents(execution, events, "stays", "even if cancelled"),
      recordAndQuarantine: (...events) => this.#writeEvents(execution, events, "set aside"),
      waitForPlace: () => this.#waitForPlace(execution),
      usageWhenCancelled: null,
    };

    this.#executions.set(attempt, { execution, ended: this.#performAttempt(execution) });
  }

  async #writeEvents(
    { attempt, cancel }: StepExecution,
    events: readonly Draft[],
    layer: "stays" | "set aside",
    when: "unless cancelled" | "even if cancelled" = "unless cancelled",
  ): Promise<void> {
    const gate = this.#mutex.enter(); // E3
    if (gate !== null) await gate;
    try {
      const isRefused = cancel.isCancelled && when === "unless cancelled";
      if (isRefused || this.#run.open[attempt] === undefined) throw new Cancelled();
      await this.#record(...events);
      if (layer === "set aside") await this.#runtime.workspace.quarantine(attempt);
    } finally {
      this.#mutex.leave();
    }
  }

  /**
   * An execution that waits for its place does not count as running: the loop is woken, and may
   * begin, pause or stop.
   */
  #waitForPlace({ attempt, cancel }: StepExecution): Promise<void> | null {
    const open = this.#run.open[attempt];
    if (open === undefined || isInOrder(this.#run, open)) return null;
    if (cancel.isCancelled) return Promise.resolve(); // its signal would not fire again

    return new Promise((resolve) => {
      this.#waiting.set(attempt, resolve);
      cancel.signal.addEventListener("abort", () => resolve(), { once: true });
      this.#wake.ring();
    });
  }

  #releaseWaiting(): void {
    for (const [attempt, resume] of this.#waiting) {
      const open = this.#run.open[attempt];
      if (open !== undefined && !isInOrder(this.#run, open)) continue;
      this.#waiting.delete(attempt);
      resume();
    }
  }

  async #performAttempt(execution: StepExecution): Promise<void> {
    await Promise.resolve(); // the execution starts once it is registered
    try {
      await performAttempt(execution);
    } catch (error) {
      if (!(error instanceof Cancelled)) this.#fault ??= error;
    } finally {
      this.#waiting.delete(execution.attempt);
      this.#executions.delete(execution.attempt);
      this.#wake.ring();
    }
  }

  async #recoverAttempt(attempt: AttemptId): Promise<null> {
    const recovery = await recoverAttempt(this.#runtime, this.#run, attempt);
    await this.#record(recovery.event);
    if (recovery.closing !== null) await this.#record(recovery.closing);
    if (recovery.isQuarantined) {
      this.#runtime.receipts.drop(attempt);
      await this.#runtime.workspace.quarantine(attempt);
    }

    if (recovery.event.remedy !== "ask") this.#startExecution(attempt);
    return null;
  }

  /**
   * All executions are cancelled at once; each is written off in turn. The mutex is free meanwhile:
   * an execution may be waiting for it.
   */
  async #cancel(attempt: AttemptId): Promise<void> {
    for (const { execution } of this.#executions.values()) execution.cancel.abort("operator");
    const liveExecution = this.#executions.get(attempt);
    if (liveExecution === undefined) await this.#runtime.agents.sweep(this.#run.drafted.run_id);
    else await liveExecution.ended; // E4

    await this.#mutex.runExclusive(() =>
      this.#recordInterruption(attempt, liveExecution?.execution.usageWhenCancelled ?? null),
    );
  }

  async #recordInterruption(attempt: AttemptId, usage: Usage | null): Promise<void> {
    const open = this.#run.open[attempt];
    if (open === undefined) return;
    // A turn that has ended is paid for: its layer stays, and the next opening settles the rest.
    if (open.kind === "agent" && open.stage === "started") {
      await this.#runtime.workspace.quarantine(attempt);
    }

    await this.#record(buildInterrupted(this.#run, attempt, usage));
  }

  /** However the loop ended, no execution keeps running behind it. */
  async end(): Promise<void> {
    for (const stop of this.#cleanups) stop();
    const live = [...this.#executions.values()];
    for (const { execution } of live) execution.cancel.abort("shutdown");
    await Promise.all(live.map(({ ended }) => ended));
    if (this.#fault instanceof InvariantBroken) throw this.#fault;
  }
}

/**
 * Adds actor and reason if the event has none. The three fields come first, as they do in every
 * journal line.
 */
function withDefaults(
  event: Draft,
): Draft & { readonly actor: string; readonly reason_code: string } {
  return Object.assign({ event: event.event, actor: "system", reason_code: "ok" }, event);
}
