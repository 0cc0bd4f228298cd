// report-page: the report as a person reads it: what was asked, what was done, what is proved, what the agent says, what is open, what to do.

import { couldNotRun } from "../contracts/evidence.ts";
import { isReasonCode, reasons } from "../contracts/reason.ts";
import { tellsFailure } from "../kit/failing-line.ts";
import { fileRows } from "./diff-page.ts";
import { phaseReportLines } from "./report-phases-page.ts";
import type { Changes, Claim, Proved, ReportView } from "./report.ts";
import { verdictLabel, verdictMark } from "./verdict-words.ts";
import { amount, attemptWords, duration, fewLines, figure, firstFew, money, oneLine, plural } from "./wording.ts";

const commitsMax = 10;
const filesMax = 8;
const decisionsMax = 15;
const excerptLinesMax = 6;
const lookedUpMax = 12;

export function reportPage(view: ReportView): readonly string[] {
  return [
    `${view.run_id}  ${view.state}${view.verdict === null ? "" : `, ${verdictLabel(view.verdict)}`}`,
    `  ${view.ending ?? (isReasonCode(view.reason_code) ? reasons[view.reason_code].meaning : "")}`,
    `  Goal: ${oneLine(view.goal)}`,
    ...section("Asked", askedLines(view)),
    ...section("Changed", doneLines(view)),
    ...section("Phases", phaseReportLines(view.phases)),
    ...section("After the phases", view.afterwards.map(afterwardsLine)),
    ...section("Proof (run by autopilot)", proofLines(view)),
    ...section("Verdict (from the proof)", judgementLines(view)),
    ...section("Look at this", lookLines(view)),
    ...section("Agent's word (not proof)", view.phases.length > 0 ? [] : view.claims.flatMap(claimLines)),
    ...section("Agent's statements, checked", lookedUpLines(view)),
    ...section("Decisions", decisionLines(view)),
    ...section("Open", openLines(view)),
    ...section(
      "Next",
      view.recommendations.map((action) => `→ ${oneLine(action)}`),
    ),
  ];
}

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)];

function askedLines({ scope, criteria, flow }: ReportView): readonly string[] {
  return [
    `flow ${flow}, scope ${firstFew(scope)}`,
    ...criteria.map(
      ({ text, proved, check }) => `${proved ? "✓" : "·"} ${oneLine(text)}${check === null ? " (no check)" : ` :: ${oneLine(check)}`}`,
    ),
  ];
}

function doneLines({ changes, cost, phases }: ReportView): readonly string[] {
  const isTold = phases.length > 0; // phase by phase, each with its commits
  const shown = isTold ? [] : changes.commits.slice(0, commitsMax).map(({ sha, subject }) => `· ${sha.slice(0, 10)} ${oneLine(subject)}`);
  const more = !isTold && changes.commits.length > commitsMax ? [`… ${figure(changes.commits.length - commitsMax)} more`] : [];
  const estimated = cost.estimated > 0 ? ", part of it estimated" : "";
  return [
    changeWords(changes),
    ...fileRows(changes.paths ?? [], filesMax).map((row) => `  ${row}`),
    ...(changes.files === 0 ? [] : ["→ autopilot diff shows it, autopilot transcript what the agent said and did"]),
    ...shown,
    ...more,
    `used ${amount("tokens", cost.tokens)}, ${plural(cost.calls, "call")}, ${amount("minutes", cost.minutes)}, ${money(cost.usd)}${estimated}`,
  ];
}

function changeWords({ files, insertions, deletions, commits }: Changes): string {
  if (files === 0) return "Nothing was changed.";
  const lines = insertions === null || deletions === null ? "" : ` (+${figure(insertions)} −${figure(deletions)})`;
  return `${plural(files, "file")} changed${lines} in ${plural(commits.length, "commit")}`;
}

const afterwardsMark = ({ status, because }: ReportView["afterwards"][number]): string => {
  if (status !== "completed") return status === "failed" ? "✗" : "·";
  return because === null || because.startsWith("nothing_") ? "✓" : "!"; // it came to an end, and not to the one that was wanted
};
const afterwardsLine = (view: ReportView["afterwards"][number]): string => {
  const { name, status, because } = view;
  return `${afterwardsMark(view)} ${oneLine(name)}: ${status}${because === null ? "" : ` (${oneLine(because.replaceAll("_", " "))})`}`;
};

