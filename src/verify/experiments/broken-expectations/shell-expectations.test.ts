import { describe, expect, test } from "vitest";
import { findNonCodeFiles } from "../questions/non-code-files.ts";
import { createLiteralFlips } from "./literal-flips.ts";
import { toNearCondition } from "./near-conditions.ts";
import { createDraw, toNearValue } from "./near-values.ts";
import { findComparedFiles, flipDataFile, findComparingFunctions } from "./shell-expectations.ts";

const helper =
  'check() {\n  local got; got=$(slug "$1")\n  if [[ $2 == $got ]]; then echo ok; else exit 1; fi\n}\n';

describe("what a shell's helper compares with is read out of it", () => {
  test.each([
    [helper, [2]],
    ['check() { [ "$(slug "$1")" = "$2" ] || exit 1; }\n', null],
    ['same() {\n  want=$1\n  got=$(slug "$2")\n  [ "$got" = "$want" ] || exit 1\n}\n', [1]],
    ['same() {\n  if [ "$1" = "$2" ]; then echo ok; fi\n}\n', [1, 2]],
  ])("%s", (text, parameters) =>
    expect([...findComparingFunctions(text).values()][0] ?? null).toEqual(parameters),
  );

  test("and a plain word that it is given is broken where it had to be made", () => {
    const [flip] = createLiteralFlips(
      "run_tests.sh",
      `${helper}check 'Hello World' 'hello-world'\n`,
    ).filter(({ line }) => line === 5);
    expect(flip?.broken).toMatch(/^check 'Hello World' '(?:Hello-world|hello-World)'$/);
    const [bare] = createLiteralFlips("run_tests.sh", `${helper}check 'one' two\n`).filter(
      ({ line }) => line === 5,
    );
    expect(bare?.broken).toMatch(/^check 'one' (?!two$)[A-Za-z]{3}$/);
  });

  test.each([
    ['check "2024" yes "$(leap "2024")"', /^check "2024" (?!yes )[a-z]{3} "\$\(leap "2024"\)"$/],
    ["check april 30 $(days 2023 4)", /^check april (?!30 )\d+ \$\(days 2023 4\)$/],
    ['check april "$(days 4)" 30', /^check april "\$\(days 4\)" (?!30$)\d+$/],
  ])("or the plain one of two that it compares: %s", (call, broken) => {
    const compare = 'check() {\n  if [ "$2" != "$3" ]; then exit 1; fi\n}\n';
    const flips = createLiteralFlips("run.sh", `${compare}${call}\n`);
    expect(flips.find(({ line }) => line === 4)?.broken).toMatch(broken);
    const unknown = createLiteralFlips("run.sh", `${compare}check april "$want" "$(days 4)"\n`);
    expect(unknown.filter(({ line }) => line === 4)).toEqual([]);
  });

  test("and so is a file that a script compares with", () => {
    expect(findComparedFiles("tests/run.sh", "diff -u want.txt /tmp/got.$$ || exit 1\n")).toEqual([
      "tests/want.txt",
      "want.txt",
    ]);

    expect(flipDataFile("want.txt", "APPLE\n")?.broken).toMatch(/^(?!APPLE$)[A-Za-z]{5}$/);
    expect(flipDataFile("want.txt", "\n\n")).toBeNull();
    expect(
      findComparedFiles("tests/run.sh", "while read -r a b; do f; done < tests/cases.txt\n"),
    ).toEqual(["tests/tests/cases.txt", "tests/cases.txt"]);

    expect(flipDataFile("cases.txt", "A|a\nB c|b-c\n")).toMatchObject({
      line: 2,
      broken: expect.stringMatching(/^B c\|(?!b-c$)\w-\w$/) as string,
    });
  });
});

test("of a text that was made from another one, a letter that had to be made is changed", () => {
  for (const seed of ["a", "b", "c"]) {
    expect(
      toNearValue(
        '"hello-world"',
        createDraw(seed),
        true,
        'equal(slug("Hello World"), "hello-world")',
      ),
    ).toMatch(/^"(?:Hello-world|hello-World)"$/);
  }
});

test.each([
  ['strcmp(out, "hello") == 0', /^strcmp\(out, "(?!hello")[A-Za-z]{5}"\) == 0$/],
  ['!strncmp(out, "hello", 5)', /^!strncmp\(out, "(?!hello")[A-Za-z]{5}", 5\)$/],
])("what an order compares, and not what it comes to: %s", (text, wanted) =>
  expect(toNearCondition(text, createDraw("a"))).toMatch(wanted),
);

test.each([
  ["tests/mul.h", true],
  ["src/other/mul.h", false],
  ["tests/new.h", false],
])("a new header that is found first is beside the code: %s", (path, is) => {
  const base = new Set(["src/mul.h", "src/mul.c", "tests/test_mul.c"]);
  const found = findNonCodeFiles({
    differences: [{ path, kind: "added" }],
    base,
    rowOf: () => null,
    command: "make test",
    used: ["make test"],
    isScript: () => false,
  });
  expect(found !== null).toBe(is);
});
