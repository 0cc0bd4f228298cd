import { describe, expect, test } from "vitest";
import { chanceOf } from "./chance.ts";
import { flowOf } from "./flows.ts";
import { essenceOf, live, type Lived } from "./live.ts";
import { stories } from "./stories.ts";
import type { Story } from "./story.ts";
import type { Request } from "../../src/ports/inbox.ts";

// Every story is lived through a power cut at every moment, with and without agents that survive it; through random interleavings;
// with a pause, a pause --now and a stop at every moment. What must hold: the same end, nothing bought twice, nothing committed twice.

const crashable = stories.filter(({ isCrashFree }) => isCrashFree !== true);
const stride = 1;

describe("a power cut at every tick ends in the same state", () => {
  test.each(crashable.map((story) => [story.name, story] as const))("%s", async (_name, story) => {
    const flow = flowOf(story.flow);
    const calm = await live(story, flow);
    const want = essenceOf(calm);
    for (let tick = 1; tick <= calm.ticks; tick += stride) {
      for (const survivors of [false, true]) {
        const lived = await live(story, flow, { cuts: [tick], survivors });
        expect(lived.cuts, `the cut at tick ${tick} fired`).toBe(1);
        expect(essenceOf(lived), `cut at tick ${tick}, survivors ${survivors}`).toBe(want);
        nothingTwice(lived, calm, `cut at tick ${tick}`);
      }
    }
  });
});

describe("random interleavings of what goes on side by side end in the same state", () => {
  test.each(stories.map((story) => [story.name, story] as const))("%s", async (_name, story) => {
    const flow = flowOf(story.flow);
    const want = essenceOf(await live(story, flow));
    for (let seed = 1; seed <= 20; seed++) {
      expect(essenceOf(await live(story, flow, { chance: chanceOf(seed) })), `seed ${seed}`).toBe(want);
    }
  });
});

describe("a request at every moment is served, and nothing is left alive", () => {
  const kinds = [
    ["pause", { control: "pause", now: false }],
    ["pause --now", { control: "pause", now: true }],
    ["stop", { control: "stop", now: true }],
  ] as const;
  test.each(crashable.flatMap((story) => kinds.map(([kind, asked]) => [`${kind}: ${story.name}`, story, asked] as const)))("%s", async (_name, story, asked) => {
    const flow = flowOf(story.flow);
    const calm = await live(story, flow);
    const want = essenceOf(calm);
    for (let tick = 1; tick <= calm.ticks; tick += 3) {
      const lived = await live(story, flow, { onTick: once(tick, asked), people: resumed(story) });
      expect(lived.disk.alive.size, `agents alive after ${asked.control} at tick ${tick}`).toBe(0);
      if (asked.control === "stop") {
        expect(["stopped", "completed", calm.run.status], `stop at tick ${tick}`).toContain(lived.run.status);
        expect(Object.values(lived.run.open).filter(({ stage }) => stage !== "walking")).toEqual([]);
      } else {
        expect(essenceOf(lived), `${asked.control} at tick ${tick}`).toBe(want);
      }
    }
  });
});

test("2,000 simulated runs under random power cuts: faults on, then off, and every one ends as it should", async () => {
  let [cuts, runs] = [0, 0];
  for (let seed = 1; runs < 2_000; seed++) {
    const story = crashable[seed % crashable.length] as Story;
    const chance = chanceOf(seed * 7919);
    const lived = await live(story, flowOf(story.flow), { chance, cutProbability: 0.004, faultsUntilTick: 600, survivors: chance.isTrue(0.5), people: resumed(story) });
    runs++;
    cuts += lived.cuts;
    expect(story.endsWell(lived.run, lived.journal) || lived.run.reason === "crash_loop", `seed ${seed}: ${story.name} (${lived.why})`).toBe(true);
    expect(new Set(lived.disk.commits.map(({ key }) => key)).size, `seed ${seed}: committed twice`).toBe(lived.disk.commits.length);
  }
  expect(cuts, "faults fired").toBeGreaterThan(1_000);
});

/** No commit twice, no turn bought again beyond those the cut interrupted, no usage lost. */
function nothingTwice(lived: Lived, calm: Lived, when: string): void {
  expect(new Set(lived.disk.commits.map(({ key }) => key)).size, `${when}: a commit was made twice`).toBe(lived.disk.commits.length);
  const repeated = lived.journal.filter((entry) => entry.event === "attempt_settled" && entry.doubt.kind === "agent" && entry.remedy === "repeat").length;
  expect(lived.disk.turns.length, `${when}: a paid turn was bought again`).toBeLessThanOrEqual(calm.disk.turns.length + repeated);
  expect(lived.run.ledger.run.tokens, `${when}: usage was lost`).toBeGreaterThanOrEqual(lived.disk.spent);
}

function once(tick: number, asked: { control: "pause" | "stop"; now: boolean }) {
  let isSent = false;
  return (disk: Lived["disk"], now: number): void => {
    if (isSent || now < tick) return;
    isSent = true;
    disk.inbox.push({ event: "control_requested", request: `control:${tick}`, actor: "operator:story", ...asked } as Request);
    disk.ring?.();
  };
}

/** The story's own people, and somebody who resumes what an operator paused or a crash loop held. */
function resumed(story: Story): NonNullable<Story["people"]> {
  return (run, why) => {
    if (why === "operator_paused" || why === "crash_loop") return [{ event: "run_resumed", request: `again:${run.seq}`, now: true } as Omit<Request, "actor">];
    return story.people?.(run, why) ?? null;
  };
}

