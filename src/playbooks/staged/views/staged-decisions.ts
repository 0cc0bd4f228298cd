// staged-decisions: what the Key Decisions of a staged project say that a machine must know: a research decision, an optional step left
// out.
//
// Invariants:
//   K1. An agent's decision decides nothing here: it is recorded under the name of its step, and skipped.
//   K2. An unclear or negated statement does not count: then a person is asked.

import { stagedSteps } from "../../../contracts/staged-state.ts";

/** The words under which the research decision is recorded. */
export const researchDecision = "Research decision";

const stepNames: readonly string[] = [...new Set(Object.values(stagedSteps).flat())];

/** The step an entry is recorded for: `Plan: one writer` is what the agent of Plan decided. */
const findStep = (text: string): string | undefined => stepNames.find((name) => text.startsWith(`${name}:`));

/** Whether it was decided to go on from research to planning. */
export const isResearchDecided = (decisions: readonly string[]): boolean =>
  decisions.some(
    (text) =>
      findStep(text) === undefined && // K1
      /\bresearch\b/i.test(text) &&
      /\b(?:proceed|go on|move on|planning|decided|enough|no (?:further|more))\b/i.test(text) &&
      !/\banother (?:research )?round\b|\b(?:not|never|cannot|until|before|unless)\b|n['’]t\b/i.test(text), // K2
  );

type Recorded = {
  readonly decisions: readonly string[];
  readonly completed: readonly { readonly name: string; readonly key_outcome: string }[];
};

/** Whether a step is recorded as left out: in the decisions by its name, or as the outcome of its row. */
export function isRecordedSkipped(name: string, { decisions, completed }: Recorded): boolean {
  const isNamed = (text: string): boolean => text.toLowerCase().includes(name.toLowerCase());
  const isOf = (text: string): boolean => [undefined, name].includes(findStep(text)); // K1
  return (
    decisions.some((text) => isNamed(text) && isOf(text) && /\bskip(?:ped)?\b|\bleft out\b/i.test(text) && !isDenied(text)) ||
    completed.some((row) => row.name === name && /^skipped\b/i.test(row.key_outcome))
  );
}

/** K2: `never skip it`, `must not be skipped`. */
const isDenied = (text: string): boolean => /(?:\b(?:never|not|cannot)|n['’]t)(?:\s+\w+){0,2}\s+(?:skip|left out)/i.test(text);
