// status-page: the state of a run, for a person. The first row says whether they must act, the last rows what to do; everything else comes
// with -v.

import type { IsolationInForce } from "../contracts/event.ts";
import { openExecutions, questionsOpen } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import { unreachable } from "../kit/never.ts";
import { describeBreaker } from "./breaker-view.ts";
import { budgetLines } from "./budget-view.ts";
import { labelledRows } from "./columned.ts";
import { checkMark, isByPhases, describeFailing, listOwnCriteria, runProblems } from "./criteria-status.ts";
import { interruptedAt, interruptedRows } from "./interrupted.ts";
import { runEnding, type Owner } from "./next-actions.ts";
import { describeOrigin } from "./facts/origin.ts";
import { pauseDetail } from "./facts/pause-detail.ts";
import { phaseTable } from "./phase-table.ts";
import { isQuestion } from "./progress.ts";
import { runStatus, type StatusExtra, type StatusView } from "./status.ts";
import { verdictLabel, verdictMark } from "./verdict-sentences.ts";
import { isVerdict } from "./verdicts.ts";
import { answerLines, describeAttempt, describeBudget, figure, firstFew, describeReason, oneLine, describeSandbox } from "./wording.ts";

const listedMax = 12;
const phasesMax = 40;
const troublesMax = 8;
const checksMax = 8;
const checkCharsMax = 60;

