// js-test-functions: the source of `test`, `describe` and the hooks of our own, for tests of
// node:test, mocha, vitest and jest that are called without their runner: they collect the tests in
// groups, and `doesAnyFail` runs them again and again for a moment. Pure.
// Invariants R1 and on: verify/experiments/without-runner/tests-without-runner.ts.

import { repeatMs, repeatWallMs } from "./plain-program.ts";

/** The names under which a test file may use them. */
export const testFunctionNames =
  "test it specify describe context suite before after beforeEach afterEach beforeAll afterAll expect vi jest".split(
    " ",
  );

/**
 * A CommonJS module. `skippedTests`: tests that are not called (R4). `expectFile`: the module with
 * `expect` beside it (js-expect.ts). In it:
 * - a test has failed only if an assertion threw: any other error is one of the missing runner
 *   (R1);
 * - a test with two parameters wants a callback, which only a runner calls, so it is not called
 *   (R2).
 */
export const createTestFunctionsSource = (
  skippedTests: readonly string[],
  expectFile: string,
): string => `const { expect, Failure, runnerOnly } = require("./${expectFile}");
const skippedTests = ${JSON.stringify(skippedTests)};
/** A runner may print a title with its groups before it, and with values in the place of its signs. */
const isSkipped = (title) => {
  const [first = "", ...more] = title.split(/[%$]/);
  return skippedTests.some((name) => name === title || name.endsWith(" " + title) || (more.length > 0 && first.trim() !== "" && name.includes(first.trim())));
};
const createGroup = () => ({ beforeAll: [], afterAll: [], beforeEach: [], afterEach: [], tests: [], groups: [] });
const top = createGroup();
let current = top;
const readTest = (args) => ({
  name: args.find((arg) => typeof arg === "string") ?? "",
  run: args.findLast((arg) => typeof arg === "function"),
  options: args.find((arg) => arg !== null && typeof arg === "object") ?? {},
});
const isOff = ({ options, run }) => run === undefined || options.skip || options.todo;
const test = (...args) => {
  const added = readTest(args);
  if (!isOff(added)) current.tests.push(added);
  return Promise.resolve();
};
const describe = (...args) => {
  const suite = readTest(args);
  if (isOff(suite)) return;
  const group = createGroup();
  current.groups.push(group);
  const outer = current;
  current = group;
  try { suite.run({}); } finally { current = outer; }
};
/** A table as a list of rows, or as a text with a head. */
const readRows = ([table, ...values]) => {
  if (!Array.isArray(table.raw)) return table.map((row) => (Array.isArray(row) ? row : [row]));
  const heads = table[0].split("\\n").find((line) => line.trim() !== "").split("|").map((head) => head.trim());
  return values.flatMap((_, at) => (at % heads.length === 0 ? [[Object.fromEntries(heads.map((head, column) => [head, values[at + column]]))]] : []));
};
for (const define of [test, describe]) {
  for (const off of ["skip", "todo", "fails"]) define[off] = Object.assign(() => {}, { each: () => () => {} });
  define.skipIf = (condition) => (condition ? define.skip : define);
  define.runIf = (condition) => (condition ? define : define.skip);
  define.concurrent = define.sequential = define;
  define.each = (...table) => (name, run) => { for (const row of readRows(table)) define(name, () => run(...row)); };
}
const addHook = (list) => (run) => { if (typeof run === "function") current[list].push(run); };
const isFailure = (error) => error instanceof Failure || error?.code === "ERR_ASSERTION" || error?.name === "AssertionError" || error?.constructor?.name === "AssertionError";
const failed = new Set();
const createContext = () => ({
  expect,
  test: async (...args) => {
    const inner = readTest(args);
    if (!isOff(inner)) await inner.run(createContext());
  },
  end() {},
});
const runGroup = async (group, outerBeforeEach, outerAfterEach) => {
  const [beforeEach, afterEach] = [[...outerBeforeEach, ...group.beforeEach], [...group.afterEach, ...outerAfterEach]];
  for (const run of group.beforeAll) await run({});
  for (const testCase of group.tests) {
    const { name, run } = testCase;
    if (isSkipped(name) || run.length > 1) continue;
    try {
      const cleanups = []; // what a hook returns is called after the test
      for (const hook of beforeEach) cleanups.push(await hook({}));
      await run.call({ timeout() {}, slow() {}, retries() {} }, run.length === 0 ? undefined : createContext());
      for (const hook of [...afterEach, ...cleanups]) if (typeof hook === "function") await hook({});
    } catch (error) { if (isFailure(error)) failed.add(testCase); }
  }
  for (const inner of group.groups) await runGroup(inner, beforeEach, afterEach);
  for (const run of group.afterAll) await run({});
};
const hooks = { before: addHook("beforeAll"), after: addHook("afterAll"), beforeEach: addHook("beforeEach"), afterEach: addHook("afterEach"), beforeAll: addHook("beforeAll"), afterAll: addHook("afterAll") };
module.exports = Object.assign(test, { test, it: test, specify: test, describe, context: describe, suite: describe, expect, vi: runnerOnly, jest: runnerOnly, ...hooks });
module.exports.default = test;
const [now, used] = [performance.now.bind(performance), process.cpuUsage.bind(process)];
const runOnce = async () => { failed.clear(); await runGroup(top, [], []); return [...failed]; };
module.exports.doesAnyFail = async () => {
  const [began, first] = [now(), used()];
  const usedMs = () => (used(first).user + used(first).system) / 1000;
  if ((await runOnce()).length > 0) return true;
  if (now() - began > ${repeatMs} || usedMs() > ${repeatMs / 2}) return false;
  const unrepeatable = await runOnce();
  Error.stackTraceLimit = 0; // many tests spend most of their time on expected errors
  while (usedMs() < ${repeatMs} && now() - began < ${repeatWallMs})
    if ((await runOnce()).some((failedTest) => !unrepeatable.includes(failedTest))) return true;
  return false;
};
`;
