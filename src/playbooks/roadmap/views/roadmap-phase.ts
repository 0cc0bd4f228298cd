// roadmap-phase: one phase of state.json: its steps as the format names them, its tasks, its scores, what it used and what a person said.

import type { PhaseRecord, PhaseStatus, StepRecords } from "../../../contracts/roadmap-state.ts";
import { alignmentMin, phaseTypes, type PhaseType, recommendations } from "../../../contracts/roadmap-values.ts";
import { own } from "../../../core/record.ts";
import type { RunView } from "../../../core/state.ts";
import { automatedOf } from "../../../insight/check-kind.ts";
import { estimatedTokens } from "../../../insight/cost.ts";
import { buildPhaseType } from "../../../insight/phase-type.ts";
import { type ClaimOf, parseField, parseList } from "./roadmap-audit.ts";
import { type PhaseSummary, roadmapSteps, type StepSummary } from "./phase-history.ts";

type PhaseView = RunView["phases"][number];

export function runRecord(run: RunView, phase: PhaseView, reported: PhaseSummary | undefined, claimOf: ClaimOf): PhaseRecord {
  const tasks = reported === undefined || reported.tasks.size === 0 ? null : [...reported.tasks.values()];
  const phaseType = buildType(phase, reported);
  const estimated = findFact(reported, "estimated_tokens");
  return {
    phase_type: phaseType,
    status: statusOfPhase(run, phase),
    started_at: reported?.startedAt ?? null,
    completed_at: reported?.endedAt ?? null,
    steps: reported === undefined ? {} : stepsOf(reported, claimOf),
    debug_attempts: reported?.debugs ?? 0,
    replan_attempts: reported?.replans ?? 0,
    tokens_used: own(run.ledger.phase, phase.id)?.tokens ?? 0,
    estimated_tokens: typeof estimated === "number" && estimated >= 0 ? estimated : estimatedTokens({ phaseType, tasks }),
    human_verify_justification: reported?.justification ?? null,
    human_verdict: reported?.verdict ?? null,
  };
}

/** Skipped because it was done before is done; skipped for another reason has not been begun. */
function statusOfPhase(run: RunView, phase: PhaseView): PhaseStatus {
  if (phase.status === "completed" || phase.status === "failed") return phase.status;
  if (phase.status === "skipped") return phase.because?.startsWith("already_") === true ? "completed" : "not_started";
  if (phase.status !== "open") return "not_started";
  const block = own(run.cursors, phase.id)?.block ?? null;
  const asked = block === null ? undefined : own(run.blocks, block);
  return asked?.step === roadmapSteps.human && !asked.house ? "needs_human_verification" : "in_progress";
}

/** A fact that preflight or triage found. */
function findFact(reported: PhaseSummary | undefined, name: string): string | number | boolean | undefined {
  const found = ["triage", "preflight"].map((step) => own(reported?.steps.get(step)?.facts ?? {}, name));
  return found.find((value) => value !== undefined);
}

/** What triage found it to be, by its words or the plan it had; where that was open, the files of the plan that was made since. */
function buildType({ name, about }: PhaseView, reported: PhaseSummary | undefined): PhaseType {
  const found = findFact(reported, "phase_type");
  const known = phaseTypes.find((type) => type === found);
  if (known !== undefined && known !== "mixed") return known;
  const files = [...(reported?.tasks.values() ?? [])].flatMap((task) => task.files);
  return buildPhaseType({ files, says: about ?? name });
}

function stepsOf(reported: PhaseSummary, claimOf: ClaimOf): StepRecords {
  const { steps } = reported;
  const [preflight, research, plan, planCheck, execute] = ["preflight", "research", "plan", roadmapSteps.planCheck, "execute"].map((name) =>
    steps.get(name),
  );
  const verify = verifyOf(reported, claimOf);
  const judge = steps.get("judge");
  return {
    ...(preflight === undefined ? {} : { preflight: { status: gate[preflight.status], timestamp: preflight.at } }),
    ...(research === undefined ? {} : { research: outputOf(reported, research, "RESEARCH.md") }),
    ...(plan === undefined ? {} : { plan: { ...outputOf(reported, plan, "PLAN.md"), validation_rounds: reported.planChecks } }),
    ...(planCheck === undefined ? {} : { plan_check: { status: planStatus(planCheck), confidence: findScore(planCheck, "confidence") } }),
    ...(execute === undefined ? {} : { execute: { status: executeStatus(reported, execute), tasks: tasksOf(reported) } }),
    ...(verify === undefined ? {} : { verify }),
    ...(judge === undefined || judge.status === "in_progress"
      ? {}
      : { judge: { alignment: findScore(judge, "alignment_score"), recommendation: stepSummaryRecommendation(judge) } }),
  };
}

