// plan-proof: the named proof `plan_lint`: decides without an agent whether a plan may be executed,
// and locks its checks, so that the executor cannot change them.
//
// Invariants:
//   L1. All faults are reported at once, each with its line.
//   L2. A command that an agent planned must fail before the work starts; else it proves nothing.
//       At most `commandsTriedMax` are tried.
//   L3. A plan that the user wrote must be well-formed, but need not answer every criterion, and
//       its commands are not tried.

import type { Check } from "../../../contracts/evidence.ts";
import type { CheckedCriterion, RoadmapPhase } from "../../../contracts/roadmap.ts";
import {
  buildChecks,
  type PhaseCriterion,
  mergePhaseCriteria,
  reportMissingCommands,
} from "../documents/phase-criteria.ts";
import { lintPlan } from "../documents/plan-lint.ts";
import { type Finding, findingText, shown } from "../../../kit/finding.ts";
import { findCheckpoint } from "./checkpoint.ts";
import type { StepResult, StepInput, RoadmapParts } from "./roadmap-parts.ts";
import { type PhasePlan, readPlanAt } from "./phase-plan.ts";
import {
  findPhase,
  loadRecordedRoadmap,
  getRoadmapPath,
  readTextOption,
} from "./recorded-documents.ts";
import { runChecks } from "./run-checks.ts";
import { sha256 } from "../../../project/sha256.ts";

const detailCharsMax = 16_000;
const commandsTriedMax = 100;
const personTasksCharsMax = 1_000;

/** The proof `plan_lint`. */
export function createPlanLintProof(parts: RoadmapParts) {
  return {
    version: 1,
    async prove(input: StepInput): StepResult {
      const { state, cursor, commit } = input;
      const phase = findPhase(parts, state, cursor.phase);
      const phasePlan = await readPlanAt(parts, state, cursor.phase, commit);
      if (phase === null || phasePlan === null) {
        return {
          ok: false,
          facts: { findings: 1 },
          detail: `Phase ${cursor.phase} has no PLAN.md that could be read.`,
        };
      }

      const criteria = mergePhaseCriteria(phase, getRoadmapPath(state), phasePlan);
      const planFindings = [
        ...phasePlan.findings,
        ...lintPlan(phasePlan.path, phasePlan.plan, { requirements: phase.requirements }),
        ...findLockedDocuments(parts, input, phasePlan),
        ...(phasePlan.isUserPlan ? [] : reportMissingCommands(criteria, phasePlan.path)), // L3
      ];
      const isTried = !phasePlan.isUserPlan && !hasErrors(planFindings); // L3
      const trial = isTried
        ? await tryBeforeWork({ parts, input, phasePlan, criteria, phase })
        : noTrial;
      const findings = [...planFindings, ...trial.findings];
      const checks = buildChecks(criteria);
      const personTasks = describePersonTasks(phasePlan);

      const facts = {
        findings: findings.length,
        criteria: criteria.length,
        commands: checks.length,
        red_before: trial.failedCount,
        ...(personTasks === "" ? {} : { left_to_people: personTasks }),
      };

      if (!hasErrors(findings)) return { ok: true, facts, locks: checks };
      const detail = findings.filter(isError).map(findingText).join("\n"); // L1
      return { ok: false, facts, detail: detail.slice(0, detailCharsMax) };
    },
  };
}

/** The tasks of a plan that only a person can do, so that the person knows what to check. */
const describePersonTasks = ({ plan }: PhasePlan): string =>
  plan.tasks
    .filter(({ type }) => type !== "auto")
    .map(({ id, title, action }) => `${id} ${title}: ${action}`.replaceAll(/\s+/g, " ").trim())
    .join("; ")
    .slice(0, personTasksCharsMax);

const isError = ({ severity }: Finding): boolean => severity === "error";
const hasErrors = (findings: readonly Finding[]): boolean => findings.some(isError);

/**
 * Findings for tasks that would change the roadmap or the specification, which belong to the user.
 */
function findLockedDocuments(
  parts: RoadmapParts,
  { state }: StepInput,
  { plan, path }: PhasePlan,
): readonly Finding[] {
  const lockedPaths = new Set([
    loadRecordedRoadmap(parts, state)?.path,
    readTextOption(state, "spec_path"),
  ]);

  return plan.tasks.flatMap(({ id, files, line }) =>
    files
      .filter((file) => lockedPaths.has(file))
      .map((file) => ({
        file: path,
        line,
        column: 1,
        path: `task_${id}.files`,
        rule: "locked_document",
        message: `found ${file} among the files of task ${id}, which the run is locked to; expected another way`,
        severity: "error" as const,
      })),
  );
}

