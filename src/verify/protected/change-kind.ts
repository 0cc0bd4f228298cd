// change-kind: describes what was done to a protected file, by comparing its text before and after. One sentence has all findings; the
// first names the kind. A changed protected file is one whatever is found here: this only describes it.

import type { ProtectedChange } from "../../contracts/evidence.ts";
import { familyOf, type ProtectedKind } from "./kinds.ts";
import { loosenedLimits } from "./limits-in.ts";
import { countsOf } from "./test-patterns.ts";

export type How = ProtectedChange["how"];
export type Finding = { readonly how: How; readonly words: string };

const shownMax = 3;

/** Every finding, the most serious first; empty for an unspecific change. */
export function findingsIn(path: string, kind: ProtectedKind, before: string, after: string): readonly Finding[] {
  if (kind === "snapshot") return [{ how: "changed", words: `the recorded output was rewritten, ${linesOf(before, after)}` }];
  const family = familyOf(path);
  const found: Finding[] = [];
  if (kind === "test" && family !== null) {
    const [was, is] = [countsOf(before, family), countsOf(after, family)];
    const more = (name: keyof typeof was): number => is[name] - was[name];
    if (more("skips") > 0)
      found.push({ how: "skipped", words: `${many(more("skips"), "test", "tests")} more ${more("skips") === 1 ? "is" : "are"} skipped` });
    if (more("focuses") > 0) found.push({ how: "focused", words: "only some of its tests are run, the others are left out" });
    if (more("cases") < 0)
      found.push({ how: "weakened", words: `it has ${many(is.cases, "test case", "test cases")}, before it had ${was.cases}` });
    if (more("assertions") < 0)
      found.push({ how: "weakened", words: `it asserts ${many(is.assertions, "thing", "things")}, before it asserted ${was.assertions}` });
    if (more("empty") > 0) found.push({ how: "weakened", words: `${many(more("empty"), "assertion", "assertions")} in it cannot fail` });
    if (more("mocks") > 0)
      found.push({ how: "mocked", words: `it puts ${many(more("mocks"), "stand-in", "stand-ins")} in the place of what it tests` });
    if (found.length === 0 && more("cases") > 0 && loosenedLimits(before, after).length === 0)
      found.push({
        how: "changed",
        words: `${many(more("cases"), "test case was", "test cases were")} added to it; new tests that need no leave go into a new file`,
      });
  }
  if (kind === "test_config" && count(after, leavesOut) > count(before, leavesOut))
    found.push({ how: "skipped", words: "it leaves out tests that were run before" });
  const laxer = loosenedLimits(before, after);
  if (laxer.length > 0) found.push({ how: "loosened", words: laxer.slice(0, shownMax).join(", ") });
  if (kind !== "test" && count(after, gaps) > count(before, gaps)) found.push({ how: "loosened", words: "it lets more pass than before" });
  if (kind === "compiler" && strictness(after) < strictness(before))
    found.push({ how: "loosened", words: "the compiler is told to be less strict" });
  return found;
}

const leavesOut =
  /\b(?:exclude|testPathIgnorePatterns|testIgnore|ignorePatterns|collect_ignore\w*|deselect|norecursedirs|forbidOnly)\b|--(?:ignore|deselect|exclude)\b|passWithNoTests/g;
const gaps =
  /\|\|\s*true\b|\bexit\s+0\b|continue-on-error:\s*true|allow_failure:\s*true|["']?\boff\b["']?|\bignore\w*|\bdisable\w*|\bexclude\w*|failure_?ignore/gi;

/** How many rules of the compiler are on. */
function strictness(text: string): number {
  return (
    count(text, /"(?:strict\w*|no[A-Z]\w*|exactOptionalPropertyTypes|checkJs|isolatedModules)"\s*:\s*true/g) -
    count(text, /"(?:skipLibCheck|allow[A-Z]\w*|suppress\w*)"\s*:\s*true/g)
  );
}

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
const many = (n: number, one: string, more: string): string => (n === 0 ? `no ${more}` : `${n} ${n === 1 ? one : more}`);

/** How many lines are not in the other text, as a measure for a person. */
export function linesOf(before: string, after: string): string {
  const [was, is] = [new Set(before.split("\n")), new Set(after.split("\n"))];
  const gone = [...was].filter((line) => !is.has(line)).length;
  const come = [...is].filter((line) => !was.has(line)).length;
  return `${many(gone, "line", "lines")} gone and ${many(come, "line", "lines")} new`;
}
