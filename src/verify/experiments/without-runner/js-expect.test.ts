import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectSource } from "./js-expect.ts";

type Own = { readonly expect: typeof expect; readonly Failure: new () => Error };
const folder = mkdtempSync(join(tmpdir(), "expect-"));
writeFileSync(join(folder, "expect.cjs"), expectSource);
const { expect: own, Failure } = createRequire(import.meta.url)(join(folder, "expect.cjs")) as Own;
rmSync(folder, { recursive: true });

class Point {
  readonly x: number;
  constructor(x: number) {
    this.x = x;
  }
}
const shared = new Point(1);
const loop: { self?: unknown } = {};
loop.self = loop;
const values: readonly unknown[] = [
  0,
  -0,
  1,
  1.001,
  Number.NaN,
  "",
  "a",
  "abc",
  true,
  false,
  null,
  undefined,
  10n,
  [],
  [1],
  [1, undefined],
  [1, [2, { a: 3 }]],
  [{ a: 1 }],
  [{ a: 1, b: 2 }],
  [{ a: 1 }, { a: 1 }],
  Array(1),
  {},
  { a: 1 },
  { a: 1, b: undefined },
  { a: { b: [1] } },
  { list: [{ a: 1, list: [{ b: 1, c: 2 }] }] },
  { list: [{ list: [{ b: 1 }] }] },
  { list: [{ list: [{ b: 2 }] }] },
  { [Symbol.iterator]: undefined },
  { length: 1 },
  new Date(0),
  new Date(1),
  new Map([["a", 1]]),
  new Map([["a", 2]]),
  new Map([["a", { a: 1 }]]),
  new Map([["a", { a: 1, b: 2 }]]),
  new Set([1, 2]),
  new Set([2, 1]),
  new Set([{ a: 1 }]),
  new Set([{ a: 1, b: 2 }]),
  new Point(1),
  new Point(2),
  shared,
  { x: 1 },
  /a/,
  /b/,
  new Error("a"),
  new Error("b"),
  Object.create(null) as unknown,
  Symbol.iterator,
  loop,
  Uint8Array.of(1),
  () => 1,
];
const matchers = [
  "toBe",
  "toEqual",
  "toStrictEqual",
  "toMatchObject",
  "toContain",
  "toContainEqual",
  "toHaveLength",
  "toBeGreaterThan",
];
const single = ["toBeTruthy", "toBeFalsy", "toBeNull", "toBeUndefined", "toBeDefined", "toBeNaN"];

/** What came of an assertion: it held, it failed, or nothing is known. */
function result(
  run: () => void,
  isFailure: (error: unknown) => boolean,
): "held" | "failed" | "unknown" {
  try {
    run();
    return "held";
  } catch (error) {
    return isFailure(error) ? "failed" : "unknown";
  }
}
const call = (
  from: typeof expect,
  value: unknown,
  matcher: string,
  isNot: boolean,
  wanted: readonly unknown[],
): void => {
  const about: unknown = isNot ? from(value).not : from(value);
  (about as Record<string, (...args: readonly unknown[]) => void>)[matcher]?.(...wanted);
};

describe("an expect of our own fails only where vitest's does", () => {
  const differing = (
    matcher: string,
    value: unknown,
    wanted: readonly unknown[],
  ): readonly unknown[] =>
    [false, true].flatMap((isNot) => {
      const ours = result(
        () => call(own, value, matcher, isNot, wanted),
        (error) => error instanceof Failure,
      );
      if (ours !== "failed") return [];
      const theirs = result(
        () => call(expect, value, matcher, isNot, wanted),
        () => true,
      );

      return theirs === "failed" ? [] : [{ matcher, isNot, value, wanted, ours, theirs }];
    });

  test.each(matchers)("%s", (matcher) => {
    expect(
      values.flatMap((value) => values.flatMap((wanted) => differing(matcher, value, [wanted]))),
    ).toEqual([]);
  });

  test.each([
    [[{ a: 1, b: 2 }], [{ a: 1 }], "held"],
    [[{ a: 1, b: 2 }], [{ a: 2 }], "failed"],
    [[{ a: 1 }, { a: 1 }], [{ a: 1 }], "failed"],
    [{ list: [{ a: 1, b: 2 }] }, { list: [{ a: 1 }] }, "held"],
    [{ list: [{ a: 1, b: 2 }] }, { list: [{ a: 2 }] }, "failed"],
    [new Map([["a", { a: 1, b: 2 }]]), new Map([["a", { a: 1 }]]), "unknown"],
  ])("toMatchObject: %j with %j has %s", (value, wanted, outcome) => {
    expect(
      result(
        () => own(value).toMatchObject(wanted),
        (error) => error instanceof Failure,
      ),
    ).toBe(outcome);
  });

  test.each(single)("%s", (matcher) =>
    expect(values.flatMap((value) => differing(matcher, value, []))).toEqual([]),
  );

  const throwing = (error: unknown) => (): void => {
    throw error;
  };

  test.each([
    ["a text", "b"],
    ["a pattern", /b/],
    ["a class", TypeError],
    ["another class", RangeError],
    ["nothing", undefined],
  ])("toThrow with %s", (_what, wanted) => {
    const some = [
      throwing(new TypeError("abc")),
      throwing(new Error("x")),
      throwing("b"),
      () => undefined,
    ];
    expect(
      some.flatMap((value) => differing("toThrow", value, wanted === undefined ? [] : [wanted])),
    ).toEqual([]);
  });

  test("kinds of values that are wanted", () => {
    const wanted = (
      name: "any" | "stringContaining" | "arrayContaining" | "objectContaining",
      part: unknown,
    ): unknown => (own as unknown as Record<string, (one: unknown) => unknown>)[name]?.(part);

    own({ a: 1, b: "abc", c: [1, 2] }).toEqual({
      a: wanted("any", Number),
      b: wanted("stringContaining", "b"),
      c: wanted("arrayContaining", [2]),
    });

    expect(() => own({ a: 1 }).toEqual({ a: wanted("any", String) })).toThrow(Failure);
    expect(() => own({ a: 1 }).toEqual(wanted("objectContaining", { a: 2 }))).toThrow(Failure);
  });

  test("promises", async () => {
    await own(Promise.resolve(1)).resolves.toBe(1);
    await own(Promise.reject(new Error("no"))).rejects.toThrow("no");
    await expect(own(Promise.resolve(1)).resolves.toBe(2)).rejects.toThrow(Failure);
    await expect(own(Promise.resolve(1)).rejects.toThrow()).rejects.toThrow(Failure);
  });

  test("an unknown matcher is no failure", () => {
    expect(() => own(1).toMatchSnapshot()).toThrow();
    expect(() => own(1).toMatchSnapshot()).not.toThrow(Failure);
  });
});
