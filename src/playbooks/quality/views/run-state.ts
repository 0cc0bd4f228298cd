// run-state: renders the journal of a quality run as `quality/run_state.jsonl`. Entries in, lines out; decides nothing.
//
// Invariants:
//   T1. The lines follow from the entries alone, and more entries only add lines: written lines stay a prefix.
//   T2. A phase that must be done again after its `phase_end` closes the log: it goes to history, and a new one begins whose other phases
//       are closed again, each in its place.
//   T3. An event reports what the runner itself found on disk, never an agent's claim alone.
//   T4. A log without documentation_state says that there was documentation: so each new log of a run without it repeats that.

import type { Entry, EventOf } from "../../../contracts/event.ts";
import { findFact, gateFact, GateFound, PhaseTally, tallyFact } from "../../../contracts/quality-facts.ts";
import { phaseNumbers, type PhaseNumber, type QualityRunEvent } from "../../../contracts/quality-run.ts";
import { parseIsoTime } from "../../../kit/iso-time.ts";
import { gateEvents, gateLogEvent, eventHeader, headEvents, messageCharsMax, type RunHeader, tallyEvents } from "./run-state-events.ts";
import { earlierLogPath, gateLogPath, historyPath } from "./run-state-names.ts";
import { pathPhase, attemptPlace, reopenings } from "./run-state-places.ts";
import { readLog } from "./run-state-read.ts";
import { type PhaseEnd, Volume } from "./run-state-volume.ts";
import { oneLine } from "../../../views/wording.ts";

type Drafted = EventOf<"run_drafted">;
type Failure = { readonly step: string; readonly message: string };

export class RunStateLog {
  readonly volumes: Volume[] = [];
  header: RunHeader | null = null;
  /** The newest judgement of the terminal gate. */
  gate: { readonly found: GateFound; readonly ts: string } | null = null;
  /** Notes that PROGRESS.md keeps: the state of the documentation, and what went wrong for good. */
  documentation: { readonly state: string; readonly reason: string } | null = null;
  readonly errors: { readonly code: string; readonly reason: string }[] = [];
  readonly tallies = new Map<number, PhaseTally>();
  readonly #readText: (hash: string) => string | null;
  readonly #failures = new Map<string, Failure>();
  readonly #findings = new Set<string>();
  /** Phases that are done again and not reported yet: several may be taken together. */
  readonly #again = new Map<PhaseNumber, string>();
  /** Ends of phases that a new log still has to report, each before what comes after it. */
  readonly #kept = new Map<number, PhaseEnd>();
  #earlier: { readonly isMoved: boolean; readonly hash: string | null } | null = null;

  constructor(readText: (hash: string) => string | null) {
    this.#readText = readText;
  }

