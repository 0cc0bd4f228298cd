// The pure core under a power cut at every moment of every story, twice in a row, in another order of the deeds, and with people who interrupt.

import { describe, expect, test } from "vitest";
import { essenceOf, live, resume } from "./support/scenarios.ts";
import { stories } from "./support/stories.ts";

const same = Object.entries(stories).filter(([, { isCrashFree }]) => isCrashFree !== true); // A crash is a new invocation, and its cap counts anew.

const cutsMax = 300;
const strideOf = (ticks: number, most = cutsMax): number => Math.max(1, Math.ceil(ticks / most));

describe(`the plug is pulled at every moment, of long stories at ${cutsMax} of them`, () => {
  for (const [name, story] of same) {
    test(name, () => {
      const whole = live(story);
      const essence = essenceOf(whole);
      for (let cut = 1; cut <= whole.ticks; cut += strideOf(whole.ticks)) {
        const lived = live(story, { cuts: [cut] });
        expect(lived.crashes, `the cut at ${cut} fired`).toBe(1);
        expect(essenceOf(lived), `cut at ${cut}`).toEqual(essence);
      }
    });
  }
});

describe("the plug is pulled twice", () => {
  for (const [name, story] of same) {
    test(name, () => {
      const whole = live(story);
      const essence = essenceOf(whole);
      const stride = strideOf(whole.ticks, 40);
      for (let cut = 1; cut <= whole.ticks; cut += stride) {
        for (const later of [2, 17]) {
          const lived = live(story, { cuts: [cut, cut + later] });
          expect(lived.crashes, `the cut at ${cut} fired`).toBeGreaterThan(0);
          expect(essenceOf(lived), `cuts at ${cut} and ${cut + later}`).toEqual(essence);
        }
      }
    });
  }
});

describe("an operator pauses at once, at every moment, and resumes", () => {
  for (const [name, story] of same) {
    test(name, () => {
      const whole = live(story);
      const essence = essenceOf(whole);
      const stride = strideOf(whole.ticks, 100);
      let pauses = 0;
      for (let at = 1; at <= whole.ticks; at += stride) {
        const lived = live(
          { ...story, user: (run, why) => (why === "operator_paused" ? [resume(run)] : (story.user?.(run, why) ?? null)) },
          { before: (tick, disk) => tick === at && disk.inbox.push({ event: "control_requested", request: `pause:${at}`, control: "pause", now: true }) },
        );
        pauses += lived.tape.entries.filter(({ event, reason_code }) => event === "run_paused" && reason_code === "operator_paused").length;
        expect(essenceOf(lived), `paused at ${at}`).toEqual(essence);
      }
      expect(pauses, "the pauses fired").toBeGreaterThan(0);
    });
  }
});

test("the operator stops at every moment: the run is stopped and nothing lives on", () => {
  for (const [name, story] of same) {
    const whole = live(story);
    const stride = strideOf(whole.ticks, 40);
    for (let at = 1; at <= whole.ticks; at += stride) {
      const lived = live({ ...story, user: (run, why) => (run.status === "stopped" ? null : run.asked === "stop" ? [] : (story.user?.(run, why) ?? null)) }, {
        before: (tick, disk) => tick === at && disk.inbox.push({ event: "control_requested", request: "stop:1", control: "stop", now: true }),
      });
      const { run } = lived.tape;
      const isLate = ["completed", "stopped", "paused"].includes(whole.tape.run.status) && run.requests["stop:1"] === undefined;
      if (isLate) continue;
      expect(run.status, `${name} at ${at}`).toBe("stopped");
      expect(Object.values(run.open).filter(({ stage }) => stage === "started" || stage === "reading")).toEqual([]);
    }
  }
});
