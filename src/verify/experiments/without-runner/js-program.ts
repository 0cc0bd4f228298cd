// js-program: builds a plain Node program that runs the tests of one file (of node:test, mocha,
// vitest or jest) without their runner. Beside the file it puts a copy of the tests that uses our
// own test functions (js-test-functions.ts) and `expect` (js-expect.ts), and for what Node cannot
// load a loader (js-loader.ts). Pure.
// Invariants R1 and on: verify/experiments/without-runner/tests-without-runner.ts.

import { shellWord } from "../../../kit/shell-word.ts";
import { expectSource } from "./js-expect.ts";
import { createLoaderSource } from "./js-loader.ts";
import { createTestFunctionsSource, testFunctionNames } from "./js-test-functions.ts";
import { parentFolder, type TestProgramInput, type PlainProgram } from "./plain-program.ts";

/**
 * What only a runner can do (R2). A test that needs more of it (`vi`, a callback, an unknown
 * matcher) fails, but not by an assertion.
 */
const runnerFeature = /\bmock\b|\.only\b/;
/** Runners whose test functions are not imitated. */
const otherRunner = /(["'])(?:ava|tape|tap|uvu|@playwright\/test|cypress)\1/;
const vitestOrJest = /(["'])(?:vitest|@jest\/globals|bun:test)\1/;
const nodeTest = /(["'])node:test\1/;
/** `describe("…`, `test.skip(` at the start of a line */
const testCall = /^\s*(?:describe|it|test)(?:\.\w+)*\(/m;

/** The files of the program, which all lie beside the tests. */
type FileNames = {
  readonly main: string;
  readonly tests: string;
  /** The test functions, for `require` and for `import`. */
  readonly functions: string;
  readonly functionsModule: string;
  readonly expect: string;
  readonly loader: string | null;
};

/** Null if the tests can't be run without their runner. */
export function buildJsProgram({
  path,
  text,
  uniqueName,
  skippedTests,
}: TestProgramInput): PlainProgram | null {
  if (/\.vue$|\.svelte$/.test(path) || runnerFeature.test(text) || otherRunner.test(text)) {
    return null;
  }

  if (!importsTestFunctions(text) && !testCall.test(text)) return null;
  const isCommonJs = usesCommonJs(path, text);

  const names: FileNames = {
    main: `${uniqueName}.cjs`,
    tests: `${uniqueName}-tests${/\.[cm]?[jt]sx?$/.exec(path)?.[0] ?? ".js"}`,
    functions: `${uniqueName}-calls.cjs`,
    functionsModule: `${uniqueName}-calls.mjs`,
    expect: `${uniqueName}-expect.cjs`,
    loader: needsLoader(path, text, isCommonJs) ? `${uniqueName}-load.mjs` : null,
  };
  const sources: readonly (readonly [name: string, text: string])[] = [
    [names.functions, createTestFunctionsSource(skippedTests, names.expect)],
    [names.functionsModule, createModuleSource(names.functions)],
    [names.expect, expectSource],
    ...(names.loader === null
      ? []
      : [[names.loader, createLoaderSource(names.functionsModule)] as const]),
    [names.tests, useOwnFunctions(text, isCommonJs ? "require" : "import", names)],
    [names.main, createMainSource(names, isCommonJs)],
  ];

  const folder = parentFolder(path);
  return {
    edits: sources.map(([name, source]) => ({ path: `${folder}${name}`, text: source })),
    command: `node ${shellWord(`${folder}${names.main}`)}`,
  };
}

const importsTestFunctions = (text: string): boolean =>
  nodeTest.test(text) || vitestOrJest.test(text);

const usesCommonJs = (path: string, text: string): boolean =>
  path.endsWith(".cjs") ||
  (!path.endsWith(".mjs") && /\brequire\(/.test(text) && !/^\s*(?:import|export)\s/m.test(text));

/**
 * For a file that has to be compiled first, and for vitest and jest, which resolve imports in their
 * own ways.
 */
const needsLoader = (path: string, text: string, isCommonJs: boolean): boolean =>
  /\.[cm]?tsx?$|\.jsx$/.test(path) ||
  (!isCommonJs && (vitestOrJest.test(text) || /\bexpect\(/.test(text)));

/**
 * The tests with our functions instead of their runner's. Those used as globals are imported: code
 * could look for real globals.
 */
function useOwnFunctions(
  text: string,
  way: "require" | "import",
  { functions, functionsModule }: FileNames,
): string {
  const file = `"./${way === "require" ? functions : functionsModule}"`;
  const replaced = text.replaceAll(/(["'])(?:node:test|@jest\/globals)\1/g, () => file); // the loader replaces vitest and bun:test
  const globals = importsTestFunctions(text)
    ? []
    : testFunctionNames.filter((name) => isUsedGlobal(text, name));
  if (globals.length === 0) return replaced;
  const list = `{ ${globals.join(", ")} }`;

  return way === "require"
    ? `const ${list} = require(${file}); ${replaced}`
    : `import ${list} from ${file}; ${replaced}`;
}

/** Whether a test uses the name and does not define it. */
const isUsedGlobal = (text: string, name: string): boolean =>
  new RegExp(`(?<![\\w$.])${name}\\b`).test(text) &&
  !new RegExp(`\\b(?:import|const|let|var|function)\\s[^;=()]*\\b${name}\\b`).test(text);

/** The test functions as a module, for tests that import them. */
const createModuleSource = (functions: string): string =>
  `import calls from "./${functions}";\nexport default calls;\nexport const { ${testFunctionNames.join(", ")} } = calls;\n`;

/** A test file that never ends, or whose tests don't, shows nothing. */
const timeoutMs = 60_000;

/**
 * The program itself: it exits with 0 if an assertion failed, and with 1 if nothing was shown (R1).
 */
const createMainSource = (
  { functions, tests, loader }: FileNames,
  isCommonJs: boolean,
): string => `const calls = require("./${functions}");
${loader === null ? "" : `require("node:module").register("./${loader}", require("node:url").pathToFileURL(__filename));`}
(async () => {
  ${isCommonJs ? `require("./${tests}")` : `await import("./${tests}")`};
  process.exit((await calls.doesAnyFail()) ? 0 : 1);
})().catch(() => process.exit(1));
setTimeout(() => process.exit(1), ${timeoutMs}).unref();
`;
