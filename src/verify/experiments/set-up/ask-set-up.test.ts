import { describe, expect, test } from "vitest";
import { findProtectionRow } from "../../protected/kinds.ts";
import type { CheckoutChange, QuestionContext } from "../questions/question-context.ts";
import { askTestConfiguration } from "./ask-set-up.ts";

type Files = Readonly<Record<string, string>>;
const project: Files = {
  ".mocharc.json": '{ "require": ["./test/setup.js"] }\n',
  "test/setup.js": "const { shared } = require('../lib/cart.js');\n",
  "test/cart.test.js": "const { Cart } = require('../lib/index.js');\n",
  "lib/index.js": "exports.Cart = require('./cart.js').Cart;\n",
  "lib/cart.js": "exports.shared = 1;\nfunction total() {\n  return 1;\n}\n",
};

type Given = {
  readonly files?: Files;
  readonly goal?: string;
  /** Whether the check passes with set-up alone having the work's version. */
  readonly passesBySetUp?: boolean;
};

/** What is asked of work that changes `lib/cart.js`, and the runs that decided it. */
async function ask({ files = {}, goal = "totals are right", passesBySetUp = false }: Given) {
  const base: Files = { ...project, ...files };
  const runs: CheckoutChange[] = [];
  const question = await askTestConfiguration({
    goal,
    differences: [{ path: "lib/cart.js", kind: "changed" }],
    rules: { base: new Set(Object.keys(base)), rowOf: findProtectionRow },
    lab: {
      seed: "s",
      textAt: async (side: string, path: string) =>
        side === "work" && path === "lib/cart.js" ? "// new\n" : (base[path] ?? null),
    },
    runWith: async (_: string | null, change: CheckoutChange) => {
      runs.push(change);
      return { passed: passesBySetUp };
    },
  } as unknown as QuestionContext);
  return { gap: question?.gap ?? null, runs };
}

const gap =
  "it passes only with what the work changed in lib/cart.js, which sets up its tests, so a person has to look at that";

describe("a changed module that set-up loads", () => {
  test("is code if older tests load it too, and need it", async () => {
    const { gap: found, runs } = await ask({});
    expect(found).toBeNull();
    expect(runs).toHaveLength(1);
    expect(runs[0]?.paths).toEqual(["lib/cart.js"]);
    expect(runs[0]?.edits?.map(({ text }) => text)).toContain("// new\n");
  });

  test("is set-up if tests pass with it in set-up alone", async () =>
    expect((await ask({ passesBySetUp: true })).gap).toBe(gap));

  test("is set-up if no test loads it", async () => {
    const files = { "test/cart.test.js": "const { Cart } = require('../lib/other.js');\n" };
    expect(await ask({ files })).toEqual({ gap, runs: [] });
  });

  test.each<[string, Given]>([
    ["the goal names it", { goal: "lib/cart.js counts amounts." }],
    ["the goal names a function of it", { goal: "total() counts amounts" }],
    ["the package exports it", { files: { "package.json": '{ "main": "lib/index.js" }\n' } }],
    [
      "a program of the package loads it",
      {
        files: {
          "package.json": '{ "bin": { "cart": "./bin/cart.js" } }\n',
          "bin/cart.js": "require('../lib/cart');\n",
        },
      },
    ],
  ])("is code if %s", async (_, given) => {
    const files = { ...given.files, "test/cart.test.js": "total();\n" };
    expect(await ask({ ...given, files, passesBySetUp: true })).toEqual({ gap: null, runs: [] });
  });
});
