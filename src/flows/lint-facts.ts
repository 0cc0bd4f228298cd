// lint-facts: lints conditions: every fact they name exists, is known by then, and can have that
// value.

import type { Phase, Step, Want, When } from "../contracts/flow.ts";
import { shown, type DataPath } from "../kit/finding.ts";
import { didYouMean } from "../kit/suggest.ts";
import { fitsOption, describeOption } from "./lint-shape.ts";
import type { Lint } from "./lint-subject.ts";
import { listAllSteps, listRowsAfterPass } from "./step-lists.ts";
import type { SaysKind } from "./returns.ts";

/** Every condition names facts that exist, can be known by then, and can have that value. */
export function lintFacts(lint: Lint): void {
  const { flow } = lint;
  for (const { step, path, list } of listAllSteps(flow)) {
    const stepIndex = list.steps.indexOf(step);
    const entering: KnownFacts = { steps: list.steps, upTo: stepIndex };
    const leaving: KnownFacts = { steps: list.steps, upTo: stepIndex + 1 };

    if (isNeverWanted(step)) {
      lint.reportAt(path, "unreachable", `found the step ${shown(step.id)}, ${neverWanted}`);
    }

    lintCondition(lint, step.only_if, [...path, "only_if"], entering);
    for (const [index, when] of (step.unless ?? []).entries()) {
      lintCondition(lint, when, [...path, "unless", index], entering);
    }

    for (const [index, preset] of (step.human?.preset ?? []).entries()) {
      lintCondition(lint, preset.when, [...path, "human", "preset", index, "when"], entering);
    }

    for (const located of listRowsAfterPass(step, path)) {
      lintCondition(lint, located.row.when, [...located.path, "when"], leaving);
    }

    for (const [index, row] of (step.otherwise ?? []).entries()) {
      lintCondition(lint, row.when, [...path, "otherwise", index, "when"], leaving);
    }
  }

  const everywhere: KnownFacts = {
    steps: listAllSteps(flow).map(({ step }) => step),
    upTo: Number.POSITIVE_INFINITY,
  };

  for (const key of ["when_step_fails", "when_phase_fails"] as const) {
    for (const [index, row] of (flow[key] ?? []).entries()) {
      lintCondition(lint, row.when, [key, index, "when"], everywhere);
    }
  }

  lintPhaseConditions(lint);
}

/** The conditions of phases, which know no step's outcome. */
function lintPhaseConditions(lint: Lint): void {
  const { flow } = lint;
  const outside: KnownFacts = { steps: [], upTo: 0 };

  for (const group of ["before", "phases", "after"] as const) {
    const phases: Phase[] = Array.isArray(flow[group]) ? flow[group] : [];
    for (const [phaseIndex, phase] of phases.entries()) {
      if (isNeverWanted(phase)) {
        lint.reportAt(
          [group, phaseIndex],
          "unreachable",
          `found the phase ${shown(phase.id)}, ${neverWanted}`,
        );
      }

      lintCondition(lint, phase.only_if, [group, phaseIndex, "only_if"], outside);
      for (const [index, when] of (phase.unless ?? []).entries()) {
        lintCondition(lint, when, [group, phaseIndex, "unless", index], outside);
      }
    }
  }
}

const neverWanted = "which is never run: unless holds whenever only_if does";

/** Whether one of its `unless` conditions holds whenever `only_if` does, or always. */
function isNeverWanted({ only_if = {}, unless = [] }: Pick<Step, "only_if" | "unless">): boolean {
  const requiredPairs = new Set(Object.entries(only_if).map((pair) => JSON.stringify(pair)));
  return unless.some((when) =>
    Object.entries(when).every((pair) => requiredPairs.has(JSON.stringify(pair))),
  );
}

/**
 * The steps of the list, and how many of them may have an outcome by now: going anywhere forgets
 * outcomes at and after the target.
 */
type KnownFacts = { readonly steps: readonly Step[]; readonly upTo: number };

/**
 * Facts are `option.x`, `count.x`, `before.phase.step.x`, and `step`, `step.x` or `step.says.x` of
 * a step in the list.
 */
function lintCondition(
  lint: Lint,
  when: When | undefined,
  path: DataPath,
  known: KnownFacts,
): void {
  for (const [fact, want] of Object.entries(when ?? {})) {
    const factPath = [...path, fact];
    const bound = findBound(want);
    if (typeof bound === "string") {
      lintOptionFact(lint, bound.slice("option.".length), factPath, null);
    }

    const [head = "", ...parts] = fact.split(".");
    const [first = "", ...others] = parts;
    if (head === "option") lintOptionFact(lint, parts.join("."), factPath, want);
    else if (head === "count") lintCountFact(lint, first, factPath, want);
    else if (head === "before") lintPhaseFact(lint, first, others, factPath, want);
    else lintStepFact(lint, head, parts, { path: factPath, want, known });
  }
}

