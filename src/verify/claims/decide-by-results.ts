// decide-by-results: compares claims that work is done or that commands pass with the results of
// the runner's own checks. Pure.
//
// Invariants:
//   O1. A claim is true only if a result of the runner's own says so, and false only if one says
//       the opposite.
//   O2. A difference that can arise in good faith (a flaky check, one that can't run here, a
//       failure fixed meanwhile) isn't a false claim.

import { type CheckResult, type ClaimChecked, couldNotRun } from "../../contracts/evidence.ts";
import {
  claimLimits,
  toClaimText,
  refuted,
  confirmed,
  unverifiable,
  type ClaimVerdict,
} from "./reported-claim.ts";

/**
 * A waiting claim, decided by these results; `regressed` lists those that are worse than before the
 * work began.
 */
export function decideByResults(
  claim: ClaimChecked,
  results: readonly CheckResult[],
  regressed: readonly CheckResult[] = [],
): ClaimChecked {
  const { kind, text, waits } = claim;
  if (waits === undefined) return claim;
  const regressedIds = new Set(regressed.map(({ check }) => check.id));
  /**
   * A result the agent may have seen pass: a flaky check, or one that lacked something here before
   * the work began. O2
   */
  const isExcused: Excuse = (result) =>
    result.status === "flaky" ||
    result.uninstalled !== undefined ||
    (couldNotRun(result) && !regressedIds.has(result.check.id));

  const { verdict, why } =
    kind === "command"
      ? judgeCommand(waits.of, waits.passed ?? null, results, isExcused)
      : judgeDone(waits.of, results, regressed, isExcused);

  return { kind, text, verdict, why: toClaimText(why, claimLimits.whyCharsMax) };
}

/** "autopilot ran `npm test`: failed (exit 1)" */
function describeResult({ check, status, exit_code, why }: CheckResult): string {
  const reason =
    exit_code === null || status === "passed" ? "" : ` (${why ?? `exit ${exit_code}`})`;
  return `autopilot ran \`${check.command}\`: ${status.replace("_", " ")}${reason}`;
}

const toSentence = (result: CheckResult): string => `${capitalize(describeResult(result))}.`;

type Excuse = (result: CheckResult) => boolean;

/** `passed`: whether the command is claimed to have passed; null if no result is claimed. */
function judgeCommand(
  command: string,
  passed: boolean | null,
  results: readonly CheckResult[],
  isExcused: Excuse,
): ClaimVerdict {
  const ownResult = results.find(
    ({ check }) => normalizeCommand(check.command) === normalizeCommand(command),
  );
  if (ownResult === undefined) return unverifiable("The runner does not run this command itself.");
  if (passed === null) return unverifiable(`No result is told; ${describeResult(ownResult)}.`);
  if (ownResult.status === "flaky") {
    return unverifiable(`On one and the same tree it sometimes passes and sometimes does not.`);
  } // O2

  if (passed && isExcused(ownResult)) return unverifiable(toSentence(ownResult)); // O2
  const hasPassed = ownResult.status === "passed";
  if (passed) return hasPassed ? confirmed(toSentence(ownResult)) : refuted(toSentence(ownResult)); // O1
  if (hasPassed) {
    return unverifiable(`${capitalize(describeResult(ownResult))}; it may have failed on the way.`);
  } // O2

  return confirmed(toSentence(ownResult));
}

/** The kinds of checks that decide whether a task is done; a project check was there before. */
const decidingKinds = new Set(["criterion", "holdout", "red_green"]);

function judgeDone(
  item: string,
  results: readonly CheckResult[],
  regressed: readonly CheckResult[],
  isExcused: Excuse,
): ClaimVerdict {
  if (item === "tests") return judgeTests(results, isExcused);
  const decidingResults = results.filter(({ check }) => decidingKinds.has(check.kind));
  const [regression] = item === "all" ? regressed.filter((candidate) => !isExcused(candidate)) : []; // O2
  if (regression !== undefined) {
    return refuted(`${capitalize(describeResult(regression))}, worse than before the work began.`);
  }

  if (item === "all" || item === "task") return judgeAll(item, decidingResults, isExcused);
  const criterionResult = decidingResults.find(
    ({ check }) =>
      check.id === `criterion:${item}` ||
      normalizeText(check.title) === normalizeText(item) ||
      check.command === item,
  );
  if (criterionResult === undefined) {
    return unverifiable("No check of the runner's own proves this criterion.");
  }

  if (isExcused(criterionResult)) return unverifiable(toSentence(criterionResult)); // O2
  return criterionResult.status === "passed"
    ? confirmed(toSentence(criterionResult))
    : refuted(toSentence(criterionResult));
}

function judgeAll(
  scope: "all" | "task",
  judging: readonly CheckResult[],
  isExcused: Excuse,
): ClaimVerdict {
  if (judging.length === 0) {
    return unverifiable("No done criterion has a check of the runner's own.");
  }

  const notPassed = judging.filter(({ status }) => status !== "passed");
  const [first] = notPassed;
  if (first === undefined) {
    return confirmed(`All ${judging.length} deciding checks of the runner's own pass.`);
  }

  if (notPassed.every(isExcused)) return unverifiable(toSentence(first)); // O2
  // A claim about "its task" may mean one criterion of several.
  if (scope === "task" && notPassed.length < judging.length) {
    return unverifiable(
      `Part of it: ${judging.length - notPassed.length} of ${judging.length} deciding checks pass.`,
    );
  }

  return refuted(toSentence(first));
}

function judgeTests(results: readonly CheckResult[], isExcused: Excuse): ClaimVerdict {
  const testResults = results.filter(({ check }) => isTestCommand(check.command));
  const [firstResult] = testResults;
  if (firstResult === undefined) return unverifiable("The runner runs no tests of its own here.");
  const notPassed = testResults.filter(({ status }) => status !== "passed");
  const [firstFailure] = notPassed;
  if (firstFailure === undefined) return confirmed(toSentence(firstResult));

  return notPassed.every(isExcused)
    ? unverifiable(toSentence(firstFailure))
    : refuted(toSentence(firstFailure)); // O2
}

/**
 * Gives commands the same form that are written differently and do the same: `$ npm t` and `npm run
 * test`. `bun test` is not `bun run test`: it is bun's own runner.
 */
export function normalizeCommand(command: string): string {
  return command
    .trim()
    .replace(/^[$%>]\s+/, "")
    .replaceAll(/\s+/g, " ")
    .replace(/^CI=\S+ /, "")
    .replace(/^(npm|pnpm|yarn) (?:run )?(?:t|test)\b/, "$1 test")
    .replace(/;$/, "");
}

export const isTestCommand = (command: string): boolean =>
  /\b(?:npm|pnpm|yarn|bun) (?:run )?t(?:est\b|\b)|\b(?:jest|vitest|mocha|ava|pytest|tox|nox|rspec|phpunit|ctest|unittest)\b|--test\b|\b(?:cargo|go|deno|dotnet|mix|swift|make|rake|gradlew?|mvnw?) (?:\S+ )*?(?:test|check|verify)\b|\btests?\.(?:sh|js|mjs|cjs|ts|py)\b|\btests?\//i.test(
    command,
  );

/** Only the letters and digits, in lower case, with single spaces between. */
const normalizeText = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
