// plan-proof: the named proof `plan_lint`: whether a plan may be executed, decided without an agent. Its checks are locked from here on:
// the executor can no longer change them.
//
// Invariants:
//   L1. Everything that is wrong is reported at once, each with its line.
//   L2. A new command that an agent planned must be red before the work begins; else it proves nothing.
//   L3. What the user wrote, in the roadmap or in their own plan, is taken as it is.

import { createHash } from "node:crypto";
import type { Check } from "../../../contracts/evidence.ts";
import type { CheckedCriterion, RoadmapPhase } from "../../../contracts/roadmap.ts";
import { findChecks, type PhaseCriterion, phaseCriteria, unansweredCriteria } from "../documents/phase-criteria.ts";
import { lintPlan } from "../documents/plan-lint.ts";
import { type Finding, findingText, shown } from "../../../kit/finding.ts";
import { cursorCheckpoint } from "./checkpoint.ts";
import type { StepResult, StepInput, RoadmapParts } from "./parts.ts";
import { type PlanFound, planAt } from "./phase-plan.ts";
import { findPhase, partsRoadmap, getRoadmapPath, textOption } from "./recorded.ts";
import { runChecks } from "./run-checks.ts";

const detailCharsMax = 16_000;
const triedMax = 100;
const leftCharsMax = 1_000;

export function planProof(parts: RoadmapParts) {
  return {
    version: 1,
    async prove(input: StepInput): StepResult {
      const { state, cursor, commit } = input;
      const phase = findPhase(parts, state, cursor.phase);
      const found = await planAt(parts, state, cursor.phase, commit);
      if (phase === null || found === null)
        return { ok: false, facts: { findings: 1 }, detail: `Phase ${cursor.phase} has no PLAN.md that could be read.` };
      const criteria = phaseCriteria(phase, getRoadmapPath(state), found);
      const written = [
        ...found.findings,
        ...lintPlan(found.path, found.plan, { requirements: phase.requirements }),
        ...lockedDocuments(parts, input, found),
        ...(found.isUsers ? [] : unansweredCriteria(criteria, found.path)), // L3
      ];
      const tried = found.isUsers || hasErrors(written) ? nothingTried : await tryOnBase(parts, input, found, criteria, phase);
      const findings = [...written, ...tried.findings];
      const checks = findChecks(criteria);
      const left = leftToPeople(found);
      const facts = {
        findings: findings.length,
        criteria: criteria.length,
        commands: checks.length,
        red_before: tried.red,
        ...(left === "" ? {} : { left_to_people: left }),
      };
      if (!hasErrors(findings)) return { ok: true, facts, locks: checks };
      const detail = findings.filter(isError).map(findingText).join("\n"); // L1
      return { ok: false, facts, detail: detail.slice(0, detailCharsMax) };
    },
  };
}

/** From the plan: the person must know what to look at. */
const leftToPeople = ({ plan }: PlanFound): string =>
  plan.tasks
    .filter(({ type }) => type !== "auto")
    .map(({ id, title, action }) => `${id} ${title}: ${action}`.replaceAll(/\s+/g, " ").trim())
    .join("; ")
    .slice(0, leftCharsMax);

const isError = ({ severity }: Finding): boolean => severity === "error";
const hasErrors = (findings: readonly Finding[]): boolean => findings.some(isError);

/** Roadmap and specification are the user's: a task that means to change them isn't a plan for this phase. */
function lockedDocuments(parts: RoadmapParts, { state }: StepInput, { plan, path }: PlanFound): readonly Finding[] {
  const locked = new Set([partsRoadmap(parts, state)?.path, textOption(state, "spec_path")]);
  return plan.tasks.flatMap(({ id, files, line }) =>
    files
      .filter((file) => locked.has(file))
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

type Tried = { readonly findings: readonly Finding[]; readonly red: number };
const nothingTried: Tried = { findings: [], red: 0 };

const checkedCriterionKey = ({ command, expect }: Pick<CheckedCriterion, "command" | "expect">): string =>
  `${command ?? ""} ${JSON.stringify(expect)}`;

/** L2: the results of the plan's own commands on the tree as it was when the phase began. */
async function tryOnBase(
  parts: RoadmapParts,
  input: StepInput,
  found: PlanFound,
  criteria: readonly PhaseCriterion[],
  phase: RoadmapPhase,
): Promise<Tried> {
  const guards = new Set((input.state.drafted.checks as readonly Check[]).map(({ command }) => command));
  const autos = found.plan.tasks.filter(({ type }) => type === "auto");
  const ofPhase = criteria.filter(({ by, task, command }) => by === "plan" && task === null && command !== null && !guards.has(command));
  const asked = [...ofPhase, ...autos.flatMap(({ verify }) => verify)].filter(({ command }) => command !== null);
  const distinct = [...new Map(asked.map((criterion) => [checkedCriterionKey(criterion), criterion])).values()].slice(0, triedMax);
  const checks = distinct.map(({ text, command, expect }): Check => ({
    id: `base:${phase.id}.${createHash("sha256").update(checkedCriterionKey({ command, expect })).digest("hex").slice(0, 16)}`,
    kind: "proof",
    title: text,
    command: command ?? "",
    source: found.path,
    ...(expect === null ? {} : { expect }),
  }));
  const results = await runChecks(parts, input, checks, cursorCheckpoint(input.cursor) ?? input.commit);
  const green = new Set(distinct.filter((_, n) => results[n]?.status === "passed").map(checkedCriterionKey));
  return {
    red: distinct.length - green.size,
    findings: [
      ...ofPhase
        .filter((criterion) => green.has(checkedCriterionKey(criterion)) && !saysItStays(criterion.text))
        .map((criterion) => greenCriterion(found, criterion)),
      ...autos
        .filter(({ verify }) => verify.length > 0 && verify.every((criterion) => green.has(checkedCriterionKey(criterion))))
        .map((task) => greenTask(found, task)),
    ],
  };
}

/** Whether a criterion is about what holds already and must go on holding. */
export const saysItStays = (text: string): boolean =>
  /\b(?:still|already|stays?|remains?|keeps?|continues?|unchanged|unaffected|no regressions?|not broken|as before)\b/i.test(text);

function greenCriterion({ path }: PlanFound, { text, command, source }: PhaseCriterion): Finding {
  const line = Number(/:(\d+)$/.exec(source)?.[1] ?? 1);
  const message = `found the check ${shown(command)} of ${shown(text)} green before anything is done, expected one that the work turns from red to green; a criterion that holds already says so ("still …")`;
  return { file: path, line, column: 1, path: "success_criteria", rule: "green_before", message, severity: "error" };
}

function greenTask({ path }: PlanFound, { id, line }: { readonly id: string; readonly line: number }): Finding {
  const message = `found every check of task ${id} green before it is done, expected at least one that only the done task turns green`;
  return { file: path, line, column: 1, path: `task_${id}.verify`, rule: "green_before", message, severity: "error" };
}
