// junk-claims: part of junk.ts: refuses an agent's return that claims work without naming any
// evidence, or that repeats itself. Pure.

export type ClaimText = {
  /** Where the text is in the return: `evidence[0].summary`. */
  readonly path: string;
  readonly text: string;
  /** Whether the schema requires the field, so that it must say something. */
  readonly isRequired: boolean;
  /** What the schema says of the field. */
  readonly description: string;
};

/** Shorter texts may be the same by chance. */
const longTextCharsMin = 40;

/** A return that claims N of M tasks done must name a commit or a piece of evidence. */
export function findWorkWithoutEvidence(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  const { tasks_completed, commit_shas, evidence } = value as Readonly<Record<string, unknown>>;
  const completedCount =
    typeof tasks_completed === "string" ? Number(tasks_completed.split("/", 1)[0]) : 0; // 3/5
  if (!(completedCount > 0)) return [];
  const commitCount = Array.isArray(commit_shas) ? commit_shas.length : 0;
  const evidenceCount = Array.isArray(evidence) ? evidence.filter(hasContent).length : 0;
  if (commitCount + evidenceCount > 0) return [];

  return [
    `evidence: ${String(tasks_completed)} tasks are said to be completed, and neither evidence nor commit_shas names anything; expected at least one piece of evidence with the criteria met or the commands run`,
  ];
}

/** Whether a piece of evidence lists anything besides its task. */
function hasContent(piece: unknown): boolean {
  if (typeof piece !== "object" || piece === null) return false;
  return Object.entries(piece).some(
    ([key, part]) => key !== "task_id" && Array.isArray(part) && part.length > 0,
  );
}

/**
 * Items of lists, such as `failures[0].detail`: two may rest on the same evidence and be summarised
 * in its words.
 */
const listItemPath =
  /(?:^|\.)(?:criteria_results|failures|failure_categories|requirements_checked|gap_details|evidence|commands_run|issues|concerns)\[\d+\]/;

/** Fields that judge something, rather than report what their author did. */
const isJudgement = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  ["pass", "alignment_score", "audit_results"].some((field) => Object.hasOwn(value, field));

/** One long text in two fields, or a whole return that repeats an earlier one word for word. */
export function findRepeatedClaims(
  claimTexts: readonly ClaimText[],
  value: unknown,
  previous: unknown,
): readonly string[] {
  const errors: string[] = [];
  const firstPaths = new Map<string, string>();

  for (const { path, text } of claimTexts) {
    if (listItemPath.test(path)) continue;
    const plainText = text.replaceAll(/\s+/g, " ").trim().toLowerCase();
    if (plainText.length < longTextCharsMin) continue;
    const firstPath = firstPaths.get(plainText);
    if (firstPath !== undefined) {
      errors.push(
        `${path}: says word for word what ${firstPath} says; expected what belongs here, or nothing`,
      );
    } else {
      firstPaths.set(plainText, path);
    }
  }

  // A judge may find the same again; a worker cannot have done the very same again.
  const isWorkReport =
    !isJudgement(value) &&
    claimTexts.some(({ text, isRequired }) => isRequired && text.trim().length >= longTextCharsMin);
  if (
    isWorkReport &&
    previous !== undefined &&
    previous !== null &&
    JSON.stringify(previous) === JSON.stringify(value)
  ) {
    errors.push(
      "this is word for word what was handed back before; expected what this attempt came to",
    );
  }

  return errors;
}
