import { expect, test } from "vitest";
import type { CheckResult, ClaimChecked } from "../../contracts/evidence.ts";
import { decideByResults } from "../claims/decide-by-results.ts";
import { findMissingPackages, describeMissingPackages } from "./missing-packages.ts";

test.each([
  [
    "Error: Cannot find module 'left-pad'",
    "package.json",
    '{ "dependencies": { "left-pad": "1" } }',
    "left-pad",
  ],
  [
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@a/b' imported from /x",
    "package.json",
    '{ "dependencies": { "@a/b": "1" } }',
    "@a/b",
  ],
  [
    'Error: Failed to resolve import "zod/v4" from "src/a.ts"',
    "package.json",
    '{ "dependencies": { "zod": "4" } }',
    "zod",
  ],
  [
    "E   ModuleNotFoundError: No module named 'typing_extensions'",
    "requirements.txt",
    "typing-extensions==4\n",
    "typing_extensions",
  ],
  [
    "a.go:3:2: no required module provides package github.com/x/y; to add it:",
    "go.mod",
    "require github.com/x/y v1\n",
    "github.com/x/y",
  ],
  [
    "error: no matching package named `serde` found",
    "Cargo.toml",
    '[dependencies]\nserde = "1"\n',
    "serde",
  ],
])("%s: told as a package that %s names and that isn't installed", (line, manifest, text, name) => {
  const found = findMissingPackages(["fine", line], (path) => (path === manifest ? text : null));
  expect(found).toEqual([{ name, manifest }]);
  expect(describeMissingPackages(found)).toBe(
    `${name} is named in ${manifest} and not installed here; install what the manifest names, or set checks.restore: lockfile in your own config`,
  );
});

test("a module that no manifest names, or a file of one's own, is the work's own mistake", () => {
  const read = (path: string): string | null =>
    path === "package.json" ? '{ "dependencies": { "left-padding": "1" } }' : null;
  expect(
    findMissingPackages(
      ["Error: Cannot find module 'left-pad'", "Error: Cannot find module './b.js'"],
      read,
    ),
  ).toEqual([]);
});

const project =
  '[project]\nname = "shop"\ndependencies = ["zope.interface", "requests"]\n\n[project.scripts]\nshop = "shop.cli:main"\n';

test.each([
  ["No module named 'shop.money'", "pyproject.toml", project, []],
  [
    "python3: No module named shop.__main__; 'shop' is a package and cannot be directly executed",
    "pyproject.toml",
    project,
    [],
  ],
  ["No module named 'shop'", "pyproject.toml", project, []],
  ["No module named 'requests'", "pyproject.toml", project, ["requests"]],
  ["No module named 'zope.interface'", "pyproject.toml", project, ["zope.interface"]],
  ["error[E0432]: unresolved import `shop`", "Cargo.toml", '[package]\nname = "shop"\n', []],
  [
    "error[E0432]: unresolved import `rand`",
    "Cargo.toml",
    '[package]\nname = "shop"\n\n[dependencies]\nrand = "1"\n',
    ["rand"],
  ],
  [
    "Error: Cannot find package 'shop' imported from /x",
    "package.json",
    '{\n  "name": "shop"\n}\n',
    [],
  ],
])(
  "a module of the project's own that is still to be written is not missing: %s",
  (line, manifest, text, names) => {
    const found = findMissingPackages([line], (path) => (path === manifest ? text : null));
    expect(found.map(({ name }) => name)).toEqual(names);
  },
);

test.each(["src/shop/__init__.py", "shop/__init__.py"])(
  "%s is there and not found: it has to be installed",
  (written) => {
    const files: Readonly<Record<string, string>> = { "pyproject.toml": project, [written]: "" };
    expect(
      findMissingPackages(["No module named 'shop'"], (path) => files[path] ?? null),
    ).toHaveLength(1);
  },
);

test("who says that tests pass is not called a liar where only a package or a program is not installed", () => {
  const check = {
    id: "criterion:c1",
    kind: "criterion" as const,
    title: "tests",
    command: "npm test",
    source: "objective",
  };

  const failed: CheckResult = {
    check,
    status: "failed",
    exit_code: 1,
    duration_ms: 1,
    evidence: "0".repeat(64),
  };

  const claim = (waits: ClaimChecked["waits"], kind: ClaimChecked["kind"]): ClaimChecked => ({
    kind,
    text: "x",
    verdict: "unverifiable",
    why: "",
    waits,
  });
  const verdictsOn = (
    result: CheckResult,
    regressed: readonly CheckResult[] = [],
  ): readonly string[] =>
    [
      claim({ of: "npm test", passed: true }, "command"),
      claim({ of: "all" }, "done"),
      claim({ of: "tests" }, "done"),
      claim({ of: "c1" }, "done"),
    ].map((one) => decideByResults(one, [result], regressed).verdict);
  expect(verdictsOn(failed)).toEqual(["false", "false", "false", "false"]);

  const uninstalled = {
    ...failed,
    uninstalled: "left-pad",
    why: "left-pad is named in package.json and not installed here",
  };
  expect(verdictsOn(uninstalled)).toEqual([
    "unverifiable",
    "unverifiable",
    "unverifiable",
    "unverifiable",
  ]);

  // A command whose program isn't here says nothing about anybody's word, unless the work took the
  // program away.
  const unfound: CheckResult = { ...failed, status: "not_found", exit_code: 127 };
  expect(verdictsOn(unfound)).toEqual([
    "unverifiable",
    "unverifiable",
    "unverifiable",
    "unverifiable",
  ]);

  expect(verdictsOn(unfound, [{ ...unfound }])).toEqual(["false", "false", "false", "false"]);
});
