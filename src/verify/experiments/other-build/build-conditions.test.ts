import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findRuleMacros } from "./build-macros.ts";
import { switchBuild } from "./build-conditions.ts";
import { createFeatureFilter } from "./rust-build.ts";

const none = {
  isFeatureOn: () => false,
  isMacroOn: () => false,
  isMacroOfOthers: () => false,
  isLinked: (name: string) => name === "log_line",
};
const turned = (path: string, is: string, was: string | null = null, isGentle = false) =>
  switchBuild({ path, was, is }, none, isGentle);
const inline = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\n";

describe("in another build", () => {
  test.each([
    ["src/lib.rs", "#[cfg(test)]\nuse a::B;\n", "#[cfg(any())]\nuse a::B;\n"],
    ["src/lib.rs", "#[cfg(not(test))]\nuse a::B;\n", "#[cfg(not(any()))]\nuse a::B;\n"],
    ["src/lib.rs", "fn f() -> bool { cfg!(test) }\n", "fn f() -> bool { cfg!(any()) }\n"],
    [
      "src/lib.rs",
      '#[cfg_attr(test, path = "test.rs")]\nmod a;\n',
      '#[cfg_attr(any(), path = "test.rs")]\nmod a;\n',
    ],
    [
      "src/lib.rs",
      '#[cfg(all(feature = "wide", unix))]\nfn f() {}\n',
      "#[cfg(all(any(), unix))]\nfn f() {}\n",
    ],
    ["src/lib.rs", "#[cfg(debug_assertions)]\nfn f() {}\n", "#[cfg(any())]\nfn f() {}\n"],
    [
      "src/lib.rs",
      "fn f() { debug_assert!({ x = 1; true }); }\n",
      "fn f() { if false { debug_assert!({ x = 1; true }) }; }\n",
    ],
    [
      "total.h",
      'int f(void) { return strstr(__BASE_FILE__, "test") != 0; }\n',
      'int f(void) { return strstr("main.c", "test") != 0; }\n',
    ],
    ["ring.c", '#if __has_include("check.h")\nint f;\n#endif\n', "#if 0\nint f;\n#endif\n"],
    [
      "ring.c",
      "#ifdef __STRICT_ANSI__\nint f;\n#endif\n",
      "#ifdef __STRICT_ANSI__\n#undef __STRICT_ANSI__\n#else\n#define __STRICT_ANSI__ 1\n#endif\n#ifdef __STRICT_ANSI__\nint f;\n#endif\n",
    ],
    [
      "sums.c",
      "extern void test_add(void) __attribute__((weak));\nint f(void) { return test_add != 0; }\n",
      "#define test_add test_add_of_nobody\nextern void test_add(void) __attribute__((weak));\nint f(void) { return test_add != 0; }\n",
    ],
    [
      "sums.c",
      "int a;\n#define MAYBE __attribute__((__weak__))\nMAYBE extern int test_count;\n#pragma weak run\n",
      "#define test_count test_count_of_nobody\n#define run run_of_nobody\nint a;\n#define MAYBE __attribute__((__weak__))\nMAYBE extern int test_count;\n#pragma weak run\n",
    ],
    ["lib/Price.pm", "sub f { $0 =~ /\\.t$/ }\n", 'sub f { "/usr/bin/app" =~ /\\.t$/ }\n'],
    [
      "lib/a.sh",
      "f() { type check >/dev/null && echo 1; }\n",
      "f() { eval '(unset -f check; type check)' >/dev/null && echo 1; }\n",
    ],
    [
      "mul.c",
      "int f(int a) {\n  assert((a = 2, 1));\n  return a;\n}\n",
      "int f(int a) {\n  ((void)(0 && ((a = 2, 1))));\n  return a;\n}\n",
    ],
    [
      "calc.py",
      '  assert a.b(1) is None, "no, no"\n',
      '  assert True or ( a.b(1) is None), "no, no"\n',
    ],
    [
      "Calc.java",
      '  assert (n = 2) > 1 ? a : b : "no";\n',
      '  assert true || ( (n = 2) > 1 ? a : b ): "no";\n',
    ],
    [
      "mul.c",
      "#ifdef UNIT_TEST\nint a;\n#endif\n",
      "#undef UNIT_TEST\n#ifdef UNIT_TEST\nint a;\n#endif\n",
    ],
    ["calc.py", "x = 1 if __debug__ else 2\n", "x = 1 if False else 2\n"],
  ])("%s: %j", (path, is, expected) => {
    expect(turned(path, is)?.text).toBe(expected);
  });

  test.each([
    ["a module that holds tests", "src/lib.rs", inline],
    ["a weak name of the project's", "a.c", "void log_line(void) __attribute__((weak));\n"],
    ["what goes by the target", "src/lib.rs", "#[cfg(unix)]\nfn f() {}\n"],
    ["a static assertion", "mul.c", '_Static_assert(1, "x");\nstatic_assert(1);\n'],
    [
      "a word in a comment or a string",
      "calc.py",
      '# assert it\nx = "assert this"\nself.assertTrue(x)\n',
    ],
    ["another language", "a.js", "console.assert(x)\n"],
  ])("%s stays as it is", (_name, path, is) => {
    expect(turned(path, is)).toBeNull();
  });

  test("what was there before stays as it is", () => {
    const was = "#[cfg(test)]\nfn helper() {}\n";
    expect(turned("src/lib.rs", `${was}fn f() {}\n`, was)).toBeNull();
    expect(turned("src/lib.rs", "#[cfg(test)]\nfn helper() { other(); }\n", was)).not.toBeNull();
  });

  test("two modules of one name are a choice, though tests are in one of them", () => {
    const pair = `${inline}#[cfg(not(test))]\nmod tests {}\n`;
    expect(turned("src/lib.rs", pair)?.text).toContain("#[cfg(any())]\nmod tests {");
  });

  test("gently, what only tests may need stays", () => {
    const helper = "#[cfg(test)]\nfn helper() {}\nfn f() { debug_assert!(true); }\n";
    expect(
      turned("src/lib.rs", "#[cfg(test)]\nfn helper() {}\nfn f() {}\n", null, true),
    ).toBeNull();

    expect(
      turned(
        "src/lib.rs",
        "#[cfg(test)]\nuse a::{Small, Wide};\nuse b::*;\nfn f() -> Wide {}\n",
        null,
        true,
      )?.text,
    ).toContain("#[cfg(any())]");

    expect(
      turned("src/lib.rs", "#[cfg(test)]\nimpl Mul for N {}\nfn f() {}\n", null, true)?.text,
    ).toContain("#[cfg(any())]");

    expect(turned("src/lib.rs", helper, null, true)?.text).toContain("#[cfg(test)]\nfn helper");
    expect(turned("src/lib.rs", helper)?.text).toContain("#[cfg(any())]\nfn helper");
    expect(
      turned("src/lib.rs", "fn f() {\n    #[cfg(test)]\n    return 1;\n}\n", null, true)?.text,
    ).toContain("#[cfg(any())]");
  });

  test("a feature that is on elsewhere too stays on", () => {
    const isOn = createFeatureFilter(
      ['[features]\ndefault = ["a"]\na = ["b"]\nc = []\n\n[dependencies]\n'],
      ["cargo test -F d"],
    );
    expect(["a", "b", "c", "d"].map(isOn)).toEqual([true, true, false, true]);
    expect(createFeatureFilter([], ["cargo test --all-features"])("c")).toBe(true);
  });

  test("Python still runs, and answers something else only if its answer is worked out in an assert", () => {
    const folder = mkdtempSync(join(tmpdir(), "build-"));
    const says = (code: string): string => {
      writeFileSync(join(folder, "a.py"), turned("a.py", code)?.text ?? code);
      return execFileSync("python3", ["a.py"], { cwd: folder, encoding: "utf8" }).trim();
    };

    try {
      const head = "def mul(a, b):\n    out = [a + b]\n";
      expect(
        says(
          `${head}    assert out.append(a * b) is None, "no"\n    return out[-1]\nprint(mul(2, 3))\n`,
        ),
      ).toBe("5");

      expect(says("def f(a): assert (a >\n  0), 'x'; return a\nprint(f(-2))\n")).toBe("-2");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

test("macros that only rules for tests define, or only others", () => {
  const makefile =
    "CFLAGS = -DALL -O2\n\napp: app.o\n\tcc -DAPP -o $@ $^\n\ntest: CFLAGS += -DUNIT_TEST -DAPP -DALL\ntest: unit\n\t./unit\n\nunit-test: a.c\n\tcc -D MOCKS $^\n";
  expect(findRuleMacros(makefile)).toEqual({
    ofTests: new Set(["UNIT_TEST", "MOCKS"]),
    ofOthers: new Set(),
  });

  const released = `${makefile}\nrelease: a.c\n\tcc -DRELEASE -DMOCKS -DALL $^\n`;
  expect(findRuleMacros(released)).toEqual({
    ofTests: new Set(["UNIT_TEST"]),
    ofOthers: new Set(["RELEASE"]),
  });
});
