// New files whose names something outside the project has already.

import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { restoreManifestSettings } from "./manifest-settings.ts";
import { findPossibleShadows, describeShadows } from "./shadowing.ts";

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
  const programs = (script: string, ...added: readonly string[]): readonly string[] =>
    findPossibleShadows(
      added.map((path) => ({ path, kind: "added" as const })),
      base,
      [script],
    ).map(({ name }) => name);
  test.each([
    "export PATH := $(CURDIR)/bin:$(PATH)\n",
    'PATH="$PWD/bin:$PATH" sh tests/run.sh',
    "PATH=./bin:$PATH",
  ])("programs in a folder that the project puts on the PATH: %s", (script) => {
    expect(programs(script, "bin/diff", "tools/cmp", "bin/readme.md")).toEqual([
      "the program diff",
    ]);

    expect(programs("PATH=$PATH:./bin", "bin/diff")).toEqual([]);
    expect(programs('export PATH="$HOME/.local/bin:$PATH"', "bin/diff")).toEqual([]);
  });

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
