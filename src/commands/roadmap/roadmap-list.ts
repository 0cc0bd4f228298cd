// roadmap-list: shows a roadmap in the order in which it would be run, and everything that is wrong
// with it. Nothing runs.

import { join } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import type { RoadmapPhase } from "../../contracts/roadmap.ts";
import { alignColumns } from "../../views/align-columns.ts";
import { findingText, type Finding } from "../../kit/finding.ts";
import { describeUnreadableState } from "../../playbooks/roadmap/files/roadmap-prepare.ts";
import { findProject } from "../../project/runs/project-paths.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, Refusal, respond } from "../../project/respond.ts";
import { choosePhases, judgeSelection } from "../../playbooks/roadmap/files/choose-phases.ts";
import { type LoadedRoadmap, loadRoadmap } from "../../playbooks/roadmap/files/load-roadmap.ts";

/**
 * Shows the phases even if they could not be run; then it says why `roadmap all` would be refused.
 */
export function roadmapList(context: CommandContext): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = findProject(context.cwd) ?? {
      root: context.cwd,
      folder: join(context.cwd, ".autopilot"),
    };
    const roadmap = loadRoadmap(paths);
    const { findings } = judgeSelection(roadmap, "all");

    const refusal = await findRefusal(() => choosePhases(paths.root, roadmap, "all"));
    const response = buildResponse(roadmap, findings, refusal);
    const stateWarnings = await describeUnreadableState(paths.root);
    return { ...response, warnings: [...response.warnings, ...stateWarnings] };
  });
}

/** Why `roadmap all` would be refused; null if it would begin, or nothing is left to do. */
async function findRefusal(choose: () => Promise<unknown>): Promise<CommandResponse | null> {
  try {
    await choose();
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.response.result === "FAIL" ? error.response : null;
  }
}

function buildResponse(
  { documents, completed }: LoadedRoadmap,
  problems: readonly Finding[],
  refusal: CommandResponse | null,
): CommandResponse {
  const { path, phases, specPath } = documents;
  const errorCount = problems.filter(({ severity }) => severity === "error").length;
  const problemsText = describeProblemCounts(errorCount, problems.length - errorCount);
  const summary = `${countNoun(phases.length, "phase")} in ${path}${problemsText}.`;

  const page = [...renderPhases(documents, completed), ...renderProblems(problems)];
  const data = {
    roadmap: path,
    spec: specPath,
    phases,
    completed: phases.map(({ id }) => id).filter((id) => completed.has(id)),
    problems,
  };

  if (refusal === null) return respond("ok", { message: summary, page, data });

  const refusalText =
    errorCount > 0
      ? "autopilot roadmap all is refused until the errors are fixed."
      : refusal.message;
  return {
    ...refusal,
    message: `${summary} ${refusalText}`,
    page,
    data: { ...refusal.data, ...data },
  };
}

/** Such as `; 2 errors and 1 warning`; empty if nothing is wrong. */
function describeProblemCounts(errorCount: number, warningCount: number): string {
  const counts: string[] = [];
  if (errorCount > 0) counts.push(countNoun(errorCount, "error"));
  if (warningCount > 0) counts.push(countNoun(warningCount, "warning"));
  return counts.length === 0 ? "" : `; ${counts.join(" and ")}`;
}

function renderPhases(
  { path, phases }: LoadedRoadmap["documents"],
  completed: ReadonlySet<string>,
): readonly string[] {
  if (phases.length === 0) return [];
  const head = `${countNoun(phases.length, "phase")} in ${path}, in execution order`;
  return [head, ...phaseTable(phases, completed)];
}

function renderProblems(problems: readonly Finding[]): readonly string[] {
  if (problems.length === 0) return [];
  const rows = problems.map((problem) => {
    const mark = problem.severity === "error" ? "✗" : "!";
    return `  ${mark} ${findingText(problem)}`;
  });

  return ["Problems", ...rows];
}

const countNoun = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;

const nameCharsMax = 60;

function phaseTable(
  phases: readonly RoadmapPhase[],
  completed: ReadonlySet<string>,
): readonly string[] {
  const head = ["", "phase", "name", "after", "criteria with a command"];
  const rows = phases.map((phase) => phaseRow(phase, completed.has(phase.id)));
  return alignColumns([head, ...rows]).map((line) => `  ${line}`);
}

/** A phase that a run completed is ticked here, even if it isn't in the document. */
function phaseRow(phase: RoadmapPhase, isCompleted: boolean): readonly string[] {
  const { id, name, depends_on, success_criteria, checked } = phase;
  const provableCount = success_criteria.filter(({ command }) => command !== null).length;
  const shortName = name.length > nameCharsMax ? `${name.slice(0, nameCharsMax - 1)}…` : name;
  const marks = listMarks(phase, isCompleted).join(", ");

  return [
    checked || isCompleted ? "[x]" : "[ ]",
    id,
    marks === "" ? shortName : `${shortName} (${marks})`,
    depends_on.length === 0 ? "-" : depends_on.join(", "),
    success_criteria.length === 0 ? "-" : `${provableCount} of ${success_criteria.length}`,
  ];
}

function listMarks(
  { inserted, stub, checked }: RoadmapPhase,
  isCompleted: boolean,
): readonly string[] {
  const marks: string[] = [];
  if (inserted) marks.push("inserted");
  if (stub) marks.push("stub");
  if (checked && !isCompleted) marks.push("not completed");
  if (isCompleted && !checked) marks.push("completed, not ticked in the file");
  return marks;
}
