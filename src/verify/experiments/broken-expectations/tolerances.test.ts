import { describe, expect, test } from "vitest";
import { createAssertionFlips } from "./assertion-flips.ts";
import { findApprox, moveBeyondTolerance, parseTolerance } from "./tolerances.ts";

describe("a value just beyond what an assertion forgives", () => {
  test.each([
    ["3.14", { abs: 0.01, rel: 0 }, "3.170"],
    ["12.566370614359172", { abs: 5e-8, rel: 0 }, "12.566370764359172"],
    ["100", { abs: 0, rel: 1e-6 }, "100.00030"],
    ["0", { abs: 1e-12, rel: 1e-6 }, "0.0000000000030"],
    ["900000000000000000000", { abs: 1e-9, rel: 0 }, null],
    ["want", { abs: 1, rel: 0 }, null],
  ])("%s within %j: %s", (literal, within, wanted) =>
    expect(moveBeyondTolerance(literal, within)).toBe(wanted),
  );

  test.each([
    ["assertAlmostEqual", ["a", "b"], 5e-8],
    ["assertAlmostEqual", ["a", "b", "3"], 5e-4],
    ["assertAlmostEqual", ["a", "b", "delta=2.0", 'msg="x"'], 2],
    ["assertAlmostEqual", ["a", "b", "places=n"], null],
    ["toBeCloseTo", ["b"], 0.005],
    ["closeTo", ["b", "0.5"], 0.5],
    ["closeTo", ["a", "b", "0.5"], 0.5],
    ["InDelta", ["t", "b", "a", "0.25"], 0.25],
    ["assertEquals", ["b", "a"], null],
    ["assertEquals", ["b", "a", "1e-3"], 1e-3],
    ["assertEquals", ["b", "a", '"words"'], null],
  ])("%s(%s) forgives %s", (name, args, abs) =>
    expect(parseTolerance(name, args)?.abs ?? null).toBe(abs),
  );

  test.each([
    ["pytest.approx(3.5)", { abs: 1e-12, rel: 1e-6 }],
    ["approx(want, abs=1e-9)", { abs: 1e-9, rel: 0 }],
    ["approx([1, 2], rel=1e-3)", { abs: 1e-12, rel: 1e-3 }],
    ["approx(want, abs=tol)", null],
    ["approx(want, 0.1)", null],
  ])("%s", (said, within) => expect(findApprox(said)?.tolerance ?? null).toEqual(within));

  test.each([
    [
      "a_test.py",
      "    self.assertAlmostEqual(area(2), 12.5)\n",
      "    self.assertAlmostEqual(area(2), 12.50000015)\n",
    ],
    [
      "a_test.py",
      "    assert area(1) == pytest.approx(3.5)\n",
      "    assert area(1) == pytest.approx(3.500011)\n",
    ],
    [
      "a.test.js",
      "expect(area(1)).toBeCloseTo(3.5, 1);\n",
      "expect(area(1)).toBeCloseTo(3.65, 1);\n",
    ],
    [
      "a.test.js",
      "expect(area(1)).to.be.closeTo(3.5, 0.1);\n",
      "expect(area(1)).to.be.closeTo(3.80, 0.1);\n",
    ],
    [
      "a.test.js",
      "assert.ok(Math.abs(area(1) - 3.5) < 0.1);\n",
      "assert.ok(Math.abs(area(1) - 3.80) < 0.1);\n",
    ],
    [
      "test_a.c",
      "  assert(fabs(area(1) - 3.5) < 1e-3);\n",
      "  assert(fabs(area(1) - 3.5030) < 1e-3);\n",
    ],
    ["A.java", "  assertEquals(3.5, area(1), 0.1);\n", "  assertEquals(3.80, area(1), 0.1);\n"],
  ])("%s: %s", (path, text, wanted) =>
    expect(`${createAssertionFlips(path, text, "n0")[0]?.broken}\n`).toBe(wanted),
  );

  test("what is computed moves as the program runs", () => {
    const [first] = createAssertionFlips("a_test.py", "    assert area(r) == approx(want)\n", "n0");
    expect(first?.broken).toContain(
      "approx((lambda v: v + 3 * max(1e-12, 0.000001 * abs(v)) if type(v) in (int, float)",
    );
  });
});
