import { describe, expect, test } from "vitest";
import { findUnrelated } from "./unrelated-tests.ts";
import { mutateFunctions } from "../questions/mutations.ts";

const source = {
  path: "calc.py",
  was: null,
  is: "def mul(a, b):\n    return a + b\n\n\ndef load(a):\n    return a\n",
};

function hollow(
  tests: string,
  green: readonly string[],
  red: readonly string[] = ["test_even"],
): readonly string[] {
  const change = mutateFunctions([source], [{ path: "test_calc.py", was: null, is: tests }], "n0");
  const named = (name: string): string => `test_calc.py::${name}`;

  const observed = {
    passed: false,
    failed: new Set(red.map(named)),
    tests: null,
    passedNames: new Set(green.map(named)),
  };
  return change === null
    ? []
    : findUnrelated(change, observed, () => tests).map(({ name }) => name);
}

const even = "def test_even():\n    assert mul(2, 2) == 4\n\n";

describe("a new test that passes whatever the function answers", () => {
  test.each([
    [
      "of a mock",
      'import calc\n@patch.object(calc, "mul")\ndef test_two(m):\n    assert calc.mul(2, 3) == 6\n',
    ],
    [
      "of a copy",
      "from calc import mul\ndef mul(a, b): return a * b\ndef test_two():\n    assert mul(2, 3) == 6\n",
    ],
    [
      "of an object that is like it",
      "import calc\ndef test_two():\n    mine = copied(calc, mul=lambda a, b: a * b)\n    assert mine.mul(2, 3) == 6\n",
    ],
    [
      "of an object's",
      "from calc import Calc\ndef test_two():\n    c = Calc()\n    assert c.mul(2, 3) == 6\n",
    ],
  ])("is told: %s", (_name, text) => {
    expect(hollow(`${text}\n${even}`, ["test_two"])).toEqual(["test_two"]);
  });

  test.each([
    ["that nothing is thrown", "from calc import mul\ndef test_two():\n    mul(2, 3)\n"],
    [
      "that an order does not matter",
      "from calc import mul\ndef test_two():\n    assert mul(2, 3) == mul(3, 2)\n",
    ],
    [
      "a method of the same name that is another's",
      "from calc import mul\nimport other\ndef test_two():\n    assert other.mul(2, 3) == 6\n",
    ],
    [
      "a method of an object that only begins with the same letters",
      "import calc\ndef test_two():\n    other = {...calculated}\n    assert other.mul(2, 3) == 6\n",
    ],
    [
      "what is left alone",
      "from calc import mul\ndef test_two():\n    a = [1]\n    mul(a, 1)\n    assert a == [1]\n",
    ],
  ])("is none if it asks something else: %s", (_name, text) => {
    expect(hollow(`${text}\n${even}`, ["test_two"])).toEqual([]);
  });

  test("is none if nobody says that it ran", () => {
    expect(
      hollow(`from calc import mul\ndef test_two():\n    assert mul(2, 3) == 6\n\n${even}`, []),
    ).toEqual([]);
  });
});
