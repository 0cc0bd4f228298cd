// New files whose names something outside the project has already.

import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { restoreManifestSettings } from "./manifest-settings.ts";
import type { Observed } from "../broken-expectations/noticed-flips.ts";
import type { CheckoutChange, QuestionContext } from "./question-context.ts";
import { findPossibleShadows, findShadows, describeShadows } from "./shadowing.ts";

const base = new Set([
  "calc/__init__.py",
  "calc/add.py",
  "src/main.c",
  "src/words/__init__.py",
  "tests/test_add.py",
]);
const shadows = (...added: readonly string[]): readonly string[] =>
  findPossibleShadows(
    added.map((path) => ({ path, kind: "added" as const })),
    base,
  ).map(({ path }) => path);
const has = (program: string): boolean => {
  try {
    execFileSync("/bin/sh", ["-c", `command -v ${program}`]);
    return true;
  } catch {
    return false;
  }
};
const endsWell = (command: string): boolean => {
  try {
    execFileSync("/bin/sh", ["-c", command], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};
const commandOf = (path: string): string =>
  findPossibleShadows([{ path, kind: "added" }], base)[0]?.command ?? "false";

describe("which names are asked about", () => {
  test("programs, wherever they are", () =>
    expect(shadows("bin/diff", "tools/cmp", "bin/readme.md", "diff")).toEqual([
      "bin/diff",
      "tools/cmp",
    ]));

  test("new modules at the top and new headers", () =>
    expect(shadows("statistics.py", "src/json/__init__.py", "src/assert.h")).toEqual([
      "statistics.py",
      "src/json/__init__.py",
      "src/assert.h",
    ]));

  test("not what lies in a package of the project, is its own already, or is another language's", () =>
    expect(
      shadows(
        "calc/statistics.py",
        "calc.py",
        "src/words.py",
        "src/assert.js",
        "tests/test_mul.py",
      ),
    ).toEqual([]));
});

test.skipIf(!has("python3"))(
  "Python knows its own modules without the file, and nobody else's",
  () => {
    expect(endsWell(commandOf("statistics.py"))).toBe(true);
    expect(endsWell(commandOf("nobodys_module_of_this_name.py"))).toBe(false);
  },
);

test.skipIf(!has("cc"))(
  "a compiler knows the system's headers without the file, and nobody else's",
  () => {
    expect(endsWell(commandOf("src/assert.h"))).toBe(true);
    expect(endsWell(commandOf("src/nobodys_header_of_this_name.h"))).toBe(false);
  },
);

describe("a new program with the name of one of the machine", () => {
  /** `alone`: how the check ends without the file. */
  const ask = (doesRun: boolean, alone: { passed: boolean; output?: string }) => {
    const runWith = (_: string, { command, edits }: CheckoutChange) => {
      const passed = command !== undefined || (edits === undefined ? alone.passed : !doesRun);
      const readOutput = () => alone.output ?? "";
      return Promise.resolve({ passed, failed: new Set(), tests: null, readOutput } as Observed);
    };
    const differences = [{ path: "libexec/openssl", kind: "added" }];
    return findShadows({ differences, rules: { base }, runWith } as unknown as QuestionContext);
  };
  const told = expect.stringContaining("libexec/openssl: the program openssl") as string;

  test("takes its place if the check runs it, and the machine's without it", async () => {
    expect(await ask(true, { passed: true })).toEqual(told);
    expect(await ask(true, { passed: false, output: "Extra arguments given." })).toEqual(told);
  });

  test("does not if the check asks for it by its path, or not at all", async () => {
    const output = "sh: 3: libexec/openssl: not found";
    expect(await ask(true, { passed: false, output })).toBeNull();
    expect(await ask(false, { passed: true })).toBeNull();
  });
});

test("what is found is told with its name", () =>
  expect(describeShadows([{ path: "statistics.py", name: "the module statistics" }])).toContain(
    "(statistics.py: the module statistics)",
  ));

describe("a manifest with the base's settings", () => {
  const text = (value: object): string => JSON.stringify(value);
  const was = {
    name: "a",
    type: "module",
    imports: { "#ref": "./test/ref.js" },
    dependencies: { x: "1" },
  };
  test("has the work's dependencies and everything else as it was", () =>
    expect(
      JSON.parse(
        restoreManifestSettings(
          text(was),
          text({ ...was, imports: { "#ref": "./src/ref.js" }, dependencies: { x: "2" } }),
        ) ?? "",
      ),
    ).toEqual({ ...was, dependencies: { x: "2" } }));

  test("is not tried where only dependencies, scripts or the version changed", () =>
    expect(
      restoreManifestSettings(
        text(was),
        text({ ...was, version: "2", scripts: { test: "x" }, devDependencies: { y: "1" } }),
      ),
    ).toBeNull());

  test("is not tried where one of the two cannot be read", () =>
    expect(restoreManifestSettings("[", text(was))).toBeNull());
});

test.runIf(has("perl"))("a new module of Perl that Perl has already", () => {
  expect(shadows("lib/Test/More.pm", "lib/Price/List.pm", "t/lib/Mine.pm")).toEqual([
    "lib/Test/More.pm",
    "lib/Price/List.pm",
  ]);

  expect(endsWell(commandOf("lib/Test/More.pm"))).toBe(true);
  expect(endsWell(commandOf("lib/Price/List.pm"))).toBe(false);
});
