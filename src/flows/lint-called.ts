// lint-called: lints calls of other flows: each exists, accepts its options, and no calls form a
// cycle.

import type { Flow } from "../contracts/flow.ts";
import { shown, type DataPath } from "../kit/finding.ts";
import { didYouMean } from "../kit/suggest.ts";
import { fitsOption, describeOption } from "./lint-shape.ts";
import type { CalledFlows, Lint } from "./lint-subject.ts";
import { listAllSteps } from "./step-lists.ts";

/**
 * The flows that a flow calls: each exists, takes the options it is given, and none leads back to a
 * flow that waits for it.
 */
export function lintCalled(lint: Lint): void {
  const flows = lint.registry.flows;
  if (flows === undefined) return;
  for (const { step, path } of listAllSteps(lint.flow)) {
    if (step.flow === undefined) continue;
    const flowPath = [...path, "flow"];
    const names = Object.keys(flows);

    if (!Object.hasOwn(flows, step.flow)) {
      lint.reportAt(
        flowPath,
        "unknown_flow",
        `found the unknown flow ${shown(step.flow)}, expected one of ${names.join(", ")}.${didYouMean(step.flow, names)}`,
      );

      continue;
    }

    const calledFlow = flows[step.flow] ?? null;
    if (calledFlow === null) {
      lint.reportAt(
        flowPath,
        "called_invalid",
        `found the flow ${shown(step.flow)}, which cannot be read itself: autopilot flow lint ${step.flow}`,
      );

      continue;
    }

    lintOptions(lint, calledFlow, step.with ?? {}, [...path, "with"]);
    const cycle = findCallCycle(lint.flow.flow, step.flow, flows);
    if (cycle !== null) {
      lint.reportAt(
        flowPath,
        "flow_ring",
        `found flows that call each other for ever: ${cycle.join(" -> ")}, expected each to come to its end`,
      );
    }
  }
}

function lintOptions(
  { reportAt }: Lint,
  calledFlow: Flow,
  values: Readonly<Record<string, unknown>>,
  path: DataPath,
): void {
  const declaredOptions = calledFlow.options ?? {};
  for (const [name, value] of Object.entries(values)) {
    const option = Object.hasOwn(declaredOptions, name) ? declaredOptions[name] : undefined;
    if (option === undefined) {
      reportAt(
        [...path, name],
        "unknown_option",
        `found the option ${shown(name)}, which the flow ${calledFlow.flow} does not have.${didYouMean(name, Object.keys(declaredOptions))}`,
      );
    } else if (!fitsOption(option, value)) {
      reportAt(
        [...path, name],
        "option_value",
        `found ${shown(value)}, expected ${describeOption(option)}`,
      );
    }
  }
}

/** The chain of calls from a called flow back to its caller, or null. */
function findCallCycle(
  caller: string,
  called: string,
  flows: CalledFlows,
): readonly string[] | null {
  const visitedNames = new Set<string>();
  const chains: (readonly string[])[] = [[caller, called]];
  for (const chain of chains) {
    const lastName = chain.at(-1) ?? "";
    if (lastName === caller) return chain;
    if (visitedNames.has(lastName)) continue;
    visitedNames.add(lastName);
    const lastFlow = (Object.hasOwn(flows, lastName) ? flows[lastName] : null) ?? null;
    const calledNames =
      lastFlow === null ? [] : listAllSteps(lastFlow).flatMap(({ step }) => step.flow ?? []);
    for (const name of calledNames) chains.push([...chain, name]); // grows the list that this loop goes through
  }

  return null;
}
