// junk-claims: part of junk.ts: refuses an agent's return that claims work without naming any evidence, or that repeats itself. Pure.

/** A text of the return with its position; `isRequired`: a required field that must say something. */
export type ClaimText = { readonly path: string; readonly text: string; readonly isRequired: boolean; readonly about: string };

const longCharsMin = 40;

/** A return that claims N of M tasks done must name a commit or a piece of evidence. */
export function workWithoutEvidence(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  const { tasks_completed, commit_shas, evidence } = value as Readonly<Record<string, unknown>>;
  const done = typeof tasks_completed === "string" ? Number(tasks_completed.split("/", 1)[0]) : 0;
  if (!(done > 0)) return [];
  const shas = Array.isArray(commit_shas) ? commit_shas.length : 0;
  const pieces = Array.isArray(evidence) ? evidence.filter(hasContent).length : 0;
  if (shas + pieces > 0) return [];
  return [
    `evidence: ${String(tasks_completed)} tasks are said to be completed, and neither evidence nor commit_shas names anything; expected at least one piece of evidence with the criteria met or the commands run`,
  ];
}

function hasContent(piece: unknown): boolean {
  if (typeof piece !== "object" || piece === null) return false;
  return Object.entries(piece).some(([key, part]) => key !== "task_id" && Array.isArray(part) && part.length > 0);
}

/** Paths of findings by item: two may rest on the same evidence and be summarised in its words. */
const listItemPath =
  /(?:^|\.)(?:criteria_results|failures|failure_categories|requirements_checked|gap_details|evidence|commands_run|issues|concerns)\[\d+\]/;

/** Fields that judge something, rather than report what their author did. */
const isJudgement = (value: unknown): boolean =>
  typeof value === "object" && value !== null && ["pass", "alignment_score", "audit_results"].some((field) => Object.hasOwn(value, field));

/** One long text in two fields, or a whole return that repeats an earlier one word for word. */
export function repeatedClaims(reportedClaimTexts: readonly ClaimText[], value: unknown, previous: unknown): readonly string[] {
  const errors: string[] = [];
  const seen = new Map<string, string>();
  for (const { path, text } of reportedClaimTexts) {
    if (listItemPath.test(path)) continue;
    const plain = text.replaceAll(/\s+/g, " ").trim().toLowerCase();
    if (plain.length < longCharsMin) continue;
    const first = seen.get(plain);
    if (first !== undefined) errors.push(`${path}: says word for word what ${first} says; expected what belongs here, or nothing`);
    else seen.set(plain, path);
  }
  // A judge may find the same again; a worker cannot have done the very same again.
  const isWorkReport =
    !isJudgement(value) && reportedClaimTexts.some(({ text, isRequired }) => isRequired && text.trim().length >= longCharsMin);
  if (isWorkReport && previous !== undefined && previous !== null && JSON.stringify(previous) === JSON.stringify(value))
    errors.push("this is word for word what was handed back before; expected what this attempt came to");
  return errors;
}
