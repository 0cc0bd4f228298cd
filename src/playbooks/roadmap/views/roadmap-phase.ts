// roadmap-phase: builds the record of one phase in state.json: steps, tasks, scores, usage and a
// person's verdict.

import type { PhaseRecord, PhaseStatus, StepRecords } from "../../../contracts/roadmap-state.ts";
import {
  alignmentMin,
  phaseTypes,
  type PhaseType,
  recommendations,
} from "../../../contracts/roadmap-values.ts";
import { ownValue } from "../../../core/own-values.ts";
import type { RunView } from "../../../core/state.ts";
import { computeCheckFlags } from "../../../insight/check-kind.ts";
import { estimateTokens } from "../../../insight/roadmap-cost-formula.ts";
import { readField } from "../../contract/agent-return.ts";
import { choosePhaseType } from "../../../insight/phase-type.ts";
import { type ReadClaim, listOrEmpty } from "./roadmap-audit.ts";
import { type PhaseSummary, roadmapSteps, type StepSummary } from "./phase-history.ts";

type PhaseView = RunView["phases"][number];

/** `summary` is missing if the journal has no entry of the phase yet. */
export function buildPhaseRecord(
  run: RunView,
  phase: PhaseView,
  summary: PhaseSummary | undefined,
  readClaim: ReadClaim,
): PhaseRecord {
  const tasks =
    summary === undefined || summary.tasks.size === 0 ? null : [...summary.tasks.values()];
  const phaseType = findPhaseType(phase, summary);
  const tokenEstimate = findFact(summary, "estimated_tokens");

  return {
    phase_type: phaseType,
    status: phaseStatus(run, phase),
    started_at: summary?.startedAt ?? null,
    completed_at: summary?.endedAt ?? null,
    steps: summary === undefined ? {} : buildSteps(summary, readClaim),
    debug_attempts: summary?.debugs ?? 0,
    replan_attempts: summary?.replans ?? 0,
    tokens_used: ownValue(run.ledger.phase, phase.id)?.tokens ?? 0,
    estimated_tokens: isCount(tokenEstimate) ? tokenEstimate : estimateTokens({ phaseType, tasks }),
    human_verify_justification: summary?.justification ?? null,
    human_verdict: summary?.verdict ?? null,
  };
}

const isCount = (value: unknown): value is number => typeof value === "number" && value >= 0;

/**
 * A phase that was skipped because it was done before counts as completed; any other skipped one as
 * not started.
 */
function phaseStatus(run: RunView, phase: PhaseView): PhaseStatus {
  if (phase.status === "completed" || phase.status === "failed") return phase.status;
  if (phase.status === "skipped") {
    return phase.because?.startsWith("already_") === true ? "completed" : "not_started";
  }

  if (phase.status !== "open") return "not_started";
  const block = ownValue(run.cursors, phase.id)?.block ?? null;
  const question = block === null ? undefined : ownValue(run.blocks, block);

  return question?.step === roadmapSteps.human && !question.house
    ? "needs_human_verification"
    : "in_progress";
}

/** A fact of triage or preflight. */
function findFact(
  summary: PhaseSummary | undefined,
  name: string,
): string | number | boolean | undefined {
  const facts = ["triage", "preflight"].map((step) =>
    ownValue(summary?.steps.get(step)?.facts ?? {}, name),
  );
  return facts.find((value) => value !== undefined);
}

/** The type that triage found; if that was mixed or unknown, the type by the files of the plan. */
function findPhaseType({ name, about }: PhaseView, summary: PhaseSummary | undefined): PhaseType {
  const fact = findFact(summary, "phase_type");
  const knownType = phaseTypes.find((type) => type === fact);
  if (knownType !== undefined && knownType !== "mixed") return knownType;
  const files = [...(summary?.tasks.values() ?? [])].flatMap((task) => task.files);

  return choosePhaseType({ files, statedText: about ?? name });
}

/** The records of the steps that have started, in the order of the pipeline. */
function buildSteps(summary: PhaseSummary, readClaim: ReadClaim): StepRecords {
  const { steps } = summary;
  const records: StepRecords = {};
  const preflight = steps.get("preflight");
  if (preflight !== undefined) {
    records.preflight = { status: gateStatus[preflight.status], timestamp: preflight.at };
  }

  const research = steps.get("research");
  if (research !== undefined) records.research = buildOutput(summary, research, "RESEARCH.md");
  const plan = steps.get("plan");
  if (plan !== undefined) {
    records.plan = {
      ...buildOutput(summary, plan, "PLAN.md"),
      validation_rounds: summary.planChecks,
    };
  }

  const planCheck = steps.get(roadmapSteps.planCheck);
  if (planCheck !== undefined) {
    records.plan_check = {
      status: planStatus(planCheck),
      confidence: scoreOrNull(planCheck, "confidence"),
    };
  }

  const execute = steps.get("execute");
  if (execute !== undefined) {
    records.execute = { status: executeStatus(summary, execute), tasks: buildTasks(summary) };
  }

  const verify = buildVerify(summary, readClaim);
  if (verify !== undefined) records.verify = verify;
  const judge = steps.get("judge");
  if (judge !== undefined && judge.status !== "in_progress") {
    records.judge = {
      alignment: scoreOrNull(judge, "alignment_score"),
      recommendation: findRecommendation(judge),
    };
  }

  return records;
}

