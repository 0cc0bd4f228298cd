import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Script, TurnFacts } from "../../contracts/script.ts";
import { chooseTurn } from "./choose-turn.ts";

const facts = (changes: Partial<TurnFacts> = {}): TurnFacts => ({
  flow: "objective",
  phase: "1",
  step: "execute",
  role: "executor",
  task: null,
  attempt: 1,
  ask: 1,
  ...changes,
});

test("for each prompt the first unused turn that matches is played", () => {
  const script: Script = {
    turns: [{ when: { step: "plan" } }, { when: { step: "execute" } }, {}, { repeat: 2 }],
  };
  expect(chooseTurn(script, [], facts())).toBe(1);
  expect(chooseTurn(script, [facts()], facts({ attempt: 2 }))).toBe(2);
  expect(chooseTurn(script, [facts(), facts()], facts())).toBe(3);
  expect(chooseTurn(script, [facts(), facts(), facts()], facts())).toBe(3);
  expect(chooseTurn(script, [facts(), facts(), facts(), facts()], facts())).toBe(null);
  expect(chooseTurn(script, [facts(), facts(), facts(), facts()], facts({ step: "plan" }))).toBe(0);
});

test("a turn with repeat 0 is played for ever", () => {
  expect(
    chooseTurn(
      { turns: [{ repeat: 0 }] },
      Array.from({ length: 1000 }, () => facts()),
      facts(),
    ),
  ).toBe(0);
});

test.each([
  [{ flow: "roadmap" }, false],
  [{ flow: "objective", phase: "1", step: "execute", role: "executor", attempt: 1, ask: 1 }, true],
  [{ phase: 1 }, true],
  [{ phase: "01" }, false],
  [{ task: "03-01" }, false],
  [{ ask: 2 }, false],
  [{ attempt: 2 }, false],
  [{}, true],
])("when %o matches an ordinary turn: %o", (when, expected) => {
  expect(chooseTurn({ turns: [{ when }] }, [], facts()) === 0).toBe(expected);
});

test("no match plays nothing, and a history that matches nothing uses nothing up", () => {
  const script: Script = { turns: [{ when: { role: "judge" } }] };
  expect(chooseTurn(script, [facts(), facts()], facts())).toBe(null);
  expect(chooseTurn(script, [facts(), facts()], facts({ role: "judge" }))).toBe(0);
});

const step = fc.constantFrom("plan", "execute", "review");
const anyFacts = fc
  .record({ step, attempt: fc.integer({ min: 1, max: 3 }) })
  .map((some) => facts(some));
const anyScript: fc.Arbitrary<Script> = fc.record({
  turns: fc.array(
    fc
      .record({
        step: fc.option(step),
        attempt: fc.option(fc.integer({ min: 1, max: 3 })),
        repeat: fc.integer({ min: 0, max: 3 }),
      })
      .map(({ step, attempt, repeat }) => ({
        when: { ...(step === null ? {} : { step }), ...(attempt === null ? {} : { attempt }) },
        repeat,
      })),
    { maxLength: 8 },
  ),
});

test("pull the plug anywhere: replaying any prefix gives the choices that were made", () => {
  fc.assert(
    fc.property(
      anyScript,
      fc.array(anyFacts, { maxLength: 12 }),
      fc.nat(),
      (script, turns, cut) => {
        const straight = turns.map((me, index) => chooseTurn(script, turns.slice(0, index), me));
        // A process that dies in turn `n` is followed by one that knows the journal only; it
        // continues from there.
        const n = turns.length === 0 ? 0 : cut % turns.length;
        const resumed = turns
          .slice(n)
          .map((me, index) => chooseTurn(script, turns.slice(0, n + index), me));
        expect(resumed).toEqual(straight.slice(n));
      },
    ),
  );
});

test("no turn is played more often than it may be, and only where it matches", () => {
  fc.assert(
    fc.property(anyScript, fc.array(anyFacts, { maxLength: 20 }), (script, turns) => {
      const choices = turns.map((me, index) => chooseTurn(script, turns.slice(0, index), me));
      script.turns.forEach(({ repeat = 1, when = {} }, place) => {
        const played = choices.flatMap((choice, index) => (choice === place ? [turns[index]] : []));
        if (repeat > 0) expect(played.length).toBeLessThanOrEqual(repeat);
        for (const me of played) expect(me).toMatchObject(when);
      });
    }),
  );
});
