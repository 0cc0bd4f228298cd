// lint-facts: lints conditions: every fact they name exists, is known by then, and can have that value.

import type { Phase, Step, Want, When } from "../contracts/flow.ts";
import { shown, type DataPath } from "../kit/finding.ts";
import { didYouMean } from "../kit/suggest.ts";
import { fitsOption, describeOption } from "./lint-shape.ts";
import type { Lint } from "./lint-subject.ts";
import { stepsEverywhere, rowsAfterPass } from "./lists.ts";
import type { SaysKind } from "./returns.ts";

/** Every condition names facts that exist, can be known by then, and can have that value. */
export function lintFacts(lint: Lint): void {
  const { flow } = lint;
  for (const { step, path, list } of stepsEverywhere(flow)) {
    const index = list.steps.indexOf(step);
    const entering: KnownFacts = { steps: list.steps, upTo: index };
    const leaving: KnownFacts = { steps: list.steps, upTo: index + 1 };
    if (isNeverWanted(step)) lint.say(path, "unreachable", `found the step ${shown(step.id)}, ${neverWanted}`);
    lintCondition(lint, step.only_if, [...path, "only_if"], entering);
    for (const [n, when] of (step.unless ?? []).entries()) lintCondition(lint, when, [...path, "unless", n], entering);
    for (const [n, preset] of (step.human?.preset ?? []).entries())
      lintCondition(lint, preset.when, [...path, "human", "preset", n, "when"], entering);
    for (const located of rowsAfterPass(step, path)) lintCondition(lint, located.row.when, [...located.path, "when"], leaving);
    for (const [n, row] of (step.otherwise ?? []).entries()) lintCondition(lint, row.when, [...path, "otherwise", n, "when"], leaving);
  }
  const everywhere: KnownFacts = { steps: stepsEverywhere(flow).map(({ step }) => step), upTo: Number.POSITIVE_INFINITY };
  for (const [n, row] of (flow.when_step_fails ?? []).entries()) lintCondition(lint, row.when, ["when_step_fails", n, "when"], everywhere);
  for (const [n, row] of (flow.when_phase_fails ?? []).entries())
    lintCondition(lint, row.when, ["when_phase_fails", n, "when"], everywhere);
  const outside: KnownFacts = { steps: [], upTo: 0 };
  for (const group of ["before", "phases", "after"] as const) {
    const phases: Phase[] = Array.isArray(flow[group]) ? flow[group] : [];
    for (const [n, phase] of phases.entries()) {
      if (isNeverWanted(phase)) lint.say([group, n], "unreachable", `found the phase ${shown(phase.id)}, ${neverWanted}`);
      lintCondition(lint, phase.only_if, [group, n, "only_if"], outside);
      for (const [m, when] of (phase.unless ?? []).entries()) lintCondition(lint, when, [group, n, "unless", m], outside);
    }
  }
}

const neverWanted = "which is never run: unless holds whenever only_if does";

/** Whether one of its skip conditions holds whenever its `when` does, or always. */
function isNeverWanted({ only_if = {}, unless = [] }: Pick<Step, "only_if" | "unless">): boolean {
  const wanted = new Set(Object.entries(only_if).map((pair) => JSON.stringify(pair)));
  return unless.some((when) => Object.entries(when).every((pair) => wanted.has(JSON.stringify(pair))));
}

/** The steps of the list, and how many of them may have an outcome by now: going anywhere forgets outcomes at and after the target. */
type KnownFacts = { readonly steps: readonly Step[]; readonly upTo: number };

function lintCondition(lint: Lint, when: When | undefined, path: DataPath, known: KnownFacts): void {
  for (const [name, want] of Object.entries(when ?? {})) {
    const at = [...path, name];
    for (const number of findNumbers(want)) {
      if (typeof number === "string") lintOptionFact(lint, number.slice("option.".length), at, null);
    }
    const [head = "", first = "", ...rest] = name.split(".");
    if (head === "option") lintOptionFact(lint, [first, ...rest].join("."), at, want);
    else if (head === "count") lintCountFact(lint, first, at, want);
    else if (head === "before") lintPhaseFact(lint, first, rest, at, want);
    else lintStepFact(lint, head, name === head ? [] : [first, ...rest], at, want, known);
  }
}

function findNumbers(want: Want): readonly (number | string)[] {
  if (typeof want !== "object" || Array.isArray(want)) return [];
  return "below" in want ? [want.below] : [want.min];
}

const isComparison = (want: Want): boolean => typeof want === "object" && !Array.isArray(want);
function valuesOf(want: Want): readonly unknown[] {
  if (isComparison(want)) return [];
  return Array.isArray(want) ? want : [want];
}

function lintOptionFact({ flow, say }: Lint, name: string, path: DataPath, want: Want | null): void {
  const declared = Object.hasOwn(flow.options ?? {}, name) ? flow.options?.[name] : undefined;
  if (declared === undefined)
    return say(
      path,
      "unknown_option",
      `found option.${name}, which is not declared under options.${didYouMean(name, Object.keys(flow.options ?? {}))}`,
    );
  const isNumber = declared.type === "count" || declared.type === "number";
  if ((want === null || isComparison(want)) && !isNumber)
    say(path, "fact_value", `found a comparison with option.${name}, which is a ${declared.type}`);
  if (want === null) return undefined;
  for (const value of valuesOf(want))
    if (!fitsOption(declared, value)) say(path, "fact_value", `found ${shown(value)}, expected ${describeOption(declared)}`);
  return undefined;
}

