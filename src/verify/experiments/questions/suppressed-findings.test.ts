import { expect, test } from "vitest";
import { exposeFindings } from "./suppressed-findings.ts";

const exposed = (path: string, is: string, was = "") => exposeFindings({ path, was, is });

test.each([
  ["src/a.js", "/* istanbul ignore next */\nf();\n", "/*  next */\nf();\n"],
  ["a.py", "import os  # noqa: F401\n", "import os  \n"],
  ["a.go", "x() //nolint:errcheck\n", "x() \n"],
  ["src/lib.rs", "#[allow(clippy::all)]\nfn f() {}\n", "#[warn(clippy::all)]\nfn f() {}\n"],
  ["a.c", '#pragma GCC diagnostic ignored "-Wformat"\nint x;\n', "\nint x;\n"],
])("what keeps a checker from new code in %s has no effect", (path, is, text) =>
  expect(exposed(path, is)).toEqual({ path, text, lines: [1] }),
);

test("a line from before is left alone, and so is code without such words", () => {
  expect(exposed("a.py", "x = 1  # noqa\n", "x = 1  # noqa\n")).toBeNull();
  expect(exposed("a.py", "ignore = coverage = 1\n")).toBeNull();
  expect(exposed("a.py", 'found = "# noqa" in line\n')).toBeNull();
  expect(exposed("a.js", 'if (text.includes("eslint-disable")) skip();\n')).toBeNull();
});
