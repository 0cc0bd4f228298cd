// staged-sub-step: tracks the sub-step within the current step, as an earlier session or an agent
// named it, and renders it for prompts.
//
// Invariants:
//   B1. The sub-step that an earlier session or an agent named is kept until the step has passed: a
//       new attempt does not reset it.
//   B2. The notes of the last session go to the first step that is entered; its sub-step only to
//       the step that it belongs to.

import type { CurrentStep, LastSession } from "../../../contracts/staged-state.ts";
import { stepsOfPhase } from "../../../core/selectors.ts";
import type { FlowView } from "../../../core/state.ts";
import { oneLine } from "../../../views/wording.ts";

const subStepCharsMax = 120;
const decisionsShownMax = 40;

/**
 * The sub-step in which a session stopped; null unless the step belongs to this flow and is in
 * progress.
 */
export function findOpenSubStep(current: CurrentStep | null, flow: string): string | null {
  const isOpen = current?.flow === flow && current.status === "in_progress";
  return isOpen ? current.sub_step : null;
}

/** The phase of a cursor path or attempt id: the part before the first `@` or `/`. */
export const phaseOfPath = (path: string): string => path.split(/[@/]/, 1)[0] ?? path;

/** `6@1/implement#1/wave:2`: the step `implement`, and `wave:2`. */
const tasksPath = /^[^/]*\/([^#/]+)#\d+\/(.+)$/;

/**
 * The current step within its phase, by number and name; inside of a tasks step also the task or
 * batch.
 */
export function describeSubStep(flow: FlowView, cursorPath: string, step: string): string {
  const [, tasksStep, taskOrWave] = tasksPath.exec(cursorPath) ?? [];
  const steps = stepsOfPhase(flow, phaseOfPath(cursorPath)).filter(({ run }) => run === undefined); // steps of the runner itself do not count
  const index = steps.findIndex(({ id }) => id === (tasksStep ?? step));
  if (taskOrWave === undefined) return `${index + 1} — ${step}`;
  const innerStep = step === tasksStep ? "" : ` ${step}`;

  return `${index + 1} — ${tasksStep}: ${taskOrWave.replace(/^wave:/, "batch ")}${innerStep}`;
}

type EarlierStop = {
  readonly step: string;
  readonly sub_step: string | null;
  readonly notes: string;
};

/** The sub-step of the current step. */
export class SubStep {
  /** Where an earlier session stopped, until the run has entered a step. */
  #earlier: EarlierStop | null = null;
  #name: string | null = null;
  #notes = "";
  /**
   * Attempts with an ended agent turn: only these can pass a step, not the runner's own work in it.
   */
  readonly #endedTurns = new Set<string>();

  constructor(
    before: {
      readonly current: CurrentStep | null;
      readonly last_session: LastSession | null;
    } | null,
    flow: string,
  ) {
    if (before === null) return;
    const { current, last_session } = before;
    this.#earlier = {
      step: String(current?.step ?? ""),
      sub_step: findOpenSubStep(current, flow),
      notes: last_session?.notes ?? "",
    };
  }

  /** The sub-step as an agent or an earlier session named it; null if none did. */
  get named(): string | null {
    return this.#name;
  }

  /** Forgets the name when another step becomes the current one. */
  clear(): void {
    this.#name = null;
  }

  /**
   * Returns the sub-step at which the entered step continues; null if it starts from its beginning.
   * B2
   */
  onEntered(phase: string): string | null {
    if (this.#earlier === null) return null;
    const { step, sub_step, notes } = this.#earlier;
    this.#earlier = null;
    this.#notes = notes;
    if (step === phase) this.#name = sub_step;

    return this.#name;
  }

  /** Returns the sub-step that the agent named in its turn; null if it named none. */
  onTurnEnded(attempt: string, claimed: string | null): string | null {
    this.#endedTurns.add(attempt);
    if (claimed !== null) this.#name = oneLine(claimed, subStepCharsMax);
    return claimed === null ? null : this.#name;
  }

  /** Forgets the sub-step and the notes once an agent's turn has passed the step. B1 */
  onPassed(attempt: string): void {
    if (this.#endedTurns.delete(attempt)) [this.#name, this.#notes] = [null, ""];
  }

  setNotes(notes: string): void {
    this.#notes = notes;
  }

  /** Text for an agent's prompt. `isCurrent`: the agent works on the current step. */
  renderNotes(allDecisions: readonly string[], isCurrent: boolean): string {
    const decisions = allDecisions.slice(-decisionsShownMax).map((decision) => `- ${decision}`);
    const stopped = `This step was begun before and stopped at its sub-step: ${this.#name ?? ""}. What it left lies in the folders; go on from there.`;
    return [
      ...(decisions.length === 0 ? [] : ["Key decisions of this project so far:", ...decisions]),
      ...(isCurrent && this.#name !== null ? [stopped] : []),
      ...(isCurrent && this.#notes !== "" ? [`Notes of the last session: ${this.#notes}`] : []),
    ].join("\n");
  }
}
