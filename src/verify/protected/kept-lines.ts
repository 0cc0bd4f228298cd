// kept-lines: tells whether a test file kept all its lines and imports, in the same order, and lists
// the lines that were added. Pure.
//
// Invariants:
//   O1. An import may add names, however it is broken into lines. Every other line stays as it was.

import { isSubsequence } from "../../kit/is-subsequence.ts";

/**
 * Imports of names in JavaScript and Python: what comes before the names, the names, and what comes
 * after.
 */
const importForms: readonly RegExp[] = [
  // `import type { Sum } from "./sum.js";`
  /^[ \t]*(import\s+(?:type\s+)?(?:[\w$]+\s*,\s*)?)\{([^{}]*)\}(\s*from\s*["'][^"'\n]+["'][ \t]*;?)[ \t]*$/gm,
  // `const { sum } = require("./sum.js");`
  /^[ \t]*((?:const|let|var)\s+)\{([^{}]*)\}(\s*=\s*require\(\s*["'][^"'\n]+["']\s*\)[ \t]*;?)[ \t]*$/gm,
  // `from stats import (mean, median)`
  /^[ \t]*(from[ \t]+[\w.]+[ \t]+import[ \t]+)\(([^()]*)\)()[ \t]*$/gm,
  // `from stats import mean, median`
  /^[ \t]*(from[ \t]+[\w.]+[ \t]+import[ \t]+)(\w[^()\n#]*)()$/gm,
];

type Import = { readonly from: string; readonly names: ReadonlySet<string> };

export function keepsAllLines(before: string, after: string): boolean {
  const earlier = splitImports(before);
  const later = splitImports(after);
  return keepsImports(earlier.imports, later.imports) && isSubsequence(earlier.lines, later.lines);
}

/** Whether each import has a later one of its own that imports all of its names (O1). */
function keepsImports(earlier: readonly Import[], later: readonly Import[]): boolean {
  const unmatched = [...later];

  for (const { from, names } of earlier) {
    const index = unmatched.findIndex(
      (candidate) =>
        candidate.from === from && [...names].every((name) => candidate.names.has(name)),
    );
    if (index === -1) return false;
    unmatched.splice(index, 1);
  }

  return true;
}

/** The imported names by module, and the lines without these imports (O1). */
function splitImports(text: string): {
  readonly imports: readonly Import[];
  readonly lines: readonly string[];
} {
  const imports: Import[] = [];
  let withoutImports = text;

  for (const form of importForms) {
    withoutImports = withoutImports.replaceAll(
      form,
      (_match, head: string, names: string, tail: string) => {
        imports.push(parseImport(head, names, tail));
        return "";
      },
    );
  }

  return { imports, lines: withoutImports.trimEnd().split("\n") };
}

function parseImport(head: string, names: string, tail: string): Import {
  const trimmedNames = names.split(",").map((name) => name.replaceAll(/\s+/g, " ").trim());
  return {
    from: `${head}${tail}`.replaceAll(/[\s;]+/g, " ").trim(),
    names: new Set(trimmedNames.filter((name) => name !== "")),
  };
}

/**
 * The lines that `after` adds to `before`, if it keeps all of them; of imports, those of modules
 * that were not imported before.
 */
export function listAddedLines(before: string, after: string): readonly string[] {
  const earlier = splitImports(before);
  const later = splitImports(after);
  const unmatchedLines = [...earlier.lines];

  const addedLines = later.lines.filter((line) => {
    if (line !== unmatchedLines[0]) return true;
    unmatchedLines.shift();
    return false;
  });

  const earlierModules = new Set(earlier.imports.map(({ from }) => from));
  const addedModules = later.imports.filter(({ from }) => !earlierModules.has(from));
  return [...addedModules.map(({ from }) => from), ...addedLines];
}

/**
 * `assert_eq "a" "$(slug A)" "one"`, `CHECK(add(1, 2) == 3);`; not `expected = add(1, 2)`, which
 * sets what the next line compares with.
 */
const assertionCall =
  /^\s*(?:\w+[._])?(?:assert|expect|check|require|is|ok|eq)\w*(?:\.\w+)*(?:\s*[("']|\s+(?!\s|:?=[^=]|\+=|:\s))/i;
/** `{"/users/me", Params{"id": "me"}},`: a row of a table of cases, without calls. */
const tableRow = /^\s*[[({"'\d](?!.*\b[a-z_]\w*\s*\()(?!.*=>).*[\])}"'\d],?\s*$/;
/** `require("./mute.js")`, `require_relative 'mute'`. */
const loadsModule = /^\s*require(?:_\w+)?\s*\(?\s*["'`]/;
/** `assert a; exit 0`, `check || return`. */
const joinsCommands = /[;&|`]\s*\S|\b(?:exit|return|trap|goto)\b/;

/** Whether a line can end or skip nothing: one assertion, or a row of a table of cases. */
export function isHarmlessAddition(line: string): boolean {
  if (line.trim() === "") return true;
  const isCase = assertionCall.test(line) || tableRow.test(line);
  return isCase && !joinsCommands.test(line) && !loadsModule.test(line);
}
