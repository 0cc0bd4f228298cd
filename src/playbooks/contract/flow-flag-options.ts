// flow-flag-options: turns flow-specific flags (--continue, --with, --tasks) into option values of
// the flow.

import type { Scalar } from "../../contracts/flow.ts";
import type { StagedAsks } from "../../contracts/staged-asks.ts";
import type { FlowView } from "../../core/state.ts";
import { refuse } from "../../project/respond.ts";

/**
 * Options that are fixed for the whole run when it is drafted. Refuses a flag that the flow has no
 * option for.
 */
export function buildRunOptions(
  flow: FlowView,
  { with: requestedSteps = [], tasks }: StagedAsks,
): Record<string, Scalar> {
  const declaredOptions = flow.options ?? {};
  const optionalSteps = Object.keys(declaredOptions).filter(
    (name) => declaredOptions[name]?.one_of?.includes("do") === true,
  );
  const stepsHint = optionalSteps.length === 0 ? "" : `, which has ${optionalSteps.join(", ")}`;

  for (const name of requestedSteps) {
    if (!optionalSteps.includes(name)) refuseFlag(flow, `--with ${name}`, stepsHint);
  }

  if (tasks !== undefined && !Object.hasOwn(declaredOptions, "more_tasks")) {
    refuseFlag(flow, "--tasks");
  }

  return {
    ...Object.fromEntries(requestedSteps.map((name) => [name, "do"])),
    ...(tasks === undefined ? {} : { more_tasks: tasks - 1 }), // the flow counts the tasks after the first
  };
}

/** Options that hold for this invocation only; they override those of the run. */
export function buildInvocationOptions(
  flow: FlowView,
  flags: StagedAsks,
  isTerminal: boolean,
): Record<string, Scalar> {
  const declaredOptions = flow.options ?? {};
  if (flags.continue === true && !Object.hasOwn(declaredOptions, "continue")) {
    refuseFlag(flow, "--continue");
  }

  return {
    ...buildRunOptions(flow, flags),
    ...(flags.continue === true ? { continue: true } : {}),
    ...(Object.hasOwn(declaredOptions, "attended") ? { attended: isTerminal } : {}),
  };
}

function refuseFlag(flow: FlowView, flag: string, optionsHint = ""): never {
  return refuse("objective_schema_invalid", {
    message: `${flag} means nothing to the flow ${flow.flow}${optionsHint}.`,
    remediation: [`autopilot flow show ${flow.flow}`],
    data: { field: flag.split(" ")[0]?.slice(2) ?? "", missing_fields: [] },
  });
}
