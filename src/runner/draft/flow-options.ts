// flow-options: computes a flow's options from flags, documents, limits and the objective.

import type { Flow, Scalar } from "../../contracts/flow.ts";
import type { Objective } from "../../contracts/objective.ts";
import { didYouMean } from "../../kit/suggest.ts";
import { buildRunOptions } from "../../playbooks/contract/flow-flag-options.ts";
import type { GoInput } from "../../playbooks/contract/go-input.ts";
import { refuse } from "../../project/respond.ts";

export type OptionSources = {
  readonly input: GoInput;
  readonly objective: Objective;
  readonly confidenceFloor: number;
  /** Limits of the config by name. */
  readonly tuned?: Readonly<Record<string, number>>;
  /** What a playbook read from documents. */
  readonly prepared?:
    | {
        readonly options: Readonly<Record<string, Scalar>>;
        readonly facts?: Readonly<Record<string, Scalar>>;
      }
    | undefined;
};

/**
 * Computes a flow's options: from `--option name=value`, else other flags, else documents, else
 * tuned limits, else objective fields of the same name. What the documents establish as facts comes
 * before all of these.
 */
export function computeFlowOptions(
  flow: Flow,
  { input, objective, confidenceFloor, tuned = {}, prepared }: OptionSources,
): Record<string, Scalar> {
  const declared = flow.options ?? {};
  const objectiveValues: Readonly<Record<string, Scalar>> = {
    completion_mode: objective.completion_mode,
    approval_policy: objective.approval_policy,
    handoff_mode: objective.handoff_mode,
    confidence_floor: confidenceFloor,
  };

  const options: Record<string, Scalar> = {};
  for (const name of Object.keys(declared)) {
    const value = findTunedOption(flow, name, tuned) ?? objectiveValues[name];
    if (value !== undefined) options[name] = value;
  }

  Object.assign(options, prepared?.options, buildRunOptions(flow, input.asks ?? {}));
  for (const [name, text] of Object.entries(input.options ?? {})) {
    options[name] = parseOption(flow, name, text);
  }

  return { ...options, ...prepared?.facts };
}

/** Warns of an approval policy that this flow never reads, so that the user doesn't count on it. */
export function listUnusedPolicyWarnings(
  { flow, options, lands_nothing }: Flow,
  { approval_policy }: Objective,
): readonly string[] {
  if (
    approval_policy === "none" ||
    lands_nothing === true ||
    options?.["approval_policy"] !== undefined
  ) {
    return [];
  }

  return [
    `approval-policy ${approval_policy} is not followed by flow ${flow}: what is proved lands without being asked for.`,
  ];
}

/**
 * Finds the limit of the config that sets an option, by its name. The format uses a percentage
 * where the flow has a score of ten.
 */
function findTunedOption(
  flow: Flow,
  name: string,
  tuned: Readonly<Record<string, number>>,
): number | undefined {
  const limit = name === "alignment_min" ? "output_degradation_pct" : name;
  const value = Object.hasOwn(tuned, limit) ? tuned[limit] : undefined;
  const type = flow.options?.[name]?.type;
  if (value === undefined || (type !== "count" && type !== "number")) return undefined;
  if (type === "count" && !Number.isInteger(value)) {
    refuse("config_invalid", {
      message: `limits.${limit}: found ${value}, expected a whole number.`,
      data: { field: limit },
    });
  }

  return limit === name ? value : value / 10;
}

/** Converts an option's value to its type; refuses with what was expected. */
export function parseOption(flow: Flow, name: string, text: string): Scalar {
  const declared = flow.options ?? {};
  const option = Object.hasOwn(declared, name) ? declared[name] : undefined;

  const refuseValue = (expected: string, hint = ""): never =>
    refuse("objective_schema_invalid", {
      message: `--option ${name}=${text}: expected ${expected}.${hint}`,
      data: { field: name },
    });

  const names = Object.keys(declared);
  if (option === undefined && names.length === 0) {
    return refuseValue(`none, for flow ${flow.flow} has no options`);
  }

  if (option === undefined) {
    return refuseValue(
      `an option of flow ${flow.flow}: ${names.join(", ")}`,
      didYouMean(name, names),
    );
  }

  switch (option.type) {
    case "flag":
      return text === "true" || text === "false" ? text === "true" : refuseValue("true or false");
    case "word":
      return option.one_of === undefined || option.one_of.includes(text)
        ? text
        : refuseValue(`one of ${option.one_of.join(", ")}`);
    case "count":
      return /^\d{1,9}$/.test(text) ? Number(text) : refuseValue("a whole number");
    case "number":
      return Number.isFinite(Number(text)) && text.trim() !== ""
        ? Number(text)
        : refuseValue("a number");
  }
}
