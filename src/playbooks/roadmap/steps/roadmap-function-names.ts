// roadmap-function-names: the names and effects of the roadmap playbook's functions, without
// loading their code.

import type { FunctionNames } from "../../contract/lazy-functions.ts";

export const roadmapFunctionNames = {
  run: {
    preflight: "none",
    triage: "none",
    rollback: "keyed",
    withdraw: "idempotent",
    audit_scope: "none",
  },
  proof: [
    "written",
    "plan_lint",
    "plan_agreed",
    "task_commands",
    "wiring",
    "documents_kept",
    "commands_reproduced",
    "judge_report_kept",
    "judge_independent",
    "audit_evidence",
    "phases_hold",
  ],
  phases: ["roadmap"],
  tasks: ["plan", "audit_gaps"],
  version: 1,
} as const satisfies FunctionNames;
