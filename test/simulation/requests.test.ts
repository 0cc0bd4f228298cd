import { describe, expect } from "vitest";
import { flowOf } from "./flows.ts";
import { essenceOf, live, type Lived } from "./live.ts";
import { crashable, momentsOf, resumed } from "./sweeping.ts";
import { aFew } from "../support/sampled.ts";

/** More of them with AUTOPILOT_SIMULATION=all. */
const momentsMax = process.env["AUTOPILOT_SIMULATION"] === "all" ? 60 : 5;
const kinds = [
  ["pause", { control: "pause", now: false }],
  ["pause --now", { control: "pause", now: true }],
  ["stop", { control: "stop", now: true }],
] as const;

describe("a request at any moment is served, and no agent is left alive", () => {
  aFew(9).each(
    crashable.flatMap((story) =>
      kinds.map(([kind, asked]) => [`${kind}: ${story.name}`, story, asked] as const),
    ),
  )("%s", async (_name, story, asked) => {
    const flow = flowOf(story.flow);
    const calm = await live(story, flow);
    const want = essenceOf(calm);
    let served = 0;

    for (const tick of momentsOf(calm.ticks, momentsMax, story)) {
      const lived = await live(story, flow, { onTick: once(tick, asked), people: resumed(story) });
      expect(lived.disk.alive.size, `agents alive after ${asked.control} at tick ${tick}`).toBe(0);
      served += lived.journal.some(({ event }) => event === "control_requested") ? 1 : 0;

      if (asked.control === "stop") {
        expect(["stopped", "completed", calm.run.status], `stop at tick ${tick}`).toContain(
          lived.run.status,
        );

        const underWay = Object.values(lived.run.open).filter(
          ({ stage }) => stage === "started" || stage === "reading",
        );
        expect(underWay, `under way after stop at tick ${tick}`).toEqual([]);
      } else {
        expect(essenceOf(lived), `${asked.control} at tick ${tick}`).toBe(want);
      }
    }

    expect(served, "requests were journaled").toBeGreaterThan(0);
  });
});

function once(tick: number, asked: { control: "pause" | "stop"; now: boolean }) {
  let isSent = false;
  return (disk: Lived["disk"], now: number): void => {
    if (isSent || now < tick) return;
    isSent = true;
    disk.requests.push({
      event: "control_requested",
      request: `control:${tick}`,
      actor: "operator:story",
      ...asked,
    });

    disk.ring?.();
  };
}
