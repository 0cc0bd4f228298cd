// The result of a run that its end is worth: by its checks, by its gates where it has no checks,
// and less where its artifacts are hollow.

import { describe, expect, test } from "vitest";
import type { CheckResult } from "../contracts/evidence.ts";
import type { Draft } from "../contracts/event.ts";
import type { Flow } from "../contracts/flow.ts";
import { begun, check, result } from "../../test/simulation/support/tape.ts";
import {
  began,
  failed,
  flowWith,
  passed,
  phase,
  turned,
} from "../../test/simulation/support/words.ts";
import { computeLandingVerdict, computeVerdict, gatesGap, joinGaps, splitGaps } from "./verdict.ts";

const gated = {
  id: "work",
  agent: "worker",
  prompt: "w.md",
  proof: [{ file: "a.md", min_lines: 120 }],
};
const look = { id: "look", check: ["project"] };
const flowOf = (...steps: Record<string, unknown>[]): Flow =>
  flowWith({ counts: {}, phases: [{ id: "1", steps }] } as never);
const turn = (more: Partial<Draft> = {}, n = 1): readonly Draft[] => [
  began("work", n, "agent"),
  turned("work", n),
  { ...passed("work", n), ...more } as Draft,
];
const empty = { file: "a.md", why: "nothing but headings" };

describe("a flow without checks", () => {
  test("is verified by the gates it came past, but for what its documents say", () => {
    expect(computeVerdict(begun(flowOf(gated)).append(phase, ...turn()).run)).toEqual({
      verdict: "verified_with_gaps",
      gaps: [gatesGap],
    });
  });

  test("that asked for nothing is not", () => {
    const { proof: _proof, ...bare } = gated;
    expect(computeVerdict(begun(flowOf(bare)).append(phase, ...turn()).run).verdict).toBe(
      "unverified",
    );
  });

  test("with a hollow artifact has a gap that names it", () => {
    expect(
      computeVerdict(begun(flowOf(gated)).append(phase, ...turn({ hollow: [empty] })).run),
    ).toEqual({
      verdict: "verified_with_gaps",
      gaps: [gatesGap, "a.md is hollow: nothing but headings"],
    });
  });

  test("has it no more once a later proof finds content in the file", () => {
    const tape = begun(flowOf({ ...gated, retry: 3 })).append(phase, ...turn({ hollow: [empty] }));
    const again = [
      { event: "route_taken", walk: "1", step: "work", to: "work" } as Draft,
      ...turn({ hollow: [{ file: "a.md", why: null }] }, 2),
    ];
    expect(computeVerdict(tape.append(...again).run).gaps).toEqual([gatesGap]);
  });
});

test("a phase whose gate runs a command lands as verified, one whose gate only looks with a gap", () => {
  const landing = (proof: Record<string, unknown>): ReturnType<typeof computeVerdict> => {
    const { run } = begun(flowOf({ ...gated, proof: [proof] })).append(phase, ...turn(), {
      event: "phase_completed",
      walk: "1",
    });
    return computeLandingVerdict(run, { kind: "closing" });
  };

  expect(landing({ file: "a.md" })).toEqual({ verdict: "verified_with_gaps", gaps: [gatesGap] });
  expect(landing({ command: "sh check.sh" })).toEqual({ verdict: "verified", gaps: [] });
  const nested = { if: { file: "a.md" }, all: [{ command: "sh check.sh" }] };
  expect(landing(nested)).toEqual({ verdict: "verified", gaps: [] });
});

describe("a flow with checks", () => {
  test("is not verified by gates alone", () => {
    const tape = begun(flowOf(gated, look)).append(
      phase,
      ...turn(),
      began("look", 1, "check"),
      passed("look", 1),
    );
    expect(computeVerdict(tape.run).verdict).toBe("unverified");
  });

  test("is verified by its criteria, and has the gap of a hollow artifact as well", () => {
    const proved = {
      ...passed("look", 1),
      checks: [result(check("c", "criterion"), "passed")],
    } as Draft;

    const tape = begun(flowOf(gated, look)).append(
      phase,
      ...turn({ hollow: [empty] }),
      began("look", 1, "check"),
      proved,
    );
    expect(computeVerdict(tape.run)).toEqual({
      verdict: "verified_with_gaps",
      gaps: ["a.md is hollow: nothing but headings"],
    });
  });
});

