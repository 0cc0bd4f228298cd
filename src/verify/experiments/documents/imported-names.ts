// imported-names: finds out which names in a document's examples are functions of the project, by
// what the document imports and defines.

import { definedNames, moduleImports, namedImports } from "./usage-patterns.ts";

/** Without names that the document imports from elsewhere or defines itself. */
export function withoutForeignNames(
  text: string,
  names: ReadonlySet<string>,
  isOwnModule: (module: string) => boolean,
): ReadonlySet<string> {
  const foreign = new Set<string>();

  for (const { groups } of matchAny(text, namedImports)) {
    if (isOwnModule(groups?.["module"] ?? "")) continue;
    for (const name of groups?.["names"]?.match(/[\w$]+/g) ?? []) foreign.add(name);
  }

  for (const [, name = ""] of matchAny(text, definedNames)) foreign.add(name);
  return new Set([...names].filter((name) => !foreign.has(name)));
}

/**
 * Matches what stands before functions of the project: `stats.` behind `import stats` or `import *
 * as stats from "./stats.js"`. Null if the document imports no module of the project as a whole.
 */
export function findNamespacePrefixes(
  text: string,
  isOwnModule: (module: string) => boolean,
): RegExp | null {
  const prefixes: string[] = [];
  for (const { groups } of matchAny(text, moduleImports)) {
    const module = groups?.["module"] ?? "";
    if (isOwnModule(module)) prefixes.push(groups?.["name"] ?? module);
  }

  if (prefixes.length === 0) return null;
  const escaped = prefixes.map((prefix) => prefix.replaceAll(/[.$]/g, String.raw`\$&`));
  return new RegExp(
    String.raw`(?<![\w.$"'/-])(?:${escaped.join("|")})\.(?=[A-Za-z_$][\w$]*\()`,
    "g",
  );
}

const matchAny = (text: string, patterns: readonly RegExp[]): readonly RegExpExecArray[] =>
  patterns.flatMap((pattern) => [...text.matchAll(pattern)]);
