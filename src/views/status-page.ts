// status-page: renders the state of a run for a person. The first row says whether they must act,
// the last rows what to do; everything else is shown with -v.

import type { IsolationInForce } from "../contracts/event.ts";
import { listOpenAttempts, listOpenQuestions } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import { unreachable } from "../kit/unreachable.ts";
import { describeBreaker } from "./breaker-view.ts";
import { describeOvershoot, renderBudgetLines } from "./budget-view.ts";
import { labelRows } from "./align-columns.ts";
import {
  checkMark,
  isReportedByPhases,
  describeFailingChecks,
  listUserCriteria,
  listProblems,
} from "./criteria-status.ts";
import { describeInterruption, listInterruptionRows } from "./interruption.ts";
import { describeEnding, type Owner } from "./next-actions.ts";
import { describeOrigin } from "./facts/fork-origin.ts";
import { pauseDetail } from "./facts/pause-detail.ts";
import { phaseTable } from "./phase-table.ts";
import { isOpenQuestion } from "./progress.ts";
import { buildStatusView, type StatusView } from "./status.ts";
import { formatVerdict, getVerdictMark } from "./sentences/verdict-sentences.ts";
import { isVerdictQuestion } from "./verdicts.ts";
import {
  answerLines,
  describeAttempt,
  describeBudget,
  formatNumber,
  firstFew,
  describeReason,
  oneLine,
  describeSandbox,
} from "./wording.ts";

const listedMax = 12;
const phasesMax = 40;
const troublesMax = 8;
const checksMax = 8;
const checkCharsMax = 60;

/** About one screen; the command cuts what doesn't fit. */
export function statusPage(run: RunView, owner: Owner): readonly string[] {
  const view = buildStatusView(run, owner);
  const hasTable = isReportedByPhases(run);

  return [
    headline(run, view),
    "",
    ...aboutRows(run, view),
    ...questionRows(run),
    ...(owner === null ? [] : currentRows(run)),
    ...interruptionRows(view),
    ...(hasTable ? [] : checkRows(run)),
    ...usageRows(run, view),
    ...(hasTable ? phaseRows(view) : []),
    ...troubleRows(run, hasTable),
    "",
    ...view.next_actions.map((action) => `→ ${oneLine(action)}`),
  ];
}

/** Which run it is, what it is for, and how it ended or why it stands. */
function aboutRows(run: RunView, view: StatusView): readonly string[] {
  const rows: string[] = [];
  if (needsAttention(run, view)) rows.push(...row("Run", view.run_id));
  rows.push(...row("Goal", oneLine(view.objective.goal)));
  if (view.forked_from !== null) rows.push(...row("Forked", describeOrigin(view.forked_from)));
  if (run.status === "completed") rows.push(...row("Result", describeEnding(run)));

  const isPausedByItself = run.status === "paused" && !isOpenQuestion(run, run.detail);
  if (isPausedByItself) rows.push(...row("Why", ...whyLines(run)));
  return rows;
}

/** What agents and checks do at the moment. */
function currentRows(run: RunView): readonly string[] {
  return listOpenAttempts(run).flatMap(({ role, attempt }) =>
    row("Now", `${agentPrefix(run, role)}${describeAttempt(attempt)}`),
  );
}

function interruptionRows({ interrupted }: StatusView): readonly string[] {
  if (interrupted === null) return [];
  return listInterruptionRows(interrupted).flatMap(([name, text]) => row(name, text));
}

function usageRows(run: RunView, view: StatusView): readonly string[] {
  const { counters, limits, warnings } = view.budget;
  const isOver = run.status === "completed" || run.status === "stopped";
  const hasWork = run.status !== "draft" && run.status !== "completed";

  return [
    ...row(isOver ? "Used" : "Budget", describeBudget(counters, limits)),
    ...(hasWork ? row("Kept", describeKept(run, view)) : []),
    ...warnings.map((warning) => `  ! ${warning}`),
  ];
}

