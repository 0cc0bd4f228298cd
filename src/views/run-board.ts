// run-board: renders a run for `watch` while it works: phases, the steps and tasks under way, what is
// spent, the circuit breaker, the last live event. It is redrawn in place, so its order is fixed
// and it never has more than `rowsMax` lines.

import { listOpenAttempts, stepsOfPhase, taskPath } from "../core/selectors.ts";
import { ownValue } from "../core/own-values.ts";
import type { RunView } from "../core/state.ts";
import { buildBreakerView, describeBreaker } from "./breaker-view.ts";
import { buildBudgetView } from "./budget-view.ts";
import type { Owner } from "./next-actions.ts";
import { listPhaseRows } from "./phase-rows.ts";
import { phaseTable } from "./phase-table.ts";
import { listOpenVerdicts } from "./verdicts.ts";
import {
  formatAmount,
  describeAttempt,
  formatNumber,
  firstFew,
  oneLine,
  plural,
  formatPercent,
  computeUsedShare,
} from "./wording.ts";

export type BoardInput = {
  readonly owner: Owner;
  /** The last live event as a line; empty if there is none. */
  readonly liveLine: string;
  readonly rowsMax: number;
  /** Minutes since the journal's last line: the clock runs while an agent works. */
  readonly sinceMinutes: number;
};

/** The table has at least so many lines, and phases in this share of them. */
const phasesMin = 3;
const phasesShare = 0.8;
/** The separator, the table's heading, and one line to spare. */
const frameRows = 3;
/** Phases, and executions, that are shown at once. */
const openMax = 3;
const tasksMax = 12;
const taskCharsMax = 20;
const separatorColumns = 40;
const verdictsMax = 6;
/** How many steps a line has room for: those around the current one are shown. */
const stepsMax = 8;
const stepsBefore = 4;

export function renderRunBoard(
  run: RunView,
  { owner, liveLine, rowsMax, sinceMinutes }: BoardInput,
): readonly string[] {
  const rows = listPhaseRows(run);
  const head = [
    headLine(run, owner),
    spendLine(run, owner === null || run.status === "paused" ? 0 : sinceMinutes),
  ];

  const liveText = liveLine.trim();
  const currentLines = [
    ...openLines(run),
    ...waitingLines(run),
    ...(liveText === "" ? [] : [`  ${liveText}`]),
  ];
  // The table of phases takes the room that the lines about what happens now leave. Those are cut
  // only in a very low window.
  const room = Math.max(phasesMin, rowsMax - head.length - currentLines.length - frameRows);
  const hasTable = rows.length > 1 || "read" in run.drafted.flow.phases;
  // Fewer phases than there is room for: between them, the table has lines that count the phases
  // left out.
  const table = hasTable ? phaseTable(rows, Math.max(1, Math.floor(room * phasesShare))) : [];

  return [
    "─".repeat(separatorColumns),
    ...head,
    ...table.slice(0, room).map((line) => `  ${line}`),
    ...currentLines,
  ].slice(0, rowsMax);
}

function headLine(run: RunView, owner: Owner): string {
  const { run_id, flow } = run.drafted;
  const mainPhases = run.phases.filter(({ group }) => group === "phases");
  const donePhases = mainPhases.filter(
    ({ status, because }) =>
      status === "completed" || (status === "skipped" && because?.startsWith("already_") === true),
  );

  const phases =
    mainPhases.length > 1
      ? `, ${formatNumber(donePhases.length)} of ${plural(mainPhases.length, "phase")} completed`
      : "";

  return `${run_id}  ${run.status}, ${flow.flow}${phases}${owner === null ? "" : `, process ${owner.pid}`}`;
}

