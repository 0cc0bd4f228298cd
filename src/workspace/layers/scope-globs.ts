// scope-globs: which paths an attempt may change, by globs. Pure.
//
// Invariants:
//   S1. A path is matched from the root of the tree; a leading dot has no special meaning.
//   S2. An exclusion (`!glob`) wins at any position in the list; exclusions alone start from everything.
//   S3. A newline in a name doesn't hide it from a glob or an exclusion.
//   S4. Runner-owned paths match in any letter case, since they are one file on many machines.

import picomatch from "picomatch";

export type PathTest = (path: string) => boolean;

/** The test whether a path is in scope. */
export function compileScope(globs: readonly string[]): PathTest {
  const inclusions = globs.filter((glob) => !glob.startsWith("!"));
  const exclusions = globs.filter((glob) => glob.startsWith("!")).map((glob) => glob.slice(1));
  // `src/**` includes what is below `src`, not a file that replaces the folder; as an exclusion it means both.
  const includes = anyOf(inclusions.length === 0 ? ["**"] : inclusions, { nocase: false, strictSlashes: true });
  const excludes = anyOf(exclusions, { nocase: false, strictSlashes: false });
  return (path) => includes(path) && !excludes(path); // S2
}

/** The test whether a path is one of the runner's own. */
export const compileOwnedPaths = (globs: readonly string[]): PathTest => anyOf(globs, { nocase: true, strictSlashes: false }); // S4

/** The test whether a path is hidden from an agent. */
export const compileMasks = (globs: readonly string[]): PathTest => anyOf(globs, { nocase: false, strictSlashes: false });

function anyOf(
  globs: readonly string[],
  { nocase, strictSlashes }: { readonly nocase: boolean; readonly strictSlashes: boolean },
): PathTest {
  if (globs.length === 0) return () => false;
  const tests = globs.map(normalizeGlob).flatMap((glob) => {
    const literal = nocase ? glob.toLowerCase() : glob;
    // A name may contain glob characters (`[id].ts`); a pattern also matches itself literally.
    const test = picomatch(glob, { dot: true, nocase, nonegate: true, strictSlashes, flags: nocase ? "is" : "s" }); // S1, S3
    // Most paths of a tree do not even have the glob's prefix, and are rejected by that alone.
    const prefix = /^[\w./-]*/.exec(literal)?.[0].replace(/\/?[^/]*$/, "") ?? "";
    const hasPrefix = (path: string): boolean =>
      prefix === "" || (nocase ? path.slice(0, prefix.length).toLowerCase() : path).startsWith(prefix);
    return [(path: string) => hasPrefix(path) && ((nocase ? path.toLowerCase() : path) === literal || test(path))];
  });
  return (path) => tests.some((test) => test(path));
}

/** `./src/` and `src/` mean everything below `src`. */
function normalizeGlob(glob: string): string {
  const bare = glob.startsWith("./") ? glob.slice(2) : glob;
  return bare.endsWith("/") ? `${bare}**` : bare;
}
