// only-more: tells whether a test file still has everything it had, in the same order, beside what
// is new. Pure.
//
// Invariants:
//   O1. An import may add names, however it is broken into lines. Everything else stays as it was.

/**
 * Imports of names in JavaScript and Python: what comes before the names, the names, and what comes
 * after.
 */
const importForms: readonly RegExp[] = [
  /^[ \t]*(import\s+(?:type\s+)?(?:[\w$]+\s*,\s*)?)\{([^{}]*)\}(\s*from\s*["'][^"'\n]+["'][ \t]*;?)[ \t]*$/gm,
  /^[ \t]*((?:const|let|var)\s+)\{([^{}]*)\}(\s*=\s*require\(\s*["'][^"'\n]+["']\s*\)[ \t]*;?)[ \t]*$/gm,
  /^[ \t]*(from[ \t]+[\w.]+[ \t]+import[ \t]+)\(([^()]*)\)()[ \t]*$/gm,
  /^[ \t]*(from[ \t]+[\w.]+[ \t]+import[ \t]+)(\w[^()\n#]*)()$/gm,
];

type Import = { readonly from: string; readonly names: ReadonlySet<string> };

export function hasOnlyMore(before: string, after: string): boolean {
  const [oldFile, newFile] = [splitImports(before), splitImports(after)];
  const unmatchedImports = [...newFile.imports];

  for (const { from, names } of oldFile.imports) {
    const index = unmatchedImports.findIndex(
      (candidate) =>
        candidate.from === from && [...names].every((name) => candidate.names.has(name)),
    );
    if (index === -1) return false;
    unmatchedImports.splice(index, 1);
  }

  let position = 0;
  for (const line of oldFile.lines) {
    position = newFile.lines.indexOf(line, position) + 1;
    if (position === 0) return false;
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
        const from = `${head}${tail}`.replaceAll(/[\s;]+/g, " ").trim();
        const trimmedNames = names.split(",").map((name) => name.replaceAll(/\s+/g, " ").trim());
        imports.push({ from, names: new Set(trimmedNames.filter((name) => name !== "")) });

        return "";
      },
    );
  }

  return { imports, lines: withoutImports.trimEnd().split("\n") };
}

/**
 * The lines that `after` adds to `before`, if it has only more; of imports, those of other modules.
 */
export function listAddedLines(before: string, after: string): readonly string[] {
  const [oldFile, newFile] = [splitImports(before), splitImports(after)];
  const remaining = [...oldFile.lines];

  const lines = newFile.lines.filter((line) => {
    if (line !== remaining[0]) return true;
    remaining.shift();
    return false;
  });

  const newImports = newFile.imports.filter(({ from }) =>
    oldFile.imports.every((known) => known.from !== from),
  );
  return [...newImports.map(({ from }) => from), ...lines];
}

/**
 * A line that can end or skip nothing: one assertion (`assert_eq "a" "$(slug A)" "one"`,
 * `CHECK(add(1, 2) == 3);`) or a row of a table of cases (`{"/users/me", Params{"id": "me"}},`).
 */
export const isPlainAddition = (line: string): boolean =>
  line.trim() === "" ||
  ((assertionCall.test(line) || tableRow.test(line)) &&
    !joinsCommands.test(line) &&
    !loadsModule.test(line));
/** `expected = add(1, 2)` sets what the next line compares with, and is none. */
const assertionCall =
  /^\s*(?:\w+[._])?(?:assert|expect|check|require|is|ok|eq)\w*(?:\.\w+)*(?:\s*[("']|\s+(?!\s|:?=[^=]|\+=|:\s))/i;
const tableRow = /^\s*[[({"'\d](?!.*\b[a-z_]\w*\s*\()(?!.*=>).*[\])}"'\d],?\s*$/;
/** `require("./mute.js")`, `require_relative 'mute'` */
const loadsModule = /^\s*require(?:_\w+)?\s*\(?\s*["'`]/;
const joinsCommands = /[;&|`]\s*\S|\b(?:exit|return|trap|goto)\b/;
