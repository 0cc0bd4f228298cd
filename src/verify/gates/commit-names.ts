// commit-names: finds commits that a document names. Pure.
//
// Invariants:
//   M1. A hexadecimal word has letters and digits, and is a commit only by what stands before it:
//       colours, digests and version numbers look the same. These are lists of words.
//   M2. A made-up example (`1a2b3c4`, `deadbeef`) names no commit, nor does one in another
//       repository.
//   M3. A list has the form of a log if two or more of its lines begin with such a word of one
//       length and go on in words. That counts as far as the goal, the document's name or its own
//       words speak of commits or changes, and nothing near the list speaks of other things.

import { findConsoleSteps } from "./console-steps.ts";
import { readCodeBlocks, readProseLines } from "./citations.ts";

const commitsMax = 50;
const takeFirst = (names: readonly string[]): readonly string[] =>
  [...new Set(names.map((name) => name.toLowerCase()))].slice(0, commitsMax);

/** `commit 1a2b3c4`: a hexadecimal word with a letter and a digit. */
const commitName =
  /\bcommits?[\s:]+`?(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])([0-9a-f]{7,40})`?(?![\w-])/gi;

/** Commits that a document names as such. */
export const findCommitNames = (text: string): readonly string[] =>
  takeFirst(
    readProseLines(text).flatMap((line) =>
      [...line.matchAll(commitName)].map(([, name = ""]) => name),
    ),
  );

/**
 * A hexadecimal word of its own: no colour (`#3fa94bc`), path, digest (`sha256:…`), pinned action
 * (`a/b@…`) or link to elsewhere.
 */
