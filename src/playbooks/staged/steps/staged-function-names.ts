// staged-function-names: the names and effects of the staged playbook's functions, without loading
// their code.

import type { FunctionNames } from "../../contract/lazy-functions.ts";

export const stagedFunctionNames = {
  run: {
    survey_project: "none",
    reset_failed_step: "none",
    state_file: "idempotent",
    task_summary: "none",
    commit_wave: "idempotent",
  },
  proof: [
    "research_decided",
    "task_points",
    "task_files",
    "every_task_reported",
    "every_task_named",
    "open_task",
    "tests_pass",
  ],
  phases: [],
  tasks: ["dependency_table"],
  version: 1,
} as const satisfies FunctionNames;
