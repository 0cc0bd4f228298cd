import { expect, test } from "vitest";
import { findForm } from "./choose-flips.ts";

test.each([
  ['eq("sum", add(1, 2), 3);', 'eq("sum", add(1, 2), 4);', "eq"],
  ['Check.eq("plus", m("1 EUR").plus(m("2 EUR")), m("3 EUR"));', 'Check.eq("plus", m("1 EUR").plus(m("2 EUR")), m("4 EUR"));', "eq m"],
  ['assertEquals(List.of(m("a)")), split(2));', 'assertEquals(List.of(m("b)")), split(2));', "assertEquals of m"],
  ['[ "$(slug "A b")" = "a-b" ]', '[ "$(slug "A b")" = "a-c" ]', ""],
])("the calls around what is changed in %s", (was, broken, form) => expect(findForm({ was, broken })).toBe(form));
