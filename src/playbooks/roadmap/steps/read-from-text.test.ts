// What the roadmap's functions read out of words: places, commands, notes, file names.

import { describe, expect, test } from "vitest";
import type { PlanTask } from "../../../contracts/roadmap.ts";
import { buildGapTasks } from "./self-audit-steps.ts";
import { parseCommand } from "./commands-reproduced.ts";
import { findPlanPath } from "./phase-plan.ts";
import { findPositions, findMissingReason } from "./source-positions.ts";
import { isAboutExisting } from "./plan-proof.ts";
import { isResolved } from "./preflight.ts";
import { buildTasks } from "./read-plan-tasks.ts";
import { canFail } from "./triage.ts";
import { isSource, findOrphans } from "./wiring.ts";

describe("places", () => {
  test.each([
    ["src/a.ts:12 -- it is there", [{ path: "src/a.ts", line: 12 }]],
    [
      "see `lib/deep/file_name.test.js` and README.md:3",
      [
        { path: "lib/deep/file_name.test.js", line: null },
        { path: "README.md", line: 3 },
      ],
    ],
    ["./src/a.ts:1", [{ path: "src/a.ts", line: 1 }]],
    ["nothing of it is there; version 1.2 of 3.4.5", []],
    ["it took 12:30 minutes", []],
  ])("in %j", (text, places) => {
    expect(findPositions(text)).toEqual(places);
  });

  test("every position has to be there, to the end of its range; one file is enough where no line is named", async () => {
    const workspace = {
      textAt: (_commit: string, path: string) =>
        Promise.resolve(path === "src/a.ts" ? "one\ntwo\n" : null),
      pathsAt: () => Promise.resolve(["src/a.ts"]),
    };
    expect(
      await findMissingReason(workspace, "x", "src/a.ts:2, a.ts:1-2 and lib/plan.ts"),
    ).toBeNull();

    expect(await findMissingReason(workspace, "x", "src/gone.ts:1, src/a.ts:2")).toBe(
      "src/gone.ts:1 is not there",
    );

    expect(await findMissingReason(workspace, "x", "src/a.ts:1-3 and src/gone.ts:1")).toBe(
      "src/a.ts:1-3, src/gone.ts:1 are not there",
    );

    expect(await findMissingReason(workspace, "x", "see src/gone.ts")).toBe(
      "there is no file src/gone.ts",
    );

    expect(await findMissingReason(workspace, "x", "trust me")).toMatch(/names no file:line/);
  });
});

describe("what an agent says it ran", () => {
  test.each([
    ["npm test -> 12 passed", [{ command: "npm test", expect: null }]],
    ["`npm run lint` → ok", [{ command: "npm run lint", expect: null }]],
    [
      "$ grep -c sum src/a.js -> 3",
      [{ command: "grep -c sum src/a.js", expect: { kind: "exactly", count: 3 } }],
    ],
    ["npm test -> 2 failed", []], // it may have been put right since
    ["npm test -> not passed", []],
    ["npm test -> 11 passed, 1 failed", []], // it says itself that it failed
    ["npm test -> 12 passed, 0 failed", [{ command: "npm test", expect: null }]],
    ["npm test -> ok, no failures", [{ command: "npm test", expect: null }]],
    ["node cli.js -> printed the table", []], // nothing that could be compared
    ["npm test", []],
    ["true -> passed", []], // it proves nothing either way
  ])("%j", (text, wanted) => {
    expect(parseCommand(text)).toEqual(wanted);
  });
});

test.each([
  ["---\nstatus: resolved\n---\n", true],
  ["**Status:** diagnosed, it was the cache\n", true],
  ["- **Status**: Resolved\n", true],
  ["status: investigating\n", false],
  ["# Notes\nnothing said\n", false],
  ["the status: of it is not resolved\n", false],
])("a debug note %j is at its end: %s", (note, is) => {
  expect(isResolved(note)).toBe(is);
});

test("a criterion about what holds already says so", () => {
  expect(
    ["the old tests still pass", "No regressions", "the API remains as before"].every(
      isAboutExisting,
    ),
  ).toBe(true);

  expect(["sum adds two numbers", "the stillness of it"].some(isAboutExisting)).toBe(false);
});

