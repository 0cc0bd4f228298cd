// js-program: builds a plain Node program that calls the tests of a file for node:test, mocha, vitest or jest. Beside a copy of the tests it
// has our own test functions (js-test-functions.ts) and `expect` (js-expect.ts), and for what Node cannot load a loader (js-loader.ts). Pure.
// Invariants R1 and on: verify/experiments/outside/tests-without-runner.ts.

import { expectSource } from "./js-expect.ts";
import { createLoaderSource } from "./js-loader.ts";
import { createTestFunctionsSource, testFunctionNames } from "./js-test-functions.ts";
import { parentFolder, type TestProgramInput, type PlainProgram, quoteForShell } from "./plain-program.ts";

/** What only a runner can do (R2). A test that needs more of it (`vi`, a callback, an unknown matcher) fails, but not by an assertion. */
const runnerFeature = /\bmock\b|\.only\b/;
const vitestOrJest = /(["'])(?:vitest|@jest\/globals|bun:test)\1/;
/** Runners whose test functions are not imitated. */
const otherRunner = /(["'])(?:ava|tape|tap|uvu|@playwright\/test|cypress)\1/;
/** A file that has to be compiled before Node can run it. */
const compiledFile = /\.[cm]?tsx?$|\.jsx$/;

export function buildJsProgram({ path, text, nonce, skippedTests }: TestProgramInput): PlainProgram | null {
  if (/\.vue$|\.svelte$/.test(path) || runnerFeature.test(text) || otherRunner.test(text)) return null;
  const usesNodeTest = /(["'])node:test\1/.test(text);
  if (!usesNodeTest && !vitestOrJest.test(text) && !/^\s*(?:describe|it|test)(?:\.\w+)*\(/m.test(text)) return null;
  const isModule = /^\s*(?:import|export)\s/m.test(text);
  const isCommon = path.endsWith(".cjs") || (!path.endsWith(".mjs") && /\brequire\(/.test(text) && !isModule);
  // Vitest and jest resolve imports in their own ways.
  const needsLoader = compiledFile.test(path) || (!isCommon && (vitestOrJest.test(text) || /\bexpect\(/.test(text)));
  const ending = /\.[cm]?[jt]sx?$/.exec(path)?.[0] ?? ".js";
  const [folder, copy, loader] = [parentFolder(path), `${nonce}-tests${ending}`, `${nonce}-load.mjs`];
  const [commonFile, moduleFile, expectFile] = [`${nonce}-calls.cjs`, `${nonce}-calls.mjs`, `${nonce}-expect.cjs`]; // the test functions
  const usedGlobals = usesNodeTest || vitestOrJest.test(text) ? [] : testFunctionNames.filter((name) => isUsedGlobal(text, name));
  const importLine = isCommon
    ? `const { ${usedGlobals.join(", ")} } = require("./${commonFile}"); `
    : `import { ${usedGlobals.join(", ")} } from "./${moduleFile}"; `;
  const replaced = text.replaceAll(/(["'])(?:node:test|@jest\/globals)\1/g, `"./${isCommon ? commonFile : moduleFile}"`);
  const start = `${folder}${nonce}.cjs`;
  return {
    edits: [
      { path: `${folder}${commonFile}`, text: createTestFunctionsSource(skippedTests, expectFile) },
      { path: `${folder}${expectFile}`, text: expectSource },
      { path: `${folder}${moduleFile}`, text: createModuleSource(commonFile) },
      ...(needsLoader ? [{ path: `${folder}${loader}`, text: createLoaderSource(moduleFile) }] : []),
      { path: `${folder}${copy}`, text: usedGlobals.length === 0 ? replaced : `${importLine}${replaced}` },
      { path: start, text: createMainSource(commonFile, copy, isCommon, needsLoader ? loader : null) },
    ],
    command: `node ${quoteForShell(start)}`,
  };
}

/** Whether a test uses the name as a global and does not define it. Ours are imported: code could look for real globals. */
const isUsedGlobal = (text: string, name: string): boolean =>
  new RegExp(`(?<![\\w$.])${name}\\b`).test(text) && !new RegExp(`\\b(?:import|const|let|var|function)\\s[^;=()]*\\b${name}\\b`).test(text);

/** The test functions as a module, for tests that import them. */
const createModuleSource = (commonFile: string): string =>
  `import calls from "./${commonFile}";\nexport default calls;\nexport const { ${testFunctionNames.join(", ")} } = calls;\n`;

/** A test file that never ends, or whose tests don't, shows nothing. */
const timeoutMs = 60_000;

/** The program itself: it exits with 0 if an assertion failed, and with 1 if nothing was shown (R1). */
const createMainSource = (
  commonFile: string,
  copy: string,
  isCommon: boolean,
  loader: string | null,
): string => `const calls = require("./${commonFile}");
${loader === null ? "" : `require("node:module").register("./${loader}", require("node:url").pathToFileURL(__filename));`}
(async () => {
  ${isCommon ? `require("./${copy}")` : `await import("./${copy}")`};
  process.exit((await calls.doesAnyFail()) ? 0 : 1);
})().catch(() => process.exit(1));
setTimeout(() => process.exit(1), ${timeoutMs}).unref();
`;
