// judge-proofs: proofs that a judge worked independently: its report precedes the verifier's, and
// it found something itself.
//
// Invariants:
//   J1. What the judge wrote before it saw the verifier's report stays unchanged; it may only
//       append.
//   J2. A finding is the judge's own if the verifier does not have it, and it names a command or
//       only file positions that exist. Independent evidence must also be in the judge's first
//       report; what the verifier missed need not.

import { roadmapSteps } from "../views/phase-history.ts";
import { documentTextBytesMax } from "../../../documents/document-text.ts";
import { isSameText } from "../../../documents/same-text.ts";
import { readField, readReturn, readTexts } from "../../contract/agent-return.ts";
import type { StepResult, StepInput, RoadmapParts } from "./roadmap-parts.ts";
import { findPositions, findMissingReason } from "./source-positions.ts";
import { findDocumentPath, findOpenStep } from "./written-document.ts";
import { sha256 } from "../../../project/sha256.ts";

/**
 * `blindText` is the part that was written before the verifier's report was shown; `isKept`: it is
 * unchanged.
 */
type JudgeReport = { readonly path: string; readonly blindText: string; readonly isKept: boolean };

/** Null if the judge wrote no report. */
async function readReport(
  { workspace }: Pick<RoadmapParts, "workspace">,
  { state, cursor, commit }: StepInput,
): Promise<JudgeReport | null> {
  const step = findOpenStep(state, cursor);
  const path = findDocumentPath(state, step, cursor);
  const { output_hash: hash, output_bytes: size } = cursor.last[step.continues ?? ""]?.facts ?? {};
  const text = path === null ? null : await workspace.textAt(commit, path, documentTextBytesMax);
  if (path === null || text === null || typeof hash !== "string" || typeof size !== "number") {
    return null;
  }

  const blindBytes = Buffer.from(text, "utf8").subarray(0, size);
  return { path, blindText: blindBytes.toString("utf8"), isKept: sha256(blindBytes) === hash };
}

/** The proof `judge_report_kept`. J1 */
export function createJudgeReportKeptProof(parts: RoadmapParts) {
  return {
    version: 1,
    async prove(input: StepInput): StepResult {
      const report = await readReport(parts, input);
      if (report === null) {
        return {
          ok: false,
          facts: { report_kept: false },
          reason: "return_invalid",
          detail: "the judge's own report is not there",
        };
      }

      if (report.isKept) return { ok: true, facts: { report_kept: true } };
      const detail = `${report.path} was changed after the verifier's report was shown; put back what was written before, and add below it if need be`;
      return { ok: false, facts: { report_kept: false }, reason: "return_invalid", detail };
    },
  };
}

/** The proof `judge_independent`. J2 */
export function createJudgeIndependentProof(parts: RoadmapParts) {
  return {
    version: 1,
    async prove(input: StepInput): StepResult {
      const { state, cursor, commit } = input;
      const judgement = readReturn(parts, cursor, findOpenStep(state, cursor).id);
      const verifierClaims = collectTexts(readReturn(parts, cursor, roadmapSteps.verify));
      const isVerifierClaim = (text: string): boolean =>
        verifierClaims.some((claim) => isSameText(claim, text));
      const report = await readReport(parts, input);
      const ownFindings: string[] = [];

      for (const text of readTexts(judgement, "independent_evidence")) {
        if (
          !isVerifierClaim(text) &&
          isInReport(report?.blindText ?? "", text) &&
          (await isGrounded(parts, commit, text))
        ) {
          ownFindings.push(text);
        }
      }

      for (const text of readTexts(judgement, "verifier_missed")) {
        if (!isVerifierClaim(text) && (await isGrounded(parts, commit, text))) {
          ownFindings.push(text);
        }
      }

      const facts = { independent: ownFindings.length };
      if (ownFindings.length > 0) return { ok: true, facts };
      const detail =
        "the judge names nothing it found itself: expected under independent_evidence at least one file:line or command that its report names too, that is there, and that is not the verifier's";

      return { ok: false, facts, reason: "return_invalid", detail };
    },
  };
}

/** Everything that the verifier named in its return. */
function collectTexts(verification: unknown): readonly string[] {
  const results = readField(verification, "criteria_results");
  const evidence = (Array.isArray(results) ? results : []).flatMap((result) => [
    readField(result, "evidence"),
    readField(result, "criterion"),
  ]);
  return [
    ...readTexts(verification, "commands_run"),
    ...readTexts(verification, "failures"),
    ...evidence.filter((text) => typeof text === "string"),
  ];
}

/** A command in backticks, or before an arrow: `npm test -> ok`. */
const findCommand = (text: string): string | null =>
  /`([^`\n]{2,300})`/.exec(text)?.[1] ?? /^(.{2,300}?)\s*(?:→|->|=>)/.exec(text)?.[1] ?? null;

/** Whether the report contains a file or command that the text names. */
function isInReport(report: string, text: string): boolean {
  const command = findCommand(text);
  return (
    findPositions(text).some(({ path }) => report.includes(path)) ||
    (command !== null && report.includes(command.trim()))
  );
}

/**
 * Whether a text names an existing file position or a command; any other sentence could be written
 * without looking.
 */
async function isGrounded(
  { workspace }: RoadmapParts,
  commit: string,
  text: string,
): Promise<boolean> {
  if (findPositions(text).length > 0) {
    return (await findMissingReason(workspace, commit, text)) === null;
  }

  return findCommand(text) !== null;
}
