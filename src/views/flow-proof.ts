// flow-proof: summarises what a flow's completion rests on: criteria, commands and artifact gates.

import type { FlowView } from "../core/state.ts";

/** What decides that a flow is complete, as far as the flow itself says. */
export type FlowProof = {
  /** Whether it uses done criteria; a flow that calls another is assumed to. */
  readonly isByCriteria: boolean;
  /** Whether it works criterion by criterion, until the agent promises or all of them hold. */
  readonly isPromised: boolean;
  /** Commands that are in the flow itself. */
  readonly commands: readonly string[];
  /** How many steps must leave something behind. */
  readonly gates: number;
};

const criteriaChecks = ["criterion", "criteria"];
const criteriaFunctions = ["next_criterion", "completion"];
/** A check of a flow is the name of a group (`criteria`, `project`) or a command (`npm test`). */
const checkGroupName = /^[a-z][a-z0-9_-]*$/;

export function buildFlowProof(flow: FlowView): FlowProof {
  const phases = [
    ...(flow.before ?? []),
    ...("read" in flow.phases ? [] : flow.phases),
    ...(flow.after ?? []),
  ];
  const topLevelSteps = [
    ...phases.flatMap((phase) => phase.steps),
    ...(flow.steps ?? []),
    ...(flow.closing ?? []),
  ];
  const steps = [
    ...topLevelSteps,
    ...topLevelSteps.flatMap(({ tasks }) => [...(tasks?.each ?? []), ...(tasks?.wave ?? [])]),
  ];
  const checks = steps.flatMap(({ check }) => check ?? []);
  const isPromised = steps.some(({ run }) => run !== undefined && criteriaFunctions.includes(run));

  return {
    isByCriteria:
      isPromised ||
      checks.some((check) => criteriaChecks.includes(check)) ||
      steps.some((step) => step.flow !== undefined),
    isPromised,
    commands: [...new Set(checks.filter((check) => !checkGroupName.test(check)))],
    gates: steps.filter(({ proof }) => (proof?.length ?? 0) > 0).length,
  };
}
