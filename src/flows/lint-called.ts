// lint-called: lints calls of other flows: each exists, accepts its options, and no calls form a cycle.

import type { Flow } from "../contracts/flow.ts";
import { shown, type DataPath } from "../kit/finding.ts";
import { didYouMean } from "../kit/suggest.ts";
import { fitsOption, describeOption } from "./lint-shape.ts";
import type { CalledFlows, Lint } from "./lint-subject.ts";
import { stepsEverywhere } from "./lists.ts";

/** The flows that a flow calls: each exists, takes the options it is given, and none leads back to a flow that waits for it. */
export function lintCalled(lint: Lint): void {
  const flows = lint.registry.flows;
  if (flows === undefined) return;
  for (const { step, path } of stepsEverywhere(lint.flow)) {
    if (step.flow === undefined) continue;
    const at = [...path, "flow"];
    const names = Object.keys(flows);
    if (!Object.hasOwn(flows, step.flow)) {
      lint.say(
        at,
        "unknown_flow",
        `found the unknown flow ${shown(step.flow)}, expected one of ${names.join(", ")}.${didYouMean(step.flow, names)}`,
      );
      continue;
    }
    const called = flows[step.flow] ?? null;
    if (called === null) {
      lint.say(at, "called_invalid", `found the flow ${shown(step.flow)}, which cannot be read itself: autopilot flow lint ${step.flow}`);
      continue;
    }
    lintOptions(lint, called, step.with ?? {}, [...path, "with"]);
    const cycle = findCallCycle(lint.flow.flow, step.flow, flows);
    if (cycle !== null)
      lint.say(at, "flow_ring", `found flows that call each other for ever: ${cycle.join(" -> ")}, expected each to come to its end`);
  }
}

function lintOptions({ say }: Lint, called: Flow, given: Readonly<Record<string, unknown>>, path: DataPath): void {
  const declared = called.options ?? {};
  for (const [name, value] of Object.entries(given)) {
    const option = Object.hasOwn(declared, name) ? declared[name] : undefined;
    if (option === undefined)
      say(
        [...path, name],
        "unknown_option",
        `found the option ${shown(name)}, which the flow ${called.flow} does not have.${didYouMean(name, Object.keys(declared))}`,
      );
    else if (!fitsOption(option, value)) say([...path, name], "option_value", `found ${shown(value)}, expected ${describeOption(option)}`);
  }
}

/** The chain of calls from a called flow back to its caller, or null. */
function findCallCycle(caller: string, called: string, flows: CalledFlows): readonly string[] | null {
  const seen = new Set<string>();
  const chains: (readonly string[])[] = [[caller, called]];
  for (const chain of chains) {
    const last = chain.at(-1) ?? "";
    if (last === caller) return chain;
    if (seen.has(last)) continue;
    seen.add(last);
    const flow = (Object.hasOwn(flows, last) ? flows[last] : null) ?? null;
    const next = flow === null ? [] : stepsEverywhere(flow).flatMap(({ step }) => step.flow ?? []);
    for (const name of next) chains.push([...chain, name]);
  }
  return null;
}