  get #log(): Volume | null {
    return this.volumes.at(-1) ?? null;
  }

  take(entry: Entry): void {
    if (entry.event === "phase_reopened") return this.#reopen(entry);
    if (entry.event === "run_opened") return undefined; // opening a run is not journaled, so nothing may depend on it
    if (this.#again.size > 0) this.#beginAnew(entry.ts);
    switch (entry.event) {
      case "run_drafted":
        return this.#draft(entry);
      case "run_started":
        return this.#start(entry.ts);
      case "run_forked":
        return this.#forked(entry);
      case "phase_started":
      case "step_started":
        return this.#enter(entry.walk, entry.ts);
      case "step_completed":
      case "step_failed":
        return this.#outcome(entry);
      case "step_retried":
        return this.#retry(entry);
      case "step_interrupted":
        return this.#interrupted(entry);
      case "attempt_settled":
        return this.#settled(entry);
      case "phase_completed":
        return this.#completed(entry.walk, entry.ts);
      case "phase_failed":
        return this.#failed(entry);
      case "run_stopped":
        return this.#stopped(entry);
      case "run_completed":
        return this.#succeeded(entry.ts);
      default:
        return undefined; // The rest is the journal's alone.
    }
  }

  #draft(drafted: Drafted): void {
    this.header = eventHeader(drafted);
    const kind = drafted.options["earlier_log"];
    if (kind !== "continued" && kind !== "moved") return;
    this.#earlier = { isMoved: kind === "moved", hash: drafted.documents?.find(({ path }) => path === earlierLogPath)?.hash ?? null };
  }

  #start(ts: string): void {
    const text = this.#earlier?.hash == null ? null : this.#readText(this.#earlier.hash);
    const log = text === null ? null : readLog(text);
    if (this.#earlier === null) return this.#open(ts);
    if (!this.#earlier.isMoved && log !== null) {
      this.volumes.push(new Volume(log));
      const state = log.events.find((event) => event.event === "documentation_state");
      if (state?.event === "documentation_state") this.documentation = { state: state.state, reason: state.reason };
      return undefined;
    }
    const previousVolume = new Volume(null);
    previousVolume.archive = historyPath(ts);
    this.volumes.push(previousVolume);
    this.#open(ts);
    return this.#error(ts, null, `A log of an earlier run lay here; it is kept as ${previousVolume.archive}.`, { isRecoverable: true });
  }

  #open(ts: string): void {
    if (this.header === null) return;
    this.volumes.push(new Volume(null));
    for (const event of headEvents(this.header, ts)) this.#add(event);
    if (this.documentation !== null) this.#add({ event: "documentation_state", ts, ...this.documentation }); // T4
  }

  /** The existing log is the other run's: it is kept as it is, and a new one repeats what was taken over. */
  #forked({ run, ts }: EventOf<"run_forked"> & { readonly ts: string }): void {
    const previousVolume = this.#log;
    if (previousVolume === null) return;
    const theirs = new Volume(null);
    theirs.archive = historyPath(ts);
    for (const [phase, end] of previousVolume.ended) this.#kept.set(phase, end);
    this.volumes.splice(0, this.volumes.length, theirs);
    this.#open(ts);
    this.#error(ts, null, `This run goes on from ${run}. A log that lay here is kept as ${theirs.archive}.`, { isRecoverable: true });
    const open = [...previousVolume.startedAt.keys()].findLast((phase) => !previousVolume.ended.has(phase));
    if (open === undefined) return;
    this.#closeKept(open, ts);
    this.#log?.start(open, ts);
  }

  /** T2 */
  #reopen({ walk, because }: EventOf<"phase_reopened">): void {
    const phase = pathPhase(walk);
    if (phase === null) return;
    const isReported = this.#log?.ended.has(phase) === true || this.#log?.isOver === true;
    if (isReported) this.#again.set(phase, reopenings[because] ?? `Phase ${phase} is done again (${because}).`);
  }

  #beginAnew(ts: string): void {
    const previousVolume = this.#log;
    const again = [...this.#again];
    this.#again.clear();
    if (previousVolume === null) return;
    previousVolume.archive = historyPath(ts);
    for (const [phase, end] of previousVolume.ended) if (!again.some(([ended]) => ended === phase)) this.#kept.set(phase, end);
    for (const [phase] of again) this.#kept.delete(phase);
    this.#open(ts);
    for (const [phase, why] of again)
      this.#error(ts, phase, `${why} The log so far is kept as ${previousVolume.archive}.`, { isRecoverable: true });
  }

  /** The earlier phases that still hold, reported again; then its own beginning. */
  #enter(cursorPath: string, ts: string): void {
    const phase = pathPhase(cursorPath);
    if (phase === null || this.#log === null) return;
    this.#closeKept(phase, ts);
    this.#log.start(phase, ts);
  }

  #closeKept(until: number, ts: string): void {
    for (const phase of phaseNumbers) {
      const end = this.#kept.get(phase);
      if (end === undefined || phase >= until) continue;
      this.#kept.delete(phase);
      this.#log?.start(phase, ts);
      this.#log?.end({ ...end, ts });
    }
  }

  #outcome(entry: (EventOf<"step_completed"> | EventOf<"step_failed">) & { readonly ts: string }): void {
    const { cursor, step } = attemptPlace(entry.attempt);
    const phase = pathPhase(cursor);
    if (entry.event === "step_failed") this.#failures.set(cursor, { step, message: entry.detail ?? entry.reason_code });
    if (cursor === "before.docs" && entry.facts["present"] === false && entry.facts["required"] !== true) this.#codeOnly(entry);
    if (phase === null) return;
    if (entry.facts["proved"] === false && this.#log?.ended.has(phase) === true) {
      const why = `Phase ${phase} had ended, and its artifacts no longer prove it (${oneLine(entry.event === "step_completed" ? (entry.detail ?? "gone") : "gone")}).`;
      this.#again.set(phase, why); // T2
      this.#beginAnew(entry.ts);
      this.#enter(cursor, entry.ts);
    }
    const gate = findFact(entry.facts, gateFact, GateFound);
    if (gate !== null) this.#judged(gate, phase, entry.ts);
    const tally = findFact(entry.facts, tallyFact, PhaseTally);
    if (tally !== null) this.#tallied(phase, tally, entry.ts);
  }

  #codeOnly({ ts, facts }: { readonly ts: string; readonly facts: Readonly<Record<string, unknown>> }): void {
    if (this.documentation !== null || this.#log?.startedAt.has(1) === true) return;
    const reason = typeof facts["reason"] === "string" ? facts["reason"] : "reference_docs/ is empty";
    this.documentation = { state: "code_only", reason };
    this.#add({ event: "documentation_state", ts, ...this.documentation });
  }

  #judged(found: GateFound, phase: number, ts: string): void {
    const isKnown = phase === 6 && this.gate !== null && JSON.stringify(this.gate.found) === JSON.stringify(found);
    if (phase === 6) this.gate = { found, ts };
    if (isKnown || this.#log?.ended.has(phase) === true) return; // reported already
    for (const event of gateEvents(found, ts)) this.#add(event);
    if (phase === 6) this.#add(gateLogEvent(found, ts));
  }

  /** T3 */
  #tallied(phase: PhaseNumber, tally: PhaseTally, ts: string): void {
    this.tallies.set(phase, tally);
    if (this.#log?.ended.has(phase) === true) return; // already reported by the log's first run
    for (const { id } of tally.findings) this.#findings.add(id);
    for (const event of tallyEvents(phase, tally, ts)) this.#add(event);
  }

  #retry({ walk, ts }: { readonly walk: string; readonly ts: string }): void {
    const phase = pathPhase(walk);
    const why = this.#failures.get(walk)?.message ?? "its gate does not hold";
    if (phase !== null) this.#error(ts, phase, `Phase ${phase} runs again: ${why}`, { isRecoverable: true });
  }

  #interrupted({ attempt, by, detail, reason_code, ts }: EventOf<"step_interrupted"> & { readonly ts: string }): void {
    const phase = pathPhase(attemptPlace(attempt).cursor);
    if (phase === null || by === "operator") return;
    this.#error(ts, phase, `Phase ${phase} was cut short (${reason_code}): ${detail ?? by}`, { isRecoverable: true });
  }

  #settled({ attempt, remedy, doubt, ts }: EventOf<"attempt_settled"> & { readonly ts: string }): void {
    const phase = pathPhase(attemptPlace(attempt).cursor);
    if (phase === null || remedy !== "repeat" || doubt.kind !== "agent") return;
    this.#error(ts, phase, `The runner was cut off in phase ${phase}; what was half done is set aside, and the phase runs again.`, {
      isRecoverable: true,
    });
  }

  #completed(cursorPath: string, ts: string): void {
    const phase = pathPhase(cursorPath);
    const log = this.#log;
    if (phase === null || log === null || log.ended.has(phase)) return;
    const tally = this.tallies.get(phase);
    const began = parseIsoTime(log.startedAt.get(phase) ?? ts);
    const ended = parseIsoTime(ts);
    log.end({
      event: "phase_end",
      ts,
      phase,
      key_counts: tally?.key_counts ?? {},
      artifacts_produced: [
        ...(tally?.artifacts ?? []).map(({ path }) => path),
        ...(phase === 6 && this.gate !== null ? [gateLogPath] : []),
      ],
      ...(began === null || ended === null ? {} : { duration_seconds: Math.max(0, Math.round((ended - began) / 100) / 10) }),
    });
  }

  #failed({ walk, because, ts }: EventOf<"phase_failed"> & { readonly ts: string }): void {
    const phase = pathPhase(walk);
    const why = this.#failures.get(walk)?.message ?? because ?? "it failed";
    this.#error(ts, phase, `${phase === null ? "The run" : `Phase ${phase}`} is given up: ${why}`, { isRecoverable: false });
    this.errors.push({ code: because ?? "phase_failed", reason: why });
    this.#end(ts, "failed");
  }

  #stopped({ reason_code, detail, ts }: EventOf<"run_stopped"> & { readonly ts: string }): void {
    if (reason_code !== "missing_docs") return this.#end(ts, "aborted");
    const reason = detail ?? "reference_docs/ holds no .md or .txt file, and --require-docs was given";
    this.#add({ event: "aborted_missing_docs", ts, reason });
    this.errors.push({ code: "aborted_missing_docs", reason });
    return this.#end(ts, "aborted");
  }

  #succeeded(ts: string): void {
    this.#closeKept(Number.POSITIVE_INFINITY, ts);
    this.#end(ts, "success");
  }

  #end(ts: string, status: "success" | "aborted" | "failed"): void {
    const verdict = this.#log?.ended.get(6)?.key_counts["gate_verdict"];
    const final = typeof verdict === "string" ? { final_verdict: verdict } : {};
    this.#add({ event: "run_end", ts, status, ...this.#total(), ...final });
  }

  /** Every finding once, those that an earlier tool logged included; nothing if only its counts are known. */
  #total(): { readonly total_findings?: number } {
    const logged = this.volumes
      .flatMap(({ events }) => events)
      .flatMap((event) => (event.event === "finding_logged" ? [event.finding_id] : []));
    const all = new Set([...this.#findings, ...logged]);
    return all.size === 0 && this.volumes[0]?.earlier != null ? {} : { total_findings: all.size };
  }

  #error(ts: string, phase: number | null, message: string, { isRecoverable }: { readonly isRecoverable: boolean }): void {
    const where = phase === null ? {} : { phase };
    const said = oneLine(message, messageCharsMax);
    this.#add({ event: "error", ts, ...where, message: said, recoverable: isRecoverable } as QualityRunEvent);
  }

  #add(event: QualityRunEvent): void {
    this.#log?.add(event);
  }
}
