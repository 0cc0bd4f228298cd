// expected-value-sources: finds modules from which tests import only expected values: a reference
// implementation, a table of cases, a golden result. If the work changed one, it changed what is
// expected of it. Pure.
//
// Invariants:
//   E1. Every use in every test counts: if one test asks a module for an answer, the module is
//       under test, and may change.
//   E2. There is no parser: imports are recognised by their form, uses by the text around a name.
//       Whether the pass depends on the change is decided by running the check with the module as
//       it was.

import { listSome } from "../../../kit/list-some.ts";
import { dirname, join } from "node:path/posix";
import type { StringSet } from "../../../kit/as-set.ts";
import { detectLanguage } from "../../protected/kinds.ts";
import { maskText } from "../../protected/mask-text.ts";
import { findExpectedValues } from "../broken-expectations/assertion-flips.ts";

/** Imported names, and the paths that the imported file may have. */
type Import = { readonly names: readonly string[]; readonly from: readonly string[] };

type Test = { readonly path: string; readonly text: string };

/** Those of the candidates that the tests import only expected values from. */
export function findExpectedSources(
  tests: readonly Test[],
  candidates: ReadonlySet<string>,
): readonly string[] {
  const expectedPaths = new Set<string>();
  const askedPaths = new Set<string>();

  for (const test of tests) {
    for (const [path, use] of findUses(test, candidates)) {
      if (use === "expected") expectedPaths.add(path);
      else askedPaths.add(path);
    }
  }

  return [...expectedPaths].filter((path) => !askedPaths.has(path)).toSorted(); // E1
}