describe("a check that was tried out", () => {
  const verdictWith = (more: Partial<CheckResult>): ReturnType<typeof computeVerdict> => {
    const proved = {
      ...passed("look", 1),
      checks: [{ ...result(check("c", "criterion"), "passed"), ...more }],
    } as Draft;
    return computeVerdict(
      begun(flowOf(gated, look)).append(phase, ...turn(), began("look", 1, "check"), proved).run,
    );
  };

  test("what code could tell a check by is a gap in the verdict, what only asks to be looked at is none", () => {
    const seen = [
      { path: "src/a.js", what: "reads the clock", gap: true as const },
      { path: ".gitmodules", what: "names other repositories" },
    ];

    const proved = {
      ...passed("look", 1),
      checks: [result(check("c", "criterion"), "passed")],
    } as Draft;

    const { run } = begun(flowOf(gated, look)).append(
      phase,
      ...turn(),
      began("look", 1, "check"),
      proved,
    );

    const looked = { ...run, oracles: { content: "c".repeat(64), changes: [], look: seen } };
    expect(computeVerdict(looked)).toEqual({
      verdict: "verified_with_gaps",
      gaps: ["look at src/a.js: it reads the clock"],
    });
  });

  test("keeps its gap if it passes once more and is not tried out again", () => {
    const noticed = { outcome: "noticed" as const, detail: "a.js:1" };
    const plain = result(check("c", "criterion"), "passed");
    const proved = (n: number, one: CheckResult): Draft =>
      ({ ...passed("look", n), checks: [one] }) as Draft;
    const back = { event: "route_taken", walk: "1", step: "look", to: "look" } as Draft;

    const first = begun(flowOf(gated, { ...look, retry: 3 })).append(
      phase,
      ...turn(),
      began("look", 1, "check"),
    );
    const tried = first.append(
      proved(1, { ...plain, canary: noticed, gap: "it knows its tests" }),
      back,
      began("look", 2, "check"),
    );
    expect(computeVerdict(tried.append(proved(2, plain)).run).gaps).toEqual([
      "c: it knows its tests",
    ]);
  });

  test("the arguments of a file that every check loads as a program alone are its input", () => {
    const seen = [{ path: "bin/a.js", what: "reads the command line", gap: true as const }];
    const gapsWith = (...programs: readonly (readonly string[] | null)[]): readonly string[] => {
      const checks = programs.map((those, index) => ({
        ...result(check(`c${index}`, "criterion"), "passed"),
        ...(those === null ? {} : { programs: those }),
      }));

      const proved = { ...passed("look", 1), checks } as Draft;
      const { run } = begun(flowOf(gated, look)).append(
        phase,
        ...turn(),
        began("look", 1, "check"),
        proved,
      );

      return computeVerdict({
        ...run,
        oracles: { content: "c".repeat(64), changes: [], look: seen },
      }).gaps;
    };
    expect(gapsWith(["bin/a.js"], null)).toEqual([]);
    expect(gapsWith(null)).toEqual(["look at bin/a.js: it reads the command line"]);
    expect(gapsWith(["bin/a.js"], [])).toEqual(["look at bin/a.js: it reads the command line"]);
  });

  test("a generated file that was changed alone is no gap if it is the same made again", () => {
    const what = "says that it is generated, and nothing that it could be made from was changed";
    const seen = [{ path: "codes.go", what, gap: true as const }];
    const gapsWith = (made_again?: readonly string[]): readonly string[] => {
      const one = result(check("c0", "criterion"), "passed");
      const checks = [made_again === undefined ? one : { ...one, made_again }];
      const proved = { ...passed("look", 1), checks } as Draft;
      const { run } = begun(flowOf(gated, look)).append(
        phase,
        ...turn(),
        began("look", 1, "check"),
        proved,
      );

      return computeVerdict({
        ...run,
        oracles: { content: "c".repeat(64), changes: [], look: seen },
      }).gaps;
    };
    expect(gapsWith(["codes.go"])).toEqual([]);
    expect(gapsWith(["other.go"])).toEqual([`look at codes.go: it ${what}`]);
    expect(gapsWith()).toEqual([`look at codes.go: it ${what}`]);
  });

  test("and can fail proves what it proves", () => {
    const tried = {
      canary: { outcome: "noticed", detail: "a.test.js:3" },
      without_work: { outcome: "noticed", detail: "" },
    } as const;
    expect(verdictWith(tried)).toEqual({ verdict: "verified", gaps: [] });
  });

  test.each([
    [
      "could not be shown to be able to fail",
      { canary: { outcome: "unknown", detail: "no expectation" } },
      "nothing shows that this check can fail",
    ],
    [
      "comes to other things when watched",
      { canary: { outcome: "differs", detail: "x; y" } },
      "it comes to other things when a test is changed (x, y)",
    ],
    [
      "rests on more than code",
      { gap: "it no longer runs one; two" },
      "it no longer runs one, two",
    ],
    [
      "passes without the work",
      { without_work: { outcome: "missed", detail: "it passes" } },
      "its new tests prove nothing: it passes",
    ],
  ] as const)("that %s leaves a gap", (_says, tried, words) => {
    const { verdict, gaps } = verdictWith(tried);
    expect([verdict, gaps.length]).toEqual(["verified_with_gaps", 1]);
    expect(gaps[0]).toContain(words);
  });
});

