// asks: turns flow-specific flags (--continue, --with, --tasks) into option values of the flow.

import type { Scalar } from "../../contracts/flow.ts";
import type { Asks } from "../../contracts/asks.ts";
import type { FlowView } from "../../core/state.ts";
import { refuse } from "../../project/respond.ts";

/** Options that are fixed for the whole run when it is drafted. Refuses a flag that the flow has no option for. */
export function runOptionsFrom(flow: FlowView, { with: steps = [], tasks }: Asks): Record<string, Scalar> {
  const declared = flow.options ?? {};
  const optionalSteps = Object.keys(declared).filter((name) => declared[name]?.one_of?.includes("do") === true);
  for (const name of steps)
    if (!optionalSteps.includes(name))
      refuseAsk(flow, `--with ${name}`, optionalSteps.length === 0 ? "" : `, which has ${optionalSteps.join(", ")}`);
  if (tasks !== undefined && !Object.hasOwn(declared, "more_tasks")) refuseAsk(flow, "--tasks");
  return {
    ...Object.fromEntries(steps.map((name) => [name, "do"])),
    ...(tasks === undefined ? {} : { more_tasks: tasks - 1 }),
  };
}

/** Options that hold for this invocation only; they override those of the run. */
export function invocationOptionsFrom(flow: FlowView, asks: Asks, isTerminal: boolean): Record<string, Scalar> {
  const declared = flow.options ?? {};
  if (asks.continue === true && !Object.hasOwn(declared, "continue")) refuseAsk(flow, "--continue");
  return {
    ...runOptionsFrom(flow, asks),
    ...(asks.continue === true ? { continue: true } : {}),
    ...(Object.hasOwn(declared, "attended") ? { attended: isTerminal } : {}),
  };
}

function refuseAsk(flow: FlowView, flag: string, optionsHint = ""): never {
  return refuse("objective_schema_invalid", {
    message: `${flag} means nothing to the flow ${flow.flow}${optionsHint}.`,
    remediation: [`autopilot flow show ${flow.flow}`],
    data: { field: flag.split(" ")[0]?.slice(2) ?? "", missing_fields: [] },
  });
}
