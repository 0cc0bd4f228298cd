// js-program: builds a plain Node program that calls the tests of a file for node:test, mocha, vitest or jest. Pure.

import { expectSource } from "./js-expect.ts";
import { createLoaderSource } from "./js-loader.ts";
import { parentFolder, type TestProgramInput, type PlainProgram, quoteForShell, repeatMs, repeatWallMs } from "./plain-program.ts";

/** What only a runner can do. A test that needs more of it (`vi`, a callback, an unknown matcher) fails, but not by an assertion. */
const needsRunner = /\bmock\b|\.only\b/;
const ofVitestOrJest = /(["'])(?:vitest|@jest\/globals|bun:test)\1/;
const ofOthers = /(["'])(?:ava|tape|tap|uvu|@playwright\/test|cypress)\1/;
const isTyped = /\.[cm]?tsx?$|\.jsx$/;

export function buildJsProgram({ path, text, nonce, skippedTests }: TestProgramInput): PlainProgram | null {
  if (/\.vue$|\.svelte$/.test(path) || needsRunner.test(text) || ofOthers.test(text)) return null;
  const usesNodeTest = /(["'])node:test\1/.test(text);
  if (!usesNodeTest && !ofVitestOrJest.test(text) && !/^\s*(?:describe|it|test)(?:\.\w+)*\(/m.test(text)) return null;
  const isModule = /^\s*(?:import|export)\s/m.test(text);
  const isCommon = path.endsWith(".cjs") || (!path.endsWith(".mjs") && /\brequire\(/.test(text) && !isModule);
  const isLoaded = isTyped.test(path) || (!isCommon && (ofVitestOrJest.test(text) || /\bexpect\(/.test(text)));
  const ending = /\.[cm]?[jt]sx?$/.exec(path)?.[0] ?? ".js";
  const [folder, shim, copy] = [parentFolder(path), `${nonce}-calls.cjs`, `${nonce}-tests${ending}`];
  const [exported, loader] = [`${nonce}-calls.mjs`, `${nonce}-load.mjs`];
  const usedGlobals = usesNodeTest || ofVitestOrJest.test(text) ? [] : globalNames.filter((name) => isUsedGlobal(text, name));
  const importLine = isCommon
    ? `const { ${usedGlobals.join(", ")} } = require("./${shim}"); `
    : `import { ${usedGlobals.join(", ")} } from "./${exported}"; `;
  const replaced = text.replaceAll(/(["'])(?:node:test|@jest\/globals)\1/g, `"./${isCommon ? shim : exported}"`);
  const start = `${folder}${nonce}.cjs`;
  return {
    edits: [
      { path: `${folder}${shim}`, text: shimText(skippedTests, `${nonce}-expect.cjs`) },
      { path: `${folder}${nonce}-expect.cjs`, text: expectSource },
      { path: `${folder}${exported}`, text: exportedText(shim) },
      ...(isLoaded ? [{ path: `${folder}${loader}`, text: createLoaderSource(exported) }] : []),
      { path: `${folder}${copy}`, text: usedGlobals.length === 0 ? replaced : `${importLine}${replaced}` },
      { path: start, text: startText(shim, copy, isCommon, isLoaded ? loader : null) },
    ],
    command: `node ${quoteForShell(start)}`,
  };
}

const globalNames = "test it specify describe context suite before after beforeEach afterEach beforeAll afterAll expect vi jest".split(" ");
/** Whether a test uses the name as a global and does not define it. Ours are imported: code could look for real globals. */
const isUsedGlobal = (text: string, name: string): boolean =>
  new RegExp(`(?<![\\w$.])${name}\\b`).test(text) && !new RegExp(`\\b(?:import|const|let|var|function)\\s[^;=()]*\\b${name}\\b`).test(text);
const exportedText = (shim: string): string =>
  `import calls from "./${shim}";\nexport default calls;\nexport const { ${globalNames.join(", ")} } = calls;\n`;

const startText = (shim: string, copy: string, isCommon: boolean, loader: string | null): string => `const calls = require("./${shim}");
${loader === null ? "" : `require("node:module").register("./${loader}", require("node:url").pathToFileURL(__filename));`}
(async () => {
  ${isCommon ? `require("./${copy}")` : `await import("./${copy}")`};
  process.exit((await calls.doesAnyFail()) ? 0 : 1);
})().catch(() => process.exit(1));
setTimeout(() => process.exit(1), 60_000).unref();
`;

/** The functions that tests call, which collect tests in groups; and `doesAnyFail`, which runs them again and again for a moment. */
const shimText = (known: readonly string[], expect: string): string => `const { expect, Failure, runnerOnly } = require("./${expect}");
const known = ${JSON.stringify(known)};
/** A title may be told with its groups before it, and with values in the place of its signs. */
const isKnown = (title) => {
  const [first = "", ...more] = title.split(/[%$]/);
  return known.some((name) => name === title || name.endsWith(" " + title) || (more.length > 0 && first.trim() !== "" && name.includes(first.trim())));
};
const top = { before: [], after: [], each: [], ends: [], tests: [], inner: [] };
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
  const group = { before: [], after: [], each: [], ends: [], tests: [], inner: [] };
  current.inner.push(group);
  const outer = current;
  current = group;
  try { suite.run({}); } finally { current = outer; }
};
/** A table as a list of rows, or as a text with a head. */
const rowsOf = ([table, ...values]) => {
  if (!Array.isArray(table.raw)) return table.map((row) => (Array.isArray(row) ? row : [row]));
  const heads = table[0].split("\\n").find((line) => line.trim() !== "").split("|").map((head) => head.trim());
  return values.flatMap((_, at) => (at % heads.length === 0 ? [[Object.fromEntries(heads.map((head, column) => [head, values[at + column]]))]] : []));
};
for (const define of [test, describe]) {
  for (const off of ["skip", "todo", "fails"]) define[off] = Object.assign(() => {}, { each: () => () => {} });
  define.skipIf = (condition) => (condition ? define.skip : define);
  define.runIf = (condition) => (condition ? define : define.skip);
  define.concurrent = define.sequential = define;
  define.each = (...table) => (name, run) => { for (const row of rowsOf(table)) define(name, () => run(...row)); };
}
const hook = (list) => (run) => { if (typeof run === "function") current[list].push(run); };
const isFailure = (error) => error instanceof Failure || error?.code === "ERR_ASSERTION" || error?.name === "AssertionError" || error?.constructor?.name === "AssertionError";
const failed = new Set();
const context = () => ({
  expect,
  test: async (...args) => {
    const inner = readTest(args);
    if (!isOff(inner)) await inner.run(context());
  },
  end() {},
});
const runGroup = async (group, outerBeforeEach, outerAfterEach) => {
  const [beforeEach, afterEach] = [[...outerBeforeEach, ...group.each], [...group.ends, ...outerAfterEach]];
  for (const run of group.before) await run({});
  for (const testCase of group.tests) {
    const { name, run } = testCase;
    if (isKnown(name) || run.length > 1) continue;
    try {
      const cleanups = []; // what a hook returns is called after the test
      for (const hook of beforeEach) cleanups.push(await hook({}));
      await run.call({ timeout() {}, slow() {}, retries() {} }, run.length === 0 ? undefined : context());
      for (const hook of [...afterEach, ...cleanups]) if (typeof hook === "function") await hook({});
    } catch (error) { if (isFailure(error)) failed.add(testCase); }
  }
  for (const inner of group.inner) await runGroup(inner, beforeEach, afterEach);
  for (const run of group.after) await run({});
};
const hooks = { before: hook("before"), after: hook("after"), beforeEach: hook("each"), afterEach: hook("ends"), beforeAll: hook("before"), afterAll: hook("after") };
module.exports = Object.assign(test, { test, it: test, specify: test, describe, context: describe, suite: describe, expect, vi: runnerOnly, jest: runnerOnly, ...hooks });
module.exports.default = test;
const [now, used] = [performance.now.bind(performance), process.cpuUsage.bind(process)];
const failedOnce = async () => { failed.clear(); await runGroup(top, [], []); return [...failed]; };
module.exports.doesAnyFail = async () => {
  const [began, first] = [now(), used()];
  const usedMs = () => (used(first).user + used(first).system) / 1000;
  if ((await failedOnce()).length > 0) return true;
  if (now() - began > ${repeatMs} || usedMs() > ${repeatMs / 2}) return false;
  const unrepeatable = await failedOnce();
  Error.stackTraceLimit = 0; // many tests spend most of their time on expected errors
  while (usedMs() < ${repeatMs} && now() - began < ${repeatWallMs})
    if ((await failedOnce()).some((failedTest) => !unrepeatable.includes(failedTest))) return true;
  return false;
};
`;
