// report-page: renders the report for a person: what was asked, what was done, what is proved, what
// the agent says, what is open, what to do.

import { reasons } from "../contracts/reason.ts";
import { reportsFailure } from "../kit/failure-patterns.ts";
import { labelRows } from "./align-columns.ts";
import { checkMark } from "./criteria-status.ts";
import { renderFileRows } from "./diff-page.ts";
import { describeOrigin } from "./facts/fork-origin.ts";
import { renderPhaseReports } from "./report-phases-page.ts";
import type { ChangeSummary, TurnClaim, ReportedCheck, ReportView } from "./report.ts";
import { formatVerdict, getVerdictMark } from "./sentences/verdict-sentences.ts";
import {
  formatAmount,
  describeAttempt,
  fewLines,
  formatNumber,
  firstFew,
  describeReason,
  formatMoney,
  oneLine,
  plural,
  formatCompactNumber,
  formatCompactDuration,
} from "./wording.ts";

const filesMax = 5;
const decisionsShown = 4;
const excerptLinesMax = 6;
/** One line of a terminal; a goal may be a whole prompt. */
const goalCharsMax = 90;
const goalLinesMax = 40;
const claimsMax = 12;

/** One screen: result, proof, open points, and the agent's own summary kept apart from them. */
export function reportPage(view: ReportView): readonly string[] {
  const hasPhases = view.phases.length > 0;
  const isCurrentPause = ({ reason_code }: ReportView["decisions"][number]): boolean =>
    view.state === "paused" && reason_code === view.reason_code;
  const shownDecisions = view.decisions.filter(
    (decision) =>
      decision.reason_code !== "ack_recorded" &&
      decision.reason_code !== "ok" &&
      !isCurrentPause(decision),
  );

  return [
    reportHead(view),
    "",
    ...row("Goal", oneLine(view.goal, goalCharsMax)), // up to `goalLinesMax` lines of it are under "Asked", with -v
    ...(view.ending === null ? [] : row("Result", view.ending)),
    ...row("Changed", `${describeChanges(view.changes)} (allowed: ${firstFew(view.scope)})`),
    ...renderFileRows(view.changes.paths ?? [], filesMax).map((line) => `             ${line}`),
    ...row("Used", describeUsage(view)),
    ...section("Phases", renderPhaseReports(view.phases)),
    ...section("After the phases", view.afterwards.map(afterwardsLine)),
    ...section("Proof (run by autopilot)", [...proofLines(view), ...gapLines(view)]),
    ...section("Look at this", lookLines(view)),
    ...section("Open", openLines(view)),
    ...section(
      "Agent's word (not proof)",
      hasPhases
        ? checkedClaimLines(view)
        : [...view.claims.slice(-1).flatMap(claimLines), ...checkedClaimLines(view)],
    ),
    ...section("Decisions", decisionLines(shownDecisions, decisionsShown)),
    "",
    ...view.recommendations.map((action) => `→ ${oneLine(action)}`),
    ...(view.changes.files === 0 ? [] : ["→ autopilot diff, autopilot transcript"]),
  ];
}

/**
 * With -v: what was asked, every commit, what the agent said at the end of its last turns, every
 * decision.
 */
export function reportDetails(view: ReportView): readonly string[] {
  return [
    ...section("Asked", askedLines(view)),
    ...section("Commits", commitLines(view)),
    ...section("Verdict (from the proof)", judgementLines(view)),
    ...section(
      "What the agent said at the end of its last turns (not proof)",
      view.phases.length > 0 ? [] : view.claims.flatMap(claimLines),
    ),
    ...section("All decisions", decisionLines(view.decisions, view.decisions.length)),
  ];
}

const row = (name: string, ...lines: readonly string[]): readonly string[] =>
  labelRows(8, name, lines);

const stateMarks: Readonly<Record<string, string>> = { running: "●", draft: "○", stopped: "✗" };

function reportHead({ run_id, state, verdict, reason_code }: ReportView): string {
  if (state === "completed" && verdict !== null) {
    return `${getVerdictMark(verdict)} done: ${formatVerdict(verdict)}     ${run_id}`;
  }

  if (state === "running" && reason_code === "run_in_progress") return `● running     ${run_id}`;
  return `${stateMarks[state] ?? "!"} ${state}: ${describeReason(reason_code)}     ${run_id}`;
}

