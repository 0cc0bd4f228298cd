// Every shipped flow in runs that chance makes: whatever comes out of its steps and wherever the
// power goes, it ends, the same way each time.

import { describe, expect, test } from "vitest";
import { listAllSteps } from "../../src/flows/step-lists.ts";
import { chanceOf } from "./chance.ts";
import { flowOf } from "./flows.ts";
import { essenceOf, live } from "./live.ts";
import { shippedFlows, wandering } from "./shipped.ts";
import { nothingTwice } from "./sweeping.ts";

const seedsMax = 400;
const isWhole = process.env["AUTOPILOT_SIMULATION"] === "all";
const cutSeeds = isWhole ? 200 : 3;
const played = `(seeds 1 to ${cutSeeds})`;

test("the catalog's flows are found where they lie", () => {
  expect(shippedFlows.size).toBeGreaterThan(0);
  for (const [name, flow] of shippedFlows) expect(flow.flow).toBe(name);
});

describe.each([...shippedFlows.keys()])("%s", (name) => {
  test("chance reaches each of its steps, and an end", async () => {
    const flow = shippedFlows.get(name);
    const unreached = new Set(
      flow === undefined ? [] : listAllSteps(flow).map(({ step }) => step.id),
    );

    let completed = 0;
    for (let seed = 1; seed <= seedsMax && (unreached.size > 0 || completed === 0); seed++) {
      const story = wandering(name, seed);
      const { run, journal, why } = await live(story, flowOf(story.flow));
      expect(story.endsWell(run, journal), `seed ${seed}: ${why}`).toBe(true);

      for (const entry of journal) {
        if (entry.event === "step_started" || entry.event === "block_opened") {
          unreached.delete(entry.step);
        }
      }

      completed += run.status === "completed" ? 1 : 0;
    }

    expect([...unreached], "steps that no run came to").toEqual([]);
    expect(completed).toBeGreaterThan(0);
  });

  test(`cut at random, it ends as it would have ${played}`, async () => {
    let cuts = 0;
    for (let seed = 1; seed <= cutSeeds; seed++) {
      const story = wandering(name, seed);
      const calm = await live(story, flowOf(story.flow));
      const chance = chanceOf(seed * 7919);

      const lived = await live(story, flowOf(story.flow), {
        chance,
        cutProbability: 0.01,
        survivors: chance.isTrue(0.5),
        faultsUntilTick: 900,
      });
      cuts += lived.cuts;
      expect(story.endsWell(lived.run, lived.journal), `seed ${seed}: ${lived.why}`).toBe(true);
      expect(lived.disk.alive.size, `seed ${seed}: agents left alive`).toBe(0);
      if (story.isCrashFree === true) continue;
      expect(essenceOf(lived), `seed ${seed}`).toBe(essenceOf(calm));
      nothingTwice(lived, calm, `seed ${seed}`);
    }

    expect(cuts, "faults fired").toBeGreaterThan(0);
  });
});
