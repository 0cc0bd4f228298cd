// staged-functions: the functions that the staged flows call by name, bound to one run.

import type { RunView, CursorView } from "../../../core/state.ts";
import type { Functions } from "../../../ports/functions.ts";
import type { StagedParts } from "./parts.ts";
import { commitWave } from "./commit-wave.ts";
import { dependencyTable } from "./dependency-table.ts";
import { researchDecided } from "./research-decided.ts";
import { resetFailedStep } from "./reset-failed-step.ts";
import { stateFile } from "./state-file.ts";
import { surveyProject } from "./survey-project.ts";
import { everyTaskNamed, everyTaskReported, openTask, taskFiles, taskPoints } from "./task-proofs.ts";
import { taskSummary } from "./task-summary.ts";
import { testsPass } from "./tests-pass.ts";

export function stagedFunctions(parts: StagedParts): Functions<RunView, CursorView> {
  const { workspace, verifier } = parts;
  return {
    run: {
      survey_project: surveyProject(parts),
      reset_failed_step: resetFailedStep(parts),
      state_file: stateFile(parts),
      task_summary: taskSummary(workspace),
      commit_wave: commitWave(workspace),
    },
    proof: {
      research_decided: researchDecided(workspace),
      task_points: taskPoints(workspace),
      task_files: taskFiles(workspace),
      every_task_reported: everyTaskReported(workspace),
      every_task_named: everyTaskNamed(workspace),
      open_task: openTask(workspace),
      tests_pass: testsPass(verifier, workspace),
    },
    phases: {},
    tasks: { dependency_table: dependencyTable(workspace) },
  };
}