/** `failedCount`: how many commands failed before the work, as they should. */
type Trial = { readonly findings: readonly Finding[]; readonly failedCount: number };
const noTrial: Trial = { findings: [], failedCount: 0 };

type TriedCriterion = Pick<CheckedCriterion, "text" | "command" | "expect">;

/** Two criteria with the same command and expectation need one trial. */
const criterionKey = ({ command, expect }: TriedCriterion): string =>
  `${command ?? ""} ${JSON.stringify(expect)}`;

type TrialInput = {
  readonly parts: RoadmapParts;
  readonly input: StepInput;
  readonly phasePlan: PhasePlan;
  readonly criteria: readonly PhaseCriterion[];
  readonly phase: RoadmapPhase;
};

/** L2: runs the plan's own commands on the commit at which the phase began. */
async function tryBeforeWork({
  parts,
  input,
  phasePlan,
  criteria,
  phase,
}: TrialInput): Promise<Trial> {
  const projectCommands = new Set(
    (input.state.drafted.checks as readonly Check[]).map(({ command }) => command),
  );

  const autoTasks = phasePlan.plan.tasks.filter(({ type }) => type === "auto");
  const phaseCommands = criteria.filter(
    ({ commandAuthor, task, command }) =>
      commandAuthor === "plan" &&
      task === null &&
      command !== null &&
      !projectCommands.has(command),
  );
  const candidates = [...phaseCommands, ...autoTasks.flatMap(({ verify }) => verify)].filter(
    ({ command }) => command !== null,
  );
  const uniqueCandidates = [
    ...new Map(candidates.map((criterion) => [criterionKey(criterion), criterion])).values(),
  ];
  const tried = uniqueCandidates.slice(0, commandsTriedMax);
  const checks = tried.map((criterion) => buildTrialCheck(phase.id, phasePlan.path, criterion));

  const results = await runChecks(
    parts,
    input,
    checks,
    findCheckpoint(input.cursor) ?? input.commit,
  );
  const passingKeys = new Set(
    tried.filter((_, index) => results[index]?.status === "passed").map(criterionKey),
  );
  const passesAlready = (criterion: TriedCriterion): boolean =>
    passingKeys.has(criterionKey(criterion));
  const passingCriteria = phaseCommands.filter(
    (criterion) => passesAlready(criterion) && !isAboutExisting(criterion.text),
  );

  const passingTasks = autoTasks.filter(
    ({ verify }) => verify.length > 0 && verify.every(passesAlready),
  );

  return {
    failedCount: tried.length - passingKeys.size,
    findings: [
      ...passingCriteria.map((criterion) => reportPassingCriterion(phasePlan, criterion)),
      ...passingTasks.map((task) => reportPassingTask(phasePlan, task)),
    ],
  };
}

/**
 * The id is derived from the command, so that the same command has the same id in every attempt.
 */
function buildTrialCheck(phaseId: string, source: string, criterion: TriedCriterion): Check {
  const { text, command, expect } = criterion;
  const hash = sha256(criterionKey(criterion)).slice(0, 16);
  const expectation = expect === null ? {} : { expect };

  return {
    id: `base:${phaseId}.${hash}`,
    kind: "proof",
    title: text,
    command: command ?? "",
    source,
    ...expectation,
  };
}

/** Whether a criterion is about something that already works and must keep working. */
export const isAboutExisting = (text: string): boolean =>
  /\b(?:still|already|stays?|remains?|keeps?|continues?|unchanged|unaffected|no regressions?|not broken|as before)\b/i.test(
    text,
  );

function reportPassingCriterion(
  { path }: PhasePlan,
  { text, command, source }: PhaseCriterion,
): Finding {
  const line = Number(/:(\d+)$/.exec(source)?.[1] ?? 1); // .planning/phases/1/PLAN.md:12
  const message = `found the check ${shown(command)} of ${shown(text)} green before anything is done, expected one that the work turns from red to green; a criterion that holds already says so ("still …")`;
  return {
    file: path,
    line,
    column: 1,
    path: "success_criteria",
    rule: "green_before",
    message,
    severity: "error",
  };
}

function reportPassingTask(
  { path }: PhasePlan,
  { id, line }: { readonly id: string; readonly line: number },
): Finding {
  const message = `found every check of task ${id} green before it is done, expected at least one that only the done task turns green`;
  return {
    file: path,
    line,
    column: 1,
    path: `task_${id}.verify`,
    rule: "green_before",
    message,
    severity: "error",
  };
}
