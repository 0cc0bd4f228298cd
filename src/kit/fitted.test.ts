import { expect, test } from "vitest";
import { fitted } from "./fitted.ts";

const lines = (count: number, mark = "·"): string[] =>
  Array.from({ length: count }, (_, index) => `  ${mark} ${index + 1}`);

test("a page that fits a screen stays as it is", () => {
  const page = ["Head", "", "List", ...lines(30)];
  expect(fitted(page, 34)).toBe(page);
});

test("the longest block gives first, from its end, and says how many lines it gave", () => {
  const page = ["Head", "", "Short", ...lines(3), "", "Long", ...lines(40)];
  const shown = fitted(page, 34);
  expect(shown).toHaveLength(34);
  expect(shown.slice(0, 7)).toEqual(["Head", "", "Short", "  · 1", "  · 2", "  · 3", ""]);
  expect(shown.slice(-2)).toEqual(["  · 25", "  … 15 more lines (-v)"]);
});

test("what needs somebody is cut last, and a next step never", () => {
  const page = [
    "Head",
    "",
    "List",
    ...lines(20),
    "  ✗ broken",
    ...lines(20),
    "  ! odd",
    "",
    "Next",
    "  → autopilot resume",
  ];
  const shown = fitted(page, 12);
  expect(shown).toHaveLength(12);
  expect(shown.filter((line) => /[✗!→]/u.test(line))).toEqual([
    "  ✗ broken",
    "  ! odd",
    "  → autopilot resume",
  ]);

  expect(fitted(["Head", "", "List", ...lines(50, "→")], 34)).toHaveLength(53);
  expect(fitted(["Head", "", "List", ...lines(50, "✗")], 34)).toHaveLength(34);
  expect(fitted(["Head", ...lines(50)], 34)).toHaveLength(51);
});

test("a line that the terminal breaks counts with all its rows", () => {
  const page = ["Head", "", "List", ...lines(20)];
  expect(fitted(page, 34)).toHaveLength(23);
  expect(fitted(page, 34, (line) => (line.startsWith("  ·") ? 2 : 1)).length).toBeLessThan(20);
});
