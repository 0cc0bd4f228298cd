// failure-patterns: recognises the lines of test runners, compilers and linters that report a
// failure.

/**
 * How test runners, compilers and linters begin or end the line of a failure: `not ok 3`, `✗ adds`,
 * `a.c:1: error: x`.
 */
const failurePattern =
  /^\s{0,80}(?:(?:FAIL(?:ED|URE)?|ERROR|FATAL|PANIC)\b|not ok \d|[✗✖×✕❌●] |\d{1,6}\) |--- FAIL:|E {3,}|error(?:\[\w+\])?:|fatal:|panic:|AssertionError|Assertion failed|(?:Uncaught )?\w{0,40}(?:Error|Exception)(?: \[\w+\])?:|thread '.{1,200}' panicked)|\.\.\. FAILED$| FAILED(?: {1,80}\[ {0,2}\d{1,3}%\])?$|: error[: ]|\*\*\*Failed\b|: no required module provides package |\bModuleNotFoundError: /;
/** Summaries without a failure look much like one: `0 failed`, `1) adds ... ok`. */
const harmlessPattern =
  /\b0 (?:failed|failures|errors|failing)\b|^\s*\d{1,6}\) .{0,200}(?:ok|passed)$/i;

/** Whether a line of a command's output reports a failure. */
export const reportsFailure = (line: string): boolean =>
  failurePattern.test(line) && !harmlessPattern.test(line);
