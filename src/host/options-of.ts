import type { Flow, Scalar } from "../contracts/flow.ts";
import type { Objective } from "../contracts/objective.ts";
import { didYouMean } from "../kit/suggest.ts";
import type { GoInput } from "./go-input.ts";
import { refuse } from "./reply.ts";

/** The flow's own options: from `--option name=value`, and from the objective's fields that bear the same name. */
export function optionsOf(flow: Flow, input: GoInput, objective: Objective, confidenceFloor: number): Record<string, Scalar> {
  const declared = flow.options ?? {};
  const offered: Readonly<Record<string, Scalar>> = {
    completion_mode: objective.completion_mode,
    approval_policy: objective.approval_policy,
    handoff_mode: objective.handoff_mode,
    confidence_floor: confidenceFloor,
  };
  const options: Record<string, Scalar> = {};
  for (const name of Object.keys(declared)) {
    const value = offered[name];
    if (value !== undefined) options[name] = value;
  }
  for (const [name, text] of Object.entries(input.options ?? {})) options[name] = readOption(flow, name, text);
  return options;
}

/** An option's value as its type wants it; refused with what was expected. */
export function readOption(flow: Flow, name: string, text: string): Scalar {
  const declared = flow.options ?? {};
  const option = Object.hasOwn(declared, name) ? declared[name] : undefined;
  const bad = (expected: string): never =>
    refuse("objective_schema_invalid", { message: `--option ${name}=${text}: expected ${expected}.`, data: { field: name } });
  if (option === undefined)
    return bad(`an option of flow ${flow.flow}: ${Object.keys(declared).join(", ")}${didYouMean(name, Object.keys(declared))}`);
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