function lintCountFact({ flow, say }: Lint, name: string, path: DataPath, want: Want): void {
  if (!Object.hasOwn(flow.counts ?? {}, name))
    say(
      path,
      "unknown_count",
      `found count.${name}, which is not declared under counts.${didYouMean(name, Object.keys(flow.counts ?? {}))}`,
    );
  for (const value of valuesOf(want)) if (typeof value !== "number") say(path, "fact_value", `found ${shown(value)}, expected a number`);
}

function lintPhaseFact(lint: Lint, phaseId: string, rest: readonly string[], path: DataPath, want: Want): void {
  const phases = lint.flow.before ?? [];
  const phase = phases.find((candidate) => candidate.id === phaseId);
  const [stepId = "", ...fact] = rest;
  const step = phase?.steps.find((candidate) => candidate.id === stepId);
  if (step !== undefined) return lintOutcomeFact(lint, step, fact, path, want);
  const stepNames = phases.flatMap((item) => item.steps.map(({ id }) => `before.${item.id}.${id}`));
  return lint.say(
    path,
    "unknown_fact",
    `found ${shown(String(path.at(-1)))}, which names no step of a before phase.${didYouMean(`before.${phaseId}.${stepId}`, stepNames)}`,
  );
}

function lintStepFact(lint: Lint, id: string, fact: readonly string[], path: DataPath, want: Want, known: KnownFacts): void {
  const index = known.steps.findIndex((step) => step.id === id);
  const step = known.steps[index];
  if (step === undefined) {
    const names = [...known.steps.map((item) => item.id), "option", "count", "before"];
    return lint.say(path, "unknown_fact", `found ${shown(String(path.at(-1)))}, and there is no step ${id} here.${didYouMean(id, names)}`);
  }
  if (index >= known.upTo) {
    return lint.say(
      path,
      "fact_of_later_step",
      `found a fact of ${id}, whose outcome is never known here: it comes later, and going back forgets it`,
    );
  }
  return lintOutcomeFact(lint, step, fact, path, want);
}

const kinds = ["passed", "failed", "skipped"];
const taskFacts = ["done", "failed", "left", "not_begun"];
const gateFacts = ["hollow", "hollow_files", "oracles"];
const checkFacts = ["ran", "passing", "failing", "regressed", "red_before", "flaky", "quarantined", "oracles", "uninstalled"];
const agentFacts = ["changed", "promised", "announced_more", "agent_asks", "session", ...gateFacts];
const flowFacts = ["run", "status", "verdict", "commit", ...gateFacts];

/** The facts a step can have, or undefined if a function it names may return any. */
function registryFacts(registry: Lint["registry"], step: Step): readonly string[] | undefined {
  if (step.tasks !== undefined) return taskFacts;
  if (step.run !== undefined) return registry.facts?.[step.run];
  if (step.check !== undefined) return step.check.some((name) => registry.proof.includes(name)) ? undefined : checkFacts;
  if ((step.proof ?? []).some((proof) => typeof proof === "string")) return undefined;
  return step.agent === undefined ? flowFacts : agentFacts;
}

function lintOutcomeFact({ registry, say }: Lint, step: Step, fact: readonly string[], path: DataPath, want: Want): void {
  const [first, field] = fact;
  if (first === undefined) {
    for (const value of valuesOf(want))
      if (!kinds.includes(String(value))) say(path, "fact_value", `found ${shown(value)}, expected ${kinds.join(", ")}`);
    if (isComparison(want)) say(path, "fact_value", `found a comparison with an outcome, expected ${kinds.join(", ")}`);
    return;
  }
  if (first === "says") return lintReturnedField(registry, say, step, field, path, want);
  if (fact.length > 1)
    return say(
      path,
      "unknown_fact",
      `found ${shown(String(path.at(-1)))}, expected ${step.id}, ${step.id}.<fact> or ${step.id}.says.<field>`,
    );
  if (step.human !== undefined) {
    if (first !== "answer") return say(path, "unknown_fact", `found ${step.id}.${first}, and a human step has only ${step.id}.answer`);
    const options = Object.keys(step.human.options ?? {});
    for (const value of valuesOf(want)) {
      if (step.human.free !== true && options.length > 0 && !options.includes(String(value)))
        say(path, "fact_value", `found the answer ${shown(value)}, expected one of ${options.join(", ")}`);
    }
    return;
  }
  if (first === "answer") return say(path, "unknown_fact", `found ${step.id}.answer, and ${step.id} asks nobody`);
  const factNames = registryFacts(registry, step);
  if (factNames !== undefined && !factNames.includes(first))
    say(
      path,
      "unknown_fact",
      `found ${step.id}.${first}, expected one of ${factNames.map((name) => `${step.id}.${name}`).join(", ")}.${didYouMean(first, factNames)}`,
    );
}

function lintReturnedField(
  registry: Lint["registry"],
  say: Lint["say"],
  step: Step,
  field: string | undefined,
  path: DataPath,
  want: Want,
): void {
  if (step.agent === undefined || step.returns === undefined)
    return say(path, "says_nothing", `found a fact that ${step.id} says, and ${step.id} returns nothing`);
  if (field === undefined) return say(path, "unknown_fact", `found ${step.id}.says, expected ${step.id}.says.<field>`);
  const fields = registry.says?.[step.returns];
  if (fields === undefined) return undefined;
  const kind = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (kind === undefined) {
    const fieldNames = Object.keys(fields);
    return say(
      path,
      "says_unknown",
      `found ${field}, expected a number, flag or listed word of ${step.returns}: ${fieldNames.join(", ")}.${didYouMean(field, fieldNames)}`,
    );
  }
  const text = describeKind(kind);
  for (const value of valuesOf(want)) if (!fitsKind(kind, value)) say(path, "fact_value", `found ${shown(value)}, expected ${text}`);
  if (isComparison(want) && kind !== "number") say(path, "fact_value", `found a comparison, expected ${text}`);
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
