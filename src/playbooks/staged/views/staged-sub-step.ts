// staged-sub-step: the sub-step of a staged project's step: what an earlier session recorded, what an agent named, and what the next agent
// is told of it.
//
// Invariants:
//   B1. The sub-step that an earlier session or an agent named holds until the step has passed: starting over isn't progress.
//   B2. The notes of the last session go to the first step that is entered, whichever it is; its sub-step only to the very step it names.

import type { CurrentStep, LastSession } from "../../../contracts/staged-state.ts";
import { stepsOfPhase } from "../../../core/selectors.ts";
import type { FlowView } from "../../../core/state.ts";
import { oneLine } from "../../../views/wording.ts";

const charsMax = 120;
const decisionsReportedMax = 40;

/** The sub-step in which a session stopped: only of a step of this flow that was begun and is neither done nor failed for good. */
export const findMidStep = (current: CurrentStep | null, flow: string): string | null =>
  current !== null && current.flow === flow && current.status === "in_progress" ? current.sub_step : null;

/** The phase of a cursor or an attempt: what is before its first visit or inner place. */
export const phaseIn = (path: string): string => path.split(/[@/]/, 1)[0] ?? path;

/** The step of the phase that is run, by its number; inside a tasks step with what is worked on. */
export function flowPlace(flow: FlowView, cursorPath: string, step: string): string {
  const [, outer, inner] = /^[^/]*\/([^#/]+)#\d+\/(.+)$/.exec(cursorPath) ?? [];
  const steps = stepsOfPhase(flow, phaseIn(cursorPath)).filter(({ run }) => run === undefined); // what the runner looks up isn't a sub-step
  const index = steps.findIndex(({ id }) => id === (outer ?? step));
  const text = inner === undefined ? step : `${outer}: ${inner.replace(/^wave:/, "batch ")}${step === outer ? "" : ` ${step}`}`;
  return `${index + 1} — ${text}`;
}

export class SubStep {
  /** Where an earlier session stopped, until the run has entered a step. */
  #earlier: { readonly step: string; readonly sub_step: string | null; readonly notes: string } | null = null;
  #named: string | null = null;
  #notes = "";
  /** Attempts whose agent has ended its turn: what else the runner does in a step isn't progress of it. */
  readonly #turned = new Set<string>();

  constructor(before: { readonly current: CurrentStep | null; readonly last_session: LastSession | null } | null, flow: string) {
    if (before === null) return;
    const { current, last_session } = before;
    this.#earlier = { step: String(current?.step ?? ""), sub_step: findMidStep(current, flow), notes: last_session?.notes ?? "" };
  }

  /** As the agent, or an earlier session, named it; null if none did. */
  get named(): string | null {
    return this.#named;
  }

  /** A step is what comes next; an earlier name is of another one. */
  clear(): void {
    this.#named = null;
  }

  /** A step is entered: answers with the sub-step at which it continues, null if it begins. B2 */
  enter(phase: string): string | null {
    if (this.#earlier === null) return null;
    const { step, sub_step, notes } = this.#earlier;
    this.#earlier = null;
    this.#notes = notes;
    if (step === phase) this.#named = sub_step;
    return this.#named;
  }

  /** An agent's turn has ended: answers with the sub-step it named itself, null if it named none. */
  turn(attempt: string, said: string | null): string | null {
    this.#turned.add(attempt);
    if (said !== null) this.#named = oneLine(said, charsMax);
    return said === null ? null : this.#named;
  }

  /** B1 */
  passed(attempt: string): void {
    if (this.#turned.delete(attempt)) [this.#named, this.#notes] = [null, ""];
  }

  note(notes: string): void {
    this.#notes = notes;
  }

  /** For an agent's prompt. `isHere`: it works on the current step. */
  handOver(all: readonly string[], isHere: boolean): string {
    const decisions = all.slice(-decisionsReportedMax).map((decision) => `- ${decision}`);
    const stopped = `This step was begun before and stopped at its sub-step: ${this.#named ?? ""}. What it left lies in the folders; go on from there.`;
    return [
      ...(decisions.length === 0 ? [] : ["Key decisions of this project so far:", ...decisions]),
      ...(isHere && this.#named !== null ? [stopped] : []),
      ...(isHere && this.#notes !== "" ? [`Notes of the last session: ${this.#notes}`] : []),
    ].join("\n");
  }
}
