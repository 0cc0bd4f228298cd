// staged-decisions: what the Key Decisions of a staged project say that a machine must know: a research decision, an optional step left out.

/** The words under which the research decision is recorded. */
export const researchDecision = "Research decision";

/** Whether it was decided to go on from research to planning. */
export const isResearchDecided = (decisions: readonly string[]): boolean =>
  decisions.some(
    (text) =>
      /\bresearch\b/i.test(text) &&
      /\b(?:proceed|go on|planning|plan|decided|enough|no further)\b/i.test(text) &&
      !/\banother (?:research )?round\b/i.test(text),
  );

/** Whether a step is recorded as left out: in the decisions by its name, or as the outcome of its row. */
export function isRecordedSkipped(
  name: string,
  {
    decisions,
    completed,
  }: { readonly decisions: readonly string[]; readonly completed: readonly { readonly name: string; readonly key_outcome: string }[] },
): boolean {
  const isNamed = (text: string): boolean => text.toLowerCase().includes(name.toLowerCase());
  return (
    decisions.some((text) => isNamed(text) && /\bskip(?:ped)?\b|\bleft out\b/i.test(text)) ||
    completed.some((row) => row.name === name && /^skipped\b/i.test(row.key_outcome))
  );
}