const gate = { in_progress: "in_progress", passed: "pass", failed: "fail", skipped: "skipped" } as const;
const work = { in_progress: "in_progress", passed: "completed", failed: "failed", skipped: "skipped" } as const;

/** A step that was passed over has written nothing; only of a plan is it known that there was one. */
function outputOf(reported: PhaseSummary, step: StepSummary, file: "RESEARCH.md" | "PLAN.md"): NonNullable<StepRecords["research"]> {
  const isFound = step.status === "skipped" && file === "PLAN.md" && findFact(reported, "plan_exists") === true;
  const path = isFound ? findFact(reported, "plan_path") : undefined;
  const hash = isFound ? findFact(reported, "output_hash") : own(step.facts, "output_hash");
  const output = typeof path === "string" ? path : `.planning/phases/${reported.id}/${file}`;
  return {
    status: work[step.status],
    output: step.status === "passed" || isFound ? output : null,
    hash: typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash) ? `sha256:${hash}` : null,
  };
}

/** The checker's own word counts against the plan, never for it. */
function planStatus(step: StepSummary): "in_progress" | "pass" | "fail" | "skipped" {
  if (step.status !== "passed") return gate[step.status];
  const { pass, confidence } = step.says;
  return pass === false || (typeof confidence === "number" && confidence < alignmentMin) ? "fail" : "pass";
}

function executeStatus(reported: PhaseSummary, step: StepSummary): NonNullable<StepRecords["execute"]>["status"] {
  if (step.status !== "failed") return work[step.status];
  return [...reported.tasks.values()].some(({ status }) => status === "completed") ? "partial" : "failed";
}

const tasksOf = (reported: PhaseSummary): NonNullable<StepRecords["execute"]>["tasks"] =>
  Object.fromEntries([...reported.tasks].map(([id, { status, commit, retries }]) => [`task_${id}`, { status, commit, retries }]));

/** The runner's checks and the verifier's look together: red if either is, green only if both are of the same round. */
function verifyOf({ steps }: PhaseSummary, claimOf: ClaimOf): StepRecords["verify"] | undefined {
  const checks = steps.get(roadmapSteps.checks);
  const verify = steps.get(roadmapSteps.verify);
  const first = checks ?? verify;
  if (first === undefined) return undefined;
  const isStale = verify !== undefined && checks !== undefined && checks.seq > verify.seq;
  const looked = isStale ? undefined : verify;
  const { compile, tests, lint, build } = automatedOf([...(checks?.checks ?? []), ...(looked?.checks ?? [])]);
  return {
    status: verifyStatus(checks, looked),
    automated: { compile, tests, lint, build },
    alignment_score: verify === undefined ? null : findScore(verify, "alignment_score"),
    scope_creep: claimCreep(looked?.claim ?? null, claimOf),
  };
}

/** Work that the verifier says nobody asked for. */
function claimCreep(claim: string | null, claimOf: ClaimOf): string[] {
  if (claim === null) return [];
  return parseList(parseField(claimOf(claim), "scope_creep")).filter((text) => typeof text === "string");
}

function verifyStatus(checks: StepSummary | undefined, verify: StepSummary | undefined): "in_progress" | "pass" | "fail" | "skipped" {
  if (checks?.status === "failed" || verify?.status === "failed") return "fail";
  if (verify === undefined || verify.status === "in_progress" || checks?.status === "in_progress") return "in_progress";
  if (verify.status === "skipped") return "skipped";
  return verify.says["pass"] === false ? "fail" : "pass";
}

/** A score on the scale of 1 to 10; anything else is none. */
function findScore({ says }: StepSummary, name: string): number | null {
  const score = own(says, name);
  return typeof score === "number" && score >= 1 && score <= 10 ? score : null;
}

function stepSummaryRecommendation({ says }: StepSummary): (typeof recommendations)[number] | null {
  const said = own(says, "recommendation");
  return recommendations.find((word) => word === said) ?? null;
}
