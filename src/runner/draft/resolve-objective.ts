// resolve-objective: resolves the user's objective from text, flags and config, and reports every
// default that was used. Each default can be overridden by a flag.

import { configDefaults } from "../../contracts/config-defaults.ts";
import type { ObjectiveInput } from "../../playbooks/contract/go-input.ts";
import type { Budget } from "../../contracts/budget.ts";
import type { Config } from "../../contracts/config.ts";
import type { Flow } from "../../contracts/flow.ts";
import {
  approvalPolicies,
  completionModes,
  handoffModes,
  type Objective,
  riskLevels,
} from "../../contracts/objective.ts";
import { quantityText } from "../../kit/quantity.ts";
import { didYouMean } from "../../kit/suggest.ts";
import { nonBlank } from "../../playbooks/contract/non-blank.ts";
import { computeFlowBudget } from "../../project/config/flow-budget.ts";
import { parseBudget } from "../../project/config/parse-budget.ts";
import { numberCriteria, parseCriteria } from "./objective-criteria.ts";
import { parseScope } from "./objective-scope.ts";

export type ObjectiveFailure = {
  readonly field: string;
  readonly missing_fields: readonly string[];
  readonly message: string;
};
export type ResolvedObjective =
  | {
      readonly objective: Objective;
      readonly inferred_defaults: readonly string[];
      readonly warnings: readonly string[];
    }
  | { readonly failure: ObjectiveFailure };

const goalCharactersMax = 20_000;
const promiseCharactersMax = 100;

class InvalidObjective extends Error {
  readonly failure: ObjectiveFailure;
  constructor(field: string, message: string, isMissing: boolean) {
    super(message);
    this.failure = { field, missing_fields: isMissing ? [field] : [], message };
  }
}
const refuseField = (field: string, message: string): never => {
  throw new InvalidObjective(field, `${field}: ${message}`, false);
};

export type ObjectiveSources = {
  readonly input: ObjectiveInput;
  readonly config: Config;
  readonly flow: Flow;
  /** Tokens that a playbook estimates for its documents. */
  readonly estimate?: number | undefined;
  /** Tokens that an earlier run of the same work used. */
  readonly tokensUsedBefore?: number | undefined;
};

/** Fills in the objective's defaults; returns the objective, or what is wrong with which field. */
export function resolveObjective(sources: ObjectiveSources): ResolvedObjective {
  try {
    return resolveFields(sources);
  } catch (error) {
    if (error instanceof InvalidObjective) return { failure: error.failure };
    throw error;
  }
}

/** Notes that a field has a default value, and how the default is shown; returns the value. */
type Infer = <T>(field: string, value: T, shown: string) => T;

function resolveFields(sources: ObjectiveSources): ResolvedObjective {
  const { input, config, flow } = sources;
  const inferred = new Map<string, string>();
  const warnings: string[] = [];
  const infer: Infer = (field, value, shown) => {
    inferred.set(field, shown);
    return value;
  };

  const goal = resolveGoal(input, flow, infer, warnings);
  const parsedScope = parseScope(keepNonBlank(input.scope));
  if ("fault" in parsedScope) return refuseField("scope", parsedScope.fault);
  const scope =
    parsedScope.scope.length > 0
      ? [...parsedScope.scope]
      : infer("scope", ["**"], "** (every file)");

  const parsedCriteria =
    input.criteria === undefined
      ? parseCriteria(keepNonBlank(input.doneCriteria))
      : numberCriteria(input.criteria);
  if ("fault" in parsedCriteria) return refuseField("done-criteria", parsedCriteria.fault);
  const criteria =
    parsedCriteria.criteria.length > 0
      ? [...parsedCriteria.criteria]
      : infer("done-criteria", [{ id: "c1", text: goal, check: null }], "the goal");

  const budget = resolveBudget(sources, infer);
  const risk =
    parseChoice("risk-level", nonBlank(input.riskLevel) ?? config.risk_level, riskLevels) ??
    infer("risk-level", configDefaults.risk_level, configDefaults.risk_level);

  const mode =
    parseChoice(
      "completion-mode",
      nonBlank(input.completionMode) ?? config.completion_mode,
      completionModes,
    ) ?? infer("completion-mode", configDefaults.completion_mode, configDefaults.completion_mode);
  const handoff =
    parseChoice("handoff-mode", nonBlank(input.handoffMode) ?? config.handoff_mode, handoffModes) ??
    infer("handoff-mode", configDefaults.handoff_mode, configDefaults.handoff_mode);

  const approval = resolveApproval(sources, risk, infer, warnings);
  const promise = resolvePromise(input, infer);

  // A flow that follows documents has its own criteria: unused fields are not reported.
  if (flow.playbook !== undefined) {
    for (const field of ["done-criteria", "completion-mode", "completion-promise"]) {
      inferred.delete(field);
    }
  }

  if (inferred.size > 0) {
    warnings.push(
      `Defaults: ${[...inferred].map(([field, shown]) => `${field} = ${shown}`).join("; ")}.`,
    );
  }

  return {
    objective: {
      goal,
      scope,
      done_criteria: criteria,
      max_budget: budget,
      completion_mode: mode,
      completion_promise: promise,
      risk_level: risk,
      handoff_mode: handoff,
      approval_policy: approval,
      red_green: parseCommands("red-green", input.redGreen),
      holdout: parseCommands("holdout", input.holdout),
    },
    inferred_defaults: [...inferred.keys()],
    warnings,
  };
}

