import { expect, test } from "vitest";
import { changeDigit, findForm } from "./choose-flips.ts";

test.each([
  ['eq("sum", add(1, 2), 3);', 'eq("sum", add(1, 2), 4);', "eq", true],
  [
    'Check.eq("plus", m("1 EUR").plus(m("2 EUR")), m("3 EUR"));',
    'Check.eq("plus", m("1 EUR").plus(m("2 EUR")), m("4 EUR"));',
    "eq m",
    true,
  ],
  [
    'Check.eq("parse", m("1 EUR").cents, 100L);',
    'Check.eq("parse", m("2 EUR").cents, 100L);',
    "eq m",
    false,
  ],
  [
    'assertEquals(List.of(m("a)")), split(2));',
    'assertEquals(List.of(m("b)")), split(2));',
    "assertEquals of m",
    false,
  ],
  [
    'Check.fails("bad", () -> m("1,5 EUR"));',
    'Check.fails("bad", () -> m("1,6 EUR"));',
    "fails m",
    false,
  ],
  ['[ "$(slug "A b")" = "a-b" ]', '[ "$(slug "A b")" = "a-c" ]', "", true],
])("the calls around what is changed in %s", (was, broken, calls, isLast) =>
  expect(findForm({ was, broken })).toEqual({
    calls: calls.split(" ").filter((name) => name !== ""),
    isLast,
  }),
);

test("a text with digits gets another digit, one without stays", () => {
  const flip = (was: string, broken: string) => ({ path: "a", line: 1, score: 3, was, broken });
  expect(
    changeDigit(flip('eq(sum(1), m("2.01 EUR"));', 'eq(sum(1), m("2.01 EUS"));'))?.broken,
  ).toBe('eq(sum(1), m("2.02 EUR"));');

  expect(changeDigit(flip('eq(sum(1), m("EUR"));', 'eq(sum(1), m("EUS"));'))).toBe(null);
  expect(changeDigit(flip("eq(sum(1), Point(2, 3));", "eq(sum(1), Point(2, 4));"))).toBe(null);
});
