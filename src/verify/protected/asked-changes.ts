// asked-changes: tells whether the goal asks, in so many words, that a file which judges is changed:
// "update the golden files in test/golden". Pure. What is found here is not asked about once more,
// and is always listed as a gap: words can be misread.

/** Words that ask for a change of a file. */
const changeVerb =
  /\b(?:accept|adapt|adjust|change|convert|delete|drop|edit|extend|merge|migrate|modify|move|port|refresh|regenerate|remove|rename|replace|revise|rework|rewrite|rewritten|split|update)(?:d|s|ing)?\b/i;
/** Words of a sentence that speaks of what is to stay, or to pass. */
const otherSense =
  /\b(?:not|never|no|without|unless|except|keep\w*|leav\w+|stay\w*|untouched|unchanged|pass(?:es|ing)?|fail(?:s|ed|ing|ure)?|green|red|fix(?:es|ed)?|satisf\w+)\b|n't\b/i;

/** `goal`: the goal and the criteria in the person's words. */
export function isChangeAskedFor(path: string, goal: string): boolean {
  return splitSentences(goal).some(
    (sentence) =>
      changeVerb.test(sentence) && !otherSense.test(sentence) && namesPath(sentence, path),
  );
}

/** Parts between full stops, semicolons and line ends; a stop in a file's name ends none. */
const splitSentences = (text: string): readonly string[] => text.split(/[.!?;](?:\s|$)|\n/);

/** The path, its last name if that has an ending, or a folder around it (`test/golden`, `__tests__/`). */
function namesPath(sentence: string, path: string): boolean {
  const words = new Set(
    sentence.split(/[\s"'`(),:]+/).map((word) => word.replace(/^\.\//, "").replace(/\.$/, "")),
  );
  const steps = path.replace(/__snapshots__\/(.+)\.snap$/, "$1").split("/"); // of which tests
  const name = steps.at(-1) ?? path;
  if (words.has(path) || words.has(steps.join("/")) || (/\w\.\w/.test(name) && words.has(name)))
    return true;
  return steps.slice(0, -1).some((_, index) => {
    const folder = steps.slice(0, index + 1).join("/");
    return words.has(`${folder}/`) || (folder.includes("/") && words.has(folder));
  });
}
