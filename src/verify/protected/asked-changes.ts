// asked-changes: tells whether the goal asks, in so many words, that a file which judges is changed:
// "update the golden files in test/golden", "switch on eqeqeq in our ESLint configuration"; or that a
// name is changed or removed which a test used: "rename getItem to lookup". Pure. What is found here
// is not asked about once more, and is always listed as a gap: words can be misread.

import type { ProtectedChange } from "../../contracts/evidence.ts";
import { listReplacedLines } from "../../kit/replaced-lines.ts";

type Asked = Pick<ProtectedChange, "path" | "kind" | "how"> & {
  /** The texts that judge, of a file or of its tests alone; null if there is none. */
  readonly before: string | null;
  readonly after: string | null;
  /** Whether the file holds more than what judges: then no goal means the tests by its path. */
  readonly isPart: boolean;
};

/** `goal`: the goal and the criteria in the person's words. */
export function isAskedFor(change: Asked, goal: string): boolean {
  const { path, kind, how, isPart } = change;
  if (kind === "lint" || kind === "compiler") {
    return how === "changed" && !isPart && isSettingAskedFor(path, goal);
  }

  if ((kind !== "test" && kind !== "snapshot") || evasions.has(how)) return false;
  if (kind === "snapshot" && how === "changed" && areSnapshotsAskedFor(goal)) return true;
  return (!isPart && isChangeAskedFor(path, goal)) || isNameChangeAskedFor(change, goal);
}
const evasions: ReadonlySet<string> = new Set(["skipped", "focused", "mocked", "loosened"]);

function isNameChangeAskedFor({ how, before, after }: Asked, goal: string): boolean {
  if (before === null || after === null || before === after) return false;
  if (how === "changed") return isRenameAskedFor(before, after, goal);
  return how === "weakened" && isRemovalAskedFor(before, after, goal);
}

/** Words that ask for a change of a file. */
const changeVerb =
  /\b(?:accept|adapt|adjust|change|convert|delete|drop|edit|extend|merge|migrate|modify|move|port|refresh|regenerate|remove|rename|replace|revise|rework|rewrite|rewritten|split|update)(?:d|s|ing)?\b/i;
const removalVerb = /\b(?:delet|drop|remov|retir)(?:e|es|ed|ing|s|ped|ping)?\b/i;
/** What else one does with settings: `switch on`, `add`. */
const settingVerb =
  /\b(?:(?:switch|turn)\w* on|activate|add|adopt|configure|enable|introduce|raise|set|tighten)(?:d|s|ing)?\b/i;
/** Words of a sentence that speaks of what is to stay, or to pass. */
const otherSense =
  /\b(?:not|never|no(?!-)|without|unless|except|keep\w*|leav\w+|stay\w*|untouched|unchanged|pass(?:es|ing)?|fail(?:s|ed|ing|ure)?|green|red|fix(?:es|ed)?|satisf\w+)\b|n't\b/i;

/** The same for settings: what is to pass by them, or to be fixed, is often said beside. */
const deniedSetting = /\b(?:not|never|without|leav\w+|untouched|unchanged)\b|n't\b/i;

export const isChangeAskedFor = (path: string, goal: string): boolean =>
  listRequests(goal).some((sentence) => namesPath(sentence, path));

/** "Update the invoice snapshots": recorded outputs as a whole, since tests still compare them. */
export const areSnapshotsAskedFor = (goal: string): boolean =>
  listRequests(goal).some((sentence) => /\b(?:snapshots|golden files)\b/i.test(sentence));

/** By the file, or by the tool whose settings it has: `ESLint` for `.eslintrc.json`. */
export const isSettingAskedFor = (path: string, goal: string): boolean =>
  splitSentences(goal).some(
    (sentence) =>
      (changeVerb.test(sentence) || settingVerb.test(sentence)) &&
      !deniedSetting.test(sentence) &&
      (namesPath(sentence, path) || namesTool(sentence, path)),
  );

/** `eslint` of `.eslintrc.json` and `eslint.config.js`. */
function namesTool(sentence: string, path: string): boolean {
  const tool = /([a-z]\w+?)(?:rc)?(?:\.config)?(?:\.\w+)?$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  return sentence
    .toLowerCase()
    .split(/[^\w]+/)
    .includes(tool);
}

/**
 * Whether the goal asks for a change of names (`getItem`, `src/price.js`) that are gone from a text
 * now, and each place that was changed in it had one of them. What it expects there may differ, too.
 */
export const isRenameAskedFor = (before: string, after: string, goal: string): boolean =>
  areNamesGone(before, after, listRequests(goal));

/** Whether the goal asks to remove such names: what tested them may be gone with them. */
export const isRemovalAskedFor = (before: string, after: string, goal: string): boolean =>
  areNamesGone(
    before,
    after,
    listRequests(goal).filter((sentence) => removalVerb.test(sentence)),
  );

function areNamesGone(before: string, after: string, requests: readonly string[]): boolean {
  const goneNames = listNames(requests)
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
const listNames = (requests: readonly string[]): readonly string[] =>
  requests.flatMap((sentence) => sentence.match(/[\w$][\w$./-]*[\w$]/g) ?? []);

/** `use` is how code uses a name, `part` finds it in a line, also in `TestGetItem`. */
type NameUse = { readonly use: RegExp; readonly part: RegExp };

/** `GetItem` of `Store.GetItem`; of `src/price.js` what imports name it by. */
function listUses(word: string): readonly NameUse[] {
  const escape = (text: string): string => text.replaceAll(/[^\w]/g, String.raw`\$&`);
  const [last = "", folder] = word.split("/").toReversed();
  if (!/\.[a-z]{1,4}$/.test(last)) {
    const name = escape(last.split(".").at(-1) ?? last);
    const use = new RegExp(String.raw`(?<![\w$])${name}(?=\s?[(){}.,:;<!'"])`);
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
export function namesPath(sentence: string, path: string): boolean {
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
