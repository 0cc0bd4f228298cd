import { describe, expect, test } from "vitest";
import { findStatements, replaceStatements, swapStatements } from "./statements.ts";

const found = (is: string, { was = "", given = "" } = {}): readonly string[] =>
  findStatements({
    path: "README.md",
    was,
    is,
    given,
    isCompared: (line) => line.includes("=> "),
  }).map(({ line }) => line);

describe("a line of a document says something new", () => {
  test("with a word, number or sign that was not there", () => {
    const text = "# Cache\n\nIt holds five hundred entries.\nTimeout: 30 s\n\n```\n```\n";
    expect(found(text)).toEqual(["It holds five hundred entries.", "Timeout: 30 s"]);
    expect(found("| tip | ✅ |\n", { was: "| tip | ❓ |\n" })).toHaveLength(1);
    expect(found("- [x] tip\n", { was: "- [ ] tip\n" })).toHaveLength(1);
    expect(found("小费默认为零\n")).toHaveLength(1);
  });

  test("or with its words in another order", () => {
    const was = "It is on, and logs are off.\n";
    expect(found("It is off, and logs are on.\n", { was })).toHaveLength(1);
  });

  test("not if it stood there, or only moves", () => {
    const was = "The cache recieves entries.\nIt holds 500 of them.\n";
    expect(found("It holds 500 of them.\nThe cache recieves entries.\n", { was })).toEqual([]);
    expect(found("It holds 900 of them.\n", { was })).toEqual(["It holds 900 of them."]);
  });

  test("not if the person said it, or the runner has compared it", () => {
    const given = "README.md says that the default timeout is 30 seconds";
    expect(found("The default timeout is 30 seconds.\n", { given })).toEqual([]);
    expect(found("The default timeout is 60 seconds.\n", { given })).toHaveLength(1);
    expect(found("`sum(40, 2)` => 42, whatever the order\n")).toEqual([]);
  });

  test("and a list's number is none", () => {
    expect(found("1. Install\n2. Run\n", { given: "install run" })).toEqual([]);
  });
});

test("new words and numbers are replaced, and lines, marks and lengths stay", () => {
  const text = "A zebra\n- holds **9** of 10\n";
  const statements = findStatements({
    path: "a.md",
    was: null,
    is: text,
    given: "grep holds",
    isCompared: () => false,
  });
  expect(replaceStatements(text, statements)).toBe("A afcsb\n- holds **1** pg 21\n");
  expect(swapStatements(text, statements)).toBe("A of\n- holds **10** zebra 9\n");
  expect(replaceStatements(text, [])).toBe(text);
});
