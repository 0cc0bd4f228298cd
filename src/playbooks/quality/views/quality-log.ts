// quality-log: renders the journal of a quality run as `quality/run_state.jsonl`. Entries in, lines
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
} from "../../../contracts/quality/quality-facts.ts";
import type { PhaseNumber } from "../../../contracts/quality/quality-run.ts";
import {
  buildGateEvents,
  buildPhaseEnd,
  buildGateLogEvent,
  buildRunHeader,
  buildHeadEvents,
  buildErrorEvent,
  type RunHeader,
  buildTallyEvents,
} from "./quality-log-events.ts";
import { earlierLogPath } from "./quality-names.ts";
import { findPhaseNumber, parseAttempt, reopenReasons } from "./quality-phases.ts";
import { parseLog } from "./parse-quality-log.ts";
import type { Volume } from "./quality-log-volume.ts";
import { RunVolumes } from "./quality-log-volumes.ts";
import { oneLine } from "../../../views/wording.ts";

type Timed<Event> = Event & { readonly ts: string };
type StepEnd = Timed<EventOf<"step_completed"> | EventOf<"step_failed">>;

export class QualityLog {
  header: RunHeader | null = null;
  /** The newest judgement of the terminal gate. */
  gate: { readonly result: GateResult; readonly ts: string } | null = null;
  /** Shown in PROGRESS.md: the state of the documentation, and errors that ended the run. */
  documentation: { readonly state: string; readonly reason: string } | null = null;
  readonly errors: { readonly code: string; readonly reason: string }[] = [];
  readonly tallies = new Map<number, PhaseTally>();
  readonly #volumes = new RunVolumes();
  readonly #readText: (hash: string) => string | null;
  /** The message of the last failed step, by its cursor. */
  readonly #failureMessages = new Map<string, string>();
  readonly #findingIds = new Set<string>();
  /**
   * Phases to be repeated that are not reported yet, with the reason: several are reported
   * together.
   */
  readonly #reopenedPhases = new Map<PhaseNumber, string>();
  /**
   * The log that was in the checkout when the run was drafted: whether it is moved to history or
   * continued, and its blob.
   */
  #earlierLog: { readonly isMoved: boolean; readonly hash: string | null } | null = null;

  constructor(readText: (hash: string) => string | null) {
    this.#readText = readText;
  }

  get volumes(): Volume[] {
    return this.#volumes.list;
  }

