// expected-value-sources: modules from which tests import only expected values: a reference implementation, a table of cases, a golden result. If
// the work changed one, it changed what is expected of it. Pure.
//
// Invariants:
//   E1. Every use in every test counts: a module of which one of them tests something is under test, and may change.
//   E2. No parser: imports by their form, uses by the text around a name. Whether the pass depends on the change is decided by running the
//       check with the module as it was.

import { dirname, join } from "node:path/posix";
import type { StringSet } from "../../../kit/as-set.ts";
import { languageOf } from "../../protected/kinds.ts";
import { maskText } from "../../protected/masked.ts";
import { expectedValues } from "../flips/assertion-flips.ts";

type Import = { readonly names: readonly string[]; readonly from: readonly string[] };

type Test = { readonly path: string; readonly text: string };

/** Of these paths the ones that these tests import only expected values from. */
export function findExpectedSources(tests: readonly Test[], among: ReadonlySet<string>): readonly string[] {
  const [expected, asked] = [new Set<string>(), new Set<string>()];
  for (const test of tests)
    for (const [path, use] of findUses(test, among)) if (use !== "none") (use === "expected" ? expected : asked).add(path);
  return [...expected].filter((path) => !asked.has(path)).toSorted(); // E1
}

function findUses(test: Test, among: ReadonlySet<string>): ReadonlyMap<string, Use> {
  const family = languageOf(test.path);
  if (family !== "js" && family !== "py") return new Map();
  const imports = family === "js" ? findJsImports(test.path, test.text) : findPythonImports(test.path, test.text);
  const code = maskText(test.text, family)
    .split("\n")
    .map((line) => (/^\s*(?:import\b|from\s+\S+\s+import\b)|\brequire\(/.test(line) ? "" : line))
    .join("\n");
  // A name in a string isn't a use of it.
  const expected = expectedValues(test.path, test.text).map((text) => maskText(text, family));
  const found = new Map<string, Use>();
  for (const { names, from } of imports) {
    const path = from.find((one) => among.has(one));
    if (path === undefined) continue;
    for (const use of names.map((name) => classifyUse(name, code, expected)))
      if (use !== "none") found.set(path, found.get(path) === "asked" ? "asked" : use);
  }
  return found;
}

/** Functions that tests compare with (`equal(slug(s), expected(s))`), by the file of `among` that they are imported from. */
export function findReferences(tests: readonly Test[], among: Pick<StringSet, "has">): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const { path: own, text } of tests) {
    const family = languageOf(own);
    if (family !== "js" && family !== "py") continue;
    const expected = expectedValues(own, text).map((one) => maskText(one, family));
    for (const { names, from } of family === "js" ? findJsImports(own, text) : findPythonImports(own, text)) {
      const path = from.find((one) => among.has(one));
      const called = names.filter((name) => expected.some((one) => one.startsWith(`${name}(`)));
      if (path !== undefined && called.length > 0) found.set(path, new Set([...(found.get(path) ?? []), ...called]));
    }
  }
  return found;
}

/** What a file imports from others of the project, as far as its form shows. */
export function findImports(path: string, text: string): readonly Import[] {
  if (languageOf(path) === "js") return findJsImports(path, text);
  const whole = [...text.matchAll(/^\s*import\s+([\w.]+)(?:\s+as\s+(\w+))?/gm)].map(([, module = "", name]) => ({
    names: [name ?? module.split(".")[0] ?? ""],
    from: ["", "src/", `${dirname(path)}/`].flatMap((top) =>
      [".py", "/__init__.py"].map((end) => join(top, module.replaceAll(".", "/")) + end),
    ),
  }));
  return [...findPythonImports(path, text), ...whole];
}

type Use = "none" | "expected" | "asked";

