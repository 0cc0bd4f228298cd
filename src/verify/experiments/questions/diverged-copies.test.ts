import { expect, test } from "vitest";
import { findProtectionRow } from "../../protected/kinds.ts";
import { findDivergedCopies } from "./diverged-copies.ts";
import type { QuestionContext } from "./question-context.ts";

const module = (body: string): string => `// splits an amount\n${"// \n".repeat(50)}${body}\n`;
const [wrong, right] = [module("export const split = 1;"), module("export const split = 2;")];

function ask(
  base: Readonly<Record<string, string>>,
  changed: Readonly<Record<string, string | null>>,
): Promise<string | null> {
  const differences = Object.entries(changed).map(([path, now]) => ({
    path,
    kind: now === null ? "deleted" : "changed",
  }));
  const texts = { base, work: { ...base, ...changed } } as const;
  const context = {
    differences,
    rules: { base: new Set(Object.keys(base)), rowOf: findProtectionRow },
    lab: {
      pathsAt: async () => Object.keys(base),
      textAt: async (side: "base" | "work", path: string) => texts[side][path] ?? null,
    },
  } as unknown as QuestionContext;

  return findDivergedCopies(context);
}

const copies = {
  "packages/money/index.js": wrong,
  "apps/a/vendor/money.js": wrong,
  "apps/b/vendor/money.js": wrong,
};

test("a fix in one of several copies is told, with all of them", async () => {
  expect(await ask(copies, { "apps/a/vendor/money.js": right })).toMatch(
    /^apps\/a\/vendor\/money\.js, .*packages\/money\/index\.js.* were the same before the work, and differ now$/,
  );
});

test("in all of them it is none, nor in one that is alone, short, or whose copies are gone", async () => {
  const all = Object.fromEntries(Object.keys(copies).map((path) => [path, right]));
  expect(await ask(copies, all)).toBeNull();
  expect(
    await ask({ "src/a.js": wrong, "src/b.js": right }, { "src/a.js": module("3") }),
  ).toBeNull();
  expect(await ask({ "src/a.js": "1;\n", "src/b.js": "1;\n" }, { "src/a.js": "2;\n" })).toBeNull();
  expect(
    await ask({ "src/a.js": wrong, "src/b.js": wrong }, { "src/a.js": right, "src/b.js": null }),
  ).toBeNull();
});
