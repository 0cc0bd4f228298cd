// What was done to a protected file: one row a trick, in the languages whose conventions are known.

import { test } from "vitest";
import { createRowFinder } from "./protect.ts";
import { isCandidate, judgeProtected, type ChangedFile, type ProtectionRules } from "./judge.ts";
import { findMoves } from "./moved-files.ts";

type Texts = Readonly<Record<string, string>>;

function judged(
  before: Texts,
  after: Texts,
  more: {
    scope?: string[];
    approved?: string[];
    commands?: string[];
    restores?: boolean;
    protect?: string[];
  } = {},
) {
  const { scope = ["**"], approved = [], commands = [], restores = false, protect = [] } = more;
  const setting: ProtectionRules = {
    base: new Set(Object.keys(before)),
    rowOf: createRowFinder(protect),
    named: { commands, usedCommands: commands, restores },
  };

  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (path) => before[path] !== after[path],
  );
  const seen = paths.map((path): ChangedFile => {
    const kind =
      before[path] === undefined ? "added" : after[path] === undefined ? "deleted" : "changed";
    return {
      difference: { path, kind, was: before[path] ?? null, now: after[path] ?? null },
      before: before[path] ?? null,
      after: after[path] ?? null,
    };
  });
  const wanted = seen.filter(({ difference }) => isCandidate(difference, setting));

  return judgeProtected({
    changedFiles: wanted,
    moved: findMoves(seen.map(({ difference }) => difference)),
    rules: setting,
    scope,
    approved,
  });
}

test("text made to be slow to read is read in good time", () => {
  const bad = [
    "#[test]#[a]".repeat(6_000),
    "#[cfg_attr(".repeat(6_000),
    "<plugin>surefire".repeat(4_000),
    "test {".repeat(10_000),
    "abs(".repeat(18_000),
    "use x\n".repeat(10_000),
    "`".repeat(99_999),
    "/*".repeat(99_999),
    "[a\n".repeat(18_000),
  ];

  for (const path of [
    "src/lib.rs",
    "a.test.ts",
    "test/a.py",
    "pom.xml",
    "build.gradle",
    "setup.cfg",
    "Makefile",
    "package.json",
    "vite.config.ts",
  ]) {
    for (const text of bad) judged({ [path]: "test: x\n" }, { [path]: text });
  }

  judged(
    { "package.json": "{}" },
    { "package.json": `{"jest":${"[".repeat(10_000)}${"]".repeat(10_000)}}` },
  );
});
