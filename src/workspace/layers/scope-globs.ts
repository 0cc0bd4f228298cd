// scope-globs: compiles globs into tests of paths: which paths an attempt may change, which are the
// runner's own, which are hidden. Pure.
//
// Invariants:
//   S1. A path is matched from the root of the tree; a leading dot has no special meaning.
//   S2. An exclusion (`!glob`) wins at any position in the list; exclusions alone start from
//       everything.
//   S3. A newline in a name doesn't hide it from a glob or an exclusion.
//   S4. Runner-owned paths match in any letter case, since they are one file on many machines.

import picomatch from "picomatch";

export type PathTest = (path: string) => boolean;

/** The test whether a path is in scope. */
export function compileScope(globs: readonly string[]): PathTest {
  const inclusions = globs.filter((glob) => !glob.startsWith("!"));
  const exclusions = globs.filter((glob) => glob.startsWith("!")).map((glob) => glob.slice(1));
  // `src/**` includes what is below `src`, not a file that replaces the folder; as an exclusion it
  // means both.
  const includes = compileAny(inclusions.length === 0 ? ["**"] : inclusions, {
    nocase: false,
    strictSlashes: true,
  });

  const excludes = compileAny(exclusions, { nocase: false, strictSlashes: false });
  return (path) => includes(path) && !excludes(path); // S2
}

/** The test whether a path is one of the runner's own. */
export const compileOwnedPaths = (globs: readonly string[]): PathTest =>
  compileAny(globs, { nocase: true, strictSlashes: false }); // S4

/** The test whether a path is hidden from an agent. */
export const compileMasks = (globs: readonly string[]): PathTest =>
  compileAny(globs, { nocase: false, strictSlashes: false });

function compileAny(
  globs: readonly string[],
  { nocase, strictSlashes }: { readonly nocase: boolean; readonly strictSlashes: boolean },
): PathTest {
  if (globs.length === 0) return () => false;
  const tests = globs.map(normalizeGlob).map((glob): PathTest => {
    const toComparable = (text: string): string => (nocase ? text.toLowerCase() : text);
    const literal = toComparable(glob);

    const matches = picomatch(glob, {
      dot: true,
      nocase,
      nonegate: true,
      strictSlashes,
      flags: nocase ? "is" : "s",
    }); // S1, S3

    // The folders before the first glob character: `src/a` of `src/a/*.ts`. Most paths of a tree
    // lack them, and are rejected by that alone.
    const prefix = /^[\w./-]*/.exec(literal)?.[0].replace(/\/?[^/]*$/, "") ?? "";
    return (path) => {
      if (prefix !== "" && !toComparable(path.slice(0, prefix.length)).startsWith(prefix)) {
        return false;
      }

      // A name may contain glob characters (`[id].ts`), so a glob also matches itself literally.
      return toComparable(path) === literal || matches(path);
    };
  });
  return (path) => tests.some((test) => test(path));
}

/** `./src/` and `src/` mean everything below `src`. */
function normalizeGlob(glob: string): string {
  const bare = glob.startsWith("./") ? glob.slice(2) : glob;
  return bare.endsWith("/") ? `${bare}**` : bare;
}