test("what a failed try of a gated step changed is still to be proved, until the step passes", () => {
  const applied = (n: number, ...paths: string[]): Draft => ({
    event: "changes_applied",
    attempt: `1@1/work#${n}`,
    commit: "c".repeat(40),
    parent: "b".repeat(40),
    tree: "d".repeat(40),
    paths,
    not_applied: 0,
  });

  const first = begun(flowOf({ ...gated, retry: 3 })).append(
    phase,
    began("work", 1, "agent"),
    turned("work", 1),
    applied(1, "a.md"),
    failed("work", 1),
  );
  expect(first.run.cursors["1"]?.unproved).toEqual({ work: ["a.md"] });

  const second = first.append(
    { event: "step_retried", walk: "1", step: "work", n: 1 },
    began("work", 2, "agent"),
    turned("work", 2),
    applied(2, "b.md"),
    passed("work", 2),
  );
  expect(second.run.cursors["1"]?.unproved).toEqual({});
});

describe("a flow that calls others", () => {
  const call = { id: "kid", flow: "other" };
  const came = (verdict: string): readonly Draft[] => [
    { ...began("kid", 1, "run"), kind: "flow" } as Draft,
    { ...passed("kid", 1), facts: { status: "completed", verdict } } as Draft,
  ];

  test("is judged by what they proved where it has nothing of its own", () => {
    expect(computeVerdict(begun(flowOf(call)).append(phase, ...came("verified")).run)).toEqual({
      verdict: "verified",
      gaps: [],
    });

    expect(
      computeVerdict(begun(flowOf(call)).append(phase, ...came("unverified")).run).verdict,
    ).toBe("unverified");
  });

  test("is not verified by them where its own checks proved nothing", () => {
    const tape = begun(flowOf(call, look)).append(
      phase,
      ...came("verified"),
      began("look", 1, "check"),
      passed("look", 1),
    );
    expect(computeVerdict(tape.run).verdict).toBe("unverified");
  });

  test("has a gap for each that is not verified, whatever its own gates say", () => {
    const tape = begun(flowOf(gated, call)).append(phase, ...turn(), ...came("unverified"));
    expect(computeVerdict(tape.run)).toEqual({
      verdict: "verified_with_gaps",
      gaps: [gatesGap, "the child run of 1/kid is unverified"],
    });
  });

  test("what lands after a phase is judged by the child runs of that phase, not of another", () => {
    const bare = { id: "work", agent: "worker", prompt: "w.md" };
    const phases = [
      { id: "1", steps: [call] },
      { id: "2", steps: [bare] },
    ];

    const { run } = begun(flowWith({ counts: {}, phases })).append(phase, ...came("verified"), {
      event: "phase_completed",
      walk: "1",
    });

    const landing = { kind: "closing" } as const;
    expect(computeLandingVerdict(run, landing)).toEqual({ verdict: "verified", gaps: [] });
    const both = {
      ...run,
      phases: run.phases.map((one) => ({ ...one, status: "completed" as const })),
    };
    expect(computeLandingVerdict(both, landing)).toEqual({
      verdict: "unverified",
      gaps: ["phase 2: nothing proves it"],
    });
  });
});

test("gaps that name a chain of commands stay as many as they are in a step's facts", () => {
  const gaps = ["npm run a; npm run b: does not pass", "c1: no command proves it"];
  expect(splitGaps(joinGaps(gaps))).toEqual([
    "npm run a, npm run b: does not pass",
    "c1: no command proves it",
  ]);

  expect([splitGaps(joinGaps([])), splitGaps(undefined)]).toEqual([[], []]);
});
