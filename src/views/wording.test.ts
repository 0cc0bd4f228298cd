import { expect, test } from "vitest";
import { amount, attemptWords, duration, fewLines, figure, firstFew, oneLine, cursorWords } from "./wording.ts";

test("figures read the same in every locale", () => {
  expect([0, 999, 1000, 1234567, 0.126, 1234.5].map(figure)).toEqual(["0", "999", "1,000", "1,234,567", "0.13", "1,234.5"]);
  expect([amount("usd", 0.5), amount("minutes", 3), amount("tokens", 12_000)]).toEqual(["$0.50", "3 min", "12,000 tokens"]);
  expect([450, 1234, 61_000].map(duration)).toEqual(["450 ms", "1.2 s", "1 min 1 s"]);
});

test("places in words", () => {
  expect(cursorWords("1")).toBe("phase 1");
  expect(cursorWords("before.survey")).toBe("survey");
  expect(cursorWords("1/closing")).toBe("closing of phase 1");
  expect(cursorWords("1@1/execute#1/03-01")).toBe("03-01 of phase 1");
  expect(attemptWords("1@1/execute#2")).toBe("execute #2 (phase 1)");
  expect(attemptWords("1@2/execute#1")).toBe("execute #1 (phase 1, visit 2)");
  expect(attemptWords("1@1/execute#1/03-01@1/do#1")).toBe("do #1 (03-01 of phase 1)");
});

test("other people's text is cut, folded and made harmless", () => {
  expect(oneLine("a\n\n  b\u001b[2J")).toBe("a b\\x1b[2J");
  expect(oneLine("👩👩👩👩", 3)).toBe("👩👩…");
  expect(fewLines("a\n\nb\nc\nd", 2)).toEqual(["a", "b", "… 2 more lines"]);
  expect(firstFew(["a", "b", "c"], 2)).toBe("a, b and 1 more");
});