/** Where phases tell what was proved for them, here is what was proved of the whole. */
function proofLines({ evidence, gates, phases }: ReportView): readonly string[] {
  const held = gates === 0 ? [] : [`✓ ${plural(gates, "gate")} held: what the steps must leave was looked at by the runner`];
  if (evidence.length === 0) return held.length > 0 ? held : ["! No check was run."];
  const told = new Set(phases.flatMap(({ proof }) => proof.map(({ command }) => command)));
  return [...evidence.filter(({ command, kind }) => kind === "project" || !told.has(command)).flatMap(provedLines), ...held];
}

function provedLines({ kind, title, command, before, status, exit_code, duration_ms, excerpt, why }: Proved): readonly string[] {
  const mark = status === "passed" ? "✓" : couldNotRun({ status }) ? "!" : "✗";
  const exit = status !== "failed" ? "" : why !== undefined ? ` (${oneLine(why)})` : exit_code === null ? "" : `, exit ${exit_code}`;
  const was = `${before.replace("_", " ")} before the run${before === status ? " too" : ""}`;
  const name = title === "" || title === command ? oneLine(command) : `${oneLine(title)} :: ${oneLine(command)}`;
  const line = `${mark} ${name} [${kind.replace("_", "-")}] ${status.replace("_", " ")}${exit}, ${duration(duration_ms)}; ${was}`;
  if (status === "passed" || excerpt === undefined) return [line];
  return [line, ...shownOf(excerpt).map((text) => `    │ ${text}`)];
}

/** The lines that tell of a failure; where none does, the end. */
function shownOf(excerpt: string): readonly string[] {
  const lines = excerpt.split(/\r?\n/).filter((line) => line.trim() !== "");
  const failing = lines.filter(tellsFailure);
  return failing.length > 0 ? fewLines(failing.join("\n"), excerptLinesMax) : lines.slice(-excerptLinesMax).map((line) => oneLine(line));
}

function claimLines({ attempt, agent, said, promised, confidence }: Claim): readonly string[] {
  const sure = confidence === null ? "" : `, confidence ${figure(confidence)}`;
  const head = `${oneLine(agent)} at ${attemptWords(attempt)}${sure}${promised ? ", promises completion" : ""}:`;
  return [head, ...fewLines(said, excerptLinesMax).map((text) => `  “ ${text}`)];
}

function judgementLines(view: ReportView): readonly string[] {
  const { verdict, gaps, rests_on } = view.judgement;
  return [
    `${verdictMark(verdict)} ${verdictLabel(verdict)}, resting on ${plural(rests_on.length, "piece")} of evidence${view.gates === 0 ? "" : ` and ${plural(view.gates, "gate")}`}`,
    ...gaps.map((gap) => `· ${oneLine(gap)}`),
  ];
}

/** Nothing is wrong with these by themselves, and only a person can tell. */
function lookLines({ look_at }: ReportView): readonly string[] {
  const shown = look_at.slice(0, lookedUpMax).map(({ path, what }) => `· ${oneLine(path)}: it ${what}`);
  return look_at.length > shown.length ? [...shown, `… ${figure(look_at.length - shown.length)} more`] : shown;
}

/** What is not so comes first; what is so is only counted. */
function lookedUpLines({ looked_up, phases }: ReportView): readonly string[] {
  const { claims, unverifiable } = looked_up;
  if (claims.length === 0) return [];
  const wrong = phases.length > 0 ? [] : claims.filter(({ verdict }) => verdict === "false");
  const shown = wrong
    .slice(0, lookedUpMax)
    .map(({ text, why, attempt }) => `✗ “${oneLine(text)}” ${oneLine(why)} [${attemptWords(attempt)}]`);
  const more =
    phases.length === 0 && looked_up.false > shown.length ? [`… ${figure(looked_up.false - shown.length)} more that are not so`] : [];
  return [
    ...shown,
    ...more,
    `${figure(looked_up.true)} true, ${figure(looked_up.false)} false, ${figure(unverifiable)} that can't be checked`,
  ];
}

function decisionLines({ decisions }: ReportView): readonly string[] {
  const shown = decisions
    .slice(-decisionsMax)
    .map(({ at, decision, actor }) => `· ${at.slice(11, 19)} ${oneLine(decision)}${actor === "system" ? "" : ` [${oneLine(actor)}]`}`);
  return decisions.length > decisionsMax ? [`… ${figure(decisions.length - decisionsMax)} before these`, ...shown] : shown;
}

function openLines({ blockers, criteria }: ReportView): readonly string[] {
  const unproved = criteria
    .filter(({ proved }) => !proved)
    .map(({ text, check }) => `· ${oneLine(text)} (${check === null ? "it has no check" : "not proved"})`);
  return [...blockers.map((blocker) => `✗ ${oneLine(blocker)}`), ...unproved];
}