/** How a test uses the candidates that it imports; one that it does not use is left out. */
function findUses(test: Test, candidates: ReadonlySet<string>): ReadonlyMap<string, Use> {
  const language = detectLanguage(test.path);
  if (language !== "js" && language !== "py") return new Map();

  const importLine = /^\s*(?:import\b|from\s+\S+\s+import\b)|\brequire\(/;
  const lines = maskText(test.text, language).split("\n");
  const code = lines.map((line) => (importLine.test(line) ? "" : line)).join("\n");

  // A name in a string isn't a use of it.
  const expected = findExpectedValues(test.path, test.text).map((text) => maskText(text, language));
  const uses = new Map<string, Use>();

  for (const { names, from } of findNamedImports(test)) {
    const path = from.find((place) => candidates.has(place));
    if (path === undefined) continue;

    for (const use of names.map((name) => classifyUse(name, code, expected))) {
      if (use !== null) uses.set(path, uses.get(path) === "asked" ? "asked" : use);
    }
  }

  return uses;
}

/**
 * Functions that tests compare with (`equal(slug(s), expected(s))`), by the candidate file that
 * they are imported from.
 */
export function findReferences(
  tests: readonly Test[],
  candidates: Pick<StringSet, "has">,
): ReadonlyMap<string, ReadonlySet<string>> {
  const references = new Map<string, Set<string>>();
  for (const test of tests) {
    const language = detectLanguage(test.path);
    if (language !== "js" && language !== "py") continue;
    const values = findExpectedValues(test.path, test.text);
    const expected = values.map((value) => maskText(value, language));

    for (const { names, from } of findNamedImports(test)) {
      const path = from.find((place) => candidates.has(place));
      const calledNames = names.filter((name) =>
        expected.some((value) => value.startsWith(`${name}(`)),
      );
      if (path !== undefined && calledNames.length > 0) {
        references.set(path, new Set([...(references.get(path) ?? []), ...calledNames]));
      }
    }
  }

  return references;
}

const findNamedImports = ({ path, text }: Test): readonly Import[] =>
  detectLanguage(path) === "js" ? findJsImports(path, text) : findPythonImports(path, text);

/** What a file imports from others of the project, as far as its form shows. */
export function findImports(path: string, text: string): readonly Import[] {
  if (detectLanguage(path) === "js") return findJsImports(path, text);

  const statements = [...text.matchAll(/^\s*import\s+([\w.]+)(?:\s+as\s+(\w+))?/gm)];
  const modules = statements.map(([, module = "", name]): Import => {
    const tops = ["", "src/", `${dirname(path)}/`];
    const stems = tops.map((top) => join(top, module.replaceAll(".", "/")));
    const from = stems.flatMap((stem) => [`${stem}.py`, `${stem}/__init__.py`]);
    return { names: [name ?? module.split(".")[0] ?? ""], from };
  });
  return [...findPythonImports(path, text), ...modules];
}

/** `expected`: a test takes expected values from there. `asked`: it asks it for answers. */
type Use = "expected" | "asked";

/**
 * Null if the name isn't used. It is `expected` if each use is in an expected value or as a table
 * of cases.
 */
function classifyUse(name: string, code: string, expected: readonly string[]): Use | null {
  const word = `(?<![\\w$.])${name.replaceAll("$", "\\$")}(?![\\w$])`;
  const countUses = (text: string): number => [...text.matchAll(new RegExp(word, "g"))].length;
  const useCount = countUses(code);
  if (useCount === 0) return null;

  const outsideAssertions = code.replaceAll(/\b(?:assert|expect)[\w.]*[ (].*/gi, ""); // what an assertion looks at is asked
  const tableUse = new RegExp(
    tableUses.replaceAll("NAME", () => word),
    "g",
  );
  const tableCount = [...outsideAssertions.matchAll(tableUse)].length;

  let expectedCount = 0;
  for (const text of expected) expectedCount += countUses(text);
  return tableCount + expectedCount >= useCount ? "expected" : "asked";
}

/** Iterated, indexed, spread, or passed to a function that makes a test of each row. */
const tableUses = [
  "\\b(?:of|in)\\s+NAME(?!\\s*\\()",
  "NAME\\s*\\[[^\\]\\n]*\\](?!(?:\\.\\w+)*\\s*\\()", // not if the row is called: then it is asked
  "NAME\\.(?:map|forEach|filter|entries|values|keys|items|length)\\b",
  "\\.{3}NAME",
  "\\.each\\(\\s*NAME",
  "\\b(?:entries|values|keys|enumerate|zip|sorted|list)\\(\\s*NAME",
  "parametrize\\([^)]*?,\\s*NAME",
].join("|");

const jsEnds = [
  "",
  ".js",
  ".mjs",
  ".cjs",
  ".ts",
  ".mts",
  ".cts",
  ".tsx",
  ".jsx",
  "/index.js",
  "/index.ts",
  "/index.mjs",
];

function findJsImports(path: string, text: string): readonly Import[] {
  const imports: Import[] = [];
  const forms = [
    /^\s*import\s+(?!type\b)([^"';]+?)\s+from\s*["'](\.{1,2}\/[^"']+)["']/gm,
    /^\s*(?:const|let|var)\s+([^=;]+?)\s*=\s*require\(\s*["'](\.{1,2}\/[^"']+)["']\s*\)/gm,
  ];
  for (const form of forms) {
    for (const [, bindings = "", from = ""] of text.matchAll(form)) {
      const names = bindings.replaceAll(/[{}*]/g, ",").split(",").map(readLocalName);
      const place = join(dirname(path), from);
      const withoutExtension = place.replace(/\.[cm]?jsx?$/, "");
      imports.push({
        names: names.filter((name) => /^[\w$]+$/.test(name)),
        // An import of `./sum.js` may mean `sum.ts`.
        from: [
          ...jsEnds.map((end) => place + end),
          ...jsEnds.slice(4).map((end) => withoutExtension + end),
        ],
      });
    }
  }

  return imports;
}

/** The name that a binding has in this file: `b` of `a as b`, `a: b` and `* as b`. */
function readLocalName(binding: string): string {
  const last = binding
    .trim()
    .split(/\s+as\s+|\s*:\s*/)
    .at(-1);
  return last?.replace(/^as\s+/, "").trim() ?? "";
}

function findPythonImports(path: string, text: string): readonly Import[] {
  const imports: Import[] = [];
  for (const [, module = "", bindings = ""] of text.matchAll(
    /^\s*from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n#]+)/gm,
  )) {
    const parts = bindings
      .replaceAll(/[()\s]+/g, " ")
      .split(",")
      .map((part) => part.trim());
    const names = parts
      .map((part) => part.split(/\s+as\s+/).at(-1) ?? "")
      .filter((name) => /^\w+$/.test(name));

    imports.push({ names, from: listModulePaths(path, module) });
    // `from package import module` may import a file.
    for (const part of parts) {
      const [importedName = "", localName = importedName] = part.split(/\s+as\s+/);
      const submodule = `${module.replace(/\.$/, "")}.${importedName}`;

      if (/^\w+$/.test(importedName)) {
        imports.push({ names: [localName], from: listModulePaths(path, submodule) });
      }
    }
  }

  return imports;
}

/** Where a module may be that a file imports: `..` before its name means the folder above. */
function listModulePaths(path: string, module: string): readonly string[] {
  const dots = /^\.*/.exec(module)?.[0].length ?? 0;
  const modulePath = module.slice(dots).replaceAll(".", "/");
  const tops =
    dots > 0
      ? [join(dirname(path), ...Array.from({ length: dots - 1 }, () => ".."))]
      : [".", "src", dirname(path)];

  return tops.flatMap((top) => [
    join(top, `${modulePath}.py`),
    join(top, modulePath, "__init__.py"),
  ]);
}

/** For tests that still pass when the reference they compare with returns something else. */
export const describeUnasked = (functions: string): string =>
  `its tests pass whatever ${functions} answers, though that is what they compare with, so something else has taken its place`;

export const describeExpectedSources = (paths: readonly string[]): string =>
  `its tests take what they expect from ${listSome(paths)}, which the work changed, and it fails with that as it was, so a person has to look at that`;
