// phase-criteria: what must hold for a phase to be done: the roadmap's criteria and the plan's, each once, with the command that decides it.
//
// Invariants:
//   K1. The user's command for a criterion stays, whatever a plan gives for the same criterion.
//   K2. The same documents give the same ids, so that what was found out about a criterion stays with it.
//   K3. One command decides once, however often it is written.

import type { Check, Expectation } from "../../../contracts/evidence.ts";
import type { CheckedCriterion, Plan, RoadmapPhase } from "../../../contracts/roadmap.ts";
import { shown, type Finding } from "../../../kit/finding.ts";
import { isSameText } from "../../../documents/same-text.ts";

export type PhaseCriterion = {
  readonly id: string;
  readonly text: string;
  /** Null: nothing runnable decides it yet. */
  readonly command: string | null;
  readonly expect: Expectation | null;
  readonly source: string;
  /** Whose command it is. */
  readonly by: "roadmap" | "plan";
  /** The task it belongs to; null for a criterion of the phase itself. */
  readonly task: string | null;
};

export type PlanAt = { readonly path: string; readonly plan: Plan };
type Phase = Pick<RoadmapPhase, "id" | "success_criteria">;

const titleCharsMax = 500;

/** Every criterion of a phase: the roadmap's in its order, then what the plan adds, then what each task for a machine must show. */
export function phaseCriteria(phase: Phase, roadmapPath: string, found: PlanAt | null): readonly PhaseCriterion[] {
  const answers = found === null ? new Map<number, CheckedCriterion>() : findAnswers(phase, found.plan);
  const ownPhaseCriteria = phase.success_criteria.map((criterion, n): PhaseCriterion => {
    const id = `criterion:${phase.id}.${n + 1}`;
    const answer = answers.get(n);
    if (criterion.command !== null || answer === undefined || found === null)
      return { ...reported(criterion, roadmapPath), id, by: "roadmap", task: null }; // K1
    return { ...reported(answer, found.path), id, text: criterion.text, by: "plan", task: null };
  });
  if (found === null) return ownPhaseCriteria;
  const taken = new Set(answers.values());
  const addedPhaseCriteria = found.plan.criteria
    .filter((criterion) => !taken.has(criterion))
    .map((criterion, n): PhaseCriterion => ({
      ...reported(criterion, found.path),
      id: `criterion:${phase.id}.plan-${n + 1}`,
      by: "plan",
      task: null,
    }));
  const ofTasks = found.plan.tasks
    .filter(({ type }) => type === "auto")
    .flatMap(({ id: task, verify }) =>
      verify.map((criterion, n): PhaseCriterion => ({
        ...reported(criterion, found.path),
        id: taskCriterionId(phase.id, task, n),
        by: "plan",
        task,
      })),
    )
    .filter(({ text }) => !ownPhaseCriteria.some((criterion) => criterion.by === "roadmap" && isSameText(criterion.text, text))); // K1
  return once([...ownPhaseCriteria, ...addedPhaseCriteria, ...ofTasks]);
}

/** K2 */
export const taskCriterionId = (phase: string, task: string, n: number): string => `criterion:${phase}.${task}.${n + 1}`;

const reported = (
  { text, command, expect, line }: CheckedCriterion,
  path: string,
): Pick<PhaseCriterion, "text" | "command" | "expect" | "source"> => ({
  text,
  command,
  expect,
  source: `${path}:${line}`,
});

/** K3: of criteria with one command the first stays; those without a command aren't doubles of each other unless they say the same. */
function once(criteria: readonly PhaseCriterion[]): readonly PhaseCriterion[] {
  const seen = new Set<string>();
  return criteria.filter(({ text, command, expect }) => {
    const key = command === null ? `text ${text}` : `command ${command} ${JSON.stringify(expect)}`;
    return !seen.has(key) && seen.add(key);
  });
}

/** The plan's criteria that give a command to one of the roadmap's: those that say the same; where both lists are as long, those in its place. */
function findAnswers(phase: Phase, plan: Plan): Map<number, CheckedCriterion> {
  const answers = new Map<number, CheckedCriterion>();
  const isParallel = plan.criteria.length === phase.success_criteria.length;
  const offered = [...plan.criteria, ...plan.tasks.filter(({ type }) => type === "auto").flatMap(({ verify }) => verify)];
  for (const [n, { text }] of phase.success_criteria.entries()) {
    const same = offered.find((criterion) => criterion.command !== null && isSameText(criterion.text, text));
    const placed = isParallel ? plan.criteria[n] : undefined;
    const answer = same ?? (placed?.command === null ? undefined : placed);
    if (answer !== undefined) answers.set(n, answer);
  }
  return answers;
}

/** Criteria of the roadmap that nothing runnable decides, as findings against the plan that should have brought a command. */
export function unansweredCriteria(criteria: readonly PhaseCriterion[], planPath: string): readonly Finding[] {
  return criteria
    .filter(({ by, command }) => by === "roadmap" && command === null)
    .map(({ text, source }) => ({
      file: planPath,
      line: 1,
      column: 1,
      path: "success_criteria",
      rule: "criterion_without_command",
      message: `found no command for the criterion ${shown(text)} (${source}), expected it under **Success Criteria** as \`text :: command\``,
      severity: "error" as const,
    }));
}

/** The commands as the runner runs them; what has none cannot be run. */
export function findChecks(criteria: readonly PhaseCriterion[]): Check[] {
  return criteria.flatMap(({ id, text, command, expect, source }) =>
    command === null
      ? []
      : [
          {
            id,
            kind: "criterion" as const,
            title: text.slice(0, titleCharsMax),
            command,
            source,
            ...(expect === null ? {} : { expect }),
          },
        ],
  );
}
