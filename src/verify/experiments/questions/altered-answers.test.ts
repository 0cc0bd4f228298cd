import { describe, expect, test } from "vitest";
import { alterAnswers } from "./altered-answers.ts";
import { mutateFunctions } from "./mutations.ts";

const nonce = "n0";
function alter(path: string, is: string, testText: string) {
  const mutated = mutateFunctions(
    [{ path, was: null, is }],
    [{ path: "test/a.test.js", was: null, is: testText }],
    nonce,
  );
  return mutated === null ? null : alterAnswers([{ path, was: null, is }], mutated, nonce);
}
const loose = (...names: readonly string[]): string =>
  `test("x", () => { ${names.map((name) => `assert.ok(typeof ${name}(1) === "number");`).join(" ")} });`;

async function load(
  is: string,
  ...names: readonly string[]
): Promise<Readonly<Record<string, (...args: readonly unknown[]) => unknown>>> {
  const text = alter("a.mjs", is, loose(...names))?.edits[0]?.text ?? "";
  return (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as Record<
    string,
    () => unknown
  >;
}

describe("an altered function", () => {
  test("gives another number, the opposite, a longer list, in every form it may be written in", async () => {
    const module = await load(
      `export function size(text) {
  if (text === "") return 0;
  return text.length;
}
export const twice = (n) => n * 2;
export const isOdd = (n) => {
  return n % 2 === 1;
};
export const parts = function (text) { return text.split(","); };
export async function later(n) { return n; }
export class Box {
  width(n) {
    return this.by * n;
  }
  by = 3;
}
`,
      "size",
      "twice",
      "isOdd",
      "parts",
      "later",
      "width",
    );
    expect(module["size"]?.("")).toBe(1);
    expect(module["size"]?.("abc")).toBe(7);
    expect(module["twice"]?.(-4)).toBe(1);
    expect(module["isOdd"]?.(3)).toBe(false);
    expect(module["parts"]?.("a,b")).toEqual(["a", "b", "b"]);
    expect(await module["later"]?.(1)).toBe(3);
    const Box = module["Box"] as unknown as new () => { readonly width: (n: number) => number };
    expect(new Box().width(2)).toBe(13);
  });

  test("is altered for whoever tests it, not for another one", async () => {
    const module = await load(
      "export const isEven = (n) => n % 2 === 0;\nexport const isOdd = (n) => !isEven(n);\n",
      "isEven",
      "isOdd",
    );
    expect([module["isEven"]?.(2), module["isOdd"]?.(2)]).toEqual([false, true]);
  });

  test("fails where its answer is of no such kind, and where it fails itself", async () => {
    const module = await load(
      "export const name = (n) => `${n}`;\nexport const fail = () => { throw new RangeError(); };\n",
      "name",
      "fail",
    );
    expect(() => module["name"]?.(1)).toThrow("n0");
    expect(() => module["fail"]?.()).toThrow(RangeError);
  });
});

test("nothing is altered if its tests compare values, or for a generator", () => {
  expect(
    alter(
      "a.mjs",
      "export const add = (a, b) => a + b;\n",
      'test("x", () => { assert.equal(add(1, 2), 3); });',
    ),
  ).toBeNull();

  expect(alter("a.mjs", "export function* all() { yield 1; }\n", loose("all"))).toBeNull();
  expect(
    alter("a.mjs", "export const add = (a, b) => a + b;\n", loose("add"))?.functions.map(
      ({ name }) => name,
    ),
  ).toEqual(["add"]);
});

test("types do not stand in the way", () => {
  expect(
    alter("a.ts", "export const add = (a: number, b: number): number => a + b;\n", loose("add"))
      ?.edits[0]?.text,
  ).toMatch(
    /^\/\/ @ts-nocheck\nexport const add = \(a: number, b: number\): number => n0\(\(\) => \(a \+ b\)\);\n/,
  );
});
