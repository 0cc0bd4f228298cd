// triage: step that routes a phase. It runs every criterion that has a command; if nearly all pass
// already, the phase is only verified.
//
// Invariants:
//   T1. The ratio is of all criteria: one without a command, or whose command cannot fail, counts
//       as not met.
//   T2. A phase with tasks for a person is always run in full.
//   T3. Only a plan by the user counts here, not one by an agent, which is unchecked.

import type { Check } from "../../../contracts/evidence.ts";
import type { TriageReturn } from "../../../contracts/agent-returns.ts";
import type { RunView } from "../../../core/state.ts";
import { roadmapSteps } from "../views/phase-history.ts";
import { buildChecks, mergePhaseCriteria } from "../documents/phase-criteria.ts";
import { whyTrivial } from "../../../documents/trivial-command.ts";
import { describeCostWarning, estimateTokens } from "../../../insight/roadmap-cost-formula.ts";
import { choosePhaseType } from "../../../insight/phase-type.ts";
import type { PhaseType } from "../../../contracts/roadmap-values.ts";
import type * as v from "valibot";
import { describePhase } from "./describe-phase.ts";
import type { StepResult, StepInput, RoadmapParts } from "./roadmap-parts.ts";
import { type PhasePlan, readPlanAt } from "./phase-plan.ts";
import { loadPlanningConfig, findPhase, getRoadmapPath } from "./recorded-documents.ts";
import { runChecks } from "./run-checks.ts";
import { sha256 } from "../../../project/sha256.ts";

/** A phase counts as implemented if a larger part of its criteria holds before any work. */
const implementedRatio = 0.8;

type Triage = v.InferOutput<typeof TriageReturn>;

/** The step `triage`. */
export function createTriageStep(parts: RoadmapParts) {
  return {
    version: 1,
    effect: "none" as const,
    async perform(input: StepInput): StepResult {
      const { state, cursor } = input;
      const phase = findPhase(parts, state, cursor.phase);
      if (phase === null) {
        return {
          ok: false,
          facts: {},
          reason: "roadmap_invalid",
          detail: `Phase ${cursor.phase} is not in the roadmap.`,
        };
      }

      const phasePlan = await readPlanAt(parts, state, phase.id, state.tip.commit);
      const plan = phasePlan?.isUserPlan === true ? phasePlan : null; // T3
      const criteria = mergePhaseCriteria(phase, getRoadmapPath(state), plan);
      const checks = buildChecks(criteria);
      const results = await runChecks(parts, input, checks, state.tip.commit);
      const passedChecks = results.filter(({ status }) => status === "passed");
      const passedCount = passedChecks.filter(canFail).length; // T1
      const askedPerson = cursor.seen[roadmapSteps.human] !== undefined; // in an earlier visit, which failed
      const personTasks = plan?.plan.tasks.filter(({ type }) => type !== "auto").length;

      const routing = routePhase({
        total: criteria.length,
        checked: checks.length,
        passed: passedCount,
        trivial: passedChecks.length - passedCount,
        personTasks: personTasks ?? (askedPerson ? 1 : 0),
      });

      const phaseType = findPhaseType(parts, state, plan, describePhase(phase));
      const tokenEstimate = estimateTokens({
        phaseType,
        tasks: plan?.plan.tasks.map(sizeTask) ?? null,
      });

      const warning = describeCostWarning(
        phase.id,
        tokenEstimate,
        state.limits.phase["tokens"] ?? Number.POSITIVE_INFINITY,
      );

      const facts = {
        ...routing,
        route: routing.routing,
        total_criteria: criteria.length,
        criteria_source: criteriaSource(plan, criteria.length),
        plan_exists: plan !== null,
        ...(plan === null
          ? {}
          : { plan_path: plan.path, output_hash: sha256(Buffer.from(plan.text, "utf8")) }),
        phase_type: phaseType,
        estimated_tokens: tokenEstimate,
        ...(warning === null ? {} : { cost_warning: warning }),
      };

      return { ok: true, facts, checks: results, locks: checks, detail: routing.note };
    },
  };
}

/** Whether a check that passed could have failed. T1 */
export const canFail = ({
  check: { command, expect },
}: {
  readonly check: Pick<Check, "command" | "expect">;
}): boolean => whyTrivial(command, expect ?? null) === null;

type CriteriaCounts = {
  readonly total: number;
  /** Criteria with a command. */
  readonly checked: number;
  readonly passed: number;
  /** Criteria that passed by a command that cannot fail; not among `passed`. */
  readonly trivial: number;
  /** Tasks that only a person can judge. */
  readonly personTasks: number;
};

function routePhase(counts: CriteriaCounts): Triage {
  const ratio = counts.total === 0 ? 0 : counts.passed / counts.total; // T1
  const isImplemented = ratio > implementedRatio;
  return {
    routing: isImplemented && counts.personTasks === 0 ? "verify_only" : "full_pipeline", // T2
    pass_ratio: Math.round(ratio * 1_000) / 1_000,
    likely_implemented: isImplemented,
    criteria_checked: counts.checked,
    criteria_passed: counts.passed,
    note: describeRouting(isImplemented, counts),
  };
}

function criteriaSource(
  plan: PhasePlan | null,
  criteriaCount: number,
): "plan" | "roadmap" | "none" {
  if (plan !== null) return "plan";
  return criteriaCount > 0 ? "roadmap" : "none";
}

function describeRouting(
  isImplemented: boolean,
  { total, checked, passed, personTasks, trivial }: CriteriaCounts,
): string {
  if (total === 0) return "The phase has no criteria, so all of it is to be done.";
  if (checked === 0) {
    return `None of the ${total} criteria has a command, so all of it is to be done.`;
  }

  const trivialText =
    trivial === 0 ? "" : ` (and ${trivial} by a command that cannot fail, which shows nothing)`;
  const heldText = `${passed} of ${total} criteria hold already${trivialText}`;

  if (isImplemented && personTasks > 0) {
    return `${heldText}, but ${personTasks} of its tasks only a person can judge: it is run in full.`;
  }

  return isImplemented
    ? `${heldText}: it is only verified.`
    : `${heldText}: it is planned and done in full.`;
}

const sizeTask = ({ files, complexity }: PhasePlan["plan"]["tasks"][number]) => ({
  files,
  ...(complexity === null ? {} : { complexity }),
});

function findPhaseType(
  parts: RoadmapParts,
  state: RunView,
  plan: PhasePlan | null,
  description: string,
): PhaseType {
  const uiFolder = loadPlanningConfig(parts, state).project?.ui?.source_dir ?? undefined;
  return choosePhaseType({
    files: plan?.plan.tasks.flatMap(({ files }) => files) ?? [],
    statedText: description,
    uiFolder,
  });
}
