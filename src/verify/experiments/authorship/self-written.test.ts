import { describe, expect, it } from "vitest";
import { findTestCases } from "../source-text/test-cases.ts";
import {
  findFunctionsOfOwnTests,
  findSelfWrittenPaths,
  describeSelfWritten,
  undoRenames,
} from "./self-written.ts";

const path = "test/add.test.js";
const old = `test("adds", () => {\n  assert.equal(add(1, 2), 3);\n});\n`;
const added = `test("takes away", () => {\n  assert.equal(minus(3, 2), 1);\n});\n`;
const cases = (text: string, at = path) => findTestCases(at, text);
const green = { before: null, wasRed: false };
const red = (...failed: readonly string[]) => ({
  before: { passed: false, failed: new Set(failed), tests: null },
  wasRed: true,
});

describe("tests that the work wrote itself", () => {
  it("are named if nothing else shows the work", () => {
    expect(
      findSelfWrittenPaths(
        { current: [...cases(old), ...cases(added, "test/minus.test.js")], earlier: cases(old) },
        green,
        null,
      ),
    ).toEqual(["test/minus.test.js"]);
  });

  it("are named if they were added to a file that was there", () => {
    expect(
      findSelfWrittenPaths({ current: cases(old + added), earlier: cases(old) }, green, null),
    ).toEqual([path]);
  });

  it("are not named if a test that was there failed before and passes now", () => {
    expect(
      findSelfWrittenPaths({ current: cases(old + added), earlier: cases(old) }, red("adds"), null),
    ).toEqual([]);
  });

  it("are not named if the check did not run them", () => {
    expect(
      findSelfWrittenPaths({ current: cases(old + added), earlier: cases(old) }, green, ["adds"]),
    ).toEqual([]);
  });

  it("are named if the command failed for want of their file, and runs no other", () => {
    const current = [...cases(old), ...cases(added, "test/minus.test.js")];
    const nothingRan = { before: null, wasRed: true };
    expect(
      findSelfWrittenPaths({ current, earlier: cases(old) }, nothingRan, ["takes away"]),
    ).toEqual(["test/minus.test.js"]);

    expect(
      findSelfWrittenPaths({ current, earlier: cases(old) }, nothingRan, ["takes away", "adds"]),
    ).toEqual([]);

    expect(
      findSelfWrittenPaths({ current, earlier: cases(old) }, nothingRan, ["takes away", path]),
    ).toEqual([]);
  });

  it("are not those that were moved", () => {
    expect(
      findSelfWrittenPaths(
        { current: cases(old, "test/moved/plus.test.js"), earlier: cases(old) },
        red("adds"),
        null,
      ),
    ).toEqual([]);
  });

  it("are not those that were laid out in another way", () => {
    const formatted = old.replace("  assert", "    assert").replaceAll('"', "'");
    expect(
      findSelfWrittenPaths({ current: cases(formatted), earlier: cases(old) }, red("adds"), null),
    ).toEqual([]);
  });

  it("are not named if there are none", () => {
    expect(findSelfWrittenPaths({ current: cases(old), earlier: cases(old) }, green, null)).toEqual(
      [],
    );
  });

  it("are said by their files", () => {
    expect(describeSelfWritten(["a.test.js", "b.test.js", "c.test.js", "d.test.js"])).toBe(
      "only tests that the work wrote itself show it (a.test.js, b.test.js, c.test.js and 1 more), so read them, or add a check of your own (--holdout)",
    );
  });

  it("are named for a new function that nothing else asks", () => {
    const source = (is: string, path = "src/time.js") => ({ path, was: "", is });
    const parse = "export function parse(text) {\n  return 1;\n}\n";
    const format = "export function format(n) {\n  return '1s';\n}\n";
    const own = 'test("format", () => {\n  assert.equal(format(1), "1s");\n});\n';
    const older = 'test("parse", () => {\n  assert.equal(parse("1s"), 1);\n});\n';
    const found = (sources: readonly ReturnType<typeof source>[]): readonly string[] =>
      findFunctionsOfOwnTests(sources, [...cases(older), ...cases(own)], cases(older)).map(
        ({ name }) => name,
      );

    expect(found([source(parse + format)])).toEqual(["format"]);
    expect(
      found([
        source(parse),
        source(format, "src/format.js"),
        source('export { format } from "./format.js";\n', "src/index.js"),
      ]),
    ).toEqual(["format"]);
    const perl = (is: string, was = "") => ({ path: "lib/Time.pm", was, is });
    expect(found([perl("sub parse {\n  1\n}\nsub format {\n  '1s'\n}\n")])).toEqual(["format"]);
    expect(found([perl("sub parse {\n  format(1)\n}\nsub format {\n  '1s'\n}\n")])).toEqual([]);
    expect(found([{ ...source(parse + format), was: format }])).toEqual([]);
    expect(
      found([source(`${format}export function parse(text) {\n  return format(1) === text;\n}\n`)]),
    ).toEqual([]);
    expect(found([source(`${parse}${format}export const all = [1].map(format);\n`)])).toEqual([]);
  });

  it("are not named for a test that stands in the code itself", () => {
    const path = "src/lib.rs";
    const is =
      "pub fn metres() -> i64 {\n    1\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn reads() {\n        assert_eq!(metres(), 1);\n    }\n}\n";
    const found = findFunctionsOfOwnTests(
      [{ path, was: "", is }],
      [...findTestCases(path, is), ...cases(old)],
      cases(old),
    );
    expect(found).toEqual([]);
  });
});

describe("tests that follow a rename", () => {
  const path = "src/total.js";
  const code = (name: string, body = "list.length"): string =>
    `export const ${name} = (list) => ${body};\n`;
  const asked = (name: string) =>
    findTestCases("test/total.test.js", `test("total", () => {\n  equal(${name}([1]), 1);\n});\n`);
  const textsOf = (is: string) =>
    undoRenames(asked("sum"), [{ path, was: code("total"), is }]).map(({ text }) => text);

  it("are older if only the name is another", () =>
    expect(textsOf(code("sum"))).toEqual(asked("total").map(({ text }) => text)));
  it("are new if the code is another too, or the old name is still there", () => {
    const own = asked("sum").map(({ text }) => text);
    expect(textsOf(code("sum", "list.size"))).toEqual(own);
    expect(textsOf(code("sum") + code("total"))).toEqual(own);
  });
});
