// staged-history: a staged project's state, folded from the journal entry by entry. What was there before the run began comes first.
//
// Invariants:
//   C1. The same entries yield the same state; nothing else is read.
//   C2. Completed Steps only grow. The Retry Log and its count begin again when a step succeeds or a person resets it.
//   C3. An agent's text is reported as its summary and decisions, including its sub-step, never as a status.
//   C4. What was found is not written over before the run has said where it begins and, where a step failed for good, a person has decided.
//   C5. A step that failed for good stays failed, with its blocker, until a person decides to continue; stopping isn't such a decision.

import type { Entry, EventOf } from "../../../contracts/event.ts";
import { type StagedState, stagedStatePath } from "../../../contracts/staged-state.ts";
import { parseReply } from "../../../core/decide-block.ts";
import { listedPhases, phaseRule } from "../../../core/selectors.ts";
import type { FlowView } from "../../../core/state.ts";
import { differedFields, othersFrom, pointsFrom } from "./staged-differences.ts";
import { Retries } from "./staged-retries.ts";
import { phaseIn, flowPlace, SubStep } from "./staged-sub-step.ts";
import { describeDecision, describeFailure, describeFound, optionalSkipped, outcomeText, entrySession } from "./staged-descriptions.ts";
import type { StagedRead } from "./staged-state-read.ts";
import { oneLine } from "../../../views/wording.ts";

export type Claim = { readonly summary: string; readonly decisions: readonly string[]; readonly sub_step: string | null };
/** Reads an agent's return from its blob; null if it has no summary or decisions. */
export type ClaimOf = (hash: string) => Claim | null;
type Opened = EventOf<"block_opened">;

const decisionsMax = 500;
/** As the file will have it, so that it is known again when it is read there. */
const decisionCharsMax = 1_000;
const decisionsPerTurnMax = 10;
const rowsMax = 1_000;

export class StagedHistory {
  readonly #flow: FlowView;
  readonly #claimOf: ClaimOf;
  readonly #phases: readonly { readonly id: string; readonly name: string }[];
  #state: StagedState;
  /** Blockers that people wrote into the file. */
  #theirs: string[];
  /** Decisions that an edit took out, until what it left is reported too. */
  #dropped: readonly string[] = [];
  #at: string | null = null;
  readonly #blocks = new Map<string, Opened>();
  readonly #claims = new Map<string, Claim>();
  readonly #summaries = new Map<string, string>();
  readonly #leftOut = new Set<string>();
  #isTakenOver = false;
  readonly #subStep: SubStep;
  readonly #retries: Retries;
  /** Why a step failed for good; kept after its question was answered. */
  #blocker = "";

