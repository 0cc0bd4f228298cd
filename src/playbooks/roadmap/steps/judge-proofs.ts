// judge-proofs: what makes a judge's word worth something: its report was written before it saw the verifier's, and it found something itself.
//
// Invariants:
//   J1. What was written blind stays, byte for byte; below it something may be added.
//   J2. A finding is the judge's own where it was in the blind report, or where the verifier has not got it; and where what it names is
//       there.

import { roadmapSteps } from "../views/phase-history.ts";
import { documentTextBytesMax } from "../../../documents/document-text.ts";
import { isSameText } from "../../../documents/same-text.ts";
import { parseField, handedBy, parseTexts } from "./handed.ts";
import type { StepResult, StepInput, RoadmapParts } from "./parts.ts";
import { findPlaces, whyNotThere } from "./places.ts";
import { stateDocument, hashOf, openStep } from "./written.ts";

/** The report before the judge saw another's, and now; null if missing. */
async function reportOf(
  { workspace }: Pick<RoadmapParts, "workspace">,
  { state, cursor, commit }: StepInput,
): Promise<{ readonly blind: string; readonly isKept: boolean; readonly path: string } | null> {
  const step = openStep(state, cursor);
  const path = stateDocument(state, step, cursor);
  const { output_hash: hash, output_bytes: size } = cursor.last[step.continues ?? ""]?.facts ?? {};
  const text = path === null ? null : await workspace.textAt(commit, path, documentTextBytesMax);
  if (path === null || text === null || typeof hash !== "string" || typeof size !== "number") return null;
  const blind = Buffer.from(text, "utf8").subarray(0, size);
  return { blind: blind.toString("utf8"), isKept: hashOf(blind) === hash, path };
}

/** A named proof. J1 */
export function judgeReportKept(parts: RoadmapParts) {
  return {
    version: 1,
    async prove(input: StepInput): StepResult {
      const report = await reportOf(parts, input);
      if (report === null)
        return { ok: false, facts: { report_kept: false }, reason: "return_invalid", detail: "the judge's own report is not there" };
      if (report.isKept) return { ok: true, facts: { report_kept: true } };
      const detail = `${report.path} was changed after the verifier's report was shown; put back what was written before, and add below it if need be`;
      return { ok: false, facts: { report_kept: false }, reason: "return_invalid", detail };
    },
  };
}

/** A named proof. J2 */
export function judgeIndependent(parts: RoadmapParts) {
  return {
    version: 1,
    async prove(input: StepInput): StepResult {
      const { state, cursor, commit } = input;
      const judged = handedBy(parts, cursor, openStep(state, cursor).id);
      const theirs = verifierTexts(handedBy(parts, cursor, roadmapSteps.verify));
      const isTheirs = (text: string): boolean => theirs.some((criterion) => isSameText(criterion, text));
      const report = await reportOf(parts, input);
      const own: string[] = [];
      for (const text of parseTexts(judged, "independent_evidence"))
        if (!isTheirs(text) && isIn(report?.blind ?? "", text) && (await isGrounded(parts, commit, text))) own.push(text);
      for (const text of parseTexts(judged, "verifier_missed"))
        if (!isTheirs(text) && (await isGrounded(parts, commit, text))) own.push(text);
      const facts = { independent: own.length };
      if (own.length > 0) return { ok: true, facts };
      const detail =
        "the judge names nothing it found itself: expected under independent_evidence at least one file:line or command that its report names too, that is there, and that is not the verifier's";
      return { ok: false, facts, reason: "return_invalid", detail };
    },
  };
}

function verifierTexts(verified: unknown): readonly string[] {
  const results = parseField(verified, "criteria_results");
  const evidence = (Array.isArray(results) ? results : []).flatMap((result) => [
    parseField(result, "evidence"),
    parseField(result, "criterion"),
  ]);
  return [
    ...parseTexts(verified, "commands_run"),
    ...parseTexts(verified, "failures"),
    ...evidence.filter((text) => typeof text === "string"),
  ];
}

const findCommand = (text: string): string | null =>
  /`([^`\n]{2,300})`/.exec(text)?.[1] ?? /^(.{2,300}?)\s*(?:→|->|=>)/.exec(text)?.[1] ?? null;

/** Whether the report names a place or a command that the text names. */
function isIn(report: string, text: string): boolean {
  const command = findCommand(text);
  return findPlaces(text).some(({ path }) => report.includes(path)) || (command !== null && report.includes(command.trim()));
}

/** A place that is there, or a command; a sentence that names neither could have been written without looking. */
async function isGrounded({ workspace }: RoadmapParts, commit: string, text: string): Promise<boolean> {
  if (findPlaces(text).length > 0) return (await whyNotThere(workspace, commit, text)) === null;
  return findCommand(text) !== null;
}
