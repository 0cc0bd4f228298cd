// staged-functions: the functions that the staged flows call by name (staged-function-names.ts),
// bound to one run.

import type { RunView, CursorView } from "../../../core/state.ts";
import type { Functions } from "../../../ports/functions.ts";
import type { StagedParts } from "./staged-parts.ts";
import { createCommitWaveStep } from "./commit-wave.ts";
import { createDependencyTableReader } from "./dependency-table.ts";
import { createResearchDecidedProof } from "./research-decided.ts";
import { createResetFailedStep } from "./reset-failed-step.ts";
import { createStateFileStep } from "./state-file.ts";
import { createSurveyProjectStep } from "./survey-project.ts";
import {
  createEveryTaskNamedProof,
  createEveryTaskReportedProof,
  createOpenTaskProof,
  createTaskFilesProof,
  createTaskPointsProof,
} from "./task-proofs.ts";
import { createTaskSummaryStep } from "./task-summary.ts";
import { createTestsPassProof } from "./tests-pass.ts";

export function createStagedFunctions(parts: StagedParts): Functions<RunView, CursorView> {
  const { workspace, verifier } = parts;
  return {
    run: {
      survey_project: createSurveyProjectStep(parts),
      reset_failed_step: createResetFailedStep(parts),
      state_file: createStateFileStep(parts),
      task_summary: createTaskSummaryStep(workspace),
      commit_wave: createCommitWaveStep(workspace),
    },
    proof: {
      research_decided: createResearchDecidedProof(workspace),
      task_points: createTaskPointsProof(workspace),
      task_files: createTaskFilesProof(workspace),
      every_task_reported: createEveryTaskReportedProof(workspace),
      every_task_named: createEveryTaskNamedProof(workspace),
      open_task: createOpenTaskProof(workspace),
      tests_pass: createTestsPassProof(verifier, workspace),
    },
    phases: {},
    tasks: { dependency_table: createDependencyTableReader(workspace) },
  };
}