function phaseRows({ phases, breaker }: StatusView): readonly string[] {
  const rows = phaseTable(phases, phasesMax).map((line) => `  ${line}`);
  if (breaker.state !== "closed") rows.push(`  ! circuit breaker ${describeBreaker(breaker)}`);
  return ["", ...rows];
}

/** Failing checks are listed only beside the table; without it the row of checks shows them. */
function troubleRows(run: RunView, hasTable: boolean): readonly string[] {
  const failingChecks = hasTable ? describeFailingChecks(run) : [];
  const troubles = [...failingChecks, ...listProblems(run)];
  if (troubles.length === 0) return [];

  const lines = troubles.map((trouble) => `  ✗ ${oneLine(trouble)}`);
  return ["", ...firstLines(lines, troublesMax)];
}

/** What -v adds: where the run is in its flow and in its journal, what bounds it, and each step. */
export function statusDetails(run: RunView, owner: Owner): readonly string[] {
  const view = buildStatusView(run, owner);
  const { completed_steps, pending_steps } = view.progress;
  const { place } = view.checkpoint;
  const placeText = place.length === 0 ? "" : `, at ${firstFew(place, 3)}`;

  return [
    "",
    "Details",
    ...row("Scope", firstFew(view.objective.scope)),
    ...row("Flow", `${view.flow}${placeText}`),
    ...row("Code", view.reason_code),
    ...row("Process", owner === null ? "none" : String(owner.pid)),
    ...row("Sandbox", sandboxDetails(view.isolation)),
    ...row("Breaker", describeBreaker(view.breaker)),
    ...row("Branch", view.branch),
    ...row("Journal", `event ${view.checkpoint.seq} at ${view.checkpoint.at}`),
    "",
    "Limits",
    ...renderBudgetLines(view.budget).map((line) => `  ${line}`),
    `  ${describeOvershoot(view.budget)}`,
    ...listSection("Done", "✓", completed_steps),
    ...listSection("To do", "○", pending_steps),
  ];
}

/**
 * The state, why, and what to quote when asking for help: the reason code if a person is needed,
 * else the run.
 */
function headline(run: RunView, view: StatusView): string {
  const reference = needsAttention(run, view) ? view.reason_code : view.run_id;
  return `${describeState(run, view)}     ${reference}`;
}

/** Paused without a question, or left by its process: a person looks the reason up. */
function needsAttention(run: RunView, view: StatusView): boolean {
  if (run.status === "paused") return listOpenQuestions(run).length === 0;
  return run.status === "running" && view.owner === null;
}

function describeState(run: RunView, view: StatusView): string {
  switch (run.status) {
    case "draft":
      return run.acknowledged ? "○ confirmed, not started" : "○ preview: nothing has run";
    case "running":
      return describeRunning(run, view);
    case "paused": {
      const mark = listOpenQuestions(run).length > 0 ? "?" : "!";
      return `${mark} paused: ${describeReason(view.reason_code)}`;
    }
    case "stopped":
      return `✗ stopped: ${describeReason(view.reason_code)}`;
    case "completed": {
      const verdict = run.verdict ?? "unverified";
      return `${getVerdictMark(verdict)} done: ${formatVerdict(verdict)}`;
    }
    default:
      return unreachable(run.status);
  }
}

function describeRunning(run: RunView, view: StatusView): string {
  if (view.interrupted !== null) return `! interrupted: ${describeInterruption(view.interrupted)}`;
  if (view.owner === null) return `! waiting: ${describeReason(view.reason_code)}`;
  if (view.checkpoint.place.length === 0) return "● running";
  return `● running: ${describeCurrentSteps(run)}`;
}

function whyLines(run: RunView): readonly string[] {
  const why = pauseDetail(run);
  return why === null ? [] : [oneLine(why)];
}

