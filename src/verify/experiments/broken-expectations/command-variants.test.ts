import { expect, test } from "vitest";
import { createCommandVariants } from "./command-variants.ts";

const variantsOf = (command: string): readonly string[] => createCommandVariants(command, "n0");

test("a command is changed in what it compares with, else in each literal, also of the code it holds", () => {
  expect(variantsOf(`node -e "process.exit(has('b') ? 0 : 1)"`)).toEqual([
    `node -e "process.exit(has('c') ? 0 : 1)"`,
    `node -e "process.exit(has('b') ? 1 : 1)"`,
    `node -e "process.exit(has('b') ? 0 : 2)"`,
  ]);

  expect(
    variantsOf(`node -e "import('./src/a.js').then(({ a }) => process.exit(a(1) === 3 ? 0 : 1))"`),
  ).toEqual([`node -e "import('./src/a.js').then(({ a }) => process.exit(a(1) === 4 ? 0 : 1))"`]);
});

test.each([
  [
    `node -e 'if (parse("x") !== null) process.exit(1)'`,
    `node -e 'if (parse("x") === null) process.exit(1)'`,
  ],
  [`python3 -c "assert f(1) is None"`, `python3 -c "assert f(1) is not None"`],
  [`python3 -c "assert f(1) is not None"`, `python3 -c "assert f(1) is None"`],
])("a comparison with nothing is turned round: %s", (command, variant) =>
  expect(variantsOf(command)).toEqual([variant]),
);

test("a bound is turned round besides, in code and in a shell's own comparison", () => {
  expect(variantsOf(`node -e "if (!(read().median > 0)) process.exit(1)"`)).toEqual([
    `node -e "if (!(read().median > 1)) process.exit(1)"`,
    `node -e "if (!(read().median <= 0)) process.exit(1)"`,
  ]);
  expect(variantsOf("[ $(wc -l < out.csv) -ge 3 ]")).toEqual(["[ $(wc -l < out.csv) -lt 3 ]"]);
  expect(variantsOf("bin/tool a 1 > 3")).toEqual(["bin/tool a 1 > 4"]);
});

test.each([
  ["add 1 | grep -qx '3'", ["add 1 | grep -qx '4'", "add 1 | grep -qx 'n0'"]],
  [
    "node bin/tool.js --help | grep -q -- --json",
    ["node bin/tool.js --help | grep -q -- --jsoo", "node bin/tool.js --help | grep -q -- n0"],
  ],
  ["a | grep -m 1 -e x=y", ["a | grep -m 1 -e x=z", "a | grep -m 1 -e n0"]],
  ["a | grep -Eq 'one|two'", ["a | grep -Eq 'one|twp'", "a | grep -Eq 'n0'"]],
  ["! a | grep -q old", ["! a | grep -q ''"]],
  ["! a 2>&1 | grep -q old", ["! a 2>&1 | grep -q ''"]],
  ["a 2>&1 | grep -vq old", ["a 2>&1 | grep -vq ''"]],
  [
    "a | grep -q one && b | grep two",
    [
      "a | grep -q onf && b | grep two",
      "a | grep -q n0 && b | grep two",
      "a | grep -q one && b | grep twp",
      "a | grep -q one && b | grep n0",
    ],
  ],
])("what output is searched for is compared: %s", (command, variants) =>
  expect(variantsOf(command)).toEqual(variants),
);