function classifyUse(name: string, code: string, expected: readonly string[]): Use {
  const word = `(?<![\\w$.])${name.replaceAll("$", "\\$")}(?![\\w$])`;
  const count = (text: string): number => [...text.matchAll(new RegExp(word, "g"))].length;
  const all = count(code);
  if (all === 0) return "none";
  const outsideAssertions = code.replaceAll(/\b(?:assert|expect)[\w.]*[ (].*/gi, ""); // what an assertion looks at is asked
  const asTable = [...outsideAssertions.matchAll(new RegExp(tableUses.replaceAll("NAME", word), "g"))].length;
  return asTable + expected.reduce((sum, text) => sum + count(text), 0) >= all ? "expected" : "asked";
}

/** Iterated, indexed, spread, or passed to a function that makes a test of each row. */
const tableUses = [
  "\\b(?:of|in)\\s+NAME(?!\\s*\\()",
  "NAME\\s*\\[[^\\]\\n]*\\](?!(?:\\.\\w+)*\\s*\\()", // a row that is called is asked
  "NAME\\.(?:map|forEach|filter|entries|values|keys|items|length)\\b",
  "\\.{3}NAME",
  "\\.each\\(\\s*NAME",
  "\\b(?:entries|values|keys|enumerate|zip|sorted|list)\\(\\s*NAME",
  "parametrize\\([^)]*?,\\s*NAME",
].join("|");

const jsEnds = ["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", "/index.js", "/index.ts", "/index.mjs"];

function findJsImports(path: string, text: string): readonly Import[] {
  const found: Import[] = [];
  const forms = [
    /^\s*import\s+(?!type\b)([^"';]+?)\s+from\s*["'](\.{1,2}\/[^"']+)["']/gm,
    /^\s*(?:const|let|var)\s+([^=;]+?)\s*=\s*require\(\s*["'](\.{1,2}\/[^"']+)["']\s*\)/gm,
  ];
  for (const form of forms)
    for (const [, what = "", from = ""] of text.matchAll(form)) {
      const names = what
        .replaceAll(/[{}*]/g, ",")
        .split(",")
        .map(
          (part) =>
            part
              .trim()
              .split(/\s+as\s+|\s*:\s*/)
              .at(-1)
              ?.replace(/^as\s+/, "")
              .trim() ?? "",
        )
        .filter((name) => /^[\w$]+$/.test(name));
      const place = join(dirname(path), from);
      const bare = place.replace(/\.[cm]?jsx?$/, "");
      found.push({ names, from: [...jsEnds.map((end) => place + end), ...jsEnds.slice(4).map((end) => bare + end)] });
    }
  return found;
}

function findPythonImports(path: string, text: string): readonly Import[] {
  const found: Import[] = [];
  const placesOf = (module: string): readonly string[] => {
    const dots = /^\.*/.exec(module)?.[0].length ?? 0;
    const way = module.slice(dots).replaceAll(".", "/");
    const tops = dots > 0 ? [join(dirname(path), ...Array.from({ length: dots - 1 }, () => ".."))] : [".", "src", dirname(path)];
    return tops.flatMap((top) => [join(top, `${way}.py`), join(top, way, "__init__.py")]);
  };
  for (const [, module = "", what = ""] of text.matchAll(/^\s*from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n#]+)/gm)) {
    const parts = what
      .replaceAll(/[()\s]+/g, " ")
      .split(",")
      .map((part) => part.trim());
    const names = parts.map((part) => part.split(/\s+as\s+/).at(-1) ?? "").filter((name) => /^\w+$/.test(name));
    found.push({ names, from: placesOf(module) });
    for (const part of parts) {
      const [own = "", name = own] = part.split(/\s+as\s+/);
      if (/^\w+$/.test(own)) found.push({ names: [name], from: placesOf(`${module.replace(/\.$/, "")}.${own}`) });
    }
  }
  return found;
}

/** If a test's reference returns something else, its tests fail, or they do not use it. */
export const describeUnasked = (functions: string): string =>
  `its tests pass whatever ${functions} answers, though that is what they compare with, so something else has taken its place`;

const shownMax = 3;

export function describeExpectedSources(paths: readonly string[]): string {
  const more = paths.length > shownMax ? ` and ${paths.length - shownMax} more` : "";
  return `its tests take what they expect from ${paths.slice(0, shownMax).join(", ")}${more}, which the work changed, and it fails with that as it was, so a person has to look at that`;
}
