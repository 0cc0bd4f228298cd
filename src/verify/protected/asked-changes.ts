// asked-changes: tells whether the goal asks, in so many words, that a file which judges is changed:
// "update the golden files in test/golden"; or that a name is changed which the file used: "rename
// getItem to lookup". Pure. What is found here is not asked about once more, and is always listed as
// a gap: words can be misread.

import { listReplacedLines } from "../../kit/replaced-lines.ts";

/** Words that ask for a change of a file. */
const changeVerb =
  /\b(?:accept|adapt|adjust|change|convert|delete|drop|edit|extend|merge|migrate|modify|move|port|refresh|regenerate|remove|rename|replace|revise|rework|rewrite|rewritten|split|update)(?:d|s|ing)?\b/i;
/** Words of a sentence that speaks of what is to stay, or to pass. */
const otherSense =
  /\b(?:not|never|no|without|unless|except|keep\w*|leav\w+|stay\w*|untouched|unchanged|pass(?:es|ing)?|fail(?:s|ed|ing|ure)?|green|red|fix(?:es|ed)?|satisf\w+)\b|n't\b/i;

/** `goal`: the goal and the criteria in the person's words. */
export const isChangeAskedFor = (path: string, goal: string): boolean =>
  listRequests(goal).some((sentence) => namesPath(sentence, path));

/**
 * Whether the goal asks for a change of names (`getItem`, `src/price.js`) that are gone from a text
 * now, and each place that was changed in it had one of them. What it expects there may differ, too.
 */
export function isRenameAskedFor(before: string, after: string, goal: string): boolean {
  const goneNames = listNames(goal)
    .flatMap(listUses)
    .filter(({ use }) => use.test(before) && !use.test(after));
  if (goneNames.length === 0) return false;

  const replaced = listReplacedLines(before, after);
  return (
    replaced !== null &&
    replaced.every((lines) => lines.some((line) => goneNames.some(({ part }) => part.test(line))))
  );
}

/** Sentences that ask for a change. */
const listRequests = (goal: string): readonly string[] =>
  splitSentences(goal).filter(
    (sentence) => changeVerb.test(sentence) && !otherSense.test(sentence),
  );

/** Words that may be names in code, or paths: `Store.GetItem`, `src/price.js`. */
const listNames = (goal: string): readonly string[] =>
  listRequests(goal).flatMap((sentence) => sentence.match(/[\w$][\w$./-]*[\w$]/g) ?? []);

/** `use` is how code uses a name, `part` finds it in a line, also in `TestGetItem`. */
type NameUse = { readonly use: RegExp; readonly part: RegExp };

/** `GetItem` of `Store.GetItem`; of `src/price.js` what imports name it by. */
function listUses(word: string): readonly NameUse[] {
  const escape = (text: string): string => text.replaceAll(/[^\w]/g, String.raw`\$&`);
  const [last = "", folder] = word.split("/").toReversed();
  if (!/\.[a-z]{1,4}$/.test(last)) {
    const name = escape(last.split(".").at(-1) ?? last);
    const use = new RegExp(String.raw`(?<![\w$])${name}(?=\s?[(){}.,:;<!])`);
    return name.length < 3 ? [] : [{ use, part: name.length === 3 ? use : new RegExp(name) }];
  }

  const name = escape(last.replace(/\.\w+$/, ""));
  const folders = folder === undefined ? [] : [`${escape(folder)}[./]`];
  return ["[./]", String.raw`\./`, ...folders].map((parent) => {
    const use = new RegExp(`${parent}${name}(?![\\w-])`);
    return { use, part: use };
  });
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
