import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import {
  findAddedShellFunctions,
  findMacrosInTests,
  findUndeclaredFunctions,
  isDeclaredIn,
  shellHasCommand,
} from "./replaced-functions.ts";

describe("functions of C that nobody of the project asked for", () => {
  const names = (is: string, was: string, tests: string, headers = "") =>
    findUndeclaredFunctions([{ path: "slug.c", was, is }], { headers, tests }).map(
      ({ name }) => name,
    );

  const compares = "int strcmp(const char *a, const char *b) {\n    return 0;\n}\n";
  test.each([
    [
      "one that tests call and no header speaks of",
      compares,
      "",
      "assert(strcmp(out, x) == 0);",
      ["strcmp"],
    ],
    [
      "one that nobody calls",
      "void __assert_fail(const char *a) {\n}\n",
      "",
      "assert(f());",
      ["__assert_fail"],
    ],
    [
      "not one of its own use",
      `${compares}int slug(void) {\n    return strcmp(a, b);\n}\n`,
      "int slug(void) {\n}\n",
      "slug();",
      [],
    ],
    ["not one that was there", `int more;\n${compares}`, compares, "strcmp(a, b);", []],
    ["not one that only its file sees", `static ${compares}`, "", "strcmp(a, b);", []],
  ])("%s", (_what, is, was, tests, wanted) => expect(names(is, was, tests)).toEqual(wanted));

  test("not what a header speaks of", () =>
    expect(
      names("int remove(int i) {\n    return i;\n}\n", "", "remove(1);", "int remove(int i);\n"),
    ).toEqual([]));
});

describe("macros of C that change what tests say", () => {
  const names = (is: string, was: string, tests: string) =>
    findMacrosInTests([{ path: "words.h", was, is }], tests).map(({ name }) => name);
  test.each([
    [
      "one that tests compare with",
      "#undef strcmp\n#define strcmp strcasecmp\n",
      "",
      "CHECK(strcmp(a, b) == 0)",
      ["strcmp"],
    ],
    ["not one that tests do not use", "#define LIMIT 3\n", "", "CHECK(f())", []],
    [
      "not one that was there",
      "#define LIMIT 3\n#define MORE 1\n",
      "#define LIMIT 2\n",
      "CHECK(f() == LIMIT)",
      [],
    ],
  ])("%s", (_what, is, was, tests, wanted) => expect(names(is, was, tests)).toEqual(wanted));

  test("a name means something if a header declares it or tests define it", () => {
    expect(isDeclaredIn("char *title(const char *s);\n", "title")).toBe(true);
    expect(isDeclaredIn("#define CHECK(x) x\n", "CHECK")).toBe(true);
    expect(isDeclaredIn("  CHECK(title(a));\n", "title")).toBe(false);
  });
});

test("functions of a shell that take the place of its own parts", () => {
  const added = findAddedShellFunctions([
    {
      path: "lib.sh",
      was: "slug() { :; }\n",
      is: "slug() { x; }\n[() {\n  :\n}\nfunction join_by() { :; }\n",
    },
  ]);
  expect(added.map(({ name }) => name)).toEqual(["[", "join_by"]);
  const isPart = (...names: string[]) =>
    spawnSync("/bin/sh", ["-c", shellHasCommand(names)]).status === 0;
  expect(isPart("join_by", "[")).toBe(true);
  expect(isPart("join_by", "slug")).toBe(false);
});