const gateStatus = {
  in_progress: "in_progress",
  passed: "pass",
  failed: "fail",
  skipped: "skipped",
} as const;
const workStatus = {
  in_progress: "in_progress",
  passed: "completed",
  failed: "failed",
  skipped: "skipped",
} as const;

/** A skipped step has no output, except that an existing plan is one. */
function buildOutput(
  summary: PhaseSummary,
  step: StepSummary,
  file: "RESEARCH.md" | "PLAN.md",
): NonNullable<StepRecords["research"]> {
  const isExistingPlan =
    step.status === "skipped" && file === "PLAN.md" && findFact(summary, "plan_exists") === true;
  const path = isExistingPlan ? findFact(summary, "plan_path") : undefined;
  const hash = isExistingPlan
    ? findFact(summary, "output_hash")
    : ownValue(step.facts, "output_hash");

  const output = typeof path === "string" ? path : `.planning/phases/${summary.id}/${file}`;
  return {
    status: workStatus[step.status],
    output: step.status === "passed" || isExistingPlan ? output : null,
    hash: typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash) ? `sha256:${hash}` : null,
  };
}

/** The checker's claim can fail the plan, but never make it pass. */
function planStatus(step: StepSummary): "in_progress" | "pass" | "fail" | "skipped" {
  if (step.status !== "passed") return gateStatus[step.status];
  const { pass, confidence } = step.says;
  return pass === false || (typeof confidence === "number" && confidence < alignmentMin)
    ? "fail"
    : "pass";
}

function executeStatus(
  summary: PhaseSummary,
  step: StepSummary,
): NonNullable<StepRecords["execute"]>["status"] {
  if (step.status !== "failed") return workStatus[step.status];
  return [...summary.tasks.values()].some(({ status }) => status === "completed")
    ? "partial"
    : "failed";
}

const buildTasks = (summary: PhaseSummary): NonNullable<StepRecords["execute"]>["tasks"] =>
  Object.fromEntries(
    [...summary.tasks].map(([id, { status, commit, retries }]) => [
      `task_${id}`,
      { status, commit, retries },
    ]),
  );

/**
 * The runner's checks and the verifier together: fails if either does, passes only if both are of
 * the same round.
 */
function buildVerify(
  { steps }: PhaseSummary,
  readClaim: ReadClaim,
): StepRecords["verify"] | undefined {
  const checks = steps.get(roadmapSteps.checks);
  const verify = steps.get(roadmapSteps.verify);
  const firstStep = checks ?? verify;
  if (firstStep === undefined) return undefined;
  const isStale = verify !== undefined && checks !== undefined && checks.seq > verify.seq;
  const currentVerify = isStale ? undefined : verify;
  const { compile, tests, lint, build } = computeCheckFlags([
    ...(checks?.checks ?? []),
    ...(currentVerify?.checks ?? []),
  ]);

  return {
    status: verifyStatus(checks, currentVerify),
    automated: { compile, tests, lint, build },
    alignment_score: verify === undefined ? null : scoreOrNull(verify, "alignment_score"),
    scope_creep: findScopeCreep(currentVerify?.claim ?? null, readClaim),
  };
}

/** Work that nobody asked for, according to the verifier. */
function findScopeCreep(claim: string | null, readClaim: ReadClaim): string[] {
  if (claim === null) return [];
  return listOrEmpty(readField(readClaim(claim), "scope_creep")).filter(
    (text) => typeof text === "string",
  );
}

function verifyStatus(
  checks: StepSummary | undefined,
  verify: StepSummary | undefined,
): "in_progress" | "pass" | "fail" | "skipped" {
  if (checks?.status === "failed" || verify?.status === "failed") return "fail";
  if (verify === undefined || verify.status === "in_progress" || checks?.status === "in_progress") {
    return "in_progress";
  }

  if (verify.status === "skipped") return "skipped";
  return verify.says["pass"] === false ? "fail" : "pass";
}

/** A score from 1 to 10; null for anything else. */
function scoreOrNull({ says }: StepSummary, name: string): number | null {
  const score = ownValue(says, name);
  return typeof score === "number" && score >= 1 && score <= 10 ? score : null;
}

function findRecommendation({ says }: StepSummary): (typeof recommendations)[number] | null {
  const recommendation = ownValue(says, "recommendation");
  return recommendations.find((word) => word === recommendation) ?? null;
}
