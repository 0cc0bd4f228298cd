import { describe, expect, test } from "vitest";
import { chanceOf } from "./chance.ts";
import { flowOf } from "./flows.ts";
import { essenceOf, live } from "./live.ts";
import { stories } from "./stories.ts";
import { crashable, momentsOf, nothingTwice } from "./sweeping.ts";
import { aFew, seed as seedOfRun } from "../support/sampled.ts";

/** Every moment that matters with AUTOPILOT_SIMULATION=all, a sample otherwise. */
const cutsMax = process.env["AUTOPILOT_SIMULATION"] === "all" ? 120 : 5;
const everyTick = process.env["AUTOPILOT_SIMULATION"] === "all" ? 1 : 3;

describe("a power cut at any moment ends in the same state, nothing bought or committed twice", () => {
  aFew(5).each(crashable.map((story) => [story.name, story] as const))(
    "%s",
    async (_name, story) => {
      const flow = flowOf(story.flow);
      const calm = await live(story, flow);
      const want = essenceOf(calm);

      for (const [n, tick] of momentsOf(calm.ticks, cutsMax, story).entries()) {
        const survivors = n % 2 === 1;
        const lived = await live(story, flow, { cuts: [tick], survivors });
        expect(lived.cuts, `the cut at tick ${tick} fired`).toBe(1);
        expect(essenceOf(lived), `cut at tick ${tick}, survivors ${survivors}`).toBe(want);
        nothingTwice(lived, calm, `cut at tick ${tick}`);
      }
    },
  );
});

describe("any interleaving of what goes on side by side ends in the same state", () => {
  aFew(4).each(stories.map((story) => [story.name, story] as const))("%s", async (_name, story) => {
    const flow = flowOf(story.flow);
    const want = essenceOf(await live(story, flow));

    for (let seed = 1; seed <= 10; seed++) {
      expect(essenceOf(await live(story, flow, { chance: chanceOf(seed) })), `seed ${seed}`).toBe(
        want,
      );
    }
  });
});

test("a power cut while a task waits for its place, or meets another's change: committed in order, and once", async () => {
  const story = stories.find(({ name }) => name.startsWith("waves: two change one file"));
  if (story === undefined) throw new Error("there is a story of two tasks that meet");
  const flow = flowOf(story.flow);
  const calm = await live(story, flow);
  let conflicts = 0;

  for (let tick = 1 + (seedOfRun % everyTick); tick <= calm.ticks; tick += everyTick) {
    const lived = await live(story, flow, { cuts: [tick], survivors: tick % 2 === 0 });
    expect(lived.run.status, `cut at tick ${tick}`).toBe("completed");
    const tasks = lived.disk.commits.flatMap(({ key }) => /\/([a-d])@/.exec(key)?.[1] ?? []);
    expect(tasks.join(""), `cut at tick ${tick}`).toBe("abcd");
    conflicts += lived.journal.some(({ reason_code }) => reason_code === "merge_conflict") ? 1 : 0;
  }

  expect(conflicts, "some cut came before or after the two met").toBeGreaterThan(0);
});

test("a turn that was cut after its artifacts were complete is closed by them, not bought again", async () => {
  const story = stories.find(({ flow }) => flow === "notes");
  if (story === undefined) throw new Error("there is a story of the user's flow");
  const flow = flowOf(story.flow);
  const calm = await live(story, flow);
  let closed = 0;

  for (let tick = 1; tick <= calm.ticks; tick++) {
    const lived = await live(story, flow, { cuts: [tick] });
    if (
      !lived.journal.some((entry) => entry.event === "attempt_settled" && entry.remedy === "close")
    ) {
      continue;
    }

    closed++;
    expect(lived.disk.turns.length).toBe(calm.disk.turns.length);
    expect(lived.disk.commits.length).toBe(calm.disk.commits.length);
  }

  expect(closed, "some cut fell between the artifacts and the turn's line").toBeGreaterThan(0);
});
