// What must hold on every run: whole runs are made from a seed, over all fixture flows, and looked
// at entry by entry.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { flows } from "../../test/simulation/support/flows.ts";
import {
  type Lived,
  live,
  resume,
  type Scenario,
} from "../../test/simulation/support/scenarios.ts";
import type { Plan } from "../../test/simulation/support/stage.ts";
import { isLong } from "../../test/support/sampled.ts";
import { decide } from "./decide.ts";
import { fold, openFold } from "./fold.ts";
import type { Run } from "./state.ts";

const names = Object.keys(flows);
const restsMax = 12;

/** A number from a seed and a place: the same place always gets the same. */
function drawn(seed: number, place: string, below: number): number {
  let mixed = seed ^ 0x9e3779b9;
  for (const character of place) {
    mixed = Math.imul(mixed ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }

  return ((mixed ^ (mixed >>> 15)) >>> 0) % below;
}

/** Agents, checks and people that do what the format says. */
function scenarioOf(flow: string, seed: number): Scenario {
  const words = [true, false, "proceed", "debug", "halt", "revert", 0, 1, 5, 9];
  const pick = (place: string) => words[drawn(seed, place, words.length)] ?? true;
  let rests = 0;

  return {
    flow,
    drafted: {
      run: { tokens: 4_000, retries: 12 },
      phase: { tokens: 2_000 },
      options: { max_cycles: 3 },
    },
    script: {
      phases: [
        { id: "1", after: [] },
        { id: "2", after: ["1"] },
        { id: "3", after: ["1", "2"] },
      ],
      plan: ({ phase, step, n, task, visit }): Plan => {
        const place = `${phase}.${step}.${n}.${task}.${visit}`;
        const facts = Object.fromEntries(
          ["complete", "gaps", "route", "verdict", "present", "plan_exists", "ui_project"].map(
            (name) => [name, pick(`${place}.${name}`)],
          ),
        );

        const says = Object.fromEntries(
          ["pass", "confidence", "recommendation", "alignment_score", "asks"].map((name) => [
            name,
            pick(`${place}.${name}`),
          ]),
        );

        const tasks = ["a", "b", "c"].slice(0, drawn(seed, `${place}.tasks`, 4)).map((id) => ({
          id,
          files: [id],
          after: id === "c" && drawn(seed, place, 2) === 0 ? ["a"] : [],
        }));

        const fails = drawn(seed, `${place}.fails`, 4) === 0;
        const cut = drawn(seed, `${place}.cut`, 9) === 0;
        return {
          facts,
          says,
          tasks,
          progress: drawn(seed, `${place}.progress`, 5) > 0,
          asks: drawn(seed, `${place}.asks`, 2),
          ...(fails ? { fail: `failed_${drawn(seed, place, 3)}` } : {}),
          ...(cut ? { interrupt: "provider" as const } : {}),
        };
      },
    },
    user: (run, why) => {
      if (++rests > restsMax || run.status === "completed" || run.status === "stopped") return null;
      if (why === "budget_threshold_reached") {
        return [
          {
            event: "limit_raised",
            request: `run:${run.opening}`,
            scope: "run",
            dimension: "tokens",
            to: (run.limits.run["tokens"] ?? 0) + 2_000,
          },
          {
            event: "limit_raised",
            request: `phase:${run.opening}`,
            scope: "phase",
            dimension: "tokens",
            to: (run.limits.phase["tokens"] ?? 0) + 1_000,
          },
          resume(run),
        ];
      }

      const answers = Object.values(run.blocks).map(({ block, options }) => {
        const keys = Object.keys(options);
        return {
          event: "block_answered" as const,
          request: `${block}:${run.opening}`,
          block,
          answer: keys[drawn(seed, block, Math.max(1, keys.length))] ?? "words",
        };
      });
      return [...answers, ...(run.status === "paused" ? [resume(run)] : [])];
    },
  };
}

const lives = fc
  .tuple(
    fc.constantFrom(...names),
    fc.integer(),
    fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 3 }),
  )
  .map(([flow, seed, cuts]): { name: string; lived: Lived } => {
    const sorted = [...new Set(cuts)].toSorted((a, b) => a - b);
    const request = { turn: 0 };
    return {
      name: `${flow} ${seed}`,
      lived: live(scenarioOf(flow, seed), {
        cuts: sorted,
        pick: (size) => drawn(seed, `${request.turn++}`, size),
      }),
    };
  });
const runs = { numRuns: isLong ? 40 : 15 };

test("no run is refused by its own fold, no turn begins that cannot be afforded, every run rests", () => {
  fc.assert(
    fc.property(lives, ({ lived }) => {
      expect(["completed", "stopped", "paused", "running"]).toContain(lived.tape.run.status);
    }),
    runs,
  );
}, 60_000);

test("the ledger only grows", () => {
  fc.assert(
    fc.property(lives, ({ lived }) => {
      const folding = openFold();
      let before = { tokens: 0, minutes: 0, calls: 0, usd: 0, estimated: 0 };

      for (const entry of lived.tape.entries) {
        folding.apply(entry);
        const { run } = (folding.state as Run).ledger;

        for (const [dimension, spent] of Object.entries(before)) {
          expect(run[dimension as "tokens"]).toBeGreaterThanOrEqual(spent);
        }

        before = { ...run };
      }
    }),
    runs,
  );
}, 60_000);

test("a snapshot anywhere, through JSON, and the rest: the same state and the same decisions as from the beginning", () => {
  fc.assert(
    fc.property(lives, fc.nat(), ({ lived }, index) => {
      const { entries } = lived.tape;
      const cut = 1 + (index % (entries.length - 1));
      const whole = openFold();
      for (const entry of entries.slice(0, cut)) whole.apply(entry);
      const snapped = openFold(JSON.parse(JSON.stringify(whole.state)) as Run);

      for (const entry of entries.slice(cut)) {
        expect(decide(snapped.state)).toEqual(decide(whole.state));
        whole.apply(entry);
        snapped.apply(entry);
      }

      expect(snapped.state).toEqual(fold(entries));
      expect(JSON.parse(JSON.stringify(snapped.state))).toEqual(snapped.state);
    }),
    runs,
  );
}, 60_000);

test("what a snapshot was taken from is not changed by who goes on from it", () => {
  const { tape } = live(scenarioOf("roadmap", 7));
  const snapshot = fold(tape.entries.slice(0, 20)) as Run;
  const kept = JSON.stringify(snapshot);
  fold(tape.entries.slice(20), snapshot);
  expect(JSON.stringify(snapshot)).toBe(kept);
});

test("names that every object has are names like any other", () => {
  const run = fold(live(scenarioOf("notes", 1)).tape.entries) as Run;
  expect(
    decide({ ...run, status: "running", requests: {}, drafted: { ...run.drafted, options: {} } }),
  ).toBeDefined();
});
