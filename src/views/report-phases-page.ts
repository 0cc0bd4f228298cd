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
  const unstartedIds = phases.filter(({ status }) => status === "not_started").map(({ id }) => id);
  return [
    ...startedPhases.flatMap(phaseParagraph),
    ...(unstartedIds.length === 0
      ? []
      : [`· ${plural(unstartedIds.length, "phase")} not begun: ${firstFew(unstartedIds, 20)}`]),
  ];
}

function phaseParagraph(phase: PhaseReport): readonly string[] {
  const {
    id,
    name,
    proof,
    false_claims,
    commits,
    post_mortem,
    rolled_back_to,
    left_behind,
    verdict,
  } = phase;
  const shownProofs = [
    ...proof.filter((candidate) => candidate.status !== "passed"),
    ...proof.filter((candidate) => candidate.status === "passed"),
  ];

  return [
    `${phaseReportMark(phase)} Phase ${id}${name === "" ? "" : ` ${oneLine(name)}`}: ${phaseReportHead(phase)}`,
    ...labelled("checked", shownProofs.slice(0, proofMax).map(proofLine), proof.length - proofMax),
    ...(post_mortem === null
      ? []
      : [
          `    why      ${post_mortem.category.replaceAll("_", " ")}: ${oneLine(post_mortem.description)}`,
          `    rule     ${oneLine(post_mortem.prevention_rule)}`,
        ]),
    ...(rolled_back_to === null || left_behind !== null
      ? []
      : [`    undone   its work was reverted; a copy is on ${copyName(rolled_back_to)}`]),
    ...(left_behind === null
      ? []
      : [`    left     what it did is still there: ${oneLine(left_behind)}`]),
    ...(verdict === null ? [] : [`    verdict  ${describeVerdict(verdict)}`]),
    ...labelled(
      "false",
      false_claims
        .slice(0, claimsMax)
        .map(
          ({ text, why, agent }) =>
            `✗ ${oneLine(agent)}: “${oneLine(text, 100)}” ${oneLine(why, 100)}`,
        ),
      false_claims.length - claimsMax,
    ),
    ...labelled(
      "commits",
      commits
        .slice(0, commitsMax)
        .map(
          ({ sha, subject, files }) =>
            `${sha.slice(0, 10)} ${oneLine(subject)}, ${plural(files, "file")}`,
        ),
      commits.length - commitsMax,
    ),
  ];
}

const copyName = (branch: string): string => (branch === "" ? "its branch" : oneLine(branch));

function describeVerdict({ verdict, by, issues }: NonNullable<PhaseReport["verdict"]>): string {
  const issueList = issues.length === 0 ? "" : `: ${firstFew(issues, 3)}`;
  return `${verdict.replaceAll("_", " ")} [${oneLine(by)}]${issueList}`;
}

/** A phase skipped because another failed needs a person; one that was already done does not. */
const phaseReportMark = ({ status, because }: PhaseReport): string =>
  status === "skipped" && because?.startsWith("already_") !== true ? "!" : phaseMarks[status];

function phaseReportHead({
  status,
  because,
  score,
  duration_minutes,
  tokens,
  usd,
  attempts,
  step,
}: PhaseReport): string {
  const reasonText =
    because === null || status === "completed" ? "" : ` (${because.replaceAll("_", " ")})`;
  const place = status === "in_progress" && step !== null ? `, at ${step}` : "";
  const statusText =
    status === "needs_human_verification" ? "needs your verdict" : status.replaceAll("_", " ");

  return [
    `${statusText}${reasonText}${place}`,
    ...(score === null ? [] : [`score ${formatNumber(score)} of 10`]),
    ...(attempts.debug === 0 ? [] : [`debugged ${timesText(attempts.debug)}`]),
    ...(attempts.replan === 0 ? [] : [`planned anew ${timesText(attempts.replan)}`]),
    ...(duration_minutes === 0 ? [] : [formatDuration(duration_minutes * 60_000)]),
    ...(tokens === 0 ? [] : [formatAmount("tokens", tokens)]),
    ...(usd === 0 ? [] : [formatAmount("usd", usd)]),
  ].join(", ");
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

/**
 * A list with its label beside the first line. `hidden`: how many entries were left out, if
 * positive.
 */
function labelled(label: string, lines: readonly string[], hidden: number): readonly string[] {
  const shown = hidden > 0 ? [...lines, `… ${formatNumber(hidden)} more`] : lines;
  return shown.map((line, index) => `    ${(index === 0 ? label : "").padEnd(8)} ${line}`);
}