/**
 * What a fact is compared with: a number, or an option by its name; null if the condition is no
 * comparison.
 */
function findBound(want: Want): number | string | null {
  if (typeof want !== "object" || Array.isArray(want)) return null;
  return "below" in want ? want.below : want.min;
}

const isComparison = (want: Want): boolean => typeof want === "object" && !Array.isArray(want);
/** The values that a condition accepts; none if it is a comparison. */
function valuesOf(want: Want): readonly unknown[] {
  if (isComparison(want)) return [];
  return Array.isArray(want) ? want : [want];
}

/** `want` is null if the option is what another fact is compared with. */
function lintOptionFact(
  { flow, reportAt }: Lint,
  name: string,
  path: DataPath,
  want: Want | null,
): void {
  const option = Object.hasOwn(flow.options ?? {}, name) ? flow.options?.[name] : undefined;
  if (option === undefined) {
    return reportAt(
      path,
      "unknown_option",
      `found option.${name}, which is not declared under options.${didYouMean(name, Object.keys(flow.options ?? {}))}`,
    );
  }

  const isNumber = option.type === "count" || option.type === "number";
  if ((want === null || isComparison(want)) && !isNumber) {
    reportAt(
      path,
      "fact_value",
      `found a comparison with option.${name}, which is a ${option.type}`,
    );
  }

  if (want === null) return undefined;
  for (const value of valuesOf(want)) {
    if (!fitsOption(option, value)) {
      reportAt(path, "fact_value", `found ${shown(value)}, expected ${describeOption(option)}`);
    }
  }

  return undefined;
}

function lintCountFact({ flow, reportAt }: Lint, name: string, path: DataPath, want: Want): void {
  if (!Object.hasOwn(flow.counts ?? {}, name)) {
    reportAt(
      path,
      "unknown_count",
      `found count.${name}, which is not declared under counts.${didYouMean(name, Object.keys(flow.counts ?? {}))}`,
    );
  }

  for (const value of valuesOf(want)) {
    if (typeof value !== "number") {
      reportAt(path, "fact_value", `found ${shown(value)}, expected a number`);
    }
  }
}

function lintPhaseFact(
  lint: Lint,
  phaseId: string,
  parts: readonly string[],
  path: DataPath,
  want: Want,
): void {
  const phases = lint.flow.before ?? [];
  const phase = phases.find((candidate) => candidate.id === phaseId);
  const [stepId = "", ...fact] = parts;
  const step = phase?.steps.find((candidate) => candidate.id === stepId);
  if (step !== undefined) return lintOutcomeFact(lint, step, fact, path, want);
  const stepNames = phases.flatMap((item) => item.steps.map(({ id }) => `before.${item.id}.${id}`));

  return lint.reportAt(
    path,
    "unknown_fact",
    `found ${shown(String(path.at(-1)))}, which names no step of a before phase.${didYouMean(`before.${phaseId}.${stepId}`, stepNames)}`,
  );
}

type Condition = { readonly path: DataPath; readonly want: Want; readonly known: KnownFacts };

function lintStepFact(
  lint: Lint,
  id: string,
  fact: readonly string[],
  { path, want, known }: Condition,
): void {
  const index = known.steps.findIndex((step) => step.id === id);
  const step = known.steps[index];
  if (step === undefined) {
    const names = [...known.steps.map((item) => item.id), "option", "count", "before"];
    return lint.reportAt(
      path,
      "unknown_fact",
      `found ${shown(String(path.at(-1)))}, and there is no step ${id} here.${didYouMean(id, names)}`,
    );
  }

  if (index >= known.upTo) {
    return lint.reportAt(
      path,
      "fact_of_later_step",
      `found a fact of ${id}, whose outcome is never known here: it comes later, and going back forgets it`,
    );
  }

  return lintOutcomeFact(lint, step, fact, path, want);
}

const outcomeNames = ["passed", "failed", "skipped"];
const taskFacts = ["done", "failed", "left", "not_begun"];
const gateFacts = ["hollow", "hollow_files", "oracles"];
const checkFacts = [
  "ran",
  "passing",
  "failing",
  "regressed",
  "red_before",
  "flaky",
  "quarantined",
  "oracles",
  "uninstalled",
  "passes_changed",
];
const agentFacts = ["changed", "promised", "announced_more", "agent_asks", "session", ...gateFacts];
const flowFacts = ["run", "status", "verdict", "commit", ...gateFacts];

