// change-kind: describes what was done to a protected file, by comparing its text before and after.
// It only describes: whether the change is allowed does not depend on what is found here.

import { listSome } from "../../kit/list-some.ts";
import type { ProtectedChange } from "../../contracts/evidence.ts";
import { detectLanguage } from "./kinds.ts";
import type { Language, ProtectedKind } from "./rows/protection-row.ts";
import { findLoosenedLimits } from "./loosened-limits.ts";
import { countPatterns } from "./test-patterns.ts";

export type ChangeKind = ProtectedChange["how"];
export type ChangeFinding = { readonly how: ChangeKind; readonly message: string };

/** Every finding, the most serious first; empty for an unspecific change. */
export function findChangeFindings(
  path: string,
  kind: ProtectedKind,
  before: string,
  after: string,
): readonly ChangeFinding[] {
  if (kind === "snapshot") {
    const lines = describeLineChanges(before, after);
    return [{ how: "changed", message: `the recorded output was rewritten, ${lines}` }];
  }

  const hasMore = (pattern: RegExp): boolean =>
    countMatches(after, pattern) > countMatches(before, pattern);
  const loosened = findLoosenedLimits(before, after);
  const language = detectLanguage(path);
  const findings: ChangeFinding[] = [];

  if (kind === "test" && language !== null) {
    findings.push(...findTestFindings(before, after, language, loosened.length > 0));
  }

  if (kind === "test_config" && hasMore(exclusions)) {
    findings.push({ how: "skipped", message: "it leaves out tests that were run before" });
  }

  if (loosened.length > 0) findings.push({ how: "loosened", message: listSome(loosened) });
  if (kind !== "test" && hasMore(loopholes)) {
    findings.push({ how: "loosened", message: "it lets more pass than before" });
  }

  if (kind === "compiler" && countStrictRules(after) < countStrictRules(before)) {
    findings.push({ how: "loosened", message: "the compiler is told to be less strict" });
  }

  return findings;
}

function findTestFindings(
  before: string,
  after: string,
  language: Language,
  isLoosened: boolean,
): readonly ChangeFinding[] {
  const countsBefore = countPatterns(before, language);
  const countsAfter = countPatterns(after, language);
  const increase = (name: keyof typeof countsBefore): number =>
    countsAfter[name] - countsBefore[name];

  const findings: ChangeFinding[] = [];
  const add = (how: ChangeKind, message: string): unknown => findings.push({ how, message });

  const newSkips = increase("skips");
  if (newSkips > 0) {
    const tests = countNoun(newSkips, "test", "tests");
    add("skipped", `${tests} more ${newSkips === 1 ? "is" : "are"} skipped`);
  }

  if (increase("focuses") > 0) {
    add("focused", "only some of its tests are run, the others are left out");
  }

  if (increase("cases") < 0) {
    const cases = countNoun(countsAfter.cases, "test case", "test cases");
    add("weakened", `it has ${cases}, before it had ${countsBefore.cases}`);
  }

  if (increase("assertions") < 0) {
    const assertedText = countNoun(countsAfter.assertions, "thing", "things");
    add("weakened", `it asserts ${assertedText}, before it asserted ${countsBefore.assertions}`);
  }

  if (increase("empty") > 0) {
    add("weakened", `${countNoun(increase("empty"), "assertion", "assertions")} in it cannot fail`);
  }

  if (increase("mocks") > 0) {
    const standIns = countNoun(increase("mocks"), "stand-in", "stand-ins");
    add("mocked", `it puts ${standIns} in the place of what it tests`);
  }

  if (findings.length === 0 && increase("cases") > 0 && !isLoosened) {
    const added = countNoun(increase("cases"), "test case was", "test cases were");
    add("changed", `${added} added to it; new tests that need no leave go into a new file`);
  }

  return findings;
}

/** Settings that leave tests out. */
const exclusions =
  /\b(?:exclude|testPathIgnorePatterns|testIgnore|ignorePatterns|collect_ignore\w*|deselect|norecursedirs|forbidOnly)\b|--(?:ignore|deselect|exclude)\b|passWithNoTests/g;
/** What lets a failing command pass, or turns rules off: as a key, a table or a flag, not as a value. */
const loopholes =
  /\|\|\s*true\b|\bexit\s+0\b|continue-on-error:\s*true|allow_failure:\s*true|["']?\boff\b["']?|--(?:ignore|disable|exclude)|\b(?:\w*ignore|disable|exclude)[\w-]*["']?\s*(?:[:=\](]|\s-\s)/gi;

/**
 * How many strict rules of the TypeScript compiler are on, less those options that make it laxer.
 */
function countStrictRules(text: string): number {
  return countMatches(text, strictOption) - countMatches(text, laxOption);
}

const strictOption =
  /"(?:strict\w*|no[A-Z]\w*|exactOptionalPropertyTypes|checkJs|isolatedModules)"\s*:\s*true/g;
const laxOption = /"(?:skipLibCheck|allow[A-Z]\w*|suppress\w*)"\s*:\s*true/g;

const countMatches = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

function countNoun(n: number, singular: string, plural: string): string {
  if (n === 0) return `no ${plural}`;
  return n === 1 ? `1 ${singular}` : `${n} ${plural}`;
}

const partCharsMax = 70;
const contextChars = 24;

/** What became of the first changed line, and how many more there are; else how many lines differ. */
export function describeLineChanges(before: string, after: string): string {
  const linesBefore = new Set(before.split("\n"));
  const linesAfter = new Set(after.split("\n"));
  const removed = [...linesBefore].filter((line) => !linesAfter.has(line));
  const added = [...linesAfter].filter((line) => !linesBefore.has(line));
  const [was, now] = [removed[0], added[0]];
  if (was === undefined || now === undefined || removed.length !== added.length) {
    return `${countNoun(removed.length, "line", "lines")} gone and ${countNoun(added.length, "line", "lines")} new`;
  }

  const moreCount = removed.length - 1;
  const moreText =
    moreCount === 0 ? "" : `, and ${countNoun(moreCount, "more line", "more lines")}`;
  return `${showChange(was, now)} is ${showChange(now, was)} now${moreText}`;
}

/** The part of a line around what another line has instead. */
function showChange(line: string, other: string): string {
  let same = 0;
  while (same < line.length && line[same] === other[same]) same += 1;
  const from = Math.max(0, same - contextChars);
  const part = line.slice(from, from + partCharsMax).trim();
  const isCut = from + partCharsMax < line.length;

  return `\`${line.slice(0, from).trim() === "" ? "" : "…"}${part}${isCut ? "…" : ""}\``;
}
