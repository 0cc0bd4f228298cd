// loaded-files: finds which files of the project code loads, by what it imports, from one file to
// the next. JavaScript, TypeScript and Python. Pure, but for the texts it is given.
//
// Invariants:
//   L1. There is no parser and no settings of aliases: an import counts by its form, and `@/a`,
//       `~/a` and `#a` may mean any file whose path ends with `/a`.

import { dirname, join } from "node:path/posix";
import { detectLanguage } from "../../protected/kinds.ts";
import { findImports } from "./expected-value-sources.ts";

type Source = { readonly path: string; readonly text: string };

const scriptEnding = /(?:\/index)?\.[cm]?[jt]sx?$/;
const loadedMax = 400;
const candidatesMax = 5_000;

/** The files that this one itself loads, of these. */
export function findLoaded(
  { path, text }: Source,
  candidates: readonly string[],
): readonly string[] {
  const language = detectLanguage(path);
  if (language === "py") {
    const places = new Set(findImports(path, text).flatMap(({ from }) => from));
    return candidates.filter((candidate) => places.has(candidate));
  }
  if (language !== "js") return [];

  const { places, ends } = listScriptPlaces(path, text);
  return candidates.filter((candidate) =>
    [candidate, candidate.replace(scriptEnding, "")].some(
      (place) => places.has(place) || ends.some((end) => `/${place}`.endsWith(end)),
    ),
  );
}

/**
 * `from "./a"`, `import("./a.js")`, `require("./a")`: each as it is written, and without its
 * extension. `ends`: of those with an alias.
 */
function listScriptPlaces(path: string, text: string) {
  const [places, ends] = [new Set<string>(), new Set<string>()];
  const specifiers = text.matchAll(
    /\b(?:from|import|require(?:\.resolve)?|mock)\s*\(?\s*["'`]((\.{1,2}(?=[/"'`])|[@~](?=\/)|#)[^"'`]*)["'`]/g,
  );

  for (const [, specifier = "", start = ""] of specifiers) {
    const isRelative = start.startsWith(".");
    const place = isRelative
      ? join(dirname(path), specifier).replace(/\/$/, "")
      : join("/", specifier.slice(1));
    const found = isRelative ? places : ends;
    found.add(place).add(place.replace(/\.[cm]?[jt]sx?$/, ""));
  }

  return { places, ends: [...ends].filter((end) => end !== "/") };
}

/** All files that these load, themselves or by what they load. */
export async function findAllLoaded(
  from: readonly Source[],
  candidates: readonly string[],
  textOf: (path: string) => Promise<string | null>,
): Promise<ReadonlySet<string>> {
  const loaded = new Set<string>();
  const open = [...from];
  const known = candidates.slice(0, candidatesMax);

  for (let file = open.shift(); file !== undefined; file = open.shift()) {
    for (const path of findLoaded(file, known)) {
      if (loaded.has(path) || loaded.size === loadedMax) continue;
      loaded.add(path);
      open.push({ path, text: (await textOf(path)) ?? "" });
    }
  }

  return loaded;
}
