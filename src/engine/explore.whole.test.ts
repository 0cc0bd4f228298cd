// Every path of every shipped flow: seconds of computing, so it is part of `npm test` and not of
// `npm run check`.

import { describe, expect, test } from "vitest";
import { shippedFlows } from "../../test/simulation/shipped.ts";
import { isLong, playedOf, sampled } from "../../test/support/sampled.ts";
import { exploreFlow } from "./explore.ts";
import { listOptionSets } from "./explore-domains.ts";

describe("no path of a shipped flow completes past a failed proof, ends nowhere or goes round for ever", () => {
  for (const [name, flow] of shippedFlows) {
    const all = listOptionSets(flow);
    test(`${name}${playedOf(1, all.length)}`, () => {
      for (const options of isLong ? [undefined] : sampled(1, all)) {
        const { findings, gaveUp, ends } = exploreFlow(
          flow,
          options === undefined ? {} : { options },
        );
        expect(findings).toEqual([]);
        expect(gaveUp).toBe(false);
        expect(ends.completed).toBeGreaterThan(0);
      }
    });
  }
});
