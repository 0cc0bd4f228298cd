// status-page: renders the state of a run for a person. The first row says whether they must act,
// the last rows what to do; everything else is shown with -v.

import type { IsolationInForce } from "../contracts/event.ts";
import { listOpenAttempts, listOpenQuestions } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import { unreachable } from "../kit/never.ts";
import { describeBreaker } from "./breaker-view.ts";
import { renderBudgetLines } from "./budget-view.ts";
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
import { describeOrigin } from "./facts/origin.ts";
import { pauseDetail } from "./facts/pause-detail.ts";
import { phaseTable } from "./phase-table.ts";
import { isOpenQuestion } from "./progress.ts";
import { buildStatusView, type StatusExtra, type StatusView } from "./status.ts";
import { formatVerdict, getVerdictMark } from "./verdict-sentences.ts";
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
export function statusPage(run: RunView, owner: Owner, extra: StatusExtra = {}): readonly string[] {
  const view = buildStatusView(run, owner, extra);
  const hasTable = isReportedByPhases(run);
  const troubles = [...(hasTable ? describeFailingChecks(run) : []), ...listProblems(run)]; // without a table the row of checks shows it

  return [
    headline(run, view),
    "",
    ...(needsAttention(run, view) ? row("Run", view.run_id) : []),
    ...row("Goal", oneLine(view.objective.goal)),
    ...(view.forked_from === null ? [] : row("Forked", describeOrigin(view.forked_from))),
    ...(run.status === "completed" ? row("Result", describeEnding(run)) : []),
    ...(run.status === "paused" && !isOpenQuestion(run, run.detail)
      ? row("Why", ...whyLines(run))
      : []),
    ...questionRows(run),
    ...(owner === null
      ? []
      : listOpenAttempts(run).flatMap((open) =>
          row("Now", `${agentPrefix(run, open.role)}${describeAttempt(open.attempt)}`),
        )),
    ...(view.interrupted === null
      ? []
      : listInterruptionRows(view.interrupted).flatMap(([name, text]) => row(name, text))),
    ...(hasTable ? [] : checkRows(run)),
    ...row(
      run.status === "completed" || run.status === "stopped" ? "Used" : "Budget",
      describeBudget(view.budget.counters, view.budget.limits),
    ),
    ...(run.status === "draft" || run.status === "completed"
      ? []
      : row("Kept", describeKept(run, view))),
    ...view.budget.warnings.map((warning) => `  ! ${warning}`),
    ...(hasTable ? ["", ...phaseTable(view.phases, phasesMax).map((line) => `  ${line}`)] : []),
    ...(hasTable && view.breaker.state !== "closed"
      ? [`  ! circuit breaker ${describeBreaker(view.breaker)}`]
      : []),
    ...(troubles.length === 0
      ? []
      : [
          "",
          ...firstLines(
            troubles.map((trouble) => `  ✗ ${oneLine(trouble)}`),
            troublesMax,
          ),
        ]),
    "",
    ...view.next_actions.map((action) => `→ ${oneLine(action)}`),
  ];
}

/** What -v adds: where the run is in its flow and in its journal, what bounds it, and each step. */
export function statusDetails(
  run: RunView,
  owner: Owner,
  extra: StatusExtra = {},
): readonly string[] {
  const view = buildStatusView(run, owner, extra);
  const { completed_steps, pending_steps } = view.progress;
  return [
    "",
    "Details",
    ...row("Scope", firstFew(view.objective.scope)),
    ...row(
      "Flow",
      `${view.flow}${view.checkpoint.place.length === 0 ? "" : `, at ${firstFew(view.checkpoint.place, 3)}`}`,
    ),
    ...row("Code", view.reason_code),
    ...row("Process", owner === null ? "none" : String(owner.pid)),
    ...row("Sandbox", sandboxDetails(view.isolation)),
    ...row("Breaker", describeBreaker(view.breaker)),
    ...row("Branch", view.branch),
    ...row("Journal", `event ${view.checkpoint.seq} at ${view.checkpoint.at}`),
    "",
    "Limits",
    ...renderBudgetLines(view.budget).map((line) => `  ${line}`),
    ...listSection("Done", "✓", completed_steps),
    ...listSection("To do", "○", pending_steps),
  ];
}

/**
 * The state, why, and what to quote when asking for help: the reason code if a person is needed,
 * else the run.
 */
function headline(run: RunView, view: StatusView): string {
  return `${describeState(run, view)}     ${needsAttention(run, view) ? view.reason_code : view.run_id}`;
}

/** Paused without a question, or left by its process: a person looks the reason up. */
const needsAttention = (run: RunView, view: StatusView): boolean =>
  (run.status === "paused" && listOpenQuestions(run).length === 0) ||
  (run.status === "running" && view.owner === null);