function describeUsage({ cost }: ReportView): string {
  return [
    `${formatCompactNumber(cost.tokens)} tokens`,
    plural(cost.calls, "call"),
    formatAmount("minutes", cost.minutes),
    ...(cost.usd === 0 ? [] : [formatMoney(cost.usd)]),
    ...(cost.estimated > 0 ? ["part of it estimated"] : []),
  ].join(", ");
}

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)];

function askedLines({ goal, scope, criteria, flow, forked_from }: ReportView): readonly string[] {
  return [
    ...(oneLine(goal, goalCharsMax) === oneLine(goal, goal.length)
      ? []
      : fewLines(goal, goalLinesMax)),
    ...(forked_from === null ? [] : [`forked from ${describeOrigin(forked_from)}`]),
    `flow ${flow}, scope ${firstFew(scope)}`,
    ...criteria.map(({ text, proved, check }) => {
      const checkText = check === null ? " (no check)" : ` :: ${oneLine(check)}`;
      return `${proved ? "✓" : "·"} ${oneLine(text)}${checkText}`;
    }),
  ];
}

const commitLines = ({ changes: { commits } }: ReportView): readonly string[] =>
  commits.map(({ sha, subject }) => `${sha.slice(0, 10)} ${oneLine(subject)}`);

function describeChanges({ files, insertions, deletions, commits }: ChangeSummary): string {
  if (files === 0) return "nothing";
  const lines =
    insertions === null || deletions === null
      ? ""
      : ` +${formatNumber(insertions)} -${formatNumber(deletions)}`;

  return `${plural(files, "file")}${lines} in ${plural(commits.length, "commit")}`;
}

const afterwardsMark = ({ status, because }: ReportView["afterwards"][number]): string => {
  if (status !== "completed") return status === "failed" ? "✗" : "·";
  return because === null || because.startsWith("nothing_") ? "✓" : "!"; // it ended, but not as intended
};
const afterwardsLine = (view: ReportView["afterwards"][number]): string => {
  const { name, status, because } = view;
  return `${afterwardsMark(view)} ${oneLine(name)}: ${status}${because === null ? "" : ` (${oneLine(because.replaceAll("_", " "))})`}`;
};

/** If phases list their own proofs, this is the proof of the whole. */
function proofLines({ evidence, gates, phases }: ReportView): readonly string[] {
  const gateLines =
    gates === 0
      ? []
      : [`✓ ${plural(gates, "gate")} held: autopilot checked what the steps had to produce`];
  if (evidence.length === 0) return gateLines.length > 0 ? gateLines : ["! No check was run."];
  const phaseCommands = new Set(phases.flatMap(({ proof }) => proof.map(({ command }) => command)));

  return [
    ...evidence
      .filter(({ command, kind }) => kind === "project" || !phaseCommands.has(command))
      .flatMap(reportedCheckLines),
    ...gateLines,
  ];
}

function reportedCheckLines({
  kind,
  title,
  command,
  before,
  status,
  exit_code,
  duration_ms,
  excerpt,
  why,
}: ReportedCheck): readonly string[] {
  const failure = why === undefined ? `exit ${exit_code ?? "unknown"}` : oneLine(why);
  const failureText = status === "failed" ? failure : status.replace("_", " ");
  const beforeText = `${before.replace("_", " ")} before${before === status ? " too" : ""}`;
  const isNothingNew = kind === "criterion" && status === "passed" && before === "passed";
  const name =
    kind !== "criterion" || title === "" || title === command
      ? oneLine(command)
      : `${oneLine(title)} :: ${oneLine(command)}`;

  const facts = [
    ...(status === "passed" ? [] : [failureText]),
    formatCompactDuration(duration_ms),
    beforeText,
  ];

  const line = `${checkMark(status)} ${name}   ${facts.join(", ")}${isNothingNew ? ", so it proves nothing new" : ""}`;
  if (status === "passed" || excerpt === undefined) return [line];
  return [line, ...failureLines(excerpt).map((text) => `    │ ${text}`)];
}

/** The lines that report a failure; if none does, the end. */
function failureLines(excerpt: string): readonly string[] {
  const lines = excerpt.split(/\r?\n/).filter((line) => line.trim() !== "");
  const failing = lines.filter(reportsFailure);
  return failing.length > 0
    ? fewLines(failing.join("\n"), excerptLinesMax)
    : lines.slice(-excerptLinesMax).map((line) => oneLine(line));
}

