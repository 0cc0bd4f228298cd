// staged-history: folds the journal into the state of a staged project, starting from the state
// file that the run was drafted with.
//
// Invariants:
//   C1. The same entries yield the same state; only the blobs of agents' returns are read besides.
//   C2. Completed Steps only grow. The Retry Log and its count begin again when a step succeeds or
//       a person resets it.
//   C3. An agent's text is reported as summary, decisions and sub-step, never as a status.
//   C4. The existing file is not overwritten before the run has entered a step or, if a step had
//       failed for good, a person has decided.
//   C5. A step that failed for good stays failed, with its blocker, until a person decides to
//       continue; stopping is not such a decision.

import type { Entry, EventOf } from "../../../contracts/event.ts";
import { type StagedState, stagedStatePath } from "../../../contracts/staged-state.ts";
import { parseReply } from "../../../core/decide-question.ts";
import { declaredPhases, phaseRule } from "../../../core/selectors.ts";
import type { FlowView } from "../../../core/state.ts";
import { differedFields, parseListText, parseOthers } from "./staged-differences.ts";
import { Retries } from "./staged-retries.ts";
import { phaseOfPath, describeSubStep, SubStep } from "./staged-sub-step.ts";
import * as wording from "./staged-descriptions.ts";
import type { ParsedStagedState } from "./parse-staged-state.ts";
import { oneLine } from "../../../views/wording.ts";

export type Claim = {
  readonly summary: string;
  readonly decisions: readonly string[];
  readonly sub_step: string | null;
};
/** Reads an agent's return from its blob; null if it has no summary or decisions. */
export type ReadClaim = (hash: string) => Claim | null;
type BlockOpened = EventOf<"block_opened">;

const decisionsMax = 500;
/** The limit of the file, so that a decision that is read back from it is recognised. */
const decisionCharsMax = 1_000;
const decisionsPerTurnMax = 10;
const rowsMax = 1_000;

export class StagedHistory {
  readonly #flow: FlowView;
  readonly #readClaim: ReadClaim;
  readonly #phases: readonly { readonly id: string; readonly name: string }[];
  #state: StagedState;
  /** Blockers that people wrote into the file. */
  #foreignBlockers: string[];
  /** Decisions that an edit removed, until the entry with the remaining ones follows. */
  #droppedDecisions: readonly string[] = [];
  #currentPhase: string | null = null;
  readonly #openBlocks = new Map<string, BlockOpened>();
  readonly #claims = new Map<string, Claim>();
  readonly #summaries = new Map<string, string>();
  readonly #skippedPhases = new Set<string>();
  #mayWrite = false;
  readonly #subStep: SubStep;
  readonly #retries: Retries;
  /** Why a step failed for good; kept after its question was answered. */
  #lastFailure = "";

