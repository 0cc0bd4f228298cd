// count-matches: counts the files a scope covers and finds patterns that match none.

import picomatch from "picomatch";

/** Counts the files that a scope matches, and finds patterns that match none: most likely typos. */
export function countMatches(
  paths: readonly string[],
  scope: readonly string[],
): { readonly files: number; readonly unmatched: readonly string[] } {
  const included = scope.filter((glob) => !glob.startsWith("!"));
  const excluded = scope.filter((glob) => glob.startsWith("!")).map((glob) => glob.slice(1));

  const createMatcher = (globs: readonly string[]): ((path: string) => boolean) => {
    // Called for every file of a repository, so a catch-all pattern is not matched one by one.
    if (globs.includes("**") && excluded.length === 0) return () => true;
    return picomatch([...globs], { dot: true, ignore: excluded });
  };

  const isInScope = createMatcher(included.length === 0 ? ["**"] : included);
  const unmatched = included.filter((glob) => !paths.some(createMatcher([glob])));
  return { files: paths.filter(isInScope).length, unmatched };
}
