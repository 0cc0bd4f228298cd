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

    const response = buildResponse(
      roadmap,
      findings,
      await findRefusal(() => choosePhases(paths.root, roadmap, "all")),
    );

    return {
      ...response,
      warnings: [...response.warnings, ...(await describeUnreadableState(paths.root))],
    };
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
  { documents: { path, phases, specPath }, completed }: LoadedRoadmap,
  problems: readonly Finding[],
  refusal: CommandResponse | null,
): CommandResponse {
  const errors = problems.filter(({ severity }) => severity === "error").length;
  const warnings = problems.length - errors;

  const problemsText = [
    errors === 0 ? "" : countNoun(errors, "error"),
    warnings === 0 ? "" : countNoun(warnings, "warning"),
  ]
    .filter(Boolean)
    .join(" and ");

  const summary = `${countNoun(phases.length, "phase")} in ${path}${problemsText === "" ? "" : `; ${problemsText}`}.`;
  const page = [
    ...(phases.length === 0
      ? []
      : [
          `${countNoun(phases.length, "phase")} in ${path}, in execution order`,
          ...phaseTable(phases, completed),
        ]),
    ...(problems.length === 0
      ? []
      : [
          "Problems",
          ...problems.map(
            (problem) => `  ${problem.severity === "error" ? "✗" : "!"} ${findingText(problem)}`,
          ),
        ]),
  ];

  const data = {
    roadmap: path,
    spec: specPath,
    phases,
    completed: phases.map(({ id }) => id).filter((id) => completed.has(id)),
    problems,
  };

  if (refusal === null) return respond("ok", { message: summary, page, data });
  const refusalText =
    errors > 0 ? "autopilot roadmap all is refused until the errors are fixed." : refusal.message;
  return {
    ...refusal,
    message: `${summary} ${refusalText}`,
    page,
    data: { ...refusal.data, ...data },
  };
}

const countNoun = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;

const nameCharsMax = 60;

function phaseTable(
  phases: readonly RoadmapPhase[],
  completed: ReadonlySet<string>,
): readonly string[] {
  const rows = phases.map(({ id, name, depends_on, success_criteria, checked, inserted, stub }) => {
    const provableCount = success_criteria.filter(({ command }) => command !== null).length;
    // A phase that a run completed is ticked here, even if it isn't in the document; a difference
    // is shown beside its name.
    const difference = checked ? "not completed" : "completed, not ticked in the file";
    const mismatch = completed.has(id) === checked ? "" : difference;
    const marks = [inserted ? "inserted" : "", stub ? "stub" : "", mismatch]
      .filter(Boolean)
      .join(", ");

    const shortName = name.length > nameCharsMax ? `${name.slice(0, nameCharsMax - 1)}…` : name;
    return [
      checked || completed.has(id) ? "[x]" : "[ ]",
      id,
      `${shortName}${marks === "" ? "" : ` (${marks})`}`,
      depends_on.length === 0 ? "-" : depends_on.join(", "),
      success_criteria.length === 0 ? "-" : `${provableCount} of ${success_criteria.length}`,
    ];
  });
  return alignColumns([["", "phase", "name", "after", "criteria with a command"], ...rows]).map(
    (line) => `  ${line}`,
  );
}
