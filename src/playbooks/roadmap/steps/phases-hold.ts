// phases-hold: proof that the checks of every completed phase still pass on the whole tree; yields the verdict.

import type { Check } from "../../../contracts/evidence.ts";
import type { Verdict } from "../../../contracts/objective.ts";
import type { RunView } from "../../../core/state.ts";
import { phaseCriteria } from "../documents/phase-criteria.ts";
import type { StepResult, StepInput, RoadmapParts } from "./parts.ts";
import { planAt } from "./phase-plan.ts";
import { findPhase, getRoadmapPath } from "./recorded.ts";
import { redIn, runChecks } from "./run-checks.ts";

/** Documents about the work, which are not the work. */
const planningFolder = ".planning/";

/**
 * A named proof: what was locked for every phase that this run completed still holds on the whole tree. Its facts are the run's verdict:
 * verified where all of it could be run and holds, with gaps where part of it could not.
 */
export function phasesHold(parts: RoadmapParts) {
  return {
    version: 1,
    async prove(input: StepInput): StepResult {
      const { state, commit } = input;
      const completed = completedIn(state);
      const locked = completed.flatMap(({ id }) => (state.cursors[id]?.checks ?? []) as readonly Check[]);
      const checks = [...new Map(locked.map((check) => [check.id, check])).values()];
      const results = await runChecks(parts, input, checks, commit);
      const red = results.filter(({ status, quarantined }) => status !== "passed" && quarantined === undefined);
      const gaps = red.length > 0 ? red.map(({ check }) => `${check.title} does not hold any more`) : await gapsIn(parts, input);
      const facts = { phases: completed.length, held: results.length - red.length, ...verdictOf(checks.length, red.length, gaps) };
      return { ok: red.length === 0, facts, checks: results, reason: "criterion_failed", detail: redIn(red) };
    },
  };
}

const completedIn = (state: RunView): RunView["phases"] =>
  state.phases.filter(({ group, status }) => group === "phases" && status === "completed");

function verdictOf(checks: number, red: number, gaps: readonly string[]): { readonly verdict: Verdict; readonly gaps: string } {
  const verdict = red > 0 ? "refuted" : checks === 0 ? "unverified" : gaps.length > 0 ? "verified_with_gaps" : "verified";
  return { verdict, gaps: gaps.map((gap) => gap.replaceAll(";", ",")).join("; ") };
}

/** Criteria of completed phases that nothing runnable decided; and where nothing was changed, that it held before. */
async function gapsIn(parts: RoadmapParts, { state, commit }: StepInput): Promise<readonly string[]> {
  const gaps: string[] = [];
  for (const { id } of completedIn(state)) {
    const phase = findPhase(parts, state, id);
    if (phase === null) continue;
    const plan = await planAt(parts, state, id, commit);
    // Commands that a planner chose to prove itself were not requested; those of the user's own plan were.
    if (phase.success_criteria.length === 0 && plan?.isUsers !== true)
      gaps.push(`phase ${id}: the roadmap has no success criteria for it, so only its planner's own commands decided`);
    const unprovenPhaseCriteria = phaseCriteria(phase, getRoadmapPath(state), plan).filter(({ command }) => command === null);
    gaps.push(...unprovenPhaseCriteria.map(({ text }) => `phase ${id}: no command proves that ${text}`));
  }
  const changedDifferences = await parts.workspace.differences(state.drafted.base.commit, commit);
  if (changedDifferences.every(({ path }) => path.startsWith(planningFolder)))
    gaps.push("everything held before the run, and nothing was changed");
  return gaps;
}