/** The facts a step can have, or undefined if a function it names may return any. */
function listStepFacts(registry: Lint["registry"], step: Step): readonly string[] | undefined {
  if (step.tasks !== undefined) return taskFacts;
  if (step.run !== undefined) return registry.factsByFunction?.[step.run];
  if (step.check !== undefined) {
    return step.check.some((name) => registry.proof.includes(name)) ? undefined : checkFacts;
  }

  if ((step.proof ?? []).some((proof) => typeof proof === "string")) return undefined;
  return step.agent === undefined ? flowFacts : agentFacts;
}

function lintOutcomeFact(
  { registry, reportAt }: Lint,
  step: Step,
  fact: readonly string[],
  path: DataPath,
  want: Want,
): void {
  const [first, field] = fact;
  if (first === undefined) {
    for (const value of valuesOf(want)) {
      if (!outcomeNames.includes(String(value))) {
        reportAt(path, "fact_value", `found ${shown(value)}, expected ${outcomeNames.join(", ")}`);
      }
    }

    if (isComparison(want)) {
      reportAt(
        path,
        "fact_value",
        `found a comparison with an outcome, expected ${outcomeNames.join(", ")}`,
      );
    }

    return;
  }

  if (first === "says") return lintReturnedField({ registry, reportAt }, step, field, path, want);
  if (fact.length > 1) {
    return reportAt(
      path,
      "unknown_fact",
      `found ${shown(String(path.at(-1)))}, expected ${step.id}, ${step.id}.<fact> or ${step.id}.says.<field>`,
    );
  }

  if (step.human !== undefined) {
    if (first !== "answer") {
      return reportAt(
        path,
        "unknown_fact",
        `found ${step.id}.${first}, and a human step has only ${step.id}.answer`,
      );
    }

    const options = Object.keys(step.human.options ?? {});
    for (const value of valuesOf(want)) {
      if (step.human.free !== true && options.length > 0 && !options.includes(String(value))) {
        reportAt(
          path,
          "fact_value",
          `found the answer ${shown(value)}, expected one of ${options.join(", ")}`,
        );
      }
    }

    return;
  }

  if (first === "answer") {
    return reportAt(path, "unknown_fact", `found ${step.id}.answer, and ${step.id} asks nobody`);
  }

  const factNames = listStepFacts(registry, step);
  if (factNames !== undefined && !factNames.includes(first)) {
    reportAt(
      path,
      "unknown_fact",
      `found ${step.id}.${first}, expected one of ${factNames.map((name) => `${step.id}.${name}`).join(", ")}.${didYouMean(first, factNames)}`,
    );
  }
}

/** A field of what the step's agent returns. */
function lintReturnedField(
  { registry, reportAt }: Pick<Lint, "registry" | "reportAt">,
  step: Step,
  field: string | undefined,
  path: DataPath,
  want: Want,
): void {
  if (step.agent === undefined || step.returns === undefined) {
    return reportAt(
      path,
      "says_nothing",
      `found a fact that ${step.id} says, and ${step.id} returns nothing`,
    );
  }

  if (field === undefined) {
    return reportAt(
      path,
      "unknown_fact",
      `found ${step.id}.says, expected ${step.id}.says.<field>`,
    );
  }

  const fields = registry.factFieldsBySchema?.[step.returns];
  if (fields === undefined) return undefined;
  const kind = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (kind === undefined) {
    const fieldNames = Object.keys(fields);
    return reportAt(
      path,
      "says_unknown",
      `found ${field}, expected a number, flag or listed word of ${step.returns}: ${fieldNames.join(", ")}.${didYouMean(field, fieldNames)}`,
    );
  }

  const expected = describeKind(kind);
  for (const value of valuesOf(want)) {
    if (!fitsKind(kind, value)) {
      reportAt(path, "fact_value", `found ${shown(value)}, expected ${expected}`);
    }
  }

  if (isComparison(want) && kind !== "number") {
    reportAt(path, "fact_value", `found a comparison, expected ${expected}`);
  }

  return undefined;
}

function describeKind(kind: SaysKind): string {
  if (kind === "number") return "a number";
  return kind === "flag" ? "true or false" : `one of ${kind.join(", ")}`;
}

function fitsKind(kind: SaysKind, value: unknown): boolean {
  if (kind === "number") return typeof value === "number";
  return kind === "flag" ? typeof value === "boolean" : kind.includes(String(value));
}