  constructor(flow: FlowView, before: StagedRead["state"] | null, claimOf: ClaimOf) {
    this.#flow = flow;
    this.#claimOf = claimOf;
    this.#phases = listedPhases(flow, "phases") ?? [];
    const first = this.#phases[0];
    this.#theirs = [...(before?.blockers ?? [])];
    this.#subStep = new SubStep(before, flow.flow);
    this.#retries = new Retries(before?.retry_log ?? []);
    this.#state = {
      current: before?.current ?? { ...fresh, flow: flow.flow, step: 1, name: first?.name ?? "" },
      completed: [...(before?.completed ?? [])],
      decisions: [...(before?.decisions ?? [])],
      last_session: before?.last_session ?? null,
      retry_log: [],
      blockers: [],
      others: [...(before?.others ?? [])],
    };
  }

  /** Whether the state may be written. C4 */
  get isTakenOver(): boolean {
    return this.#isTakenOver;
  }

  readonly #failureOf = (block: EventOf<"block_opened">): string =>
    describeFailure(block, this.#nameOf(phaseIn(block.walk)), this.#state.current);

  get state(): StagedState {
    const failed = [...this.#blocks.values()].filter((block) => block.code !== "session_boundary");
    const ours = failed.map(this.#failureOf);
    const stands = this.#blocker !== "" && this.#state.current.status === "failed"; // C5
    const blockers = [...new Set([...this.#theirs, ...ours, ...(stands ? [this.#blocker] : [])])];
    return {
      ...this.#state,
      retry_log: this.#retries.rows,
      decisions: this.#state.decisions.slice(-decisionsMax),
      completed: this.#state.completed.slice(-rowsMax),
      blockers,
    };
  }

  take(entry: Entry): void {
    switch (entry.event) {
      case "run_drafted":
        return this.#decide(...chosenIn(entry));
      case "phase_started":
      case "phase_reopened":
        this.#enter(entry.walk, entry.event === "phase_reopened");
        return this.#continueSubStep(entry.walk);
      case "phase_skipped":
        return this.#complete(entry.walk, entry.ts, describeFound(phaseRule(this.#flow, entry.walk), entry.because));
      case "phase_completed":
        return this.#complete(entry.walk, entry.ts, outcomeText(this.#endOf(entry.walk, entry.because), this.#summaries.get(entry.walk)));
      case "phases_rewound": // a round is over, and the next begins at an earlier step
        return this.#complete(entry.walk, entry.ts, outcomeText(undefined, this.#summaries.get(entry.walk)));
      case "phase_failed":
        if (this.#isListed(entry.walk)) this.#state.current.status = "failed";
        return undefined;
      case "step_started":
        return this.#begin(entry);
      case "turn_ended":
        return this.#recordClaim(entry);
      case "step_completed":
        return this.#passed(entry.attempt);
      case "step_failed":
        return this.#fail(entry, entry.ts);
      case "step_retried":
        return this.#retry(entry);
      case "block_opened":
        return this.#ask(entry);
      case "block_answered":
        return this.#answer(entry);
      case "document_differed":
        return this.#acceptEdit(entry);
      case "run_paused":
      case "run_stopped":
        this.#state.last_session = entrySession(entry, this.#state.current);
        return undefined;
      case "run_completed":
        this.#state.last_session = entrySession(entry, {
          step: this.#phases.length,
          name: this.#phases.at(-1)?.name ?? "",
          sub_step: null,
        });
        this.#state.current = { ...this.#state.current, step: "done", status: "completed", sub_step: null, retry_count: 0 };
        return undefined;
      default:
        return undefined;
    }
  }

  /** A step that a person let go after it failed is left out, whatever came before. */
  #endOf(phase: string, because: string | undefined): string | undefined {
    return this.#leftOut.has(phase) ? optionalSkipped : because;
  }

  #isListed(phase: string): boolean {
    return this.#phases.some(({ id }) => id === phase);
  }

  #nameOf(phase: string): string {
    return this.#phases.find(({ id }) => id === phase)?.name ?? phase;
  }

  #enter(phase: string, isAgain: boolean): void {
    if (!this.#isListed(phase)) return;
    this.#isTakenOver = true; // C4
    this.#at = phase;
    this.#state.current = { ...fresh, flow: this.#flow.flow, step: phaseNumber(phase), name: this.#nameOf(phase) };
    this.#retries.reset(); // C2
    this.#subStep.clear();
    if (isAgain) this.#summaries.delete(phase);
  }

  /** The first entered step continues where an earlier session stopped in it. */
  #continueSubStep(phase: string): void {
    const sub_step = this.#isListed(phase) ? this.#subStep.enter(phase) : null;
    if (sub_step !== null) Object.assign(this.#state.current, { status: "in_progress", sub_step });
  }

  /** For the prompt of this phase's agents: decisions, and where an earlier session stopped. */
  handOver(phase: string): string {
    return this.#subStep.handOver(this.#state.decisions, phase === this.#at);
  }

  /** A phase is over: its row, and the next one as what comes now. */
  #complete(phase: string, ts: string, outcome: string | null): void {
    if (!this.#isListed(phase) || outcome === null) return;
    const isKnown = this.#state.completed.some(({ step }) => step === phaseNumber(phase));
    if (!isKnown || phase === this.#at)
      this.#state.completed.push({ step: phaseNumber(phase), name: this.#nameOf(phase), completed: ts.slice(0, 10), key_outcome: outcome });
    const next = this.#phases[this.#phases.findIndex(({ id }) => id === phase) + 1];
    this.#retries.reset(); // C2
    if (next === undefined) this.#state.current = { ...this.#state.current, status: "completed", sub_step: null, retry_count: 0 };
    else this.#enter(next.id, false);
    this.#at = null;
  }

  #begin({ attempt, walk, step, kind }: EventOf<"step_started">): void {
    const phase = phaseIn(walk);
    if (phase !== this.#at || kind === "run" || walk.endsWith("/closing")) return;
    this.#retries.begin({ attempt, walk, step });
    Object.assign(this.#state.current, { status: "in_progress", sub_step: this.#placeIn(walk, step) });
  }

  /** As it was named, else the step of the flow. */
  #placeIn(path: string, step: string): string {
    return this.#subStep.named ?? flowPlace(this.#flow, path, step);
  }

  #recordClaim({ attempt, claim, returned }: EventOf<"turn_ended">): void {
    const said = claim === undefined || returned !== true ? null : this.#claimOf(claim);
    if (said !== null) this.#claims.set(attempt, said);
    const named = phaseIn(attempt) === this.#at ? this.#subStep.turn(attempt, said?.sub_step ?? null) : null;
    if (named !== null) this.#state.current.sub_step = named;
  }

  /** C3 */
  #passed(attempt: string): void {
    const claim = this.#claims.get(attempt);
    this.#claims.delete(attempt);
    const phase = phaseIn(attempt);
    this.#subStep.passed(attempt);
    this.#retries.passed(attempt);
    if (claim === undefined || !this.#isListed(phase)) return;
    this.#summaries.set(phase, claim.summary);
    this.#decide(...claim.decisions.slice(0, decisionsPerTurnMax).map((decision) => `${this.#nameOf(phase)}: ${decision}`));
  }

  #fail({ attempt, detail, reason_code }: EventOf<"step_failed">, timestamp: string): void {
    const phase = phaseIn(attempt);
    if (phase !== this.#at) return;
    const row = { step: phaseNumber(phase), name: this.#nameOf(phase), failure_reason: detail ?? reason_code, timestamp };
    this.#retries.failed(attempt, row, (path, step) => this.#placeIn(path, step));
    this.#state.current.retry_count = this.#retries.count;
  }

  #retry(retried: EventOf<"step_retried">): void {
    if (phaseIn(retried.walk) !== this.#at) return;
    if (retried.reset !== true) return this.#retries.retry(retried);
    this.#retries.reset(); // C2
    Object.assign(this.#state.current, { status: "in_progress", retry_count: 0 });
  }

  #ask(block: Opened & { readonly ts?: string }): void {
    this.#blocks.set(block.block, block);
    const phase = phaseIn(block.walk);
    if (phase !== this.#at || block.code === "session_boundary") return;
    this.#state.current.sub_step = this.#placeIn(block.walk, block.step);
    if (block.house === true && Object.keys(block.options).length > 0) this.#state.current.status = "failed";
  }

  #answer({ block: id, answer, request }: EventOf<"block_answered">): void {
    const block = this.#blocks.get(id);
    const isAnswer = block !== undefined && (Object.keys(block.options).length === 0 || Object.hasOwn(block.options, answer));
    if (block === undefined || !isAnswer) return;
    this.#isTakenOver = true; // C4
    this.#blocks.delete(id);
    const phase = phaseIn(block.walk);
    const name = this.#isListed(phase) ? this.#nameOf(phase) : block.code === "phase_failed" ? this.#state.current.name : "";
    const message = describeDecision(block, answer, name, request.startsWith("preset:"));
    if (message !== null) this.#decide(message);
    if (block.house !== true || Object.keys(block.options).length === 0) return;
    const reply = parseReply(answer);
    if (reply === "skip") this.#leftOut.add(phase);
    if (reply === "stop") this.#blocker = this.#failureOf(block); // C5
    else this.#state.current.status = "in_progress";
  }

  #acceptEdit({ path, field, kept }: EventOf<"document_differed">): void {
    if (path !== stagedStatePath) return;
    if (field === differedFields.dropped) this.#dropped = pointsFrom(kept);
    if (field === differedFields.decisions) this.#mergeDecisions(pointsFrom(kept));
    if (field === differedFields.blockers) this.#theirs = pointsFrom(kept).filter((blocker) => !this.#isOwnBlocker(blocker));
    if (field === differedFields.others) this.#state.others = othersFrom(kept);
    if (field === differedFields.notes) this.#subStep.note(kept);
    if (field === differedFields.notes && this.#state.last_session !== null)
      this.#state.last_session = { ...this.#state.last_session, notes: kept };
  }

  /** Theirs hold; what was decided since the text that they edited comes after them. */
  #mergeDecisions(theirs: readonly string[]): void {
    const gone = [...theirs, ...this.#dropped];
    this.#dropped = [];
    this.#state.decisions = [...theirs, ...this.#state.decisions.filter((decision) => !gone.includes(decision))];
  }

  /** A blocker that the runner wrote is not a person's just because it was in the file they edited. */
  #isOwnBlocker(text: string): boolean {
    return [...this.#blocks.values()].some((block) => this.#failureOf(block) === text);
  }

  #decide(...decisions: readonly string[]): void {
    for (const decision of decisions.map((text) => oneLine(text, decisionCharsMax)))
      if (!this.#state.decisions.includes(decision)) this.#state.decisions.push(decision);
  }
}

const fresh = { status: "not_started", sub_step: null, retry_count: 0 } as const;

const phaseNumber = (phase: string): number => (/^\d{1,2}$/.test(phase) ? Number(phase) : 1);

/** How the flow was chosen, where a person chose it. */
function chosenIn({ options, flow }: EventOf<"run_drafted">): readonly string[] {
  const chosen = Object.hasOwn(options, "chosen") ? options["chosen"] : undefined;
  return typeof chosen === "string" && chosen !== "" ? [`Flow: ${flow.flow}, ${chosen}`] : [];
}
