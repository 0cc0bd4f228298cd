// command-patterns: the patterns by which commands and their results are recognised in what an agent
// reports.

import { oneOf } from "../../kit/compose-pattern.ts";

const programs = String.raw`npm npx pnpm yarn bunx? node deno python3? pytest tox nox uv poetry go
  cargo make just mvnw? gradle bash sh tsc eslint oxlint biome jest vitest mocha ava tap ruff mypy
  pyright rspec rake bundle dotnet php phpunit composer cmake ctest docker test git \.{1,2}/\S+`;
/** `npm test`, `CI=1 ./check.sh`. */
export const commandLine = new RegExp(String.raw`^(?:[A-Z_]+=\S+ +)*${oneOf(programs)}(?:\s|$)`);

const exit = String.raw`exit(?:s|ed)?(?: with)?(?: code| status)?`;
/** Words of a sentence: "passes", "is green", "exited with code 0". */
export const successWord = new RegExp(
  String.raw`\b(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|success(?:ful|fully)?|green|clean|${exit} 0|works)\b`,
  "i",
);
/** Words of a sentence: "fails", "2 errors", "exits with 1". */
export const failureWord = new RegExp(
  String.raw`\b(?:fail(?:s|ed|ing|ures?)?|errors?|red|breaks?|broken|${exit} [1-9]\d*)\b`,
  "i",
);

/** "no failures", "0 errors". */
export const zeroFailures = /\b(?:no|0|zero) (?:fail\w*|errors?)\b/gi;
/** The same in output, where the number may follow: "errors: 0". */
export const zeroFailuresInOutput =
  /\b(?:no|0|zero) (?:fail\w*|errors?)\b|\b(?:fail\w*|errors?)\s*[:=]?\s*0\b/gi;

const exitCode = String.raw`\bexit(?:ed)?(?: with)?(?: code| status)?:?\s*`;
const failedOutputForms = [
  // `2 failed`, `1 test failing`
  String.raw`\b[1-9]\d*\s+(?:tests? )?(?:fail(?:ed|ing|ures?)|errors?)\b`,
  // `errors: 1`
  String.raw`\b(?:fail(?:ed|ures?)?|errors?)\s*[:=]?\s*[1-9]`,
  // `FAIL src/a.test.ts`, `not ok 1`
  String.raw`^\s*(?:FAIL(?:ED)?|not ok|✗|✖|×)\b`,
  // `exit code 1`
  `${exitCode}[1-9]`,
  // `TypeError: …`
  String.raw`^\s*\w*Error:`,
];
export const failedOutput = new RegExp(failedOutputForms.join("|"), "im");

const passedOutputForms = [
  // `5 passed`
  String.raw`\b\d+\s+(?:tests? )?pass(?:ed|ing)?\b`,
  // `passed: 5`
  String.raw`\bpass(?:ed)?\s*[:=]?\s*[1-9]`,
  // `PASS src/a.test.ts`, `ok 1`
  String.raw`^\s*(?:PASS(?:ED)?|ok|OK|✓|✔)(?:\s|$|:)`,
  String.raw`\ball tests pass`,
  // `exit code 0`
  String.raw`${exitCode}0\b`,
  String.raw`\bsuccess`,
];
export const passedOutput = new RegExp(passedOutputForms.join("|"), "im");
