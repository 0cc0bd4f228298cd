import { expect, test } from "vitest";
import {
  isOutsideScope,
  formatAmount,
  describeAttempt,
  describeBudget,
  describeCursor,
  formatDuration,
  fewLines,
  formatNumber,
  firstFew,
  describeReason,
  oneLine,
  formatCompactNumber,
  describeSandbox,
  formatCompactDuration,
} from "./wording.ts";

test("figures read the same in every locale", () => {
  expect([0, 999, 1000, 1234567, 0.126, 1234.5].map(formatNumber)).toEqual([
    "0",
    "999",
    "1,000",
    "1,234,567",
    "0.13",
    "1,234.5",
  ]);

  expect([
    formatAmount("usd", 0.5),
    formatAmount("minutes", 3),
    formatAmount("tokens", 12_000),
  ]).toEqual(["$0.50", "3 min", "12,000 tokens"]);

  expect([450, 1234, 61_000].map(formatDuration)).toEqual(["450 ms", "1.2 s", "1 min 1 s"]);
  expect([999.7, 59_960, 119_700].map(formatDuration), "rounded up to the next unit").toEqual([
    "1.0 s",
    "1 min 0 s",
    "2 min 0 s",
  ]);
});

test("places in words", () => {
  expect(describeCursor("1")).toBe("phase 1");
  expect(describeCursor("before.survey")).toBe("survey");
  expect(describeCursor("1/closing")).toBe("closing of phase 1");
  expect(describeCursor("1@1/execute#1/03-01")).toBe("03-01 of phase 1");
  expect(describeAttempt("1@1/execute#2")).toBe("execute #2 (phase 1)");
  expect(describeAttempt("1@2/execute#1")).toBe("execute #1 (phase 1, visit 2)");
  expect(describeAttempt("1@1/execute#1/03-01@1/do#1")).toBe("do #1 (03-01 of phase 1)");
});

test("other people's text is cut, folded and made harmless", () => {
  expect(oneLine("a\n\n  b\u001b[2J")).toBe("a b\\x1b[2J");
  expect(oneLine("👩👩👩👩", 3)).toBe("👩👩…");
  expect(fewLines("a\n\nb\nc\nd", 2)).toEqual(["a", "b", "… 2 more lines"]);
  expect(firstFew(["a", "b", "c"], 2)).toBe("a, b and 1 more");
});

test("for a glance: rounded amounts, spans, and what is spent of what there is", () => {
  expect(
    [940, 999.94, 12_940, 180_000, 999_949, 999_950, 1_240_000].map(formatCompactNumber),
  ).toEqual(["940", "999.9", "12.9k", "180k", "999.9k", "1M", "1.2M"]);

  expect(
    [300, 9949, 9950, 59_499, 59_500, 125_000, 3_599_499, 4_320_000].map(formatCompactDuration),
  ).toEqual(["0.3s", "9.9s", "10s", "59s", "1m 00s", "2m 05s", "59m 59s", "1h 12m"]);

  const spent = { tokens: 12_900, minutes: 1.44, calls: 2, usd: 0.14 };
  expect(describeBudget(spent, { tokens: 180_000, minutes: 30, calls: 180 })).toBe(
    "12.9k of 180k tokens (7 %), 1.4 of 30 min, 2 of 180 calls, $0.14",
  );

  expect(describeBudget({ ...spent, usd: 0 }, {})).toBe("12.9k tokens, 1.4 min, 2 calls");
});

test("a sandbox is one word with what it is worth, and a reason is the rest of a sentence", () => {
  expect(["overlay", "clone", "none", "auto"].map((level) => describeSandbox({ level }))).toEqual([
    "overlay (strong)",
    "clone (weak)",
    "none",
    "chosen when the run starts",
  ]);

  expect(describeReason("budget_threshold_reached")).toMatch(/^the next turn/);
  expect(describeReason("approval_required")).toBe("waiting for your approval");
});

test.each([
  ["src/a.ts (outside_scope: outside the scope)", true],
  ["/etc/passwd (outside_layer: the agent's own tool call names it)", true],
  ["", true],
  ["big.bin (too_large: 100000000 bytes, 52428800 allowed)", false],
  ["l (symlink: new or changed links are never applied)", false],
])("work that is refused is told as what it is: %s", (detail, isOutside) => {
  expect(isOutsideScope(detail)).toBe(isOutside);
});
