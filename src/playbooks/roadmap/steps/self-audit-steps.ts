// self-audit-steps: the steps of the self-audit: its scope, the proof that it is complete, and the
// tasks for the gaps it found.

import * as v from "valibot";
import { SelfAuditReturn } from "../../../contracts/agent-returns.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import { type Gap, scoreAudit, toTaskId } from "../insight/self-audit.ts";
import type { TaskFound } from "../../../ports/functions.ts";
import { findPositions, findMissingReason } from "./source-positions.ts";
import type { StepResult, StepInput, RoadmapParts } from "./roadmap-parts.ts";
import { readReturn } from "../../contract/agent-return.ts";
import { findPhase } from "./recorded-documents.ts";

const titleCharsMax = 300;
/** The step whose agent returns the audit. */
const auditStep = "audit";
const faultsShownMax = 50;

/** Requirements of the phases that this run completed, with their phases. */
export function listRequirements(
  parts: RoadmapParts,
  state: RunView,
): readonly { readonly id: string; readonly phase: string }[] {
  return state.phases
    .filter(({ group, status }) => group === "phases" && status === "completed")
    .flatMap(({ id: phase }) =>
      (findPhase(parts, state, phase)?.requirements ?? []).map((id) => ({ id, phase })),
    );
}

/**
 * The step `audit_scope`: counts what there is to audit, and records the commit from which fixes
 * are counted.
 */
export function createAuditScopeStep(parts: RoadmapParts) {
  return {
    version: 1,
    effect: "none" as const,
    perform({ state }: StepInput): StepResult {
      const requirements = listRequirements(parts, state);
      const idsByPhase = new Map<string, string[]>();

      for (const { id, phase } of requirements) {
        idsByPhase.set(phase, [...(idsByPhase.get(phase) ?? []), id]);
      }

      const phaseLines = [...idsByPhase].map(([phase, ids]) => `${phase}: ${ids.join(", ")}`);
      return Promise.resolve({
        ok: true,
        facts: {
          requirements: requirements.length,
          phases: idsByPhase.size,
          checkpoint: state.tip.commit,
        },
        detail: phaseLines.join("; "),
      });
    },
  };
}

/** The audit that the agent of this phase returned; null if there is none with its schema. */
function readAudit(
  parts: Pick<RoadmapParts, "readBlob">,
  cursor: CursorView,
): SelfAuditReturn | null {
  const parsed = v.safeParse(SelfAuditReturn, readReturn(parts, cursor, auditStep));
  return parsed.success ? parsed.output : null;
}

/**
 * The proof `audit_evidence`: every requirement of a completed phase was checked, and the evidence
 * for each pass exists.
 */
export function createAuditEvidenceProof(parts: RoadmapParts) {
  return {
    version: 1,
    async prove({ state, cursor, commit }: StepInput): StepResult {
      const audit = readAudit(parts, cursor);
      if (audit === null) {
        return {
          ok: false,
          facts: {},
          detail: "no audit was handed back",
          reason: "return_invalid",
        };
      }

      const checks = audit.audit_results.flatMap(
        ({ requirements_checked }) => requirements_checked,
      );
      const checkedIds = new Set(checks.map(({ requirement_id }) => requirement_id));
      const faults = listRequirements(parts, state)
        .filter(({ id }) => !checkedIds.has(id))
        .map(({ id, phase }) => `${id} of phase ${phase} was not looked at`);

      for (const { requirement_id, status, file_line_evidence: evidence } of checks) {
        if (status !== "pass" || evidence.trim() === "") continue; // a pass without evidence is counted as a gap
        const missingReason = await findMissingReason(parts.workspace, commit, evidence);
        if (missingReason !== null) {
          faults.push(`${requirement_id} is said to be met, and ${missingReason}`);
        }
      }

      const { gaps, checked } = scoreAudit(audit);
      const facts = { gaps: gaps.length, checked };
      if (faults.length === 0) return { ok: true, facts };

      return {
        ok: false,
        facts,
        reason: "return_invalid",
        detail: faults.slice(0, faultsShownMax).join("; "),
      };
    },
  };
}

/** The reader `audit_gaps`: one task per gap, under the id of its requirement. */
export function createAuditGapsReader(
  parts: RoadmapParts,
): (
  state: RunView,
  cursor: CursorView,
) => Promise<{ readonly tasks: readonly TaskFound[] } | { readonly problem: string }> {
  return (_state, cursor) => {
    const audit = readAudit(parts, cursor);
    if (audit === null) {
      return Promise.resolve({ problem: "No audit was handed back that could be read." });
    }

    return Promise.resolve({ tasks: buildGapTasks(scoreAudit(audit).gaps) });
  };
}

/**
 * Two gaps of one requirement become one task: the first of them. A requirement whose id has no
 * letter or digit gets none.
 */
export function buildGapTasks(gaps: readonly Gap[]): readonly TaskFound[] {
  const tasks = new Map<string, TaskFound>();
  for (const gap of gaps) {
    const id = toTaskId(gap.requirement_id);
    if (id === "" || tasks.has(id)) continue;
    const files = findPositions(gap.suggested_fix).map(({ path }) => path);
    tasks.set(id, {
      id,
      files,
      after: [],
      title: gap.description.slice(0, titleCharsMax),
      about: describeGap(gap),
    });
  }

  return [...tasks.values()];
}

const describeGap = ({
  requirement_id,
  phase_id,
  description,
  suggested_fix,
  fix_complexity,
}: Gap): string =>
  [
    `Requirement ${requirement_id} of phase ${phase_id} is not met: ${description}`,
    ...(suggested_fix === "" ? [] : [`Suggested: ${suggested_fix}`]),
    `Expected to be ${fix_complexity === "small" ? "small: one file, a few lines" : "larger than one file"}.`,
  ].join("\n");
