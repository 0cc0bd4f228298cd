// roadmap-execution-log: renders `.planning/phases/<id>/EXECUTION-LOG.md`: the commits, files and
// commands of each task of a phase.
//
// Invariants:
//   X1. It shows what the runner recorded. The only claim of an agent in it is its confidence.
//   X2. Nothing is taken out of it while a phase is run, and later rounds are below earlier ones.

import { listSome } from "../../../kit/list-some.ts";
import type { Entry, EventOf } from "../../../contracts/event.ts";
import type { CheckResult } from "../../../contracts/evidence.ts";
import {
  parseAttempt,
  isOutsideRoadmap,
  phaseOfEntry,
  taskOfCursor,
} from "../../../insight/attempt-path.ts";
import { parseIsoTime } from "../../../kit/iso-time.ts";
import {
  markdownCode,
  escapeMarkdown,
  markdownSection,
  markdownTable,
} from "../../../views/markdown.ts";
import { describeAttempt, formatDuration, plural } from "../../../views/wording.ts";

type Command = { readonly command: string; readonly result: string; readonly took: string };
type Attempt = {
  readonly attempt: string;
  readonly startedAt: string;
  endedAt: string | null;
  result: string;
  agent: string | null;
  confidence: number | null;
  commit: string | null;
  paths: readonly string[];
  commands: readonly Command[];
};
type Task = {
  readonly id: string;
  title: string;
  files: readonly string[];
  status: string;
  attempts: Attempt[];
};
type ExecutionRound = {
  readonly attempt: string;
  readonly waves: number;
  readonly tasks: Map<string, Task>;
  readonly personTasks: readonly string[];
};
type Phase = { readonly steps: Attempt[]; readonly rounds: ExecutionRound[] };

const pathsShownMax = 30;

/** Takes the entries of a journal in order; entries outside of the roadmap's phases are ignored. */
export class ExecutionLog {
  readonly #phases = new Map<string, Phase>();
  readonly #openAttempts = new Map<string, Attempt>();

  apply(entry: Entry): void {
    const id = phaseOfEntry(entry);
    if (id === null || isOutsideRoadmap(id)) return;
    switch (entry.event) {
      case "tasks_read":
        this.#phase(id).rounds.push(newRound(entry)); // X2
        return;
      case "step_started":
        return this.#startAttempt(this.#phase(id), entry);
      case "turn_ended":
        return this.#updateAttempt(entry.attempt, {
          agent: entry.agent,
          confidence: entry.confidence,
        });
      case "changes_applied":
        return this.#updateAttempt(entry.attempt, { commit: entry.commit, paths: entry.paths });
      case "step_interrupted":
        return this.#updateAttempt(entry.attempt, {
          endedAt: entry.ts,
          result: `interrupted by ${entry.by}`,
        });
      case "step_completed":
      case "step_failed":
        return this.#endAttempt(entry);
      case "task_completed":
      case "task_failed":
      case "task_skipped": {
        const task = findTask(this.#phase(id), entry.walk);
        const reason =
          entry.event !== "task_completed" && entry.because !== undefined
            ? `: ${entry.because}`
            : "";

        if (task !== undefined) task.status = `${taskLabels[entry.event]}${reason}`;
        return;
      }
      default:
        return;
    }
  }

  /** The page of a phase; null if none of its steps has started. */
  renderPage(id: string, name: string, run: string): string | null {
    const phase = this.#phases.get(id);
    if (phase === undefined || phase.steps.length === 0) return null;
    return [
      `# Execution log: phase ${escapeMarkdown(id)}, ${escapeMarkdown(name)}`,
      "",
      `Written by the runner from the journal of ${escapeMarkdown(run)}; agents do not write it.`,
      ...markdownSection(
        "Steps",
        markdownTable(
          ["Step", "Agent", "Began", "Took", "Commit", "Result"],
          phase.steps.map(stepRow),
        ),
      ),
      ...phase.rounds.flatMap((round, index) =>
        markdownSection(`Execution ${index + 1}`, roundLines(round)),
      ),
      ...phase.steps
        .filter(({ commands, commit }) => commands.length > 0 || commit !== null)
        .flatMap((step) =>
          markdownSection(escapeMarkdown(describeAttempt(step.attempt)), attemptLines(step)),
        ),
      "",
    ].join("\n");
  }

  #phase(id: string): Phase {
    const phase = this.#phases.get(id) ?? { steps: [], rounds: [] };
    this.#phases.set(id, phase);
    return phase;
  }

  #startAttempt(phase: Phase, entry: EventOf<"step_started"> & Entry): void {
    const attempt = newAttempt(entry);
    this.#openAttempts.set(entry.attempt, attempt);
    const task = findTask(phase, entry.walk);
    (task?.attempts ?? phase.steps).push(attempt);
    if (task !== undefined) task.status = "IN PROGRESS";
  }

  #updateAttempt(id: string, fields: Partial<Attempt>): void {
    const attempt = this.#openAttempts.get(id);
    if (attempt !== undefined) Object.assign(attempt, fields);
  }

  #endAttempt(entry: EventOf<"step_completed" | "step_failed"> & Entry): void {
    this.#updateAttempt(entry.attempt, {
      endedAt: entry.ts,
      result:
        entry.event === "step_completed"
          ? "passed"
          : `failed: ${entry.detail ?? entry.reason_code}`,
      commands: (entry.checks ?? []).map(toCommand),
    });

    this.#openAttempts.delete(entry.attempt);
  }
}

