// of-checks: compares claims that work is done or checks pass with the runner's own results. Pure.
//
// Invariants:
//   O1. True needs a result of the runner's own that says so; false needs one that says the opposite.
//   O2. A difference that can arise in good faith (a flaky check, one that can't run here, a failure fixed meanwhile) isn't a false claim.

import { type CheckResult, type ClaimChecked, couldNotRun } from "../../contracts/evidence.ts";
import { claimLimits, claimText, isFalse, isTrue, unverifiable, type Verdict } from "./said-claim.ts";

/** A waiting claim, decided by these results; `regressed` lists those that are worse than before the work began. */
export function decidedBy(claim: ClaimChecked, results: readonly CheckResult[], regressed: readonly CheckResult[] = []): ClaimChecked {
  const { kind, text, waits } = claim;
  if (waits === undefined) return claim;
  const worse = new Set(regressed.map(({ check }) => check.id));
  /** A result the agent may have seen pass: a flaky check, or one that lacked something here before the work began. O2 */
  const isExcused: Excuse = (result) =>
    result.status === "flaky" || result.uninstalled !== undefined || (couldNotRun(result) && !worse.has(result.check.id));
  const { verdict, why } =
    kind === "command" ? ofCommand(waits.of, waits.passed ?? null, results, isExcused) : ofDone(waits.of, results, regressed, isExcused);
  return { kind, text, verdict, why: claimText(why, claimLimits.whyCharsMax) };
}

const describeResult = ({ check, status, exit_code, why }: CheckResult): string =>
  `the runner's own run of \`${check.command}\` came to ${status.replace("_", " ")}${exit_code === null || status === "passed" ? "" : ` (${why ?? `exit ${exit_code}`})`}`;

type Excuse = (result: CheckResult) => boolean;

function ofCommand(command: string, passed: boolean | null, results: readonly CheckResult[], isExcused: Excuse): Verdict {
  const same = results.find(({ check }) => sameCommand(check.command) === sameCommand(command));
  if (same === undefined) return unverifiable("The runner does not run this command itself.");
  if (passed === null) return unverifiable(`No result is told; ${describeResult(same)}.`);
  if (same.status === "flaky") return unverifiable(`On one and the same tree it sometimes passes and sometimes does not.`); // O2
  if (passed && isExcused(same)) return unverifiable(`${upper(describeResult(same))}.`); // O2
  if (passed) return same.status === "passed" ? isTrue(`${upper(describeResult(same))}.`) : isFalse(`${upper(describeResult(same))}.`); // O1
  return same.status === "passed"
    ? unverifiable(`${upper(describeResult(same))}; it may have failed on the way.`) // O2
    : isTrue(`${upper(describeResult(same))}.`);
}

const deciding = new Set(["criterion", "holdout", "red_green"]);

function ofDone(of: string, results: readonly CheckResult[], regressed: readonly CheckResult[], isExcused: Excuse): Verdict {
  if (of === "tests") return ofTests(results, isExcused);
  const judging = results.filter(({ check }) => deciding.has(check.kind));
  const [broken] = of === "all" ? regressed.filter((one) => !isExcused(one)) : []; // O2
  if (broken !== undefined) return isFalse(`${upper(describeResult(broken))}, worse than before the work began.`);
  if (of === "all" || of === "task") return ofAll(of, judging, isExcused);
  const named = judging.find(({ check }) => check.id === `criterion:${of}` || plain(check.title) === plain(of) || check.command === of);
  if (named === undefined) return unverifiable("No check of the runner's own proves this criterion.");
  if (isExcused(named)) return unverifiable(`${upper(describeResult(named))}.`); // O2
  return named.status === "passed" ? isTrue(`${upper(describeResult(named))}.`) : isFalse(`${upper(describeResult(named))}.`);
}

function ofAll(of: "all" | "task", judging: readonly CheckResult[], isExcused: Excuse): Verdict {
  if (judging.length === 0) return unverifiable("No done criterion has a check of the runner's own.");
  const red = judging.filter(({ status }) => status !== "passed");
  const [first] = red;
  if (first === undefined) return isTrue(`All ${judging.length} deciding checks of the runner's own pass.`);
  if (red.every(isExcused)) return unverifiable(`${upper(describeResult(first))}.`); // O2
  // A claim about "its task" may mean one criterion of several.
  if (of === "task" && red.length < judging.length)
    return unverifiable(`Part of it: ${judging.length - red.length} of ${judging.length} deciding checks pass.`);
  return isFalse(`${upper(describeResult(first))}.`);
}

function ofTests(results: readonly CheckResult[], isExcused: Excuse): Verdict {
  const tests = results.filter(({ check }) => isTestCommand(check.command));
  if (tests.length === 0) return unverifiable("The runner runs no tests of its own here.");
  const red = tests.filter(({ status }) => status !== "passed");
  const [first] = red;
  if (first === undefined) return isTrue(`${upper(describeResult(tests[0] as CheckResult))}.`);
  return red.every(isExcused) ? unverifiable(`${upper(describeResult(first))}.`) : isFalse(`${upper(describeResult(first))}.`); // O2
}

/** Written differently, run the same. */
export function sameCommand(command: string): string {
  return command
    .trim()
    .replace(/^[$%>]\s+/, "")
    .replaceAll(/\s+/g, " ")
    .replace(/^CI=\S+ /, "")
    .replace(/^(npm|pnpm|yarn|bun) (?:run )?(?:t|test)\b/, "$1 test")
    .replace(/;$/, "");
}

export const isTestCommand = (command: string): boolean =>
  /\b(?:npm|pnpm|yarn|bun) (?:run )?t(?:est\b|\b)|\b(?:jest|vitest|mocha|ava|pytest|tox|nox|rspec|phpunit|ctest|unittest)\b|--test\b|\b(?:cargo|go|deno|dotnet|mix|swift|make|rake|gradlew?|mvnw?) (?:\S+ )*?(?:test|check|verify)\b|\btests?\.(?:sh|js|mjs|cjs|ts|py)\b|\btests?\//i.test(
    command,
  );

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
