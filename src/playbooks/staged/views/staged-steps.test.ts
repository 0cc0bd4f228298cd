import { expect, test } from "vitest";
import { loadBuiltInFlow } from "../../../flows/load.ts";
import { stagedSteps } from "./staged-steps.ts";

test.each(Object.entries(stagedSteps))(
  "the steps of %s are those of its flow",
  async (flow, steps) => {
    const found = await loadBuiltInFlow(flow);
    if (found?.kind !== "loaded") throw new Error(JSON.stringify(found));
    const { phases } = found.flow;
    const names = Array.isArray(phases)
      ? phases.map(({ name }: { name?: string | undefined }) => name)
      : [];
    expect(names).toEqual(steps);
  },
);
