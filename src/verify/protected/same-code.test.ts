import { describe, expect, test } from "vitest";
import { isSameCode } from "./same-code.ts";

const before = `var assert = require('assert');
// adds up
describe('sum', function () {
  it('adds', (done) => { assert.equal(sum(1, 2), 3); return done() })
});
`;

describe("the same code", () => {
  test.each([
    [
      "another layout",
      before.replace("{ assert", "{\n    assert").replace("return", "\n    return"),
    ],
    [
      "other quotes, semicolons and commas",
      before.replaceAll("'", '"').replace("2)", "2,)").replace("done() }", "done(); }"),
    ],
    ["const", before.replace("var", "const")],
    ["arrows", before.replace("(done) =>", "done =>")],
  ])("%s", (_what, after) => expect(isSameCode(before, after, "js")).toBe(true));

  test("of Go", () => {
    const go = 'func TestA(t *testing.T) {\n\tif a()!=1 { t.Error("x  y") }\n}\n';
    const formatted = 'func TestA(t *testing.T) {\n\tif a() != 1 {\n\t\tt.Error("x  y")\n\t}\n}\n';
    expect(isSameCode(go, formatted, "go")).toBe(true);
    expect(isSameCode(go, formatted.replace("x  y", "x y"), "go")).toBe(false);
  });
});

describe("not the same", () => {
  test.each([
    ["another value", before.replace("3", "4")],
    ["another text", before.replace("'adds'", "'ads'")],
    ["what was code is a comment", before.replace("assert.equal", "// assert.equal")],
    ["what was text is code", before.replace("'adds'", "adds")],
    ["a result that is no longer returned", before.replace("return done", "return\n done")],
    ["a directive", before.replace("// adds up", "// @ts-nocheck")],
    ["a wait less", before.replace("sum(1, 2)", "await sum(1, 2)")],
    ["another operator", before.replace("sum(1, 2)", "sum(1 , -2)")],
  ])("%s", (_what, after) => expect(isSameCode(before, after, "js")).toBe(false));

  test("a comment that is an expectation", () => {
    const go = "func ExampleAdd() {\n\tfmt.Println(add(40, 2))\n\t// Output: 42\n}\n";
    expect(isSameCode(go, go.replace("42", "38"), "go")).toBe(false);
    expect(isSameCode(go, go.replace("add(40, 2)", "add(40,2)"), "go")).toBe(true);
  });

  test("`var` in place of `let`", () =>
    expect(isSameCode("for (let a of b) it(a)", "for (var a of b) it(a)", "js")).toBe(false));
  test("Python's layout", () => expect(isSameCode("a = 1", "a=1", "py")).toBe(false));
});
