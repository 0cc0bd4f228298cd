import { describe, expect, test } from "vitest";
import { findProtectionRow } from "../../protected/kinds.ts";
import { dropTestNames, findNonCodeFiles, describeNonCodeFiles } from "./non-code-files.ts";

const base = [
  "package.json",
  "src/words.js",
  "qa/all.js",
  "qa/lib.js",
  "qa/wanted.json",
  "cli.py",
  "README.md",
  "test/a.test.js",
];

/** What of a change is put back, for a command and what the base's scripts make of it. */
function beside(
  changed: readonly string[],
  command = "npm test",
  used: readonly string[] = [command, "node qa/all.js"],
): readonly string[] {
  const found = findNonCodeFiles({
    differences: changed.map((path) => ({ path, kind: base.includes(path) ? "changed" : "added" })),
    base: new Set(base),
    rowOf: findProtectionRow,
    command,
    used,
    isScript: (path) => path === "count",
    isBinary: (path) => path.endsWith(".pyc"),
  });
  return found === null ? [] : [...found.paths, ...found.without];
}

describe("beside code and tests lie", () => {
  test.each([
    ["answers in a table", "qa/wanted.json"],
    ["the script that the tests are started by", "qa/all.js"],
    ["what lies beside that script", "qa/lib.js"],
    ["new settings", ".env"],
    ["settings among the code", "src/words/.stylerc"],
    ["a stamp", "out/checked"],
  ])("%s: %s", (_what, path) => expect(beside([path, "src/words.js"])).toEqual([path]));

  test("a script at the top that the command starts and whose end decides", () =>
    expect(beside(["cli.py"], "python3 cli.py", ["python3 cli.py"])).toEqual(["cli.py"]));
});

test("what a command only asks to exist or looks at does not make its folder one that judges", () => {
  const asks = "test -f qa/new.js && ! test -e qa/all.js && npm test";
  expect(beside(["qa/lib.js"], asks, [asks, "node --test"])).toEqual([]);
  expect(beside(["qa/lib.js"], "grep -q x qa/all.js", ["grep -q x qa/all.js"])).toEqual([]);
  expect(beside(["qa/lib.js"], `${asks} && node qa/all.js`, [`${asks} && node qa/all.js`])).toEqual(
    ["qa/lib.js"],
  );
});

test("data that the goal names and no test reads is the work, unless it lies with what judges", () => {
  const put = (path: string) => ({
    differences: [{ path, kind: "changed" as const }],
    base: new Set(base),
    rowOf: findProtectionRow,
    command: "npm test",
    used: ["npm test", "node qa/all.js"],
    isScript: () => false,
    isRequested: () => true,
  });
  expect(findNonCodeFiles(put("config/default.json"))).toBeNull();
  expect(
    findNonCodeFiles({ ...put("config/default.json"), isRequested: () => false }),
  ).not.toBeNull();

  expect(findNonCodeFiles(put("qa/wanted.json"))).not.toBeNull();
});

test.each([
  [
    "node src/words.js | diff - qa/wanted.json",
    ["src/words.js", "qa/wanted.json"],
    ["qa/wanted.json"],
  ],
  [
    "node src/words.js > out; cmp out qa/wanted.json",
    ["src/words.js", "qa/wanted.json"],
    ["qa/wanted.json"],
  ],
  [
    "python3 cli.py --expect qa/wanted.json",
    ["src/words.js", "qa/wanted.json"],
    ["qa/wanted.json"],
  ],
  ["python3 cli.py qa/wanted.json", ["qa/wanted.json"], []],
  ["npm test && grep -q word qa/wanted.json", ["src/words.js", "qa/wanted.json"], []],
  ["npm test && test -s qa/wanted.json", ["src/words.js", "qa/wanted.json"], []],
])(
  "data that a command compares with is put back, if code was changed too: %s",
  (command, changed, back) => expect(beside(changed, command, [command])).toEqual(back),
);

test("a module whose examples the command runs is the work", () => {
  expect(beside(["cli.py"], "python3 -m doctest cli.py", ["python3 -m doctest cli.py"])).toEqual(
    [],
  );
});

test("settings that serve new tests are taken out with those tests, and new tests alone are not", () => {
  expect(beside(["tests/conftest.py", "tests/test_line.py", "src/words.js"])).toEqual([
    "tests/conftest.py",
    "tests/test_line.py",
  ]);

  expect(beside(["tests/test_line.py", "src/words.js"])).toEqual([]);
});

