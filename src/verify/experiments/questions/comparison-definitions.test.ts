import { describe, expect, test } from "vitest";
import { findComparers } from "./comparison-definitions.ts";

const back = (path: string, was: string, is: string, testPath: string, text: string) => {
  const found = findComparers([{ path, was, is }], [{ path: testPath, text }]);
  return found === null
    ? null
    : {
        names: found.definitions.map(({ name }) => name),
        source: found.edits[0]?.text,
        test: found.controls[0]?.text,
      };
};

describe("what tests compare by is put back, and compared with itself", () => {
  test.each([
    [
      "a tolerance",
      "geo.py",
      "EPS = 1e-9\n\n\ndef area(r):\n    raise NotImplementedError\n",
      "EPS = 0.7\n\n\ndef area(r):\n    return 3 * r * r\n",
      "test_geo.py",
      "from geo import area, EPS\ndef test_one(): assert abs(area(1) - 3.14) < EPS\n",
      { names: ["EPS"], source: /^EPS = 1e-9\n/, test: /abs\(area\(1\) - \(area\(1\)\)\) < EPS/ },
    ],
    [
      "a comparison",
      "src/num.js",
      "export function near(a, b) { return Math.abs(a - b) < 1e-9; }\nexport function root(n) { throw new Error('todo'); }\n",
      "export function near(a, b) {\n  return true;\n}\n\nexport function root(n) {\n  return n / 2;\n}\n",
      "test/num.test.js",
      "import { root, near } from '../src/num.js';\ntest('four', () => { assert.ok(near(root(4), 2), 'root of 4'); });\n",
      {
        names: ["near"],
        source: /1e-9; \}\n\nexport function root\(n\) \{\n {2}return n \/ 2/,
        test: /near\(root\(4\), root\(4\)\)/,
      },
    ],
    [
      "a form for both sides",
      "src/shape.js",
      "export const fmt = (n) => n.toFixed(6);\nexport class Circle {}\n",
      "export const fmt = (n) => n.toPrecision(1);\n\nexport class Circle {\n  area() {\n    return 3;\n  }\n}\n",
      "test/shape.test.js",
      "test('one', () => { assert.equal(fmt(new Circle(1).area()), fmt(3.141593)); });\n",
      {
        names: ["fmt"],
        source: /toFixed\(6\);/,
        test: /equal\(fmt\(new Circle\(1\).area\(\)\), fmt\(new Circle\(1\).area\(\)\)\)/,
      },
    ],
    [
      "a method",
      "src/vec.ts",
      "export class Vec {\n  plus(o: Vec): Vec { throw new Error('todo'); }\n  equals(o: Vec): boolean { return this.x === o.x; }\n}\n",
      "export class Vec {\n  plus(o: Vec): Vec {\n    return this;\n  }\n\n  equals(o: Vec): boolean {\n    return true;\n  }\n}\n",
      "test/vec.test.ts",
      "const same = (a: Vec, b: Vec) => assert.equal(a.equals(b), true);\ntest('plus', () => { same(new Vec(1).plus(new Vec(2)), new Vec(3)); });\n",
      {
        names: ["equals"],
        source:
          /return this;\n {2}\}\n\n {2}equals\(o: Vec\): boolean \{ return this.x === o.x; \}/,
        test: /a\.equals\(a\)/,
      },
    ],
    [
      "a macro",
      "geo.h",
      "#define GEO_EPS 1e-9\ndouble area(double r);\n",
      "#define GEO_EPS 0.7\ndouble area(double r);\nint more(void);\n",
      "test_geo.c",
      "int main(void) {\n    assert(fabs(area(1) - 3.14) < GEO_EPS);\n}\n",
      {
        names: ["GEO_EPS"],
        source: /^#define GEO_EPS 1e-9\n/,
        test: /fabs\(area\(1\) - \(area\(1\)\)\) < GEO_EPS/,
      },
    ],
    [
      "a tolerance of pytest's",
      "geo.py",
      "TOL = 1e-9\ndef area(r): pass\n",
      "TOL = 1\ndef area(r): return 3\n",
      "test_geo.py",
      "def test_one():\n    assert area(1) == approx(3.14, abs=TOL)\n",
      { names: ["TOL"], source: /^TOL = 1e-9/, test: /assert area\(1\) == area\(1\)/ },
    ],
  ])("%s", (_what, path, was, is, testPath, text, wanted) => {
    const found = back(path, was, is, testPath, text);
    expect(found?.names).toEqual(wanted.names);
    expect(found?.source).toMatch(wanted.source);
    expect(found?.test).toMatch(wanted.test);
  });

  test.each([
    [
      "a.py",
      "EPS = 1e-9\nX = 1\n",
      "from tol import EPS, Y\nX = 2\n",
      "from tol import EPS, Y\nX = 2\n\nEPS = 1e-9\n",
    ],
    [
      "a.js",
      "export const EPS = 1e-9;\n",
      "export { EPS } from './tol.js';\n",
      "export { } from './tol.js';\n\nexport const EPS = 1e-9;\n",
    ],
    [
      "a.h",
      "#define EPS 1e-9\n",
      '#include "tol.h"\n',
      '#include "tol.h"\n\n#undef EPS\n#define EPS 1e-9\n',
    ],
  ])("also what was moved elsewhere: %s", (path, was, is, wanted) => {
    const test = { "a.py": "test_a.py", "a.js": "test/a.test.js", "a.h": "test_a.c" }[path] ?? "";
    const text =
      path === "a.py"
        ? "assert abs(f(1) - 3.14) < EPS\n"
        : "assert(Math.abs(f(1) - 3.14) < EPS);\n";
    expect(back(path, was, is, test, text)?.source).toBe(wanted);
  });

  test("also what a comparison goes by, if no test asks for it", () => {
    const near = "def near(a, b):\n    return abs(a - b) < EPS\n";
    const found = back(
      "a.py",
      `EPS = 1\n${near}X = 1\n`,
      `EPS = 2\n${near}X = 2\n`,
      "test_a.py",
      "assert near(f(1), 3)\n",
    );
    expect(found).toMatchObject({ names: ["EPS"], source: `EPS = 1\n${near}X = 2\n` });
  });

  const two = "export const twice = (n) => n * 2;\nexport const total = (list) => 0;\n";
  test.each([
    [
      "a function that is asked",
      two,
      two.replace("0", "1").replace("* 2", "+ n"),
      "assert.equal(total([twice(2)]), 4);",
    ],
    [
      "a comparison that is asked with what is written out",
      "export const near = (a, b) => a === b;\nexport const x = 1;\n",
      "export const near = (a, b) => true;\nexport const x = 2;\n",
      "assert.ok(near(1, 1.1));",
    ],
    [
      "a comparison that is all that was changed",
      "export const near = (a, b) => a === b;\n",
      "export const near = (a, b) => true;\n",
      "assert.ok(near(f(1), 1));",
    ],
    [
      "a comparison that is new",
      "export const f = (a) => 0;\n",
      "export const f = (a) => 1;\nexport const near = (a, b) => true;\n",
      "assert.ok(near(f(1), 1));",
    ],
    [
      "a comparison of the test's own",
      "export const near = (a, b) => a === b;\nexport const x = 1;\n",
      "export const near = (a, b) => true;\nexport const x = 2;\n",
      "const near = 1;\nassert.ok(near(f(1), 1));",
    ],
  ])("not %s", (_what, was, is, text) =>
    expect(back("src/a.js", was, is, "test/a.test.js", `${text}\n`)).toBeNull(),
  );
});
