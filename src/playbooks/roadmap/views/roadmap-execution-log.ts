// roadmap-execution-log: `.planning/phases/<id>/EXECUTION-LOG.md`: what was done in a phase, task by task: commits, files, commands.
//
// Invariants:
//   X1. It reports what the runner recorded. Of an agent's claims only its confidence is in it.
//   X2. It only grows while a phase is run: later rounds are below earlier ones.

import type { Entry, EventOf } from "../../../contracts/event.ts";
import type { CheckResult } from "../../../contracts/evidence.ts";
import { attemptParts, isAround, phaseOfEntry, taskOfCursor } from "../../../insight/places.ts";
import { parseIsoTime } from "../../../kit/iso-time.ts";
import { inCode, inText, section, table } from "../../../views/markdown.ts";
import { describeAttempt, duration, plural } from "../../../views/wording.ts";

export type ExecutionLog = {
  apply(entry: Entry): void;
  /** The page of a phase; null if nothing was begun in it. */
  pageOf(phase: string, name: string, run: string): string | null;
};

type Command = { readonly command: string; readonly result: string; readonly took: string };
type Try = {
  readonly attempt: string;
  readonly beganAt: string;
  endedAt: string | null;
  result: string;
  agent: string | null;
  confidence: number | null;
  commit: string | null;
  paths: readonly string[];
  commands: readonly Command[];
};
type Task = { readonly id: string; title: string; files: readonly string[]; status: string; tries: Try[] };
type Round = { readonly attempt: string; readonly waves: number; readonly tasks: Map<string, Task>; readonly left: readonly string[] };
type Phase = { readonly steps: Try[]; readonly rounds: Round[] };

const pathsShownMax = 30;

export function openExecutionLog(): ExecutionLog {
  const phases = new Map<string, Phase>();
  const open = new Map<string, Try>();

  const phaseOf = (id: string): Phase => {
    const knownPhase = phases.get(id) ?? { steps: [], rounds: [] };
    phases.set(id, knownPhase);
    return knownPhase;
  };
  const phaseTask = (phase: Phase, cursorPath: string): Task | undefined => {
    const task = taskOfCursor(cursorPath);
    return task === null ? undefined : phase.rounds.findLast(({ attempt }) => cursorPath.startsWith(`${attempt}/`))?.tasks.get(task);
  };

  return {
    apply(entry) {
      const id = phaseOfEntry(entry);
      if (id === null || isAround(id)) return;
      switch (entry.event) {
        case "tasks_read":
          phaseOf(id).rounds.push(eventRound(entry));
          return;
        case "step_started": {
          const begun = tryOf(entry);
          open.set(entry.attempt, begun);
          const task = phaseTask(phaseOf(id), entry.walk);
          (task?.tries ?? phaseOf(id).steps).push(begun);
          if (task !== undefined) task.status = "IN PROGRESS";
          return;
        }
        case "turn_ended":
          return change(open.get(entry.attempt), { agent: entry.agent, confidence: entry.confidence });
        case "changes_applied":
          return change(open.get(entry.attempt), { commit: entry.commit, paths: entry.paths });
        case "step_interrupted":
          return change(open.get(entry.attempt), { endedAt: entry.ts, result: `interrupted by ${entry.by}` });
        case "step_completed":
        case "step_failed": {
          const isPassed = entry.event === "step_completed";
          change(open.get(entry.attempt), {
            endedAt: entry.ts,
            result: isPassed ? "passed" : `failed: ${entry.detail ?? entry.reason_code}`,
            commands: (entry.checks ?? []).map(checkCommand),
          });
          open.delete(entry.attempt);
          return;
        }
        case "task_completed":
        case "task_failed":
        case "task_skipped": {
          const task = phaseTask(phaseOf(id), entry.walk);
          const because = "because" in entry && entry.because !== undefined ? `: ${entry.because}` : "";
          if (task !== undefined) task.status = `${taskLabels[entry.event]}${entry.event === "task_completed" ? "" : because}`;
          return;
        }
        default:
          return;
      }
    },
    pageOf(id, name, run) {
      const phase = phases.get(id);
      if (phase === undefined || phase.steps.length === 0) return null;
      return [
        `# Execution log: phase ${inText(id)}, ${inText(name)}`,
        "",
        `Written by the runner from the journal of ${inText(run)}; agents do not write it.`,
        ...section("Steps", table(["Step", "Agent", "Began", "Took", "Commit", "Result"], phase.steps.map(stepRow))),
        ...phase.rounds.flatMap((round, index) => section(`Execution ${index + 1}`, roundLines(round))),
        ...phase.steps
          .filter(({ commands, commit }) => commands.length > 0 || commit !== null)
          .flatMap((step) => section(inText(describeAttempt(step.attempt)), tryLines(step))),
        "",
      ].join("\n");
    },
  };
}

