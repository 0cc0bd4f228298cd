// asks: what one invocation asks of its flow by flow-specific flags: to go on past boundaries, to do optional steps, how many tasks.

import type { Scalar } from "../../contracts/flow.ts";
import type { Asks } from "../../contracts/asks.ts";
import type { FlowView } from "../../core/state.ts";
import { refuse } from "../../project/reply.ts";

/** The options that hold for the whole of a run when it is drafted with them. Refused by name where the flow knows nothing of them. */
export function lastingAsks(flow: FlowView, { with: steps = [], tasks }: Asks): Record<string, Scalar> {
  const declared = flow.options ?? {};
  const mayBeDone = Object.keys(declared).filter((name) => declared[name]?.one_of?.includes("do") === true);
  for (const name of steps)
    if (!mayBeDone.includes(name)) refuseAsk(flow, `--with ${name}`, mayBeDone.length === 0 ? "" : `, which has ${mayBeDone.join(", ")}`);
  if (tasks !== undefined && !Object.hasOwn(declared, "more_tasks")) refuseAsk(flow, "--tasks");
  return {
    ...Object.fromEntries(steps.map((name) => [name, "do"])),
    ...(tasks === undefined ? {} : { more_tasks: tasks - 1 }),
  };
}

/** The options of this invocation alone, over those of the run. */
export function asksOf(flow: FlowView, asks: Asks, isTerminal: boolean): Record<string, Scalar> {
  const declared = flow.options ?? {};
  if (asks.continue === true && !Object.hasOwn(declared, "continue")) refuseAsk(flow, "--continue");
  return {
    ...lastingAsks(flow, asks),
    ...(asks.continue === true ? { continue: true } : {}),
    ...(Object.hasOwn(declared, "attended") ? { attended: isTerminal } : {}),
  };
}

function refuseAsk(flow: FlowView, flag: string, known = ""): never {
  return refuse("objective_schema_invalid", {
    message: `${flag} means nothing to the flow ${flow.flow}${known}.`,
    remediation: [`autopilot flow show ${flow.flow}`],
    data: { field: flag.split(" ")[0]?.slice(2) ?? "", missing_fields: [] },
  });
}