/** One screen at most. */
export function statusPage(run: RunView, owner: Owner, extra: StatusExtra = {}): readonly string[] {
  const view = runStatus(run, owner, extra);
  const hasTable = isByPhases(run);
  const troubles = [...(hasTable ? describeFailing(run) : []), ...runProblems(run)]; // without a table the row of checks shows it
  return [
    headline(run, view),
    "",
    ...(needsSomebody(run, view) ? row("Run", view.run_id) : []),
    ...row("Goal", oneLine(view.objective.goal)),
    ...(view.forked_from === null ? [] : row("Forked", describeOrigin(view.forked_from))),
    ...(run.status === "completed" ? row("Result", runEnding(run)) : []),
    ...(run.status === "paused" && !isQuestion(run, run.detail) ? row("Why", ...whyLines(run)) : []),
    ...questionRows(run),
    ...(owner === null
      ? []
      : openExecutions(run).flatMap((open) => row("Now", `${runAgent(run, open.role)}${describeAttempt(open.attempt)}`))),
    ...(view.interrupted === null ? [] : interruptedRows(view.interrupted).flatMap(([name, text]) => row(name, text))),
    ...(hasTable ? [] : checkRows(run)),
    ...row(
      run.status === "completed" || run.status === "stopped" ? "Used" : "Budget",
      describeBudget(view.budget.counters, view.budget.limits),
    ),
    ...(run.status === "draft" || run.status === "completed" ? [] : row("Kept", describeKept(run, view))),
    ...view.budget.warnings.map((warning) => `  ! ${warning}`),
    ...(hasTable ? ["", ...phaseTable(view.phases, phasesMax).map((line) => `  ${line}`)] : []),
    ...(hasTable && view.breaker.state !== "closed" ? [`  ! circuit breaker ${describeBreaker(view.breaker)}`] : []),
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
export function statusDetails(run: RunView, owner: Owner, extra: StatusExtra = {}): readonly string[] {
  const view = runStatus(run, owner, extra);
  const { completed_steps, pending_steps } = view.progress;
  return [
    "",
    "Details",
    ...row("Scope", firstFew(view.objective.scope)),
    ...row("Flow", `${view.flow}${view.checkpoint.place.length === 0 ? "" : `, at ${firstFew(view.checkpoint.place, 3)}`}`),
    ...row("Code", view.reason_code),
    ...row("Process", owner === null ? "none" : String(owner.pid)),
    ...row("Sandbox", sandboxDetails(view.isolation)),
    ...row("Breaker", describeBreaker(view.breaker)),
    ...row("Branch", view.branch),
    ...row("Journal", `event ${view.checkpoint.seq} at ${view.checkpoint.at}`),
    "",
    "Limits",
    ...budgetLines(view.budget).map((line) => `  ${line}`),
    ...listSection("Done", "✓", completed_steps),
    ...listSection("To do", "○", pending_steps),
  ];
}

/** The state, why, and what to quote: the reason code if a person is needed, else the run. */
function headline(run: RunView, view: StatusView): string {
  return `${describeState(run, view)}     ${needsSomebody(run, view) ? view.reason_code : view.run_id}`;
}

/** Paused without a question, or left by its process: a person looks the reason up. */
const needsSomebody = (run: RunView, view: StatusView): boolean =>
  (run.status === "paused" && questionsOpen(run).length === 0) || (run.status === "running" && view.owner === null);

function describeState(run: RunView, view: StatusView): string {
  switch (run.status) {
    case "draft":
      return run.acknowledged ? "○ confirmed, not started" : "○ preview: nothing has run";
    case "running":
      if (view.interrupted !== null) return `! interrupted: ${interruptedAt(view.interrupted)}`;
      if (view.owner === null) return `! waiting: ${describeReason(view.reason_code)}`;
      return view.checkpoint.place.length === 0 ? "● running" : `● running: ${nowAt(run)}`;
    case "paused":
      return `${questionsOpen(run).length > 0 ? "?" : "!"} paused: ${describeReason(view.reason_code)}`;
    case "stopped":
      return `✗ stopped: ${describeReason(view.reason_code)}`;
    case "completed":
      return `${verdictMark(run.verdict ?? "unverified")} done: ${verdictLabel(run.verdict ?? "unverified")}`;
    default:
      return unreachable(run.status);
  }
}

const whyLines = (run: RunView): readonly string[] => {
  const why = pauseDetail(run);
  return why === null ? [] : [oneLine(why)];
};

const nowAt = (run: RunView): string => {
  const open = openExecutions(run);
  const phases = run.phases.filter(({ status }) => status === "open").map(({ id, name }) => (name === "" ? `phase ${id}` : name));
  return open.length > 0
    ? firstFew(
        open.map(({ step }) => step),
        3,
      )
    : firstFew(phases, 3);
};

const row = (name: string, ...lines: readonly string[]): readonly string[] => labelledRows(8, name, lines);

const runAgent = (run: RunView, role: string | null): string => {
  const agent = role === null ? undefined : run.drafted.cast[role]?.agent;
  return agent === undefined ? "" : `${oneLine(agent)}: `;
};

/** The open questions, with the answers. Verdicts on phases are in the table. */
function questionRows(run: RunView): readonly string[] {
  return questionsOpen(run)
    .filter((block) => !isVerdict(block))
    .flatMap(({ question, options, recommend }) =>
      row("Asks", oneLine(question), ...answerLines(options, recommend).map((line) => `  ${line}`)),
    );
}

/** The newest result of every check: what was asked for by its text, the project's own by their command. */
function checkRows(run: RunView): readonly string[] {
  const criteria = listOwnCriteria(run);
  const textOf = new Map(criteria.flatMap(({ text, check }) => (check === null ? [] : [[check, text] as const])));
  const runCommands = new Set(Object.values(run.checks).map(({ latest }) => latest.check.command));
  const cells = [
    ...Object.values(run.checks).map((state) => {
      const { status, check } = state.latest;
      return `${checkMark(status)} ${oneLine(textOf.get(check.command) ?? check.command, checkCharsMax)}${describeFailure(state)}`;
    }),
    ...criteria.flatMap(({ text, check }) => {
      if (check !== null) return runCommands.has(check) ? [] : [`○ ${oneLine(text, checkCharsMax)}`];
      return [`○ ${oneLine(text, checkCharsMax)} (no check)`];
    }),
  ];
  return row("Checks", ...firstLines(cells, checksMax));
}

/** How a check failed, and whether it failed before the run too; empty if it passed. */
function describeFailure({ baseline, latest, isLate }: RunView["checks"][string]): string {
  if (latest.status === "passed") return "";
  const failure = latest.status === "failed" ? (latest.why ?? `exit ${latest.exit_code ?? "unknown"}`) : latest.status.replace("_", " ");
  if (latest.check.kind !== "project" || isLate === true) return ` (${failure})`;
  return ` (${failure}; ${baseline.status === "passed" ? "passed before the run" : "failed before the run too"})`;
}

function describeKept(run: RunView, { branch }: StatusView): string {
  if (run.tip.commit === run.drafted.base.commit) return "no commit yet; your checkout is untouched";
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
  lines.length <= max ? lines : [...lines.slice(0, max), `    … ${figure(lines.length - max)} more`];

function sandboxDetails(isolation: IsolationInForce): string {
  const { mechanism, not_enforced: notEnforced } = isolation;
  const open = notEnforced.length === 0 ? "" : `; not blocked: ${notEnforced.join(", ")}`;
  return `${describeSandbox(isolation)}: ${mechanism}${open}`;
}
