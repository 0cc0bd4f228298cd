// roadmap-functions: the functions that the roadmap flow calls by name (roadmap-function-names.ts),
// bound to one run.

import type { RunView, CursorView } from "../../../core/state.ts";
import type { Functions } from "../../../ports/functions.ts";
import {
  createAuditEvidenceProof,
  createAuditScopeStep,
  createAuditGapsReader,
} from "./self-audit-steps.ts";
import { createCommandsReproducedProof } from "./commands-reproduced.ts";
import { createDocumentsKeptProof } from "./documents-kept.ts";
import { createJudgeIndependentProof, createJudgeReportKeptProof } from "./judge-proofs.ts";
import type { RoadmapParts } from "./roadmap-parts.ts";
import { createPhasesHoldProof } from "./phases-hold.ts";
import { createPlanAgreedProof } from "./plan-agreed.ts";
import { createPlanLintProof } from "./plan-proof.ts";
import { createPreflightStep } from "./preflight.ts";
import { createRoadmapReader } from "./read-phases.ts";
import { createPlanReader } from "./read-plan-tasks.ts";
import { createRollbackStep } from "./rollback.ts";
import { createTaskCommandsProof } from "./task-commands.ts";
import { createTriageStep } from "./triage.ts";
import { createWiringProof } from "./wiring.ts";
import { createWithdrawStep } from "./withdraw.ts";
import { createWrittenProof } from "./written-document.ts";

export function createRoadmapFunctions(parts: RoadmapParts): Functions<RunView, CursorView> {
  return {
    run: {
      preflight: createPreflightStep(parts),
      triage: createTriageStep(parts),
      rollback: createRollbackStep(parts),
      withdraw: createWithdrawStep(parts),
      audit_scope: createAuditScopeStep(parts),
    },
    proof: {
      written: createWrittenProof(parts),
      plan_lint: createPlanLintProof(parts),
      plan_agreed: createPlanAgreedProof(parts),
      task_commands: createTaskCommandsProof(parts),
      wiring: createWiringProof(parts),
      documents_kept: createDocumentsKeptProof(parts),
      commands_reproduced: createCommandsReproducedProof(parts),
      judge_report_kept: createJudgeReportKeptProof(parts),
      judge_independent: createJudgeIndependentProof(parts),
      audit_evidence: createAuditEvidenceProof(parts),
      phases_hold: createPhasesHoldProof(parts),
    },
    phases: { roadmap: createRoadmapReader(parts) },
    tasks: { plan: createPlanReader(parts), audit_gaps: createAuditGapsReader(parts) },
  };
}
