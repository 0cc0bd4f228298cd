import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { addStatements, endAtOnce } from "./added-statements.ts";

const isThere = (compiler: string): boolean => spawnSync(compiler, ["--version"]).status === 0;
const strict = [
  "-Wall",
  "-Wextra",
  "-Wpedantic",
  "-Wshadow",
  "-Wdeclaration-after-statement",
  "-Werror",
];

/** What the program exits with, compiled with every warning as an error. */
function run(
  name: string,
  text: string,
  compiler: string,
  flags: readonly string[],
): number | null {
  const folder = mkdtempSync(join(tmpdir(), "added-"));
  try {
    writeFileSync(join(folder, name), text);
    execFileSync(compiler, [...flags, "-o", join(folder, "program"), join(folder, name)], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    return spawnSync(join(folder, "program")).status;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const c =
  "#include <assert.h>\n#include <unistd.h>\nstatic int is(int a)\n{\n  if (a != 1) { return 3; }\n  return 0;\n}\nint main(void) {\n  assert(getpid() > 0);\n  return is(2);\n}\n";
const rust =
  "#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() { assert_eq!(1, 1); }\n    #[test]\n    fn two() { assert_eq!(1, 2); }\n}\n";

describe("tests with added statements", () => {
  test.skipIf(!isThere("cc")).each([["-O0"], ["-O2"]])(
    "in C they are what they were, and end at once if they are told to (%s; needs cc)",
    (level) => {
      const text = addStatements("test_a.c", c, "n0");
      expect(text).not.toBe(c);
      expect(run("test_a.c", text, "cc", [...strict, level])).toBe(3);
      expect(
        run("test_a.c", endAtOnce("test_a.c", text, "n0") ?? "", "cc", [...strict, level]),
      ).toBe(0);
    },
  );

  test.skipIf(!isThere("c++"))("in C++ (needs c++)", () => {
    const text = addStatements("test_a.cc", c, "n0");
    const flags = ["-Wall", "-Wextra", "-Werror", "-std=c++17"];
    expect(run("test_a.cc", text, "c++", flags)).toBe(3);
    expect(run("test_a.cc", endAtOnce("test_a.cc", text, "n0") ?? "", "c++", flags)).toBe(0);
  });

  test.skipIf(!isThere("rustc")).each([["2015"], ["2021"]])(
    "in Rust (edition %s; needs rustc)",
    (edition) => {
      const text = addStatements("src/lib.rs", rust, "n0");
      expect(text).not.toBe(rust);
      expect(run("lib.rs", text, "rustc", ["--test", `--edition=${edition}`, "-Dwarnings"])).toBe(
        101,
      );
    },
  );
});