function claimLines({ attempt, agent, said, promised, confidence }: TurnClaim): readonly string[] {
  const confidenceText = confidence === null ? "" : `, confidence ${formatNumber(confidence)}`;
  const head = `${oneLine(agent)} at ${describeAttempt(attempt)}${confidenceText}${promised ? ", promises completion" : ""}:`;
  const prose = said.replace(/```json[\s\S]*?(?:```|$)/g, ""); // its return, for programs
  if (prose.trim() === "") return [];

  return [head, ...fewLines(prose, excerptLinesMax).map((text) => `  “ ${text}`)];
}

/**
 * A criterion whose check fails has its own line above; the result names the gaps of a run that is
 * over.
 */
const gapLines = ({ judgement, evidence, ending }: ReportView): readonly string[] => {
  const isShown = evidence.some(({ status }) => status !== "passed");
  return judgement.gaps
    .filter(
      (gap) =>
        !(isShown && gap.endsWith("its check does not pass")) && ending?.includes(gap) !== true,
    )
    .map((gap) => `! ${oneLine(gap)}`);
};

function judgementLines(view: ReportView): readonly string[] {
  const { verdict, rests_on } = view.judgement;
  const gates = view.gates === 0 ? "" : ` and ${plural(view.gates, "gate")}`;
  return [
    `${getVerdictMark(verdict)} ${formatVerdict(verdict)}, resting on ${plural(rests_on.length, "piece")} of evidence${gates}`,
  ];
}

/** Changed files that only a person can judge; nothing is known to be wrong with them. */
function lookLines({ look_at }: ReportView): readonly string[] {
  const lines = look_at
    .slice(0, claimsMax)
    .map(({ path, what }) => `· ${oneLine(path)}: it ${what}`);
  return look_at.length > lines.length
    ? [...lines, `… ${formatNumber(look_at.length - lines.length)} more`]
    : lines;
}

/** False claims come first; true ones are only counted. */
function checkedClaimLines({ looked_up, phases }: ReportView): readonly string[] {
  const { claims, unverifiable } = looked_up;
  if (claims.length === 0) return [];
  const wrong = phases.length > 0 ? [] : claims.filter(({ verdict }) => verdict === "false");
  const countsByLine = new Map<string, number>(); // an agent may say the same in every turn

  for (const { text, why } of wrong) {
    const line = `✗ “${oneLine(text)}” ${oneLine(why)}`;
    countsByLine.set(line, (countsByLine.get(line) ?? 0) + 1);
  }

  const wrongLines = [...countsByLine]
    .slice(0, claimsMax)
    .map(([line, times]) => (times === 1 ? line : `${line} (${formatNumber(times)} times)`));
  const moreLines =
    countsByLine.size > wrongLines.length
      ? [`… ${formatNumber(countsByLine.size - wrongLines.length)} more false ones`]
      : [];

  const counts = [
    `${formatNumber(looked_up.true)} true`,
    `${formatNumber(looked_up.false)} false`,
    ...(unverifiable === 0 ? [] : [`${formatNumber(unverifiable)} that can't be checked`]),
  ];

  return [
    ...wrongLines,
    ...moreLines,
    `${plural(claims.length, "statement")} checked: ${counts.join(", ")}`,
  ];
}

function decisionLines(decisions: ReportView["decisions"], max: number): readonly string[] {
  const decisionRows = decisions.slice(-max).map(({ at, decision, actor }) => {
    const actorText = actor === "system" ? "" : ` [${oneLine(actor)}]`;
    return `· ${at.slice(11, 19)} ${oneLine(decision)}${actorText}`;
  });

  return decisions.length > max
    ? [`… ${formatNumber(decisions.length - max)} before these`, ...decisionRows]
    : decisionRows;
}

/**
 * What is still open, without what the page shows elsewhere: the reason of a pause in its first
 * row, and every check that ran as proof.
 */
function openLines({ blockers, criteria, evidence, reason_code }: ReportView): readonly string[] {
  const reason = `${reason_code}: ${reasons[reason_code].meaning}`;
  const ran = new Set(evidence.map(({ command }) => command));

  const unproved = criteria
    .filter(({ proved, check }) => !proved && (check === null || !ran.has(check)))
    .map(
      ({ text, check }) =>
        `· ${oneLine(text)} (${check === null ? "it has no check" : "not proved"})`,
    );

  // Of `code: meaning (detail)` only the detail is left.
  const open = blockers.map((blocker) =>
    blocker.startsWith(reason)
      ? blocker.slice(reason.length).replace(/^ \((.*)\)$/s, "$1")
      : blocker,
  );
  return [
    ...open
      .filter((text) => text !== "" && !text.startsWith("not proved: "))
      .map((text) => `✗ ${oneLine(text)}`),
    ...unproved,
  ];
}