function resolveGoal(input: ObjectiveInput, flow: Flow, infer: Infer, warnings: string[]): string {
  const words = nonBlank(input.words?.join(" "));
  const flag = nonBlank(input.goal);
  if (words !== null && flag !== null && words !== flag) {
    warnings.push(`--goal was taken as the goal; the words "${words}" were not.`);
  }

  const goal = flag ?? words ?? findDocumentGoal(flow, infer);
  if (goal.length > goalCharactersMax) {
    refuseField(
      "goal",
      `is ${goal.length} characters long; at most ${goalCharactersMax} are read.`,
    );
  }

  if (goal.includes("\0")) refuseField("goal", "has a NUL character in it.");
  return goal;
}

function resolveBudget(
  { input, config, flow, estimate, tokensUsedBefore = 0 }: ObjectiveSources,
  infer: Infer,
): Budget {
  const text = nonBlank(input.maxBudget) ?? nonBlank(config.max_budget);
  if (text !== null) {
    const parsed = parseBudget(text);
    return "fault" in parsed ? refuseField("max-budget", parsed.fault) : parsed.budget;
  }

  const budget = computeFlowBudget(flow, estimate, tokensUsedBefore);
  const limits = Object.entries(budget.limits).map(
    ([name, limit]) => `${name}=${quantityText(limit ?? 0)}`,
  );
  return infer("max-budget", budget, budget.profile ?? limits.join(","));
}

function resolveApproval(
  { input, config }: ObjectiveSources,
  risk: Objective["risk_level"],
  infer: Infer,
  warnings: string[],
): Objective["approval_policy"] {
  const policy = parseChoice(
    "approval-policy",
    nonBlank(input.approvalPolicy) ?? config.approval_policy,
    approvalPolicies,
  );
  if (policy === "none" && risk === "high") {
    warnings.push(
      "risk-level high asks for approval before the merge; approval-policy none was given by name and holds.",
    );
  }

  if (policy !== null) return policy;
  return risk === "high"
    ? infer("approval-policy", "required-before-merge", "required-before-merge (risk-level high)")
    : infer("approval-policy", configDefaults.approval_policy, configDefaults.approval_policy);
}

function resolvePromise({ completionPromise }: ObjectiveInput, infer: Infer): string {
  const promise = nonBlank(completionPromise) ?? infer("completion-promise", "DONE", "DONE");
  if (promise.length > promiseCharactersMax || /[<>`\u0000-\u001f\u007f]/.test(promise)) {
    refuseField(
      "completion-promise",
      `must be one line of at most ${promiseCharactersMax} characters without < > or backticks.`,
    );
  }

  return promise;
}

/** A document-driven flow names its own goal; otherwise the goal is never guessed. */
function findDocumentGoal(flow: Flow, infer: Infer): string {
  if (flow.flow === "objective") {
    throw new InvalidObjective(
      "goal",
      "goal: is missing. Say what you want done, in your own words or with --goal.",
      true,
    );
  }

  const goal = flow.about ?? `complete the flow ${flow.flow}`;
  return infer("goal", goal, `"${goal}"`);
}

const keepNonBlank = (texts: readonly string[] | undefined): string[] =>
  (texts ?? []).filter((text) => nonBlank(text) !== null);

/** Checks that a value is one of the choices; null if there is no value. */
function parseChoice<T extends string>(
  field: string,
  text: string | null | undefined,
  choices: readonly T[],
): T | null {
  if (text === null || text === undefined) return null;
  const choice = choices.find((candidate) => candidate === text);
  return (
    choice ??
    refuseField(field, `"${text}" is none of ${choices.join(", ")}.${didYouMean(text, choices)}`)
  );
}

function parseCommands(field: string, texts: readonly string[] | undefined): string[] {
  const trimmed = keepNonBlank(texts).map((text) => text.trim());
  if (trimmed.some((command) => command.includes("\0"))) {
    refuseField(field, "has a NUL character in it.");
  }

  return trimmed;
}
