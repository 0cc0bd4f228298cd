import { expect, test } from "vitest";
import { chanceOf } from "./chance.ts";
import { flowOf } from "./flows.ts";
import { live } from "./live.ts";
import type { Story } from "./story.ts";
import { crashable, resumed } from "./sweeping.ts";
import { seed as seedOfRun } from "../support/sampled.ts";

/** A sample in an everyday run of the suite. */
const isWhole = process.env["AUTOPILOT_SIMULATION"] === "all";
const runsMin = isWhole ? 2_000 : 50;
const first = isWhole ? 1 : 1 + ((seedOfRun * runsMin) % 500);
const played = `(seeds ${first} to ${first + runsMin - 1})`;

test(`simulated runs under random power cuts: faults on, then off, and every one ends as it should ${played}`, async () => {
  let cuts = 0;
  const short = crashable.filter(({ isLong }) => isLong !== true); // shipped.test.ts cuts the others

  for (let seed = first; seed < first + runsMin; seed++) {
    const story = short[seed % short.length] as Story;
    const chance = chanceOf(seed * 7919);

    const lived = await live(story, flowOf(story.flow), {
      chance,
      cutProbability: 0.004,
      faultsUntilTick: 600,
      survivors: chance.isTrue(0.5),
      people: resumed(story),
    });
    cuts += lived.cuts;
    expect(
      story.endsWell(lived.run, lived.journal),
      `seed ${seed}: ${story.name} (${lived.why})`,
    ).toBe(true);

    expect(
      new Set(lived.disk.commits.map(({ key }) => key)).size,
      `seed ${seed}: committed twice`,
    ).toBe(lived.disk.commits.length);
  }

  expect(cuts, "faults fired").toBeGreaterThan(runsMin / 2);
});
