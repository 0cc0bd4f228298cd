// run-state: renders the journal of a quality run as `quality/run_state.jsonl`. Entries in, lines
// out; decides nothing.
//
// Invariants:
//   T1. The lines follow from the entries and their blobs alone, and more entries only add lines:
//       written lines stay a prefix.
//   T2. If a phase must be repeated after its `phase_end`, the log is moved to history and a new
//       one is opened, in which the ends of the other phases are repeated, each in its place.
//   T3. An event reports what the runner itself found on disk, never an agent's claim alone.
//   T4. A log without documentation_state means that there was documentation: so each new log of a
//       run without documentation repeats the event.

import type { Entry, EventOf } from "../../../contracts/event.ts";
import {
  findFact,
  gateFact,
  GateResult,
  PhaseTally,
  tallyFact,
} from "../../../contracts/quality-facts.ts";
import {
  phaseNumbers,
  type PhaseNumber,
  type QualityRunEvent,
} from "../../../contracts/quality-run.ts";
import {
  buildGateEvents,
  buildPhaseEnd,
  buildGateLogEvent,
  buildRunHeader,
  buildHeadEvents,
  buildErrorEvent,
  type RunHeader,
  buildTallyEvents,
} from "./run-state-events.ts";
import { earlierLogPath, toHistoryPath } from "./run-state-names.ts";
import { findPhaseNumber, parseAttempt, reopenReasons } from "./run-state-phases.ts";
import { parseLog } from "./parse-run-state.ts";
import { type PhaseEnd, Volume } from "./run-state-volume.ts";
import { oneLine } from "../../../views/wording.ts";

type Timed<Event> = Event & { readonly ts: string };

export class RunStateLog {
  readonly volumes: Volume[] = [];
  header: RunHeader | null = null;
  /** The newest judgement of the terminal gate. */
  gate: { readonly result: GateResult; readonly ts: string } | null = null;
  /** Shown in PROGRESS.md: the state of the documentation, and errors that ended the run. */
  documentation: { readonly state: string; readonly reason: string } | null = null;
  readonly errors: { readonly code: string; readonly reason: string }[] = [];
  readonly tallies = new Map<number, PhaseTally>();
  readonly #readText: (hash: string) => string | null;
  /** The message of the last failed step, by its cursor. */
  readonly #failureMessages = new Map<string, string>();
  readonly #findingIds = new Set<string>();
  /**
   * Phases to be repeated that are not reported yet, with the reason: several are reported
   * together.
   */
  readonly #reopenedPhases = new Map<PhaseNumber, string>();
  /** Phase ends that a new log still has to repeat, each before the events of later phases. */
  readonly #pendingEnds = new Map<number, PhaseEnd>();
  /**
   * The log that was in the checkout when the run was drafted: whether it is moved to history or
   * continued, and its blob.
   */
  #earlierLog: { readonly isMoved: boolean; readonly hash: string | null } | null = null;

  constructor(readText: (hash: string) => string | null) {
    this.#readText = readText;
  }