const taskLabels = { task_completed: "COMPLETED", task_failed: "FAILED", task_skipped: "SKIPPED" } as const;

const tryOf = ({ attempt, ts }: EventOf<"step_started"> & Entry): Try => ({
  attempt,
  beganAt: ts,
  endedAt: null,
  result: "in progress",
  agent: null,
  confidence: null,
  commit: null,
  paths: [],
  commands: [],
});

function change(reported: Try | undefined, fields: Partial<Try>): void {
  if (reported !== undefined) Object.assign(reported, fields);
}

const eventRound = ({ attempt, waves, left }: EventOf<"tasks_read">): Round => ({
  attempt,
  waves: waves.length,
  left,
  tasks: new Map(
    waves.flat().map((task) => [task.id, { id: task.id, title: task.title ?? "", files: task.files, status: "PENDING", tries: [] }]),
  ),
});

const checkCommand = ({ check, status, exit_code, duration_ms, cached }: CheckResult): Command => ({
  command: check.command,
  result: `${status}${exit_code === null ? "" : `, exit ${exit_code}`}`,
  took: cached === true ? "known from before" : duration(duration_ms),
});

const tookOf = ({ beganAt, endedAt }: Try): string =>
  endedAt === null ? "–" : duration(Math.max(0, (parseIsoTime(endedAt) ?? 0) - (parseIsoTime(beganAt) ?? 0)));

function stepRow(step: Try): readonly string[] {
  const parts = attemptParts(step.attempt);
  const again = parts === null || parts.ordinal === 1 ? "" : ` #${parts.ordinal}`;
  return [
    inText(`${parts?.step ?? step.attempt}${again}`),
    step.agent === null ? "–" : inText(step.agent),
    step.beganAt,
    tookOf(step),
    step.commit === null ? "–" : inCode(step.commit.slice(0, 12)),
    inText(step.result),
  ];
}

function roundLines({ waves, tasks, left }: Round): readonly string[] {
  const people = left.length === 0 ? "" : ` Left for a person: ${left.map((id) => inText(id)).join(", ")}.`;
  return [`${plural(tasks.size, "task")} in ${plural(waves, "wave")}.${people}`, ...[...tasks.values()].flatMap(taskLines)];
}

function taskLines({ id, title, files, status, tries }: Task): readonly string[] {
  return [
    "",
    `### Task ${inText(id)}${title === "" ? "" : `: ${inText(title)}`} -- ${inText(status)}`,
    "",
    `- Files of the plan: ${files.length === 0 ? "none named" : firstPaths(files)}`,
    `- Retries: ${Math.max(0, tries.length - 1)}`,
    ...tries.flatMap((reported, index) => ["", `Try ${index + 1}: ${inText(reported.result)}.`, "", ...tryLines(reported)]),
  ];
}

function tryLines({ commit, paths, commands, confidence }: Try): readonly string[] {
  return [
    ...(commit === null ? ["- Commit: none"] : [`- Commit: ${inCode(commit)}`, `- Files changed: ${firstPaths(paths)}`]),
    ...(confidence === null ? [] : [`- Confidence: ${confidence}, by the agent's own word`]), // X1
    ...(commands.length === 0
      ? ["- Commands run by the runner: none"]
      : [
          "- Commands run by the runner:",
          "",
          ...table(
            ["Command", "Result", "Took"],
            commands.map(({ command, result, took }) => [inCode(command), inText(result), took]),
          ),
        ]),
  ];
}

function firstPaths(paths: readonly string[]): string {
  const shown = paths
    .slice(0, pathsShownMax)
    .map((path) => inCode(path))
    .join(", ");
  return paths.length > pathsShownMax ? `${shown} and ${paths.length - pathsShownMax} more` : shown;
}
