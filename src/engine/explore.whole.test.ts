// Every path of every shipped flow: seconds of computing, so it is part of `npm test` and not of `npm run check`.

import { describe, expect, test } from "vitest";
import { shippedFlows } from "../../test/simulation/shipped.ts";
import { exploreFlow } from "./explore.ts";

describe("no path of a shipped flow completes past a failed proof, ends nowhere or goes round for ever", () => {
  test.each([...shippedFlows])("%s", (_name, flow) => {
    const { findings, gaveUp, ends } = exploreFlow(flow);
    expect(findings).toEqual([]);
    expect(gaveUp).toBe(false);
    expect(ends.completed).toBeGreaterThan(0);
  });
});