function describeState(run: RunView, view: StatusView): string {
  switch (run.status) {
    case "draft":
      return run.acknowledged ? "○ confirmed, not started" : "○ preview: nothing has run";
    case "running":
      if (view.interrupted !== null) {
        return `! interrupted: ${describeInterruption(view.interrupted)}`;
      }
      if (view.owner === null) return `! waiting: ${describeReason(view.reason_code)}`;
      return view.checkpoint.place.length === 0
        ? "● running"
        : `● running: ${describeCurrentSteps(run)}`;
    case "paused":
      return `${listOpenQuestions(run).length > 0 ? "?" : "!"} paused: ${describeReason(view.reason_code)}`;
    case "stopped":
      return `✗ stopped: ${describeReason(view.reason_code)}`;
    case "completed":
      return `${getVerdictMark(run.verdict ?? "unverified")} done: ${formatVerdict(run.verdict ?? "unverified")}`;
    default:
      return unreachable(run.status);
  }
}

const whyLines = (run: RunView): readonly string[] => {
  const why = pauseDetail(run);
  return why === null ? [] : [oneLine(why)];
};

/** The steps under way; between two steps, the open phases. */
const describeCurrentSteps = (run: RunView): string => {
  const steps = listOpenAttempts(run).map(({ step }) => step);
  const phases = run.phases
    .filter(({ status }) => status === "open")
    .map(({ id, name }) => (name === "" ? `phase ${id}` : name));
  return firstFew(steps.length > 0 ? steps : phases, 3);
};

const row = (name: string, ...lines: readonly string[]): readonly string[] =>
  labelRows(8, name, lines);

const agentPrefix = (run: RunView, role: string | null): string => {
  const agent = role === null ? undefined : run.drafted.cast[role]?.agent;
  return agent === undefined ? "" : `${oneLine(agent)}: `;
};

/** The open questions, with the answers. Verdicts on phases are in the table. */
function questionRows(run: RunView): readonly string[] {
  return listOpenQuestions(run)
    .filter((block) => !isVerdictQuestion(block))
    .flatMap(({ question, options, recommend }) =>
      row("Asks", oneLine(question), ...answerLines(options, recommend).map((line) => `  ${line}`)),
    );
}

/**
 * The newest result of every check: a criterion by its text, a check of the project by its command.
 */
function checkRows(run: RunView): readonly string[] {
  const criteria = listUserCriteria(run);
  const textOf = new Map(
    criteria.flatMap(({ text, check }) => (check === null ? [] : [[check, text] as const])),
  );

  const runCommands = new Set(Object.values(run.checks).map(({ latest }) => latest.check.command));
  const cells = [
    ...Object.values(run.checks).map((state) => {
      const { status, check } = state.latest;
      return `${checkMark(status)} ${oneLine(textOf.get(check.command) ?? check.command, checkCharsMax)}${describeFailure(state)}`;
    }),
    ...criteria.flatMap(({ text, check }) => {
      if (check !== null) {
        return runCommands.has(check) ? [] : [`○ ${oneLine(text, checkCharsMax)}`];
      }

      return [`○ ${oneLine(text, checkCharsMax)} (no check)`];
    }),
  ];
  return row("Checks", ...firstLines(cells, checksMax));
}

/** How a check failed, and whether it failed before the run too; empty if it passed. */
function describeFailure({ baseline, latest, isLate }: RunView["checks"][string]): string {
  if (latest.status === "passed") return "";
  const failure =
    latest.status === "failed"
      ? (latest.why ?? `exit ${latest.exit_code ?? "unknown"}`)
      : latest.status.replace("_", " ");

  if (latest.check.kind !== "project" || isLate === true) return ` (${failure})`;
  return ` (${failure}; ${baseline.status === "passed" ? "passed before the run" : "failed before the run too"})`;
}

function describeKept(run: RunView, { branch }: StatusView): string {
  if (run.tip.commit === run.drafted.base.commit) {
    return "no commit yet; your checkout is untouched";
  }

  return `${run.tip.commit.slice(0, 7)} on ${branch}; your checkout is untouched`;
}

function listSection(title: string, mark: string, items: readonly string[]): readonly string[] {
  if (items.length === 0) return [];
  return [
    "",
    title,
    ...firstLines(
      items.map((item) => `  ${item.includes("(not proved") ? "!" : mark} ${oneLine(item)}`),
      listedMax,
    ),
  ];
}

const firstLines = (lines: readonly string[], max: number): readonly string[] =>
  lines.length <= max
    ? lines
    : [...lines.slice(0, max), `    … ${formatNumber(lines.length - max)} more`];

function sandboxDetails(isolation: IsolationInForce): string {
  const { mechanism, not_enforced: notEnforced } = isolation;
  const open = notEnforced.length === 0 ? "" : `; not blocked: ${notEnforced.join(", ")}`;
  return `${describeSandbox(isolation)}: ${mechanism}${open}`;
}
