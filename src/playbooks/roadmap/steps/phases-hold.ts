// phases-hold: proof that the checks of every completed phase still pass on the whole tree; yields
// the verdict.

import type { Check } from "../../../contracts/evidence.ts";
import type { Verdict } from "../../../contracts/objective.ts";
import type { RunView } from "../../../core/state.ts";
import { joinGaps } from "../../../core/verdict.ts";
import { type PhaseCriterion, mergePhaseCriteria } from "../documents/phase-criteria.ts";
import type { StepResult, StepInput, RoadmapParts } from "./roadmap-parts.ts";
import { readPlanAt } from "./phase-plan.ts";
import { findPhase, getRoadmapPath } from "./recorded-documents.ts";
import { describeFailed, runChecks } from "./run-checks.ts";

/** Changes in this folder are documents about the work, not the work itself. */
const planningFolder = ".planning/";

/**
 * The proof `phases_hold`: the locked checks of every phase that this run completed still pass. Its
 * facts are the run's verdict: verified if all pass and `findGaps` finds nothing, refuted if one
 * fails, unverified if there is none.
 */
export function createPhasesHoldProof(parts: RoadmapParts) {
  return {
    version: 1,
    async prove(input: StepInput): StepResult {
      const { state, commit } = input;
      const completed = completedPhases(state);
      const lockedChecks = completed.flatMap(
        ({ id }) => (state.cursors[id]?.checks ?? []) as readonly Check[],
      );
      const checks = [...new Map(lockedChecks.map((check) => [check.id, check])).values()];
      const results = await runChecks(parts, input, checks, commit);
      const failed = results.filter(
        ({ status, quarantined }) => status !== "passed" && quarantined === undefined,
      );
      const gaps =
        failed.length > 0
          ? failed.map(({ check }) => `${check.title} does not hold any more`)
          : await findGaps(parts, input);

      const facts = {
        phases: completed.length,
        held: results.length - failed.length,
        verdict: judgeVerdict(checks.length, failed.length, gaps.length),
        gaps: joinGaps(gaps),
      };

      return {
        ok: failed.length === 0,
        facts,
        checks: results,
        reason: "criterion_failed",
        detail: describeFailed(failed),
      };
    },
  };
}

const completedPhases = (state: RunView): RunView["phases"] =>
  state.phases.filter(({ group, status }) => group === "phases" && status === "completed");

function judgeVerdict(checkCount: number, failedCount: number, gapCount: number): Verdict {
  if (failedCount > 0) return "refuted";
  if (checkCount === 0) return "unverified";
  return gapCount > 0 ? "verified_with_gaps" : "verified";
}

/**
 * Criteria of completed phases without a command, or with one that the run's own planner wrote for
 * them, and a gap if the run changed nothing.
 */
async function findGaps(
  parts: RoadmapParts,
  { state, commit }: StepInput,
): Promise<readonly string[]> {
  const gaps: string[] = [];
  const projectCommands = new Set(
    (state.drafted.checks as readonly Check[]).map(({ command }) => command),
  );

  for (const { id } of completedPhases(state)) {
    const phase = findPhase(parts, state, id);
    if (phase === null) continue;
    const plan = await readPlanAt(parts, state, id, commit);
    const isAgentPlan = plan?.isUserPlan !== true;
    // Without criteria in the roadmap, an agent's plan chose its own checks; a plan by the user
    // counts as requested.
    if (phase.success_criteria.length === 0 && isAgentPlan) {
      gaps.push(
        `phase ${id}: the roadmap has no success criteria for it, so only its planner's own commands decided`,
      );
    }

    // If an agent chose the command that judges its own plan, the command proves little. The
    // project's own checks were there before.
    const isPlannersChoice = ({ commandAuthor, isRequested, command }: PhaseCriterion): boolean =>
      commandAuthor === "plan" &&
      isRequested &&
      command !== null &&
      isAgentPlan &&
      !projectCommands.has(command);

    const criteria = mergePhaseCriteria(phase, getRoadmapPath(state), plan);
    const unproved = criteria.filter(({ command }) => command === null);
    const selfJudged = criteria.filter(isPlannersChoice);
    gaps.push(...unproved.map(({ text }) => `phase ${id}: no command proves that ${text}`));
    gaps.push(
      ...selfJudged.map(
        ({ text, command }) =>
          `phase ${id}: only its planner's own command decides that ${text} (${command})`,
      ),
    );
  }

  const changes = await parts.workspace.differences(state.drafted.base.commit, commit);
  if (changes.every(({ path }) => path.startsWith(planningFolder))) {
    gaps.push("everything held before the run, and nothing was changed");
  }

  return gaps;
}
