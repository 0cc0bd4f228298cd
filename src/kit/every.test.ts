import { expect, test } from "vitest";
import { parseInterval } from "./every.ts";

test("a time is read in its unit", () => {
  expect(["30s", "15m", "2h", "1d"].map((text) => parseInterval(text, 1_000))).toEqual([
    30_000, 900_000, 7_200_000, 86_400_000,
  ]);
});

test.each([
  ["", /no time/],
  ["15", /no time/],
  ["1.5m", /no time/],
  ["-1m", /no time/],
  ["5s", /too often/],
  ["0m", /too often/],
  ["99999d", /too seldom/],
])("%s is refused", (text, why) => {
  expect(parseInterval(text, 30_000)).toMatch(why);
});
