import { describe, expect, test } from "vitest";
import type { CheckStatus } from "../../contracts/evidence.ts";
import { mayBeAffected, openReporterTrial, type ReporterRun } from "./reporter-trust.ts";

type Came = readonly [CheckStatus, number];

/**
 * Runs a check as often as it takes; `comes` answers for it with our reporters loaded and without.
 */
function settled(comes: (isAsked: boolean, position: number) => Came): readonly ReporterRun[] {
  const trust = openReporterTrial<ReporterRun>(true);
  let runs: readonly ReporterRun[] = [];

  for (let index = 0; index === 0 || trust.needsRun(); index += 1) {
    const isAsked = trust.usesReporter();
    const [status, failed] = comes(isAsked, index);
    runs = trust.add({ status, hasReporter: isAsked, tally: { ran: 5, failed, skipped: 0 } });
  }

  return runs;
}
const words = (runs: readonly ReporterRun[]): readonly string[] =>
  runs.map(({ hasReporter: isAsked, status }) => `${isAsked ? "asked" : "bare"} ${status}`);

describe("a check that is run with our reporters", () => {
  test("and passes is run once", () =>
    expect(words(settled(() => ["passed", 0]))).toEqual(["asked passed"]));
  test("and fails must fail without them too", () =>
    expect(words(settled(() => ["failed", 2]))).toEqual(["asked failed", "bare failed"]));
  test("that fails with them alone is read from its output", () =>
    expect(words(settled((isAsked) => (isAsked ? ["failed", 1] : ["passed", 0])))).toEqual([
      "bare passed",
    ]));

  test("that fails at first and passes then, either way, is flaky", () =>
    expect(words(settled((_, index) => (index === 0 ? ["failed", 1] : ["passed", 0])))).toEqual([
      "asked failed",
      "bare passed",
      "asked passed",
    ]));

  test("that fails in other tests without them is read from its output", () =>
    expect(words(settled((isAsked) => ["failed", isAsked ? 3 : 1]))).toEqual(["bare failed"]));
  test("and was let go of says so", () => {
    const trust = openReporterTrial<ReporterRun>(true);
    for (const [isAsked, status] of [
      [true, "failed"],
      [false, "passed"],
      [true, "failed"],
    ] as const) {
      trust.add({ hasReporter: isAsked, status, tally: null });
    }

    expect(trust.note()).toContain("results are read from its output");
  });

  test("that hangs is not run again for it", () =>
    expect(words(settled(() => ["timed_out", 0]))).toEqual(["asked timed_out"]));
});

test("a program that may not read our reporters, and says so, is in doubt", () => {
  const saying = (text: string): boolean => {
    const output = { head: Buffer.from(text), tail: Buffer.alloc(0) } as unknown as Parameters<
      typeof mayBeAffected
    >[0]["output"];

    return mayBeAffected({ record: null, output });
  };
  expect(saying("Error: ERR_ACCESS_DENIED resource: '/tmp/x/0123456789/a.cjs'")).toBe(true);
  expect(saying("Error: ERR_ACCESS_DENIED resource: '/tmp/x/a.cjs'")).toBe(false);
});