function spendLine(run: RunView, sinceMinutes: number): string {
  const { counters, limits } = buildBudgetView(run);
  const used = (dimension: "tokens" | "minutes", value: number): string => {
    const limit = limits[dimension];
    if (limit === undefined) return formatAmount(dimension, value);
    return `${formatNumber(value)} of ${formatAmount(dimension, limit)} (${formatPercent(computeUsedShare(value, limit))})`;
  };

  const parts = [
    used("tokens", counters.tokens),
    used("minutes", Math.round((counters.minutes + sinceMinutes) * 10) / 10),
    ...(counters.usd > 0 ? [formatAmount("usd", counters.usd)] : []),
    `breaker ${describeBreaker(buildBreakerView(run))}`,
  ];

  return `  spent ${parts.join(" · ")}`;
}

const stepMarks = { passed: "✓", failed: "✗", skipped: "-" } as const;

/**
 * For each phase under way its steps, and the tasks of the step that has some; then the actions
 * themselves.
 */
function openLines(run: RunView): readonly string[] {
  const open = run.phases.filter(({ status }) => status === "open");
  const phases = open
    .slice(0, openMax)
    .flatMap(({ id }) => [stepsLine(run, id), ...tasksLine(run, id)]);

  const actions = listOpenAttempts(run)
    .slice(0, openMax)
    .map(({ attempt, role, stage, kind }) => {
      const stageText = kind === "agent" ? `: ${stageLabels[stage] ?? stage}` : "";
      return `  ▸ ${describeAttempt(attempt)}, ${role ?? kind}${stageText}`;
    });
  return [...phases, ...actions];
}

const stageLabels: Readonly<Record<string, string>> = {
  started: "at work",
  turned: "its changes are judged",
  applied: "being proved",
};

function stepsLine(run: RunView, id: string): string {
  const cursor = ownValue(run.cursors, id);
  const steps = stepsOfPhase(run.drafted.flow, id).map((step, index) => {
    const outcome = ownValue(cursor?.last ?? {}, step.id)?.kind;
    const isCurrent = cursor !== undefined && index === cursor.at && cursor.result === null;
    const mark = outcome === undefined ? "·" : stepMarks[outcome];

    return `${isCurrent ? "▸" : mark} ${step.id}`;
  });
  const firstShown =
    steps.length <= stepsMax
      ? 0
      : Math.max(0, Math.min((cursor?.at ?? 0) - stepsBefore, steps.length - stepsMax));

  const shownSteps = [
    ...(firstShown > 0 ? ["…"] : []),
    ...steps.slice(firstShown, firstShown + stepsMax),
    ...(firstShown + stepsMax < steps.length ? ["…"] : []),
  ];

  return `  ${id.replace(/^(before|after)\./, "")}: ${shownSteps.join("  ")}`;
}

function tasksLine(run: RunView, id: string): readonly string[] {
  const open = Object.values(run.open).find(
    ({ cursor, stage }) => cursor === id && stage === "walking",
  );
  if (open === undefined) return [];
  const tasks = open.waves.flat();
  const shownTasks = tasks.slice(0, tasksMax).map((task) => {
    const cursor = ownValue(run.cursors, taskPath(open.attempt, task));
    return `${taskMark(cursor)} ${oneLine(task, taskCharsMax)}`;
  });

  const moreText =
    tasks.length > tasksMax ? `  and ${formatNumber(tasks.length - tasksMax)} more` : "";
  return [`     tasks  ${shownTasks.join("  ")}${moreText}`];
}

function taskMark(cursor: RunView["cursors"][string] | undefined): string {
  if (cursor?.result === "completed") return "✓";
  if (cursor?.result === "skipped") return "-";
  if (cursor?.result !== null) return "✗";

  return cursor.open === null ? "·" : "▸";
}

function waitingLines(run: RunView): readonly string[] {
  const verdicts = listOpenVerdicts(run).map(({ phase }) => phase);
  const others = Object.keys(run.blocks).length - verdicts.length;
  return [
    ...(verdicts.length === 0
      ? []
      : [
          `  ! waiting for your verdict: phase ${firstFew(verdicts, verdictsMax)} (autopilot inbox)`,
        ]),
    ...(others === 0 ? [] : [`  ! ${plural(others, "question")} for you (autopilot inbox)`]),
  ];
}
