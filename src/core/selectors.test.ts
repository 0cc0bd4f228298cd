// What a condition is read against, and what is forgotten on a way back.

import { describe, expect, test } from "vitest";
import type { Draft } from "../contracts/event.ts";
import { begun, opened } from "../../test/simulation/support/tape.ts";
import {
  began,
  failed,
  flow,
  flowWith,
  looked,
  passed,
  phase,
  turned,
  worked,
} from "../../test/simulation/support/words.ts";
import { countValue, matchesCondition, noPosition, shouldRun } from "./selectors.ts";

describe("a condition", () => {
  const optional = flowWith({
    options: { floor: { type: "number", default: 0.6 } },
    before: [{ id: "docs", steps: [{ id: "see", run: "s" }] }],
  });

  const see = "before.docs@1/see#1";
  const tape = begun(optional, { options: { mode: "fast" } }).append(
    { event: "phase_started", walk: "before.docs" },
    { event: "step_started", walk: "before.docs", step: "see", attempt: see, kind: "run", try: 1 },
    { event: "step_completed", attempt: see, facts: { kind: "new", size: 3 } },
    { event: "phase_completed", walk: "before.docs" },
    phase,
    began("plan", 1, "run"),
    passed("plan", 1, { route: "full", score: 0.5, isThere: true }),
  );

  const { run } = tape;
  const place = run.cursors["1"] ?? noPosition;

  const cases: readonly [string, Parameters<typeof matchesCondition>[2], boolean][] = [
    ["none holds always", undefined, true],
    ["an outcome", { plan: "passed" }, true],
    ["another outcome", { plan: "failed" }, false],
    ["a fact that is equal", { "plan.route": "full", "plan.isThere": true }, true],
    ["one of several", { "plan.route": ["short", "full"] }, true],
    ["none of several", { "plan.route": ["short", "none"] }, false],
    ["below", { "plan.score": { below: 0.6 } }, true],
    ["not below itself", { "plan.score": { below: 0.5 } }, false],
    ["at least", { "plan.score": { min: 0.5 } }, true],
    ["less than at least", { "plan.score": { min: 0.6 } }, false],
    ["below what an option says", { "plan.score": { below: "option.floor" } }, true],
    ["an option", { "option.mode": "fast" }, true],
    ["an option nobody set", { "option.nobody": false }, true],
    [
      "a fact of a phase before the phases",
      { "before.docs.see.kind": "new", "before.docs.see.size": { min: 3 } },
      true,
    ],
    ["a count not used yet", { "count.round": 0 }, true],
    ["all of it, or none", { plan: "passed", "plan.route": "short" }, false],
    ["an absent fact is not equal", { "plan.nothing": "full" }, false],
    ["an absent fact is not false", { "plan.nothing": false }, false],
    ["an absent fact is one of nothing", { "plan.nothing": ["a", false, 0] }, false],
    ["an absent fact is not below", { "plan.nothing": { below: 9 } }, false],
    ["an absent fact is not at least", { "plan.nothing": { min: 0 } }, false],
    ["a step that has not ended", { look: "failed" }, false],
    ["what an agent did not say", { "plan.says.pass": false }, false],
    ["a word is not a number", { "plan.route": { min: 0 } }, false],
    ["a name that every object has", { "plan.constructor": true }, false],
  ];
  test.each(cases)("%s", (_name, when, holds) =>
    expect(matchesCondition(run, place, when)).toBe(holds),
  );
});

test("only_if wants all of it, unless none of several", () => {
  const { run } = begun(flow, { options: { deep: true } }).append(
    phase,
    began("plan", 1, "run"),
    passed("plan", 1, { is_there: true }),
  );
  const place = run.cursors["1"] ?? noPosition;
  expect(shouldRun(run, place, {})).toBe(true);
  expect(shouldRun(run, place, { only_if: { "option.deep": true, plan: "passed" } })).toBe(true);
  expect(shouldRun(run, place, { only_if: { "option.deep": true, plan: "failed" } })).toBe(false);
  expect(
    shouldRun(run, place, {
      unless: [{ plan: "failed" }, { "plan.is_there": true, "count.round": 1 }],
    }),
  ).toBe(true);

  expect(
    shouldRun(run, place, {
      unless: [{ plan: "failed" }, { "plan.is_there": true, "count.round": 0 }],
    }),
  ).toBe(false);
});

test("going back forgets outcomes at and after the target, and no count", () => {
  const back = {
    event: "route_taken",
    walk: "1",
    step: "look",
    to: "work",
    count: "round",
    per: "phase",
    retry: true,
  } as const;

  const { run } = begun(flow).append(...worked, ...looked(1), back);
  expect(Object.keys(run.cursors["1"]?.last ?? {})).toEqual(["plan"]);
  expect(countValue(run, run.cursors["1"] ?? noPosition, "round")).toBe(1);
  expect(run.retries).toBe(1);
});

test("then is never read after a failure, nor otherwise after a success", () => {
  const rows = {
    then: [{ end: "completed" as const }],
    otherwise: [{ end: "failed" as const, because: "sent_back" }],
  };

  const small = flowWith({
    phases: [
      {
        id: "1",
        steps: [
          { id: "work", agent: "worker", prompt: "w.md", ...rows },
          { id: "look", check: ["project"] },
        ],
      },
    ],
  });

  const turn = [phase, began("work", 1, "agent"), turned("work", 1)];
  expect(begun(small).append(...turn, passed("work", 1)).next).toMatchObject({
    event: { event: "phase_completed" },
  });

  expect(begun(small).append(...turn, failed("work", 1)).next).toMatchObject({
    event: { event: "phase_failed", because: "sent_back" },
  });
});

test("a finished phase whose artifacts are gone is run again, as another visit", () => {
  const done = [
    ...worked,
    began("look", 1, "check"),
    passed("look", 1),
    { event: "phase_completed", walk: "1" } as const,
  ];

  const again = begun(flowWith({ recheck: "all" })).append(...done, opened(2), {
    event: "artifacts_surveyed",
    gone: ["1"],
    proved: [],
  });
  expect(again.next).toMatchObject({
    event: { event: "phase_reopened", walk: "1", visit: 2, because: "artifacts_gone" },
  });
});

test("a step of the phase under way whose artifacts are gone is run again, and what came after it with it", () => {
  const survey: Draft = {
    event: "artifacts_surveyed",
    gone: [],
    proved: [],
    lost: [{ walk: "1", step: "work" }],
  };

  const found = begun(flowWith({ recheck: "phase" })).append(...worked, opened(2), survey);
  expect(found.next).toMatchObject({
    event: { event: "route_taken", walk: "1", to: "work", because: "artifacts_gone" },
  });

  const back = found.append({
    event: "route_taken",
    walk: "1",
    step: "look",
    to: "work",
    because: "artifacts_gone",
  });
  expect(Object.keys(back.run.cursors["1"]?.last ?? {})).not.toContain("work");
  expect(back.next).toMatchObject({ do: "attempt", event: { step: "work" } });
});
