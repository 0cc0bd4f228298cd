// find-world-dependence: a double of a check for tests: it fails where the test wants it to, and
// lists the runs that were asked for.

import type { Observed } from "../broken-expectations/noticed-flips.ts";
import { findProtectionRow } from "../../protected/kinds.ts";
import type { WorldFact } from "./wrap-in-other-world.ts";
import type { WorldContext } from "./find-world-dependence.ts";

/** The names of failing tests; null if it took too long. */
type FailsIn = (different: readonly WorldFact[]) => readonly string[] | null;
type CheckInWorlds = {
  readonly failsOnWork?: FailsIn;
  readonly failsOnBase?: FailsIn;
  readonly failedBefore?: readonly string[];
  readonly passesAgain?: boolean;
  readonly isAnswered?: boolean;
  readonly ran?: number;
  readonly goal?: string;
  readonly testText?: string;
};

const testPath = "test/units.test.js";

export function createWorldContext({
  failsOnWork = () => [],
  failsOnBase = () => [],
  failedBefore = [],
  passesAgain = true,
  isAnswered = false,
  ran = 2,
  goal = "parse durations",
  testText = 'test("single units", () => { equal(parse("5s"), 5000); });',
}: CheckInWorlds): { readonly context: WorldContext; readonly runs: string[] } {
  const runs: string[] = [];
  const observed = (failed: readonly string[]): Observed => ({
    passed: failed.length === 0,
    failed: new Set(ran === 0 ? [] : failed),
    tests: ran === 0 ? null : { ran, failed: failed.length, skipped: 0 },
  });

  const context: WorldContext = {
    check: { command: "npm test" },
    goal,
    differences: [],
    rules: {
      base: new Set([testPath]),
      rowOf: findProtectionRow,
      named: { commands: [], usedCommands: ["npm test"], restores: false },
    },
    lab: { now: observed([]), before: observed(failedBefore), textAt: async () => testText },
    runWith: async () => observed(passesAgain ? [] : ["single units"]),
    elsewhere: {
      isAnswered: () => isAnswered,
      run: async (side, different) => {
        runs.push(`${side} ${different.join()}`);
        const failed = (side === "work" ? failsOnWork : failsOnBase)(different);
        return failed === null ? null : observed(failed);
      },
    },
  };

  return { context, runs };
}
