import { describe, expect, test } from "vitest";
import type { Check } from "../../../contracts/evidence.ts";
import { breakTypes, createTypeFlips } from "./type-checker.ts";
import type { Edit, Lab } from "../lab.ts";
import type { Observed } from "./noticed-flips.ts";

const names = new Set(["First", "Part"]);
const value = "(0 as unknown as { n0: 1 })";

describe("what tests declare with the work's types", () => {
  test.each([
    ["export const one: First<[1, 'x']> = 1;", `export const one: First<[1, 'x']> = ${value};`],
    [
      "const part: Part<Conf> = { a: { b: 5 }, 'c': true };",
      `const part: Part<Conf> = { a: { b: ${value} }, 'c': ${value} };`,
    ],
    [
      "const all = ['a', 'b'] satisfies Part<X>;",
      `const all = [${value}, ${value}] satisfies Part<X>;`,
    ],
    [
      "type T1 = Expect<Equal<First<[1, 2]>, 1>>;",
      "type T1 = Expect<Equal<First<[1, 2]>, { n0: 1 }>>;",
    ],
    [
      "expectTypeOf(x).toEqualTypeOf<First<number[]>>();",
      "expectTypeOf(x).toEqualTypeOf<First<{ n0: 1 }[]>>();",
    ],
  ])("gets a value of no such type: %s", (was, is) => {
    expect(createTypeFlips("test/a.test.ts", was, names, "n0").map(({ broken }) => broken)).toEqual(
      [is],
    );
  });

  test.each([
    "const n: number = 5;",
    "const f: First<X> = () => 1;",
    "const none: Part<X> = {};",
    "const x: Other = 1;",
  ])("is left alone: %s", (was) => {
    expect(createTypeFlips("test/a.test.ts", was, names, "n0")).toEqual([]);
  });
});

const check: Check = {
  id: "c",
  kind: "criterion",
  title: "types",
  command: "npx tsc --noEmit",
  source: "goal",
};
const declaration = "export const one: First<[1, 'x']> = 1;\n";

function lab(isRed: (edits: readonly Edit[]) => boolean): Lab {
  const observed = (edits: readonly Edit[]): Observed => ({
    passed: !isRed(edits),
    failed: new Set(),
    tests: null,
  });

  const texts: Readonly<Record<string, string>> = {
    "src/types.ts": "export type First<T> = any;\n",
    "test/types.test.ts": declaration,
  };

  return {
    run: (_side, edits) => Promise.resolve(observed(edits)),
    repeat: (edits) => Promise.resolve(observed(edits)),
    textAt: (_side, path) => Promise.resolve(texts[path] ?? null),
    pathsAt: () => Promise.resolve(Object.keys(texts)),
    commands: [check.command],
    changedPaths: ["src/types.ts"],
    before: null,
    wasRed: true,
    now: { passed: true, failed: new Set(), tests: null },
    seed: "any",
  };
}

describe("a type checker", () => {
  test("that minds a value of no such type is alive", async () => {
    expect(
      await breakTypes(
        check,
        lab((edits) => edits.length > 0),
      ),
    ).toMatchObject({ outcome: "noticed" });
  });

  test("that takes it, and minds a wrong type beside it, has taken anything: told by the line", async () => {
    const isRed = (edits: readonly Edit[]): boolean =>
      edits.some(({ text }) => text.includes('number = "text"'));
    const detail = "it passes as well with a value of no such type in test/types.test.ts:1";
    expect(await breakTypes(check, lab(isRed))).toEqual({ outcome: "partly", detail });
  });

  test("that does not read the tests shows nothing", async () => {
    expect(
      await breakTypes(
        check,
        lab(() => false),
      ),
    ).toBeNull();

    expect(
      await breakTypes(
        { ...check, command: "npm run build" },
        { ...lab(() => true), commands: ["rollup -c"] },
      ),
    ).toBeNull();
  });
});
