import { expect, test } from "vitest";
import { findSkippedTests } from "./skipped-tests.ts";

test("tests that the work brought and that are marked as skipped are told once", async () => {
  const text = (head: string): string =>
    `${head}("adds", () => {\n  assert.equal(add(1, 2), 3);\n});\n`;
  const ask = (was: string | null, is: string, isFirst = true): Promise<string | null> =>
    findSkippedTests({
      isFirst,
      rules: { rowOf: () => null },
      differences: [{ path: "test/a.test.js", kind: was === null ? "added" : "changed" }],
      lab: { textAt: async (side: string) => (side === "base" ? was : is) },
    } as unknown as Parameters<typeof findSkippedTests>[0]);
  expect(await ask(null, text("test.skip"))).toBe(
    "tests of the work are skipped: adds (test/a.test.js)",
  );

  expect(await ask(null, text("test.skip"), false)).toBeNull();
  expect(await ask(null, text("test"))).toBeNull();
  expect(await ask(text("test.skip"), `${text("test.skip")}\n`)).toBeNull(); // it was skipped before
});
