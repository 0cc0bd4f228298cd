// roadmap-functions: the functions that the roadmap flow calls by name (names.ts), bound to one run.

import type { RunView, CursorView } from "../../../core/state.ts";
import type { Functions } from "../../../ports/functions.ts";
import { auditEvidence, auditScope, readAuditGaps } from "./audit.ts";
import { commandsReproduced } from "./commands-reproduced.ts";
import { documentsKept } from "./documents-kept.ts";
import { judgeIndependent, judgeReportKept } from "./judge-proofs.ts";
import type { RoadmapParts } from "./parts.ts";
import { phasesHold } from "./phases-hold.ts";
import { planAgreed } from "./plan-agreed.ts";
import { planProof } from "./plan-proof.ts";
import { preflight } from "./preflight.ts";
import { readPhases } from "./read-phases.ts";
import { readPlanTasks } from "./read-plan.ts";
import { rollback } from "./rollback.ts";
import { taskCommands } from "./task-commands.ts";
import { triage } from "./triage.ts";
import { wiring } from "./wiring.ts";
import { withdraw } from "./withdraw.ts";
import { written } from "./written.ts";

export function roadmapFunctions(parts: RoadmapParts): Functions<RunView, CursorView> {
  return {
    run: {
      preflight: preflight(parts),
      triage: triage(parts),
      rollback: rollback(parts),
      withdraw: withdraw(parts),
      audit_scope: auditScope(parts),
    },
    proof: {
      written: written(parts),
      plan_lint: planProof(parts),
      plan_agreed: planAgreed(parts),
      task_commands: taskCommands(parts),
      wiring: wiring(parts),
      documents_kept: documentsKept(parts),
      commands_reproduced: commandsReproduced(parts),
      judge_report_kept: judgeReportKept(parts),
      judge_independent: judgeIndependent(parts),
      audit_evidence: auditEvidence(parts),
      phases_hold: phasesHold(parts),
    },
    phases: { roadmap: readPhases(parts) },
    tasks: { plan: readPlanTasks(parts), audit_gaps: readAuditGaps(parts) },
  };
}