  get #volume(): Volume | null {
    return this.volumes.at(-1) ?? null;
  }

  add(entry: Entry): void {
    // T1
    if (entry.event === "phase_reopened") return this.#reopen(entry);
    if (entry.event === "run_opened") return undefined; // says nothing of a phase, so a new log waits for the entry after it
    if (this.#reopenedPhases.size > 0) this.#replaceVolume(entry.ts);
    switch (entry.event) {
      case "run_drafted":
        return this.#readDraft(entry);
      case "run_started":
        return this.#openFirstVolume(entry.ts);
      case "run_forked":
        return this.#fork(entry);
      case "phase_started":
      case "step_started":
        return this.#enterPhase(entry.walk, entry.ts);
      case "step_completed":
      case "step_failed":
        return this.#recordOutcome(entry);
      case "step_retried":
        return this.#reportRetry(entry);
      case "step_interrupted":
        return this.#reportInterruption(entry);
      case "attempt_settled":
        return this.#reportRecovery(entry);
      case "phase_completed":
        return this.#completePhase(entry.walk, entry.ts);
      case "phase_failed":
        return this.#failPhase(entry);
      case "run_stopped":
        return this.#stopRun(entry);
      case "run_completed":
        return this.#completeRun(entry.ts);
      default:
        return undefined; // other events are not part of this log
    }
  }

  #readDraft(drafted: EventOf<"run_drafted">): void {
    this.header = buildRunHeader(drafted);
    const kind = drafted.options["earlier_log"];
    if (kind !== "continued" && kind !== "moved") return;
    this.#earlierLog = {
      isMoved: kind === "moved",
      hash: drafted.documents?.find(({ path }) => path === earlierLogPath)?.hash ?? null,
    };
  }

  #openFirstVolume(ts: string): void {
    if (this.#earlierLog === null) return this.#openVolume(ts);
    const { hash, isMoved } = this.#earlierLog;
    const text = hash === null || isMoved ? null : this.#readText(hash);
    if (text !== null) {
      const log = parseLog(text);
      this.volumes.push(new Volume(log));
      const state = log.events.find((event) => event.event === "documentation_state");
      if (state?.event === "documentation_state") {
        this.documentation = { state: state.state, reason: state.reason };
      }

      return undefined;
    }

    const previousVolume = new Volume(null);
    previousVolume.archive = toHistoryPath(ts);
    this.volumes.push(previousVolume);
    this.#openVolume(ts);

    return this.#addError(
      ts,
      null,
      `A log of an earlier run lay here; it is kept as ${previousVolume.archive}.`,
      { isRecoverable: true },
    );
  }

  #openVolume(ts: string): void {
    if (this.header === null) return;
    this.volumes.push(new Volume(null));
    for (const event of buildHeadEvents(this.header, ts)) this.#add(event);
    if (this.documentation !== null) {
      this.#add({ event: "documentation_state", ts, ...this.documentation });
    } // T4
  }

  /**
   * The existing log belongs to the other run: it is kept unchanged, and a new one repeats the
   * phases taken over.
   */
  #fork({ run, ts }: Timed<EventOf<"run_forked">>): void {
    const previousVolume = this.#volume;
    if (previousVolume === null) return;
    const otherRunsVolume = new Volume(null);
    otherRunsVolume.archive = toHistoryPath(ts);
    for (const [phase, end] of previousVolume.endsByPhase) this.#pendingEnds.set(phase, end);
    this.volumes.splice(0, this.volumes.length, otherRunsVolume);
    this.#openVolume(ts);
    const message = `This run goes on from ${run}. A log that lay here is kept as ${otherRunsVolume.archive}.`;
    this.#addError(ts, null, message, { isRecoverable: true });
    const openPhase = [...previousVolume.startTimes.keys()].findLast(
      (phase) => !previousVolume.endsByPhase.has(phase),
    );
    if (openPhase === undefined) return;
    this.#writePendingEnds(openPhase, ts);
    this.#volume?.start(openPhase, ts);
  }

  /** A phase is repeated. If the log reports its end, the next entry opens a new log. T2 */
  #reopen({ walk, because }: EventOf<"phase_reopened">): void {
    const phase = findPhaseNumber(walk);
    if (phase === null) return;
    const isReported =
      this.#volume?.endsByPhase.has(phase) === true || this.#volume?.isOver === true;
    if (isReported) {
      this.#reopenedPhases.set(
        phase,
        reopenReasons[because] ?? `Phase ${phase} is done again (${because}).`,
      );
    }
  }

  /**
   * Opens a new log, in which the ends of phases that are not repeated still have to be written.
   */
  #replaceVolume(ts: string): void {
    const previousVolume = this.#volume;
    const reopenedPhases = new Map(this.#reopenedPhases);
    this.#reopenedPhases.clear();
    if (previousVolume === null) return;
    previousVolume.archive = toHistoryPath(ts);
    for (const [phase, end] of previousVolume.endsByPhase) this.#pendingEnds.set(phase, end);
    for (const phase of reopenedPhases.keys()) this.#pendingEnds.delete(phase);
    this.#openVolume(ts);

    for (const [phase, why] of reopenedPhases) {
      this.#addError(ts, phase, `${why} The log so far is kept as ${previousVolume.archive}.`, {
        isRecoverable: true,
      });
    }
  }

  /** Repeats the ends of earlier phases that still hold, then reports that this phase starts. */
  #enterPhase(cursorPath: string, ts: string): void {
    const phase = findPhaseNumber(cursorPath);
    if (phase === null || this.#volume === null) return;
    this.#writePendingEnds(phase, ts);
    this.#volume.start(phase, ts);
  }

  #writePendingEnds(until: number, ts: string): void {
    for (const phase of phaseNumbers) {
      const end = this.#pendingEnds.get(phase);
      if (end === undefined || phase >= until) continue;
      this.#pendingEnds.delete(phase);
      this.#volume?.start(phase, ts);
      this.#volume?.end({ ...end, ts });
    }
  }

  #recordOutcome(entry: Timed<EventOf<"step_completed"> | EventOf<"step_failed">>): void {
    const { cursor } = parseAttempt(entry.attempt);
    const phase = findPhaseNumber(cursor);

    if (entry.event === "step_failed") {
      this.#failureMessages.set(cursor, entry.detail ?? entry.reason_code);
    }

    if (
      cursor === "before.docs" &&
      entry.facts["present"] === false &&
      entry.facts["required"] !== true
    ) {
      this.#noteMissingDocs(entry);
    }

    if (phase === null) return;
    if (entry.facts["proved"] === false && this.#volume?.endsByPhase.has(phase) === true) {
      const detail = entry.event === "step_completed" ? (entry.detail ?? "gone") : "gone";
      this.#reopenedPhases.set(
        phase,
        `Phase ${phase} had ended, and its artifacts no longer prove it (${oneLine(detail)}).`,
      ); // T2

      this.#replaceVolume(entry.ts);
      this.#enterPhase(cursor, entry.ts);
    }

    const gate = findFact(entry.facts, gateFact, GateResult);
    if (gate !== null) this.#recordGate(gate, phase, entry.ts);
    const tally = findFact(entry.facts, tallyFact, PhaseTally);
    if (tally !== null) this.#recordTally(phase, tally, entry.ts);
  }

  #noteMissingDocs({
    ts,
    facts,
  }: {
    readonly ts: string;
    readonly facts: Readonly<Record<string, unknown>>;
  }): void {
    if (this.documentation !== null || this.#volume?.startTimes.has(1) === true) return;
    const reason =
      typeof facts["reason"] === "string" ? facts["reason"] : "reference_docs/ is empty";
    this.documentation = { state: "code_only", reason };
    this.#add({ event: "documentation_state", ts, ...this.documentation });
  }

  #recordGate(result: GateResult, phase: number, ts: string): void {
    const isUnchanged =
      phase === 6 &&
      this.gate !== null &&
      JSON.stringify(this.gate.result) === JSON.stringify(result);

    if (phase === 6) this.gate = { result, ts };
    if (isUnchanged || this.#volume?.endsByPhase.has(phase) === true) return; // reported already
    for (const event of buildGateEvents(result, ts)) this.#add(event);
    if (phase === 6) this.#add(buildGateLogEvent(result, ts));
  }

  /** The tally is the runner's own count of what is on disk. T3 */
  #recordTally(phase: PhaseNumber, tally: PhaseTally, ts: string): void {
    this.tallies.set(phase, tally);
    if (this.#volume?.endsByPhase.has(phase) === true) return; // already reported by the log's first run
    for (const { id } of tally.findings) this.#findingIds.add(id);
    for (const event of buildTallyEvents(phase, tally, ts)) this.#add(event);
  }

  #reportRetry({ walk, ts }: { readonly walk: string; readonly ts: string }): void {
    const phase = findPhaseNumber(walk);
    const why = this.#failureMessages.get(walk) ?? "its gate does not hold";

    if (phase !== null) {
      this.#addError(ts, phase, `Phase ${phase} runs again: ${why}`, { isRecoverable: true });
    }
  }

  #reportInterruption({
    attempt,
    by,
    detail,
    reason_code,
    ts,
  }: Timed<EventOf<"step_interrupted">>): void {
    const phase = findPhaseNumber(parseAttempt(attempt).cursor);
    if (phase === null || by === "operator") return;
    this.#addError(ts, phase, `Phase ${phase} was cut short (${reason_code}): ${detail ?? by}`, {
      isRecoverable: true,
    });
  }

  #reportRecovery({ attempt, remedy, doubt, ts }: Timed<EventOf<"attempt_settled">>): void {
    const phase = findPhaseNumber(parseAttempt(attempt).cursor);
    if (phase === null || remedy !== "repeat" || doubt.kind !== "agent") return;
    const message = `The runner was cut off in phase ${phase}; what was half done is set aside, and the phase runs again.`;
    this.#addError(ts, phase, message, { isRecoverable: true });
  }

  #completePhase(cursorPath: string, ts: string): void {
    const phase = findPhaseNumber(cursorPath);
    const volume = this.#volume;
    if (phase === null || volume === null || volume.endsByPhase.has(phase)) return;
    const startedAt = volume.startTimes.get(phase) ?? ts;
    volume.end(
      buildPhaseEnd({
        phase,
        startedAt,
        ts,
        tally: this.tallies.get(phase),
        hasGateLog: phase === 6 && this.gate !== null,
      }),
    );
  }

  #failPhase({ walk, because, ts }: Timed<EventOf<"phase_failed">>): void {
    const phase = findPhaseNumber(walk);
    const why = this.#failureMessages.get(walk) ?? because ?? "it failed";
    const subject = phase === null ? "The run" : `Phase ${phase}`;
    this.#addError(ts, phase, `${subject} is given up: ${why}`, { isRecoverable: false });
    this.errors.push({ code: because ?? "phase_failed", reason: why });
    this.#endRun(ts, "failed");
  }

  #stopRun({ reason_code, detail, ts }: Timed<EventOf<"run_stopped">>): void {
    if (reason_code !== "missing_docs") return this.#endRun(ts, "aborted");
    const reason =
      detail ?? "reference_docs/ holds no .md or .txt file, and --require-docs was given";
    this.#add({ event: "aborted_missing_docs", ts, reason });
    this.errors.push({ code: "aborted_missing_docs", reason });

    return this.#endRun(ts, "aborted");
  }

  #completeRun(ts: string): void {
    this.#writePendingEnds(Number.POSITIVE_INFINITY, ts);
    this.#endRun(ts, "success");
  }

  #endRun(ts: string, status: "success" | "aborted" | "failed"): void {
    const verdict = this.#volume?.endsByPhase.get(6)?.key_counts["gate_verdict"];
    const verdictField = typeof verdict === "string" ? { final_verdict: verdict } : {};
    this.#add({ event: "run_end", ts, status, ...this.#totalFindings(), ...verdictField });
  }

  /**
   * Counts every finding once, including those of an earlier tool; empty if that tool logged only
   * counts.
   */
  #totalFindings(): { readonly total_findings?: number } {
    const loggedIds = this.volumes
      .flatMap(({ events }) => events)
      .flatMap((event) => (event.event === "finding_logged" ? [event.finding_id] : []));
    const findingIds = new Set([...this.#findingIds, ...loggedIds]);
    return findingIds.size === 0 && this.volumes[0]?.earlier != null
      ? {}
      : { total_findings: findingIds.size };
  }

  #addError(
    ts: string,
    phase: number | null,
    message: string,
    { isRecoverable }: { readonly isRecoverable: boolean },
  ): void {
    this.#add(buildErrorEvent({ ts, phase, message, isRecoverable }));
  }

  #add(event: QualityRunEvent): void {
    this.#volume?.add(event);
  }
}
