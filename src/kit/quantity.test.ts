import { expect, test } from "vitest";
import { quantityText, readQuantity } from "./quantity.ts";

test.each([
  ["250k", 250_000],
  ["1.5M", 1_500_000],
  ["0.7M", 700_000],
  ["45", 45],
  ["3.25", 3.25],
  ["1_000", 1_000],
  ["0", 0],
])("%s is %d", (text, amount) => {
  expect(readQuantity(text)).toBe(amount);
});

test.each([
  "",
  "k",
  "-5",
  "+5",
  "1e9",
  "0x10",
  "NaN",
  "Infinity",
  "5 tokens",
  "1.2.3",
  "99999999999999M",
])("%j is no amount", (text) => {
  expect(readQuantity(text)).toBeNull();
});

test("an amount is written with the suffix that keeps it exact", () => {
  expect([250_000, 1_500_000, 180, 1_234, 80_000].map(quantityText)).toEqual([
    "250k",
    "1.5M",
    "180",
    "1234",
    "80k",
  ]);
});