test("tests that were moved beside new settings are put back where they were", () => {
  const find = (added: readonly string[]): ReturnType<typeof findNonCodeFiles> =>
    findNonCodeFiles({
      differences: [
        { path: "test_words.py", kind: "deleted" },
        ...added.map((path) => ({ path, kind: "added" }) as const),
      ],
      base: new Set(["words.py", "test_words.py"]),
      rowOf: findProtectionRow,
      command: "pytest",
      used: ["pytest"],
      isScript: () => false,
    });

  expect(find(["tests/conftest.py", "tests/test_words.py"])).toEqual({
    paths: ["test_words.py"],
    without: ["tests/conftest.py", "tests/test_words.py"],
  });
  expect(find(["tests/test_words.py"])).toBeNull();
});

test("compiled files that serve tests are taken out with every new test", () =>
  expect(beside(["tests/__pycache__/helpers.pyc", "tests/test_line.py", "src/words.js"])).toEqual([
    "tests/__pycache__/helpers.pyc",
    "tests/test_line.py",
  ]));

test("a new module that a name leads to in place of one of the base", () => {
  expect(beside(["qa/lib/index.js"])).toEqual(["qa/lib/index.js"]);
  expect(beside(["src/words.ts"])).toEqual(["src/words.ts"]);
  expect(beside(["cli/__init__.py"])).toEqual(["cli/__init__.py"]);
  expect(beside(["src/words.d.ts", "src/words.css", "src/wordset.js"])).toEqual([]);
});

test("but not one that stands in the place of a file that is gone: a module became a package", () =>
  expect(
    findNonCodeFiles({
      differences: [
        { path: "cli.py", kind: "deleted" },
        { path: "cli/__init__.py", kind: "added" },
      ],
      base: new Set(base),
      rowOf: findProtectionRow,
      command: "npm test",
      used: ["npm test"],
      isScript: () => false,
    }),
  ).toBe(null));

describe("the work itself is", () => {
  test.each([
    ["code", "src/words.js"],
    ["data among code", "src/words.json"],
    ["a new module", "more.py"],
    ["a program without an ending", "count"],
    ["writing", "README.md"],
    ["a test", "test/b.test.js"],
    ["what is judged by its parts", "package.json"],
  ])("%s: %s", (_what, path) => expect(beside([path])).toEqual([]));

  test("what the command asks for", () => {
    expect(beside(["hello.sh"], "sh hello.sh", ["sh hello.sh"])).toEqual([]);
    expect(beside(["data.csv"], "test -s data.csv", ["test -s data.csv"])).toEqual([]);
    expect(beside(["out/a.txt"], "test -d out", ["test -d out"])).toEqual([]);
    expect(beside(["qa/more.json"], "ls qa", ["ls qa"])).toEqual(["qa/more.json"]); // the folder was there
    expect(
      beside(["cli.py"], "python3 cli.py 1 2 | grep -qx 3", ["python3 cli.py 1 2 | grep -qx 3"]),
    ).toEqual([]);
  });
});

test("the words name what to look at", () =>
  expect(describeNonCodeFiles({ paths: ["qa/wanted.json"], without: [".env"] })).toContain(
    "(.env, qa/wanted.json)",
  ));

test("a module that a program inside the command loads is the work, and the script that the command starts is not", () => {
  const change = (path: string, command: string) => {
    const found = findNonCodeFiles({
      differences: [{ path, kind: "changed" }],
      base: new Set(["toolz/itertoolz.py", "toolz/checks.py", "index.js", "cli.py"]),
      rowOf: findProtectionRow,
      command,
      used: [command],
      isScript: () => false,
    });
    return found === null ? [] : found.paths;
  };
  expect(
    change(
      "toolz/itertoolz.py",
      "python3 -c 'from toolz.itertoolz import last_or; assert last_or(0, [1,2])==2; assert last_or(0, [])==0'",
    ),
  ).toEqual([]);

  expect(
    change("index.js", `node -e "process.exit(require('./index.js')([]).a === 1 ? 0 : 1)"`),
  ).toEqual([]);

  expect(change("toolz/itertoolz.py", "python3 -m toolz.itertoolz")).toEqual([
    "toolz/itertoolz.py",
  ]);

  expect(change("toolz/checks.py", "python3 -c 'import toolz.checks; toolz.checks.all()'")).toEqual(
    ["toolz/checks.py"],
  );

  expect(change("cli.py", "sh -c 'python3 cli.py'")).toEqual(["cli.py"]);
});

test("a command is asked without the new tests that it names and that are taken away", () => {
  const isTest = (path: string): boolean => path.startsWith("tests/");
  expect(
    dropTestNames(
      "pytest -q tests/test_new.py tests/test_old.py",
      ["tests/test_new.py", "conf.py"],
      isTest,
    ),
  ).toBe("pytest -q tests/test_old.py");

  expect(dropTestNames("sh conf.py", ["conf.py"], isTest)).toBe("sh conf.py");
});