/** The steps under way; between two steps, the open phases. */
function describeCurrentSteps(run: RunView): string {
  const steps = listOpenAttempts(run).map(({ step }) => step);
  if (steps.length > 0) return firstFew(steps, 3);

  const openPhases = run.phases.filter(({ status }) => status === "open");
  const phaseNames = openPhases.map(({ id, name }) => (name === "" ? `phase ${id}` : name));
  return firstFew(phaseNames, 3);
}

const row = (name: string, ...lines: readonly string[]): readonly string[] =>
  labelRows(8, name, lines);

const agentPrefix = (run: RunView, role: string | null): string => {
  const agent = role === null ? undefined : run.drafted.cast[role]?.agent;
  return agent === undefined ? "" : `${oneLine(agent)}: `;
};

/** The open questions, with the answers. Verdicts on phases are in the table. */
function questionRows(run: RunView): readonly string[] {
  const questions = listOpenQuestions(run).filter((block) => !isVerdictQuestion(block));

  return questions.flatMap(({ question, options, recommend }) => {
    const answers = answerLines(options, recommend).map((line) => `  ${line}`);
    return row("Asks", oneLine(question), ...answers);
  });
}

/**
 * The newest result of every check: a criterion by its text, a check of the project by its command.
 */
function checkRows(run: RunView): readonly string[] {
  const criteria = listUserCriteria(run);
  const textByCommand = new Map<string, string>();
  for (const { text, check } of criteria) {
    if (check !== null) textByCommand.set(check, text);
  }

  const states = Object.values(run.checks);
  const results = states.map((state) => {
    const { status, check } = state.latest;
    const text = textByCommand.get(check.command) ?? check.command;
    return `${checkMark(status)} ${oneLine(text, checkCharsMax)}${describeFailure(state)}`;
  });

  const commandsWithResult = new Set(states.map(({ latest }) => latest.check.command));
  const open = criteria.filter(({ check }) => check === null || !commandsWithResult.has(check));
  const openCells = open.map(({ text, check }) => {
    const note = check === null ? " (no check)" : "";
    return `○ ${oneLine(text, checkCharsMax)}${note}`;
  });

  return row("Checks", ...firstLines([...results, ...openCells], checksMax));
}

/** How a check failed, and whether it failed before the run too; empty if it passed. */
function describeFailure({ baseline, latest, isLate }: RunView["checks"][string]): string {
  if (latest.status === "passed") return "";
  const failure =
    latest.status === "failed"
      ? (latest.why ?? `exit ${latest.exit_code ?? "unknown"}`)
      : latest.status.replace("_", " ");

  if (latest.check.kind !== "project" || isLate === true) return ` (${failure})`;
  const before =
    baseline.status === "passed" ? "passed before the run" : "failed before the run too";
  return ` (${failure}; ${before})`;
}

function describeKept(run: RunView, { branch }: StatusView): string {
  if (run.tip.commit === run.drafted.base.commit) {
    return "no commit yet; your checkout is untouched";
  }

  return `${run.tip.commit.slice(0, 7)} on ${branch}; your checkout is untouched`;
}

function listSection(title: string, mark: string, items: readonly string[]): readonly string[] {
  if (items.length === 0) return [];

  const lines = items.map((item) => {
    const itemMark = item.includes("(not proved") ? "!" : mark;
    return `  ${itemMark} ${oneLine(item)}`;
  });
  return ["", title, ...firstLines(lines, listedMax)];
}

function firstLines(lines: readonly string[], max: number): readonly string[] {
  if (lines.length <= max) return lines;
  return [...lines.slice(0, max), `    … ${formatNumber(lines.length - max)} more`];
}

function sandboxDetails(isolation: IsolationInForce): string {
  const { mechanism, not_enforced: notEnforced } = isolation;
  const open = notEnforced.length === 0 ? "" : `; not blocked: ${notEnforced.join(", ")}`;
  return `${describeSandbox(isolation)}: ${mechanism}${open}`;
}
