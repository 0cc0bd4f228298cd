import { expect, test } from "vitest";
import { findMatches, openMatcher, patternCharsMax, findPatternFault } from "./pattern.ts";

const wholes = (pattern: string, text: string) => {
  const found = findMatches(pattern, text, 100);
  return found.ok ? found.groups.map(([whole]) => whole) : found.why;
};

test("^ and $ are about lines, with either kind of line break", () => {
  expect(wholes("^b$", "a\nb\nc")).toEqual(["b"]);
  expect(wholes("^b$", "a\r\nb\r\nc")).toEqual(["b"]);
  expect(wholes("^## (\\w+)", "## One\ntext ## No\n## Two")).toEqual(["## One", "## Two"]);
});

test("a pattern about whole lines stays on its line; one that names a line break crosses it", () => {
  expect(wholes("^##\\s+Name$", "##\nName")).toEqual([]);
  expect(wholes("^##\\s+Name", "##\nName")).toEqual(["##\nName"]);
  expect(wholes("^a\\nb$", "a\nb")).toEqual(["a\nb"]);
});

test("groups come back in order, one that took no part as nothing", () => {
  expect(findMatches("(a)|(b)", "ab", 100)).toEqual({
    ok: true,
    groups: [
      ["a", "a", ""],
      ["b", "", "b"],
    ],
  });
});

test("a match of nothing does not go on for ever, and the number of matches is bounded", () => {
  expect(wholes("x*", "ab")).toEqual(["", "", ""]);
  expect(findMatches("a", "a".repeat(50), 3)).toMatchObject({ groups: [["a"], ["a"], ["a"]] });
});

test("a pattern that would search for years is given up and says so", () => {
  const found = findMatches("(a+)+!", `${"a".repeat(64)}?`, 1);
  expect(found).toEqual({ ok: false, why: "the pattern was still searching after 500 ms" });
  expect(findMatches("(a+)+!", "aaa!", 1)).toMatchObject({ ok: true, groups: [["aaa!", "aaa"]] });
});

test("what is no pattern is refused with the reason: broken, empty, one character too long", () => {
  expect(findPatternFault("(")).toMatch(/unterminated group/i);
  expect(findPatternFault("a".repeat(patternCharsMax))).toBeNull();
  expect(findPatternFault("a".repeat(patternCharsMax + 1))).toBe(
    "a pattern of 501 characters; at most 500 are allowed",
  );

  expect(findMatches("(", "x", 1).ok).toBe(false);
});

test("many searches share one limit: a pattern without an end is tried twice, and then no more; others still are", () => {
  const match = openMatcher();
  const hard = `${"a".repeat(64)}?`;
  const whys = [1, 2, 3].map(() => {
    const found = match("(a+)+!", hard, 1);
    return found.ok ? "" : found.why;
  });
  expect(whys).toEqual([
    "the pattern was still searching after 500 ms",
    "the pattern was still searching after 500 ms",
    "a pattern that came to no end in other files",
  ]);

  expect(match("a", hard, 1)).toMatchObject({ ok: true });
  const spent = openMatcher(0);
  expect(spent("a", "a", 1)).toEqual({
    ok: false,
    why: "patterns that were searched for longer than 0 ms in all",
  });
});

test("a broken pattern is told as broken however often it is tried", () => {
  const match = openMatcher();
  for (let n = 0; n < 4; n++) {
    expect(match("(", "x", 1)).toEqual({ ok: false, why: findPatternFault("(") });
  }
});