  /** T1 */
  add(entry: Entry): void {
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
    if (text !== null) return this.#continueEarlierLog(text);

    const archive = this.#volumes.addForeign(ts);
    this.#openVolume(ts);
    this.#reportRecoverable(
      ts,
      null,
      `A log of an earlier run lay here; it is kept as ${archive}.`,
    );
  }

  #continueEarlierLog(text: string): void {
    const log = parseLog(text);
    this.#volumes.open(log);
    const documentation = log.events.find((event) => event.event === "documentation_state");
    if (documentation?.event === "documentation_state") {
      this.documentation = { state: documentation.state, reason: documentation.reason };
    }
  }

  #openVolume(ts: string): void {
    if (this.header === null) return;
    this.#volumes.open(null);
    for (const event of buildHeadEvents(this.header, ts)) this.#volumes.add(event);
    if (this.documentation !== null) this.#reportDocumentation(this.documentation, ts); // T4
  }

  #reportDocumentation(documentation: { state: string; reason: string }, ts: string): void {
    this.#volumes.add({ event: "documentation_state", ts, ...documentation });
  }

  /**
   * The existing log belongs to the other run: it is kept unchanged, and a new one repeats the
   * phases taken over.
   */
  #fork({ run, ts }: Timed<EventOf<"run_forked">>): void {
    const previousVolume = this.#volumes.current;
    if (previousVolume === null) return;
    const archive = this.#volumes.leaveToOtherRun(previousVolume, ts);
    this.#openVolume(ts);
    const message = `This run goes on from ${run}. A log that lay here is kept as ${archive}.`;
    this.#reportRecoverable(ts, null, message);

    const openPhase = [...previousVolume.startTimes.keys()].findLast(
      (phase) => !previousVolume.endsByPhase.has(phase),
    );
    if (openPhase !== undefined) this.#volumes.enterPhase(openPhase, ts);
  }

  /** A phase is repeated. If the log reports its end, the next entry opens a new log. T2 */
  #reopen({ walk, because }: EventOf<"phase_reopened">): void {
    const phase = findPhaseNumber(walk);
    if (phase === null) return;
    const isReported = this.#volumes.hasEnded(phase) || this.#volumes.current?.isOver === true;
    if (!isReported) return;

    const why = reopenReasons[because] ?? `Phase ${phase} is done again (${because}).`;
    this.#reopenedPhases.set(phase, why);
  }

  /**
   * Opens a new log, in which the ends of phases that are not repeated still have to be written.
   */
  #replaceVolume(ts: string): void {
    const reopenedPhases = new Map(this.#reopenedPhases);
    this.#reopenedPhases.clear();
    const previousVolume = this.#volumes.current;
    if (previousVolume === null) return;
    const archive = this.#volumes.archiveCurrent(previousVolume, ts, reopenedPhases.keys());
    this.#openVolume(ts);

    for (const [phase, why] of reopenedPhases) {
      this.#reportRecoverable(ts, phase, `${why} The log so far is kept as ${archive}.`);
    }
  }

  #enterPhase(cursorPath: string, ts: string): void {
    const phase = findPhaseNumber(cursorPath);
    if (phase !== null) this.#volumes.enterPhase(phase, ts);
  }

  #recordOutcome(entry: StepEnd): void {
    const { cursor } = parseAttempt(entry.attempt);
    if (entry.event === "step_failed") {
      this.#failureMessages.set(cursor, entry.detail ?? entry.reason_code);
    }

    const { present, required, proved } = entry.facts;
    const areDocsMissing = cursor === "before.docs" && present === false && required !== true;
    if (areDocsMissing) this.#noteMissingDocs(entry);

    const phase = findPhaseNumber(cursor);
    if (phase === null) return;
    if (proved === false && this.#volumes.hasEnded(phase)) this.#redoPhase(phase, entry);

    const gate = findFact(entry.facts, gateFact, GateResult);
    if (gate !== null) this.#recordGate(gate, phase, entry.ts);
    const tally = findFact(entry.facts, tallyFact, PhaseTally);
    if (tally !== null) this.#recordTally(phase, tally, entry.ts);
  }

  /** A phase that the log says has ended is no longer proved: it begins again in a new log. T2 */
  #redoPhase(phase: PhaseNumber, entry: StepEnd): void {
    const detail = entry.event === "step_completed" ? (entry.detail ?? "gone") : "gone";
    this.#reopenedPhases.set(
      phase,
      `Phase ${phase} had ended, and its artifacts no longer prove it (${oneLine(detail)}).`,
    );
    this.#replaceVolume(entry.ts);
    this.#volumes.enterPhase(phase, entry.ts);
  }

  #noteMissingDocs({ ts, facts }: StepEnd): void {
    const hasPhaseStarted = this.#volumes.current?.startTimes.has(1) === true;
    if (this.documentation !== null || hasPhaseStarted) return;
    const reason =
      typeof facts["reason"] === "string" ? facts["reason"] : "reference_docs/ is empty";
    this.documentation = { state: "code_only", reason };
    this.#reportDocumentation(this.documentation, ts);
  }

  #recordGate(result: GateResult, phase: number, ts: string): void {
    const isUnchanged =
      phase === 6 &&
      this.gate !== null &&
      JSON.stringify(this.gate.result) === JSON.stringify(result);

    if (phase === 6) this.gate = { result, ts };
    if (isUnchanged || this.#volumes.hasEnded(phase)) return; // reported already
    for (const event of buildGateEvents(result, ts)) this.#volumes.add(event);
    if (phase === 6) this.#volumes.add(buildGateLogEvent(result, ts));
  }

  /** The tally is the runner's own count of what is on disk. T3 */
  #recordTally(phase: PhaseNumber, tally: PhaseTally, ts: string): void {
    this.tallies.set(phase, tally);
    if (this.#volumes.hasEnded(phase)) return; // reported when the phase first ended
    for (const { id } of tally.findings) this.#findingIds.add(id);
    for (const event of buildTallyEvents(phase, tally, ts)) this.#volumes.add(event);
  }

  #reportRetry({ walk, ts }: { readonly walk: string; readonly ts: string }): void {
    const phase = findPhaseNumber(walk);
    const why = this.#failureMessages.get(walk) ?? "its gate does not hold";

    if (phase !== null) this.#reportRecoverable(ts, phase, `Phase ${phase} runs again: ${why}`);
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
    this.#reportRecoverable(
      ts,
      phase,
      `Phase ${phase} was cut short (${reason_code}): ${detail ?? by}`,
    );
  }

  #reportRecovery({ attempt, remedy, doubt, ts }: Timed<EventOf<"attempt_settled">>): void {
    const phase = findPhaseNumber(parseAttempt(attempt).cursor);
    if (phase === null || remedy !== "repeat" || doubt.kind !== "agent") return;
    const message = `The runner was cut off in phase ${phase}; what was half done is set aside, and the phase runs again.`;
    this.#reportRecoverable(ts, phase, message);
  }

  #completePhase(cursorPath: string, ts: string): void {
    const phase = findPhaseNumber(cursorPath);
    const volume = this.#volumes.current;
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
    this.#reportError(ts, phase, `${subject} is given up: ${why}`, { isRecoverable: false });
    this.errors.push({ code: because ?? "phase_failed", reason: why });
    this.#endRun(ts, "failed");
  }

  #stopRun({ reason_code, detail, ts }: Timed<EventOf<"run_stopped">>): void {
    if (reason_code !== "missing_docs") return this.#endRun(ts, "aborted");
    const reason =
      detail ?? "reference_docs/ holds no .md or .txt file, and --require-docs was given";
    this.#volumes.add({ event: "aborted_missing_docs", ts, reason });
    this.errors.push({ code: "aborted_missing_docs", reason });

    return this.#endRun(ts, "aborted");
  }

  #completeRun(ts: string): void {
    this.#volumes.writePendingEnds(Number.POSITIVE_INFINITY, ts);
    this.#endRun(ts, "success");
  }

  #endRun(ts: string, status: "success" | "aborted" | "failed"): void {
    const verdict = this.#volumes.current?.endsByPhase.get(6)?.key_counts["gate_verdict"];
    const verdictField = typeof verdict === "string" ? { final_verdict: verdict } : {};
    this.#volumes.add({ event: "run_end", ts, status, ...this.#totalFindings(), ...verdictField });
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

  #reportRecoverable(ts: string, phase: number | null, message: string): void {
    this.#reportError(ts, phase, message, { isRecoverable: true });
  }

  #reportError(
    ts: string,
    phase: number | null,
    message: string,
    { isRecoverable }: { readonly isRecoverable: boolean },
  ): void {
    this.#volumes.add(buildErrorEvent({ ts, phase, message, isRecoverable }));
  }
}
