import { describe, expect, test } from "vitest";
import { comparePrinted, findOwnEqualities, speaksOfEquality } from "./printed-values.ts";

const own = (type: string): string =>
  `impl PartialEq for ${type} {\n    fn eq(&self, other: &Self) -> bool {\n        true\n    }\n}\n`;
const found = (was: string | null, is: string) =>
  findOwnEqualities([{ path: "src/lib.rs", was, is }]);

describe("equalities that the work brings", () => {
  test("one of a type that was there", () =>
    expect(found("pub struct Money;\n", `pub struct Money;\n${own("Money")}`)).toEqual({
      owners: ["Money"],
      known: ["Money"],
      added: [],
    }));

  test("one of a type that the work adds: values of other types may contain it", () =>
    expect(found("struct Money;\n", `struct Money;\nstruct Cents(i64);\n${own("Cents")}`)).toEqual({
      owners: ["Cents"],
      known: ["Money"],
      added: ["Cents"],
    }));

  test("a new type that takes the place of one that was there is not new", () =>
    expect(found("struct Money;\n", `struct Cash;\n${own("Cash")}`)?.added).toEqual([]));

  test("one that a macro writes", () =>
    expect(found("", `macro_rules! m { ($t:ty) => { ${own("$t")} } }\n`)?.owners).toEqual(["$t"]));

  test.each([
    ["one that was there", own("Money"), own("Money").replace("true", "false")],
    ["one that is derived", "", "#[derive(PartialEq)]\nstruct Money;\n"],
    ["one in a comment", "", `/* ${own("Money")} */\n`],
  ])("not %s", (_what, was, is) => expect(found(was, is)).toBeNull());
});

test.each([
  ["amounts are equal whatever the case", true],
  ["impl PartialEq", true],
  ["ignores_case", true],
  ["keep the sequence of requests", false],
  ['parse() reads amounts as in "12.50 EUR"', false],
])("a person or a test speaks of equality: %s", (words, wanted) =>
  expect(speaksOfEquality(words)).toBe(wanted),
);

describe("assertions that compare what is printed", () => {
  const equalities = { owners: ["Money"], known: ["Money"], added: [] };
  const rewritten = (text: string): string | null =>
    comparePrinted(text, equalities, { nonce: "n0", compares: true })?.replace(
      /#\[allow\(unused_macros\)\] macro_rules! n0 \{.*\} (?=\S)/,
      "@ ",
    ) ?? null;

  test.each([
    [
      "in a file of tests",
      "//! Tests.\n#![allow(unused)]\nuse a::b;\n#[test]\nfn one() {\n    assert_eq!(b(), 1);\n}\n",
      "//! Tests.\n#![allow(unused)]\n@ use a::b;\n#[test]\nfn one() {\n    n0!(b(), 1);\n}\n",
    ],
    [
      "in the module of tests of a source",
      "fn f() {\n    assert_eq!(1, 1);\n}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {\n        assert_eq!(b(), 1);\n    }\n}\n",
      "fn f() {\n    assert_eq!(1, 1);\n}\n#[cfg(test)]\nmod tests {\n    @ #[test]\n    fn one() {\n        n0!(b(), 1);\n    }\n}\n",
    ],
    ["not where a test speaks of equality", "#[test]\nfn same() { assert_eq!(b(), 1); }\n", null],
    ["not another macro", "#[test]\nfn one() { x::assert_eq!(b(), 1); assert_ne!(1, 2); }\n", null],
    ["not where nothing is a test", "fn one() { assert_eq!(b(), 1); }\n", null],
  ])("%s", (_what, text, wanted) => expect(rewritten(text)).toBe(wanted));
});