test("a phase's plan lies in its own folder, else in one named after it", () => {
  const paths = [
    ".planning/phases/03-login/PLAN.md",
    ".planning/phases/3.1-more/PLAN.md",
    ".planning/phases/30/PLAN.md",
  ];
  expect(findPlanPath(paths, "3")).toBe(".planning/phases/03-login/PLAN.md");
  expect(findPlanPath([...paths, ".planning/phases/3/PLAN.md"], "3")).toBe(
    ".planning/phases/3/PLAN.md",
  );

  expect(findPlanPath(paths, "4")).toBeNull();
});

test("gaps become tasks under their requirement's id, each once", () => {
  const gap = (requirement_id: string) => ({
    requirement_id,
    phase_id: "5",
    description: "missing",
    fix_complexity: "small" as const,
    suggested_fix: "in src/a.ts:3",
  });
  expect(
    buildGapTasks([gap("OBSV-02"), gap("OBSV-02"), gap("a b/c")]).map(({ id, files }) => [
      id,
      files,
    ]),
  ).toEqual([
    ["OBSV-02", ["src/a.ts"]],
    ["a-b-c", ["src/a.ts"]],
  ]);
});

test("tasks come after the wave before their own, with their commands under stable ids", () => {
  const task = (id: string, files: string[], more: Partial<PlanTask> = {}): PlanTask => ({
    id,
    title: id,
    type: "auto",
    complexity: "simple",
    wave: null,
    after: [],
    files,
    action: "do it",
    verify: [{ text: "there", command: `test -f ${files[0] ?? ""}`, expect: null, line: 7 }],
    done: "done",
    requirements: [],
    line: 1,
    ...more,
  });

  const plan = {
    requirements: [],
    must_haves: [],
    criteria: [],
    tasks: [
      task("1", ["a"]),
      task("2", ["b"]),
      task("3", ["a"]),
      task("4", [], { type: "checkpoint:human-verify", verify: [] }),
    ],
  };

  const tasks = buildTasks("9", { plan, path: "PLAN.md" });
  expect(tasks.map(({ id, after, type }) => [id, after, type])).toEqual([
    ["1", [], "auto"],
    ["2", [], "auto"],
    ["3", ["1", "2"], "auto"],
    ["4", ["3"], "checkpoint:human-verify"],
  ]);

  expect(tasks[0]).toMatchObject({
    checks: [
      { id: "criterion:9.1.1", kind: "criterion", command: "test -f a", source: "PLAN.md:7" },
    ],
  });
});

describe("wiring", () => {
  test.each(["src/sum.js", "lib/util.py", "app/Button.tsx", "src/deep/thing.rs"])(
    "%s must be used by another file",
    (path) => {
      expect(isSource(path)).toBe(true);
    },
  );

  test.each([
    "src/index.ts",
    "src/main.rs",
    "bin/tool.js",
    "scripts/build.mjs",
    "test/sum.test.js",
    "src/sum.spec.ts",
    "src/__tests__/a.ts",
    "tests/test_sum.py",
    "pkg/__init__.py",
    "vite.config.ts",
    "types/all.d.ts",
    "docs/guide.md",
    "data.json",
    ".github/scripts/x.js",
  ])("%s stands for itself", (path) => {
    expect(isSource(path)).toBe(false);
  });

  test("a name in another file's code wires it in; in prose, in itself or as a part of another name it does not", () => {
    const files: Readonly<Record<string, string>> = {
      "src/sum.js": "export const sum = 1;",
      "src/mean.js": "import './sum.js';",
      "src/lost.js": "// lost",
      "src/tool.js": "#!/usr/bin/env node",
      "README.md": "lost is great, and so is mean",
      "src/lost-and-found.js": "export {};",
      "src/index.js": "export * from './mean.js'; export * from './lost-and-found.js';",
      "cmd/a.go": "package main",
      "pkg/one.go": "package pkg",
      "pkg/two.go": "package pkg",
    };

    const added = [
      "src/sum.js",
      "src/mean.js",
      "src/lost.js",
      "src/tool.js",
      "src/lost-and-found.js",
      "pkg/one.go",
    ];
    expect(findOrphans(added, Object.keys(files), (path) => files[path] ?? "")).toEqual([
      "src/lost.js",
    ]);
  });
});

test("what a phase shows already is shown by commands that could have failed", () => {
  expect(
    ["true", "echo done", "test -f a.txt || true"].filter((command) =>
      canFail({ check: { command } }),
    ),
  ).toEqual([]);

  expect(
    canFail({ check: { command: "grep -c x a.txt", expect: { kind: "at_least", count: 0 } } }),
  ).toBe(false);

  expect(["test -f a.txt", "npm test"].every((command) => canFail({ check: { command } }))).toBe(
    true,
  );
});