/** The task of a cursor such as `1@1/execute#1/task-1`, in the round of its attempt. */
function findTask(phase: Phase, cursorPath: string): Task | undefined {
  const taskId = taskOfCursor(cursorPath);
  const round = phase.rounds.findLast(({ attempt }) => cursorPath.startsWith(`${attempt}/`));
  return taskId === null ? undefined : round?.tasks.get(taskId);
}

const taskLabels = {
  task_completed: "COMPLETED",
  task_failed: "FAILED",
  task_skipped: "SKIPPED",
} as const;

const newAttempt = ({ attempt, ts }: EventOf<"step_started"> & Entry): Attempt => ({
  attempt,
  startedAt: ts,
  endedAt: null,
  result: "in progress",
  agent: null,
  confidence: null,
  commit: null,
  paths: [],
  commands: [],
});

function newRound({ attempt, waves, left: personTasks }: EventOf<"tasks_read">): ExecutionRound {
  const tasks = waves.flat().map(({ id, title = "", files }): Task => ({
    id,
    title,
    files,
    status: "PENDING",
    attempts: [],
  }));

  return {
    attempt,
    waves: waves.length,
    personTasks,
    tasks: new Map(tasks.map((task) => [task.id, task])),
  };
}

const toCommand = ({ check, status, exit_code, duration_ms, cached }: CheckResult): Command => ({
  command: check.command,
  result: `${status}${exit_code === null ? "" : `, exit ${exit_code}`}`,
  took: cached === true ? "known from before" : formatDuration(duration_ms),
});

const durationOf = ({ startedAt, endedAt }: Attempt): string =>
  endedAt === null
    ? "–"
    : formatDuration(Math.max(0, (parseIsoTime(endedAt) ?? 0) - (parseIsoTime(startedAt) ?? 0)));

function stepRow(step: Attempt): readonly string[] {
  const parts = parseAttempt(step.attempt);
  const ordinalText = parts === null || parts.ordinal === 1 ? "" : ` #${parts.ordinal}`;
  return [
    escapeMarkdown(`${parts?.step ?? step.attempt}${ordinalText}`),
    step.agent === null ? "–" : escapeMarkdown(step.agent),
    step.startedAt,
    durationOf(step),
    step.commit === null ? "–" : markdownCode(step.commit.slice(0, 12)),
    escapeMarkdown(step.result),
  ];
}

function roundLines({ waves, tasks, personTasks }: ExecutionRound): readonly string[] {
  const personText =
    personTasks.length === 0
      ? ""
      : ` Left for a person: ${personTasks.map((id) => escapeMarkdown(id)).join(", ")}.`;

  return [
    `${plural(tasks.size, "task")} in ${plural(waves, "wave")}.${personText}`,
    ...[...tasks.values()].flatMap(taskLines),
  ];
}

function taskLines({ id, title, files, status, attempts }: Task): readonly string[] {
  const name =
    title === "" ? escapeMarkdown(id) : `${escapeMarkdown(id)}: ${escapeMarkdown(title)}`;
  return [
    "",
    `### Task ${name} -- ${escapeMarkdown(status)}`,
    "",
    `- Files of the plan: ${files.length === 0 ? "none named" : listPaths(files)}`,
    `- Retries: ${Math.max(0, attempts.length - 1)}`,
    ...attempts.flatMap((attempt, index) => [
      "",
      `Try ${index + 1}: ${escapeMarkdown(attempt.result)}.`,
      "",
      ...attemptLines(attempt),
    ]),
  ];
}

function attemptLines({ commit, paths, commands, confidence }: Attempt): readonly string[] {
  const lines =
    commit === null
      ? ["- Commit: none"]
      : [`- Commit: ${markdownCode(commit)}`, `- Files changed: ${listPaths(paths)}`];
  if (confidence !== null) lines.push(`- Confidence: ${confidence}, by the agent's own word`); // X1
  if (commands.length === 0) return [...lines, "- Commands run by the runner: none"];

  const rows = commands.map(({ command, result, took }) => [
    markdownCode(command),
    escapeMarkdown(result),
    took,
  ]);
  return [
    ...lines,
    "- Commands run by the runner:",
    "",
    ...markdownTable(["Command", "Result", "Took"], rows),
  ];
}

const listPaths = (paths: readonly string[]): string =>
  listSome(
    paths.map((path) => markdownCode(path)),
    pathsShownMax,
  );
