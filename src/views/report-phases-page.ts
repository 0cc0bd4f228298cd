// report-phases-page: renders the phases of a report for a person: one paragraph each, the proof
// before everything else.

import { phaseMarks } from "./phase-table.ts";
import type { PhaseProof, PhaseReport } from "./report-phases.ts";
import {
  formatAmount,
  formatDuration,
  formatNumber,
  firstFew,
  oneLine,
  plural,
} from "./wording.ts";

const proofMax = 12;
const claimsMax = 5;
const commitsMax = 8;

export function renderPhaseReports(phases: readonly PhaseReport[]): readonly string[] {
  // Phases that have not begun are counted, not listed.
  const startedPhases = phases.filter(({ status }) => status !== "not_started");
  const unstartedPhases = phases.filter(({ status }) => status === "not_started");
  const lines = startedPhases.flatMap(phaseParagraph);
  if (unstartedPhases.length === 0) return lines;

  const count = plural(unstartedPhases.length, "phase");
  const ids = unstartedPhases.map(({ id }) => id);
  return [...lines, `· ${count} not begun: ${firstFew(ids, 20)}`];
}

function phaseParagraph(phase: PhaseReport): readonly string[] {
  const { id, name, proof, false_claims, commits } = phase;
  const title = name === "" ? "" : ` ${oneLine(name)}`;
  const failedProofs = proof.filter(({ status }) => status !== "passed");
  const passedProofs = proof.filter(({ status }) => status === "passed");

  return [
    `${phaseReportMark(phase)} Phase ${id}${title}: ${phaseReportHead(phase)}`,
    ...labelled("checked", [...failedProofs, ...passedProofs].map(proofLine), proofMax),
    ...postMortemLines(phase),
    ...remainderLines(phase),
    ...verdictLines(phase),
    ...labelled("false", false_claims.map(claimLine), claimsMax),
    ...labelled("commits", commits.map(commitLine), commitsMax),
  ];
}

function postMortemLines({ post_mortem: postMortem }: PhaseReport): readonly string[] {
  if (postMortem === null) return [];
  const category = postMortem.category.replaceAll("_", " ");
  return [
    `    why      ${category}: ${oneLine(postMortem.description)}`,
    `    rule     ${oneLine(postMortem.prevention_rule)}`,
  ];
}

/** What became of the work of a phase that failed. */
function remainderLines({ rolled_back_to, left_behind }: PhaseReport): readonly string[] {
  if (left_behind !== null) {
    return [`    left     what it did is still there: ${oneLine(left_behind)}`];
  }

  if (rolled_back_to === null) return [];
  return [`    undone   its work was reverted; a copy is on ${copyName(rolled_back_to)}`];
}

function verdictLines({ verdict }: PhaseReport): readonly string[] {
  return verdict === null ? [] : [`    verdict  ${describeVerdict(verdict)}`];
}

function claimLine({ text, why, agent }: PhaseReport["false_claims"][number]): string {
  return `✗ ${oneLine(agent)}: “${oneLine(text, 100)}” ${oneLine(why, 100)}`;
}

function commitLine({ sha, subject, files }: PhaseReport["commits"][number]): string {
  return `${sha.slice(0, 10)} ${oneLine(subject)}, ${plural(files, "file")}`;
}

const copyName = (branch: string): string => (branch === "" ? "its branch" : oneLine(branch));

function describeVerdict({ verdict, by, issues }: NonNullable<PhaseReport["verdict"]>): string {
  const issueList = issues.length === 0 ? "" : `: ${firstFew(issues, 3)}`;
  return `${verdict.replaceAll("_", " ")} [${oneLine(by)}]${issueList}`;
}

/** A phase skipped because another failed needs a person; one that was already done does not. */
const phaseReportMark = ({ status, because }: PhaseReport): string =>
  status === "skipped" && because?.startsWith("already_") !== true ? "!" : phaseMarks[status];

function phaseReportHead(phase: PhaseReport): string {
  const { score, duration_minutes, tokens, usd, attempts } = phase;
  const parts = [describeStatus(phase)];
  if (score !== null) parts.push(`score ${formatNumber(score)} of 10`);
  if (attempts.debug > 0) parts.push(`debugged ${timesText(attempts.debug)}`);
  if (attempts.replan > 0) parts.push(`planned anew ${timesText(attempts.replan)}`);
  if (duration_minutes !== 0) parts.push(formatDuration(duration_minutes * 60_000));
  if (tokens !== 0) parts.push(formatAmount("tokens", tokens));
  if (usd !== 0) parts.push(formatAmount("usd", usd));
  return parts.join(", ");
}

function describeStatus({ status, because, step }: PhaseReport): string {
  const statusText =
    status === "needs_human_verification" ? "needs your verdict" : status.replaceAll("_", " ");
  const hasReason = because !== null && status !== "completed";
  const reasonText = hasReason ? ` (${because.replaceAll("_", " ")})` : "";
  const place = status === "in_progress" && step !== null ? `, at ${step}` : "";
  return `${statusText}${reasonText}${place}`;
}

const timesText = (count: number): string =>
  count === 1 ? "once" : `${formatNumber(count)} times`;

function proofLine({ title, command, status, exit_code }: PhaseProof): string {
  const name =
    title === "" || title === command
      ? oneLine(command)
      : `${oneLine(title, 80)} :: ${oneLine(command)}`;

  if (status === "passed") return `✓ ${name}`;
  const exitText = status === "failed" && exit_code !== null ? `, exit ${exit_code}` : "";
  return `✗ ${name} (${status.replaceAll("_", " ")}${exitText})`;
}

/** A list with its label beside the first line; beyond `max` the lines are only counted. */
function labelled(label: string, lines: readonly string[], max: number): readonly string[] {
  const shown = lines.slice(0, max);
  if (lines.length > max) shown.push(`… ${formatNumber(lines.length - max)} more`);
  return shown.map((line, index) => `    ${(index === 0 ? label : "").padEnd(8)} ${line}`);
}
