// scope-matches: counts the files a scope covers and finds patterns that match none.

import picomatch from "picomatch";

/** How many of these files a scope matches, and which of its patterns match none: most likely typos. */
export function scopeMatches(
  names: readonly string[],
  scope: readonly string[],
): { readonly files: number; readonly unmatched: readonly string[] } {
  const takes = scope.filter((glob) => !glob.startsWith("!"));
  const leaves = scope.filter((glob) => glob.startsWith("!")).map((glob) => glob.slice(1));
  // Called for every file of a repository, so a catch-all pattern is not matched one by one.
  const matcher = (globs: readonly string[]): ((name: string) => boolean) =>
    globs.includes("**") && leaves.length === 0 ? () => true : picomatch([...globs], { dot: true, ignore: leaves });
  const isIn = matcher(takes.length === 0 ? ["**"] : takes);
  return { files: names.filter(isIn).length, unmatched: takes.filter((glob) => !names.some(matcher([glob]))) };
}