  constructor(flow: FlowView, before: ParsedStagedState["state"] | null, readClaim: ReadClaim) {
    this.#flow = flow;
    this.#readClaim = readClaim;
    this.#phases = declaredPhases(flow, "phases") ?? [];
    this.#foreignBlockers = [...(before?.blockers ?? [])];
    this.#subStep = new SubStep(before, flow.flow);
    this.#retries = new Retries(before?.retry_log ?? []);
    this.#state = {
      current: before?.current ?? {
        ...freshStep,
        flow: flow.flow,
        step: 1,
        name: this.#phases[0]?.name ?? "",
      },
      completed: [...(before?.completed ?? [])],
      decisions: [...(before?.decisions ?? [])],
      last_session: before?.last_session ?? null,
      retry_log: [],
      blockers: [],
      others: [...(before?.others ?? [])],
    };
  }

  /** Whether the state may be written. C4 */
  get mayWrite(): boolean {
    return this.#mayWrite;
  }

  readonly #describeBlock = (block: EventOf<"block_opened">): string =>
    wording.describeFailure(block, this.#phaseName(phaseOfPath(block.walk)), this.#state.current);

  get state(): StagedState {
    const openBlocks = [...this.#openBlocks.values()].filter(
      (block) => block.code !== "session_boundary",
    );
    const blockTexts = openBlocks.map(this.#describeBlock);
    const isStillFailed = this.#lastFailure !== "" && this.#state.current.status === "failed"; // C5

    const blockers = [
      ...new Set([
        ...this.#foreignBlockers,
        ...blockTexts,
        ...(isStillFailed ? [this.#lastFailure] : []),
      ]),
    ];

    return {
      ...this.#state,
      retry_log: this.#retries.rows,
      decisions: this.#state.decisions.slice(-decisionsMax),
      completed: this.#state.completed.slice(-rowsMax),
      blockers,
    };
  }

  add(entry: Entry): void {
    // C1
    switch (entry.event) {
      case "run_drafted":
        return this.#addDecisions(...wording.describeFlowChoice(entry));
      case "phase_started":
      case "phase_reopened":
        this.#enter(entry.walk, entry.event === "phase_reopened");
        return this.#continueSubStep(entry.walk);
      case "phase_skipped":
        return this.#complete(
          entry.walk,
          entry.ts,
          wording.describeProved(phaseRule(this.#flow, entry.walk), entry.because),
        );
      case "phase_completed":
        return this.#complete(entry.walk, entry.ts, this.#outcome(entry.walk, entry.because));
      case "phases_rewound": // a cycle is over, and the next begins at an earlier step
        return this.#complete(
          entry.walk,
          entry.ts,
          wording.describeOutcome(undefined, this.#summaries.get(entry.walk)),
        );
      case "phase_failed":
        if (this.#isListed(entry.walk)) this.#state.current.status = "failed";
        return undefined;
      case "step_started":
        return this.#onStarted(entry);
      case "turn_ended":
        return this.#recordClaim(entry);
      case "step_completed":
        return this.#onPassed(entry.attempt);
      case "step_failed":
        return this.#onFailed(entry, entry.ts);
      case "step_retried":
        return this.#onRetried(entry);
      case "block_opened":
        return this.#onBlockOpened(entry);
      case "block_answered":
        return this.#onBlockAnswered(entry);
      case "document_differed":
        return this.#acceptEdit(entry);
      case "run_paused":
      case "run_stopped":
        this.#state.last_session = wording.buildSession(entry, this.#state.current);
        return undefined;
      case "run_completed":
        this.#state.last_session = wording.buildSession(entry, {
          step: this.#phases.length,
          name: this.#phases.at(-1)?.name ?? "",
          sub_step: null,
        });
        this.#state.current = {
          ...this.#state.current,
          step: "done",
          status: "completed",
          sub_step: null,
          retry_count: 0,
        };
        return undefined;
      default:
        return undefined;
    }
  }

  /** A failed step that a person decided to skip counts as skipped. */
  #outcome(phase: string, because: string | undefined): string {
    return wording.describeOutcome(
      this.#skippedPhases.has(phase) ? wording.optionalSkipped : because,
      this.#summaries.get(phase),
    );
  }

  #isListed(phase: string): boolean {
    return this.#phases.some(({ id }) => id === phase);
  }

  #phaseName(phase: string): string {
    return this.#phases.find(({ id }) => id === phase)?.name ?? phase;
  }

  #enter(phase: string, isReopened: boolean): void {
    if (!this.#isListed(phase)) return;
    this.#mayWrite = true; // C4
    this.#currentPhase = phase;
    this.#state.current = {
      ...freshStep,
      flow: this.#flow.flow,
      step: phaseNumber(phase),
      name: this.#phaseName(phase),
    };

    this.#retries.reset(); // C2
    this.#subStep.clear();
    if (isReopened) this.#summaries.delete(phase);
  }

  /** The first entered step continues where an earlier session stopped in it. */
  #continueSubStep(phase: string): void {
    const sub_step = this.#isListed(phase) ? this.#subStep.onEntered(phase) : null;
    if (sub_step !== null) Object.assign(this.#state.current, { status: "in_progress", sub_step });
  }

  /** For the prompt of this phase's agents: decisions, and where an earlier session stopped. */
  notesFor(phase: string): string {
    return this.#subStep.renderNotes(this.#state.decisions, phase === this.#currentPhase);
  }

  /** Adds the row of a finished phase, and makes the next phase the current one. */
  #complete(phase: string, ts: string, outcome: string | null): void {
    if (!this.#isListed(phase) || outcome === null) return;
    const isListedAlready = this.#state.completed.some(({ step }) => step === phaseNumber(phase));
    if (!isListedAlready || phase === this.#currentPhase) {
      this.#state.completed.push({
        step: phaseNumber(phase),
        name: this.#phaseName(phase),
        completed: ts.slice(0, 10),
        key_outcome: outcome,
      });
    }

    const nextPhase = this.#phases[this.#phases.findIndex(({ id }) => id === phase) + 1];
    this.#retries.reset(); // C2

    if (nextPhase === undefined) {
      this.#state.current = {
        ...this.#state.current,
        status: "completed",
        sub_step: null,
        retry_count: 0,
      };
    } else {
      this.#enter(nextPhase.id, false);
    }

    this.#currentPhase = null;
  }

  #onStarted({ attempt, walk, step, kind }: EventOf<"step_started">): void {
    const phase = phaseOfPath(walk);
    if (phase !== this.#currentPhase || kind === "run" || walk.endsWith("/closing")) return;
    this.#retries.onStarted({ attempt, walk, step });
    Object.assign(this.#state.current, {
      status: "in_progress",
      sub_step: this.#subStepText(walk, step),
    });
  }

  /** The sub-step as an agent named it, else the step of the flow. */
  #subStepText(path: string, step: string): string {
    return this.#subStep.named ?? describeSubStep(this.#flow, path, step);
  }

  #recordClaim({ attempt, claim, returned }: EventOf<"turn_ended">): void {
    const claimed = claim === undefined || returned !== true ? null : this.#readClaim(claim);
    if (claimed !== null) this.#claims.set(attempt, claimed);
    const subStep =
      phaseOfPath(attempt) === this.#currentPhase
        ? this.#subStep.onTurnEnded(attempt, claimed?.sub_step ?? null)
        : null;
    if (subStep !== null) this.#state.current.sub_step = subStep;
  }

  /** An agent's claim is recorded once its step has passed. C3 */
  #onPassed(attempt: string): void {
    const claim = this.#claims.get(attempt);
    this.#claims.delete(attempt);
    const phase = phaseOfPath(attempt);
    this.#subStep.onPassed(attempt);
    this.#retries.onPassed(attempt);
    if (claim === undefined || !this.#isListed(phase)) return;
    this.#summaries.set(phase, claim.summary);
    this.#addDecisions(
      ...claim.decisions
        .slice(0, decisionsPerTurnMax)
        .map((decision) => `${this.#phaseName(phase)}: ${decision}`),
    );
  }

  #onFailed({ attempt, detail, reason_code }: EventOf<"step_failed">, timestamp: string): void {
    const phase = phaseOfPath(attempt);
    if (phase !== this.#currentPhase) return;

    const row = {
      step: phaseNumber(phase),
      name: this.#phaseName(phase),
      failure_reason: detail ?? reason_code,
      timestamp,
    };
    this.#retries.onFailed(attempt, row, (path, step) => this.#subStepText(path, step));
    this.#state.current.retry_count = this.#retries.count;
  }

  #onRetried(retried: EventOf<"step_retried">): void {
    if (phaseOfPath(retried.walk) !== this.#currentPhase) return;
    if (retried.reset !== true) return this.#retries.onRetried(retried);
    this.#retries.reset(); // C2
    Object.assign(this.#state.current, { status: "in_progress", retry_count: 0 });
  }

  #onBlockOpened(block: BlockOpened & { readonly ts?: string }): void {
    this.#openBlocks.set(block.block, block);
    const phase = phaseOfPath(block.walk);
    if (phase !== this.#currentPhase || block.code === "session_boundary") return;
    this.#state.current.sub_step = this.#subStepText(block.walk, block.step);

    if (block.house === true && Object.keys(block.options).length > 0) {
      this.#state.current.status = "failed";
    }
  }

  #onBlockAnswered({ block: id, answer, request }: EventOf<"block_answered">): void {
    const block = this.#openBlocks.get(id);
    const isAnswer =
      block !== undefined &&
      (Object.keys(block.options).length === 0 || Object.hasOwn(block.options, answer));
    if (block === undefined || !isAnswer) return;
    this.#mayWrite = true; // C4
    this.#openBlocks.delete(id);
    const phase = phaseOfPath(block.walk);
    const unlistedName = block.code === "phase_failed" ? this.#state.current.name : "";
    const name = this.#isListed(phase) ? this.#phaseName(phase) : unlistedName;
    const message = wording.describeDecision(block, answer, name, request.startsWith("preset:"));
    if (message !== null) this.#addDecisions(message);
    if (block.house !== true || Object.keys(block.options).length === 0) return;
    const reply = parseReply(answer);
    if (reply === "skip") this.#skippedPhases.add(phase);
    if (reply === "stop") this.#lastFailure = this.#describeBlock(block); // C5
    else this.#state.current.status = "in_progress";
  }

  #acceptEdit({ path, field, kept }: EventOf<"document_differed">): void {
    if (path !== stagedStatePath) return;
    if (field === differedFields.dropped) this.#droppedDecisions = parseListText(kept);
    if (field === differedFields.decisions) this.#mergeDecisions(parseListText(kept));
    if (field === differedFields.blockers) {
      this.#foreignBlockers = parseListText(kept).filter((blocker) => !this.#isOwnBlocker(blocker));
    }

    if (field === differedFields.others) this.#state.others = parseOthers(kept);
    if (field === differedFields.notes) this.#subStep.setNotes(kept);
    if (field === differedFields.notes && this.#state.last_session !== null) {
      this.#state.last_session = { ...this.#state.last_session, notes: kept };
    }
  }

  /** Edited decisions come first, then those made since the edited text was written. */
  #mergeDecisions(edited: readonly string[]): void {
    const editedOrDropped = [...edited, ...this.#droppedDecisions];
    this.#droppedDecisions = [];
    this.#state.decisions = [
      ...edited,
      ...this.#state.decisions.filter((decision) => !editedOrDropped.includes(decision)),
    ];
  }

  /** A blocker written by the runner stays the runner's if it is still in an edited file. */
  #isOwnBlocker(text: string): boolean {
    return [...this.#openBlocks.values()].some((block) => this.#describeBlock(block) === text);
  }

  #addDecisions(...decisions: readonly string[]): void {
    for (const decision of decisions.map((text) => oneLine(text, decisionCharsMax))) {
      if (!this.#state.decisions.includes(decision)) this.#state.decisions.push(decision);
    }
  }
}

const freshStep = { status: "not_started", sub_step: null, retry_count: 0 } as const;

const phaseNumber = (phase: string): number => (/^\d{1,2}$/.test(phase) ? Number(phase) : 1);