const hexWord =
  /(?<![\w#/@.:=+%-])(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])([0-9a-f]{7,40})(?![\w/=-]|\.\w|\]\(\s*https?:)/g;
/** "the commits", "changeset:" and what follows in the sentence. */
const commitWord = /\b(?:commits?|changesets?|git (?:show|revert|cherry-pick|log))\b[^.;|]*$/i;
/** "introduced in", "fixed by" directly before the word. */
const changeWord =
  /\b(?:introduced|fixed|added|removed|dropped|reverted|reverts|landed|merged|changed|since|regress\w+|broken?|cherry-picked|backported)\s+(?:(?:in|by|with|as|from|of|at)\s+)?[`[(*_]*$/i;
/** Lines about other things of that form, or about other repositories. */
const otherThings =
  /\b(?:sha-?\d+|md5|digests?|checksums?|(?<!commit )hash(?:es|ed)?|integrity|colou?rs?|palette|uuids?|etag|fingerprints?|upstream|submodules?|vendor\w*|pin(?:s|ned)?|fork\w*|e\.g\.|for example|such as)\b|https?:\/\//i;

/**
 * Commits that a document names in its sentences, or quotes from `git log`. `isAbout`: the goal
 * speaks of commits, so every such word counts.
 */
export function findNamedCommits(text: string, isAbout: boolean): readonly string[] {
  const inProse = readProseLines(text).flatMap((line) => findNamesInSentence(line, isAbout));
  const inLogs = findConsoleSteps(text)
    .filter(({ command }) => logCommand.test(command))
    .flatMap(({ output }) => output.flatMap((line) => logOutputLine.exec(line.trim())?.[1] ?? []));

  return takeFirst([...inProse, ...inLogs].filter((name) => !isMadeUp(name)));
}

function findNamesInSentence(line: string, isAbout: boolean): readonly string[] {
  if (otherThings.test(line)) return [];

  const isNamedAs = (name: string, before: string): boolean =>
    isAbout || commitWord.test(before) || (changeWord.test(before) && countLetters(name) > 1);

  return [...line.matchAll(hexWord)]
    .filter(({ 1: name = "", index }) => isNamedAs(name, line.slice(0, index)))
    .map(([, name = ""]) => name);
}

/** A command that prints names of commits, in git's own form and not in one that is asked for. */
const logCommand =
  /^git (?:-\S+ )*(?:log|show|rev-parse|rev-list|blame)\b(?!.*(?:--format|--pretty|\^\{|\w:\S))/;
/** `commit 1a2b3c4…`, `1a2b3c4 Start at zero`, `^1a2b3c4 (Ann 2026-01-01 …`. */
const logOutputLine =
  /^(?:commit )?\^?(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])([0-9a-f]{7,40})(?:\s|$)/;

/**
 * `- 9f3c2ab Start at zero`, `9f3c2ab (tag: v1.0) Start`, `* [`9f3c2ab`](../../commit/9f3c2ab):
 * start`.
 */
const logLine =
  /^\s*(?:[-*+]|\d+[.)])?\s*[`*_[(]{0,3}(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])([0-9a-f]{7,12}|[0-9a-f]{40})[`*_\])]{0,3}(?:\((?!https?:)[^()\s]*\))?\s*[:–—|-]?\s+(?:\([^()\n]*\)\s*)?(?!\S+[./]\S+\s*$)["“]?\p{L}/u;
/** What speaks of a log. */
const logWords =
  /\b(?:commits?|chang(?:e|es|ed|elog|eset|esets)|history|hash(?:es)?|sha|git|log|releas\w+|revisions?|news)\b/i;
/** What makes a list one of other things. */
const otherLists =
  /\b(?:ids?|identifiers?|sessions?|users?|orders?|customers?|invoices?|tokens?|keys?|images?|containers?|devices?|requests?|traces?|builds?|samples?|examples?)\b/i;

/** The commits in lists of the form of a log (M3). `goal`: what the document was written for. */
export function findListedCommits(path: string, text: string, goal: string): readonly string[] {
  const wordsOfPath = path.replaceAll(/[-_./]/g, " ");
  const speaksOfLog = [wordsOfPath, goal, text].some((words) => logWords.test(words));
  if (!speaksOfLog) return [];

  const inProse = takeLog(findNamesInLists(readProseLines(text)));
  const inBlocks = logWords.test(goal) ? findNamesInBlocks(text) : [];
  return takeFirst([...inProse, ...inBlocks].filter((name) => !isMadeUp(name)));
}

/** The names at the beginnings of lines, unless the list or what stands above it is of others. */
function findNamesInLists(lines: readonly string[]): readonly string[] {
  const names: string[] = [];
  let near: string[] = []; // the heading, and what stands between it and the list

  for (const line of lines) {
    const name = otherThings.test(line) ? undefined : logLine.exec(line)?.[1];
    const isOfOthers = near.some((words) => otherThings.test(words) || otherLists.test(words));
    if (name !== undefined && !isOfOthers) names.push(name);

    const isHeading = /^#{1,6}\s|^\S.*:\s*$/.test(line);
    const isParagraph = name === undefined && /^[^\s\-*+\d]/.test(line);
    if (isHeading) near = [line];
    else if (isParagraph) near.push(line);
  }

  return names;
}

/** The names in those code blocks that have the form of a log, each block for itself. */
function findNamesInBlocks(text: string): readonly string[] {
  return readCodeBlocks(text)
    .filter(({ info }) => plainTextBlock.test(info.trim()))
    .flatMap(({ lines }) => takeLog(lines.flatMap((line) => logLine.exec(line)?.[1] ?? [])));
}

/** What stands behind the fence of a block that is no program. */
const plainTextBlock = /^(?:|text|txt|console|log|plain)$/i;

/** Two or more of one length: git shortens them alike. */
const takeLog = (names: readonly string[]): readonly string[] =>
  names.filter((name) => names.some((other) => other !== name && other.length === name.length));

const countLetters = (name: string): number => name.replaceAll(/\d/g, "").length;

/** M2: letters and digits that count up, `a1b2c3d`, or words that can be spelt so. */
function isMadeUp(name: string): boolean {
  if (hexSpeltWords.test(name)) return true;

  const letters = name.replaceAll(/\d/g, "");
  const digits = name.replaceAll(/[a-f]/g, "");
  return countsUp(letters) && countsUp(digits);
}

const hexSpeltWords =
  /^(?:dead|beef|cafe|babe|c0ffee|f00d|bad|c0de|feed|face|fade|decade|0+|1+)+[0-9a-f]{0,2}$/;

/** Whether each character is the one after that before it; `0` may follow anything. */
function countsUp(characters: string): boolean {
  return characters.split("").every((character, index) => {
    if (index === 0 || character === "0") return true;
    return character.charCodeAt(0) === characters.charCodeAt(index - 1) + 1;
  });
}
