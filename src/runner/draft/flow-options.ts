// flow-options: computes a flow's options from flags, documents, limits and the objective.

import type { Flow, Scalar } from "../../contracts/flow.ts";
import type { Objective } from "../../contracts/objective.ts";
import { didYouMean } from "../../kit/suggest.ts";
import { runOptionsFrom } from "../../playbooks/contract/asks.ts";
import type { GoInput } from "../../playbooks/contract/go-input.ts";
import { refuse } from "../../project/reply.ts";

/** Other sources of a flow's options besides the command line: limits of the config by name, and documents. */
type Known = {
  readonly tuned?: Readonly<Record<string, number>>;
  readonly prepared?: { readonly options: Readonly<Record<string, Scalar>>; readonly facts?: Readonly<Record<string, Scalar>> } | undefined;
};

/** The flow's own options: from `--option name=value`, else documents, else tuned limits and objective fields of the same name. */
export function flowOptions(
  flow: Flow,
  input: GoInput,
  objective: Objective,
  confidenceFloor: number,
  { tuned = {}, prepared }: Known = {},
): Record<string, Scalar> {
  const declared = flow.options ?? {};
  const offered: Readonly<Record<string, Scalar>> = {
    completion_mode: objective.completion_mode,
    approval_policy: objective.approval_policy,
    handoff_mode: objective.handoff_mode,
    confidence_floor: confidenceFloor,
  };
  const options: Record<string, Scalar> = {};
  for (const name of Object.keys(declared)) {
    const value = tunedOption(flow, name, tuned) ?? offered[name];
    if (value !== undefined) options[name] = value;
  }
  Object.assign(options, prepared?.options, runOptionsFrom(flow, input.asks ?? {}));
  for (const [name, text] of Object.entries(input.options ?? {})) options[name] = readOption(flow, name, text);
  return { ...options, ...prepared?.facts };
}

/** An objective's policy that this flow never reads is reported, so that the user doesn't count on it. */
export function unusedPolicyWarnings({ flow, options, lands_nothing }: Flow, { approval_policy }: Objective): readonly string[] {
  if (approval_policy === "none" || lands_nothing === true || options?.["approval_policy"] !== undefined) return [];
  return [`approval-policy ${approval_policy} is not followed by flow ${flow}: what is proved lands without being asked for.`];
}

/** A limit of the config with the name of an option sets it. The format uses a percentage where the flow has a score of ten. */
function tunedOption(flow: Flow, name: string, tuned: Readonly<Record<string, number>>): number | undefined {
  const limit = name === "alignment_min" ? "output_degradation_pct" : name;
  const value = Object.hasOwn(tuned, limit) ? tuned[limit] : undefined;
  const type = flow.options?.[name]?.type;
  if (value === undefined || (type !== "count" && type !== "number")) return undefined;
  if (type === "count" && !Number.isInteger(value))
    refuse("config_invalid", { message: `limits.${limit}: found ${value}, expected a whole number.`, data: { field: limit } });
  return limit === name ? value : value / 10;
}

/** An option's value converted to its type; refused with what was expected. */
export function readOption(flow: Flow, name: string, text: string): Scalar {
  const declared = flow.options ?? {};
  const option = Object.hasOwn(declared, name) ? declared[name] : undefined;
  const bad = (expected: string, hint = ""): never =>
    refuse("objective_schema_invalid", { message: `--option ${name}=${text}: expected ${expected}.${hint}`, data: { field: name } });
  const names = Object.keys(declared);
  if (option === undefined && names.length === 0) return bad(`none, for flow ${flow.flow} has no options`);
  if (option === undefined) return bad(`an option of flow ${flow.flow}: ${names.join(", ")}`, didYouMean(name, names));
  switch (option.type) {
    case "flag":
      return text === "true" ? true : text === "false" ? false : bad("true or false");
    case "word":
      return option.one_of === undefined || option.one_of.includes(text) ? text : bad(`one of ${option.one_of.join(", ")}`);
    case "count":
      return /^\d{1,9}$/.test(text) ? Number(text) : bad("a whole number");
    case "number":
      return Number.isFinite(Number(text)) && text.trim() !== "" ? Number(text) : bad("a number");
  }
}
