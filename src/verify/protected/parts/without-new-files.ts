// without-new-files: takes the names of the work's new files out of a makefile's text, so that naming
// them beside others is no change (J6 in ../judge.ts).

/**
 * A makefile without the words for new files of the work: `SRC = a.c b.c` of `SRC = a.c b.c
 * new.c`, also `new.h` and `new.o`.
 */
export function withoutNewFiles(
  before: string,
  after: string,
  addedPaths: readonly string[],
): string {
  const stemOf = (path: string): string =>
    path.slice(path.lastIndexOf("/") + 1).replace(/\.\w+$/, "");
  const newStems = new Set(addedPaths.filter((path) => compiledFile.test(path)).map(stemOf));
  const knownWords = new Set(before.split(/\s+/));
  const isNewFile = (word: string): boolean =>
    compiledFile.test(word) && newStems.has(stemOf(word)) && !knownWords.has(word);

  return after.replaceAll(/[ \t]+(\S+)/g, (all, word: string) => (isNewFile(word) ? "" : all));
}
const compiledFile = /\.(?:c|cc|cpp|cxx|h|hh|hpp|o|obj|s|S)$/;
