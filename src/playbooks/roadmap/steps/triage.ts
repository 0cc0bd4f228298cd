// triage: which way a phase is run. Every criterion that has a command is run on the tree as it is; where nearly all hold already, there is
// nothing to build and only to verify.
//
// Invariants:
//   T1. The share is of all criteria: one that cannot be decided, or whose command cannot fail, does not count as met.
//   T2. What only a person can judge is never skipped: a plan that leaves something to one is run in full.
//   T3. Only the user's own plan counts here: an agent's unchecked plan decides nothing.

import type { Check } from "../../../contracts/evidence.ts";
import type { TriageReturn } from "../../../contracts/agent-returns.ts";
import type { RunView } from "../../../core/state.ts";
import { roadmapSteps } from "../views/phase-history.ts";
import { findChecks, phaseCriteria } from "../documents/phase-criteria.ts";
import { trivialBecause } from "../../../documents/trivial-command.ts";
import { costWarning, estimatedTokens } from "../../../insight/cost.ts";
import { buildPhaseType } from "../../../insight/phase-type.ts";
import type { PhaseType } from "../../../contracts/roadmap-values.ts";
import type * as v from "valibot";
import { aboutPhase } from "./about.ts";
import type { StepResult, StepInput, RoadmapParts } from "./parts.ts";
import { type PlanFound, planAt } from "./phase-plan.ts";
import { partsConfig, findPhase, getRoadmapPath } from "./recorded.ts";
import { runChecks } from "./run-checks.ts";
import { hashOf } from "./written.ts";

const implementedAbove = 0.8;

type Triage = v.InferOutput<typeof TriageReturn>;

export function triage(parts: RoadmapParts) {
  return {
    version: 1,
    effect: "none" as const,
    async perform(input: StepInput): StepResult {
      const { state, cursor } = input;
      const phase = findPhase(parts, state, cursor.phase);
      if (phase === null)
        return { ok: false, facts: {}, reason: "roadmap_invalid", detail: `Phase ${cursor.phase} is not in the roadmap.` };
      const found = await planAt(parts, state, phase.id, state.tip.commit);
      const plan = found?.isUsers === true ? found : null; // T3
      const criteria = phaseCriteria(phase, getRoadmapPath(state), plan);
      const checks = findChecks(criteria);
      const results = await runChecks(parts, input, checks, state.tip.commit);
      const held = results.filter(({ status }) => status === "passed");
      const passed = held.filter(isReporting).length;
      const ratio = criteria.length === 0 ? 0 : passed / criteria.length; // T1
      const wasAsked = cursor.seen[roadmapSteps.human] === undefined ? 0 : 1; // in an earlier visit, which failed
      const left = plan === null ? wasAsked : plan.plan.tasks.filter(({ type }) => type !== "auto").length;
      const reported = routed(ratio, { total: criteria.length, checked: checks.length, passed, left, trivial: held.length - passed });
      const phaseType = typeOf(parts, state, plan, aboutPhase(phase));
      const estimated = estimatedTokens({ phaseType, tasks: plan?.plan.tasks.map(plainTask) ?? null });
      const warning = costWarning(phase.id, estimated, state.limits.phase["tokens"] ?? Number.POSITIVE_INFINITY);
      const facts = {
        ...reported,
        route: reported.routing,
        total_criteria: criteria.length,
        criteria_source: plan !== null ? "plan" : criteria.length > 0 ? "roadmap" : "none",
        plan_exists: plan !== null,
        ...(plan === null ? {} : { plan_path: plan.path, output_hash: hashOf(Buffer.from(plan.text, "utf8")) }),
        phase_type: phaseType,
        estimated_tokens: estimated,
        ...(warning === null ? {} : { cost_warning: warning }),
      };
      return { ok: true, facts, checks: results, locks: checks, detail: reported.note };
    },
  };
}

/** Whether a check that passed could have failed. T1 */
export const isReporting = ({ check: { command, expect } }: { readonly check: Pick<Check, "command" | "expect"> }): boolean =>
  trivialBecause(command, expect ?? null) === null;

type Counted = {
  readonly total: number;
  readonly checked: number;
  readonly passed: number;
  readonly left: number;
  readonly trivial: number;
};

function routed(ratio: number, counted: Counted): Triage {
  const isImplemented = ratio > implementedAbove;
  return {
    routing: isImplemented && counted.left === 0 ? "verify_only" : "full_pipeline", // T2
    pass_ratio: Math.round(ratio * 1_000) / 1_000,
    likely_implemented: isImplemented,
    criteria_checked: counted.checked,
    criteria_passed: counted.passed,
    note: noteOf(isImplemented, counted),
  };
}

function noteOf(isImplemented: boolean, { total, checked, passed, left, trivial }: Counted): string {
  if (total === 0) return "The phase has no criteria, so all of it is to be done.";
  if (checked === 0) return `None of the ${total} criteria has a command, so all of it is to be done.`;
  const sure = trivial === 0 ? "" : ` (and ${trivial} by a command that cannot fail, which shows nothing)`;
  const held = `${passed} of ${total} criteria hold already${sure}`;
  if (isImplemented && left > 0) return `${held}, but ${left} of its tasks only a person can judge: it is run in full.`;
  return isImplemented ? `${held}: it is only verified.` : `${held}: it is planned and done in full.`;
}

const plainTask = ({ files, complexity }: PlanFound["plan"]["tasks"][number]) => ({
  files,
  ...(complexity === null ? {} : { complexity }),
});

function typeOf(parts: RoadmapParts, state: RunView, plan: PlanFound | null, says: string): PhaseType {
  const uiFolder = partsConfig(parts, state).project?.ui?.source_dir ?? undefined;
  return buildPhaseType({ files: plan?.plan.tasks.flatMap(({ files }) => files) ?? [], says, uiFolder });
}
