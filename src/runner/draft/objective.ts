// objective: parses the user's objective from text and flags, and reports every default. Nothing is guessed that a flag could not undo.

import type { ObjectiveInput } from "../../playbooks/contract/go-input.ts";
import type { Config } from "../../contracts/config.ts";
import type { Flow } from "../../contracts/flow.ts";
import { approvalPolicies, completionModes, handoffModes, type Objective, riskLevels } from "../../contracts/objective.ts";
import { quantityText } from "../../kit/quantity.ts";
import { didYouMean } from "../../kit/suggest.ts";
import { nonBlank } from "../../playbooks/contract/non-blank.ts";
import { flowBudget, readBudget } from "../../project/config/objective-budget.ts";
import { numbered, readCriteria } from "./objective-criteria.ts";
import { readScope } from "./objective-scope.ts";

export type ObjectiveFailure = { readonly field: string; readonly missing_fields: readonly string[]; readonly message: string };
export type ObjectiveRead =
  | { readonly objective: Objective; readonly inferred_defaults: readonly string[]; readonly warnings: readonly string[] }
  | { readonly failure: ObjectiveFailure };

const goalCharactersMax = 20_000;
const promiseCharactersMax = 100;

class Invalid extends Error {
  readonly failure: ObjectiveFailure;
  constructor(field: string, message: string, isMissing: boolean) {
    super(message);
    this.failure = { field, missing_fields: isMissing ? [field] : [], message };
  }
}
const invalid = (field: string, message: string): never => {
  throw new Invalid(field, `${field}: ${message}`, false);
};

/** The objective with its defaults filled in, or what is wrong with which field. */
export function readObjective(input: ObjectiveInput, config: Config, flow: Flow, estimate?: number, usedBefore = 0): ObjectiveRead {
  try {
    return read(input, config, flow, estimate, usedBefore);
  } catch (error) {
    if (error instanceof Invalid) return { failure: error.failure };
    throw error;
  }
}

function read(input: ObjectiveInput, config: Config, flow: Flow, estimate: number | undefined, usedBefore: number): ObjectiveRead {
  const inferred = new Map<string, string>();
  const warnings: string[] = [];
  const infer = <T>(field: string, value: T, shown: string): T => {
    inferred.set(field, shown);
    return value;
  };

  const wording = nonBlank(input.words?.join(" "));
  const flagged = nonBlank(input.goal);
  if (wording !== null && flagged !== null && wording !== flagged)
    warnings.push(`--goal was taken as the goal; the words "${wording}" were not.`);
  const goal = flagged ?? wording ?? documentGoal(flow, infer);
  if (goal.length > goalCharactersMax) invalid("goal", `is ${goal.length} characters long; at most ${goalCharactersMax} are read.`);
  if (goal.includes("\0")) invalid("goal", "has a NUL character in it.");

  const scopeRead = readScope(givenList(input.scope));
  if ("fault" in scopeRead) return invalid("scope", scopeRead.fault);
  const scope = scopeRead.scope.length > 0 ? [...scopeRead.scope] : infer("scope", ["**"], "** (every file)");

  const criteriaRead = input.criteria === undefined ? readCriteria(givenList(input.doneCriteria)) : numbered(input.criteria);
  if ("fault" in criteriaRead) return invalid("done-criteria", criteriaRead.fault);
  const criteria =
    criteriaRead.criteria.length > 0
      ? [...criteriaRead.criteria]
      : infer("done-criteria", [{ id: "c1", text: goal, check: null }], "the goal");

  const budgetText = nonBlank(input.maxBudget) ?? nonBlank(config.max_budget);
  const budgetRead = budgetText === null ? { budget: flowBudget(flow, estimate, usedBefore) } : readBudget(budgetText);
  if ("fault" in budgetRead) return invalid("max-budget", budgetRead.fault);
  const budget = budgetRead.budget;
  if (budgetText === null)
    infer(
      "max-budget",
      budget,
      budget.profile ??
        Object.entries(budget.limits)
          .map(([name, limit]) => `${name}=${quantityText(limit ?? 0)}`)
          .join(","),
    );

  const risk =
    word("risk-level", nonBlank(input.riskLevel) ?? config.risk_level, riskLevels) ?? infer("risk-level", "medium" as const, "medium");
  const mode =
    word("completion-mode", nonBlank(input.completionMode) ?? config.completion_mode, completionModes) ??
    infer("completion-mode", "promise" as const, "promise");
  const handoff =
    word("handoff-mode", nonBlank(input.handoffMode) ?? config.handoff_mode, handoffModes) ??
    infer("handoff-mode", "manual" as const, "manual");
  const named = word("approval-policy", nonBlank(input.approvalPolicy) ?? config.approval_policy, approvalPolicies);
  const implied = risk === "high" ? "required-before-merge" : "none";
  const approval = named ?? infer("approval-policy", implied, risk === "high" ? `${implied} (risk-level high)` : implied);
  if (named === "none" && risk === "high")
    warnings.push("risk-level high asks for approval before the merge; approval-policy none was given by name and holds.");

  const promise = nonBlank(input.completionPromise) ?? infer("completion-promise", "DONE", "DONE");
  if (promise.length > promiseCharactersMax || /[<>`\u0000-\u001f\u007f]/.test(promise)) {
    invalid("completion-promise", `must be one line of at most ${promiseCharactersMax} characters without < > or backticks.`);
  }
  // A flow that follows documents has its own criteria: unused fields are not reported.
  if (flow.playbook !== undefined) for (const field of ["done-criteria", "completion-mode", "completion-promise"]) inferred.delete(field);
  if (inferred.size > 0) warnings.push(`Defaults: ${[...inferred].map(([field, shown]) => `${field} = ${shown}`).join("; ")}.`);
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
      red_green: commands("red-green", input.redGreen),
      holdout: commands("holdout", input.holdout),
    },
    inferred_defaults: [...inferred.keys()],
    warnings,
  };
}

/** A document-driven flow names its own goal; otherwise the goal is never guessed. */
function documentGoal(flow: Flow, infer: (field: string, value: string, shown: string) => string): string {
  if (flow.flow === "objective")
    throw new Invalid("goal", "goal: is missing. Say what you want done, in your own words or with --goal.", true);
  const goal = flow.about ?? `complete the flow ${flow.flow}`;
  return infer("goal", goal, `"${goal}"`);
}

const givenList = (texts: readonly string[] | undefined): string[] => (texts ?? []).filter((text) => nonBlank(text) !== null);

function word<T extends string>(field: string, text: string | null | undefined, words: readonly T[]): T | null {
  if (text === null || text === undefined) return null;
  const found = words.find((candidate) => candidate === text);
  return found ?? invalid(field, `"${text}" is none of ${words.join(", ")}.${didYouMean(text, words)}`);
}

function commands(field: string, texts: readonly string[] | undefined): string[] {
  const found = givenList(texts).map((text) => text.trim());
  if (found.some((command) => command.includes("\0"))) invalid(field, "has a NUL character in it.");
  return found;
}
