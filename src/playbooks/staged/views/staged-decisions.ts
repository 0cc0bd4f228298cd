// staged-decisions: recognises two kinds of Key Decisions: that research is over, and that an
// optional step is skipped.
//
// Invariants:
//   K1. Decisions by agents are recorded under the name of their step and do not count here.
//   K2. An unclear or negated statement does not count: then a person is asked.

import { stagedSteps } from "./staged-steps.ts";

/** The prefix under which the research decision is recorded. */
export const researchDecision = "Research decision";

const stepNames: readonly string[] = [...new Set(Object.values(stagedSteps).flat())];

/** The step an entry is recorded for: `Plan: one writer` is what the agent of Plan decided. */
const findStep = (text: string): string | undefined =>
  stepNames.find((name) => text.startsWith(`${name}:`));

/** Whether it was decided to go on from research to planning. */
export const isResearchDecided = (decisions: readonly string[]): boolean =>
  decisions.some(
    (text) =>
      findStep(text) === undefined && // K1
      /\bresearch\b/i.test(text) &&
      /\b(?:proceed|go on|move on|planning|decided|enough|no (?:further|more))\b/i.test(text) &&
      !/\banother (?:research )?round\b|\b(?:not|never|cannot|until|before|unless)\b|n['’]t\b/i.test(
        text,
      ), // K2
  );

type RecordedSteps = {
  readonly decisions: readonly string[];
  readonly completed: readonly { readonly name: string; readonly key_outcome: string }[];
};

/**
 * Whether a step is recorded as skipped: by its name in a decision, or as the outcome of its row.
 */
export function isRecordedSkipped(name: string, { decisions, completed }: RecordedSteps): boolean {
  const isNamed = (text: string): boolean => text.toLowerCase().includes(name.toLowerCase());
  const concernsStep = (text: string): boolean => [undefined, name].includes(findStep(text)); // K1
  return (
    decisions.some(
      (text) =>
        isNamed(text) &&
        concernsStep(text) &&
        /\bskip(?:ped)?\b|\bleft out\b/i.test(text) &&
        !isNegated(text),
    ) || completed.some((row) => row.name === name && /^skipped\b/i.test(row.key_outcome))
  );
}

/** K2: `never skip it`, `must not be skipped`. */
const isNegated = (text: string): boolean =>
  /(?:\b(?:never|not|cannot)|n['’]t)(?:\s+\w+){0,2}\s+(?:skip|left out)/i.test(text);
