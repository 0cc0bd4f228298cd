import { expect, test } from "vitest";
import { detectChecks } from "./detect.ts";
import { manifestCharsMax } from "./manifest.ts";

const tree = (contents: Record<string, string>) => ({
  files: new Set(Object.keys(contents)),
  read: (path: string) => contents[path] ?? null,
});
const commandsIn = (contents: Record<string, string>) =>
  detectChecks(tree(contents)).checks.map(({ command }) => command);
const pkg = (scripts: unknown, more: object = {}) =>
  JSON.stringify({ name: "x", scripts, ...more });

test("a package's scripts are its checks, each with an id, a command and where it was found", () => {
  const { checks, warnings } = detectChecks(
    tree({ "package.json": pkg({ test: "vitest run", lint: "oxlint", start: "node ." }) }),
  );
  expect(warnings).toEqual([]);
  expect(checks).toEqual([
    {
      id: "project:npm-lint",
      kind: "project",
      title: "npm run lint",
      command: "npm run lint",
      source: "package.json scripts.lint",
    },
    {
      id: "project:npm-test",
      kind: "project",
      title: "npm run test",
      command: "npm run test",
      source: "package.json scripts.test",
    },
  ]);
});

test("npm's placeholder, an empty script and scripts of other names are no checks", () => {
  expect(
    commandsIn({
      "package.json": pkg({
        test: 'echo "Error: no test specified" && exit 1',
        lint: " ",
        deploy: "x",
      }),
    }),
  ).toEqual([]);
});

test.each([
  ["package-lock.json", "npm run test"],
  ["pnpm-lock.yaml", "pnpm run test"],
  ["yarn.lock", "yarn run test"],
  ["bun.lock", "bun run test"],
])("%s says who runs the scripts", (lock, command) => {
  expect(commandsIn({ "package.json": pkg({ test: "x" }), [lock]: "" })).toEqual([command]);
});

test("two lock files: the declared manager decides, and with none declared it is said", () => {
  const locks = { "yarn.lock": "", "package-lock.json": "" };
  const declared = detectChecks(
    tree({ "package.json": pkg({ test: "x" }, { packageManager: "npm@11.0.0" }), ...locks }),
  );
  expect(declared).toMatchObject({ checks: [{ command: "npm run test" }], warnings: [] });
  const open = detectChecks(tree({ "package.json": pkg({ test: "x" }), ...locks }));
  expect(open).toMatchObject({
    checks: [{ command: "yarn run test" }],
    warnings: [{ file: "package.json", reason: "lock files of yarn and npm; yarn is used" }],
  });
});

test("Python: pytest by configuration or by its tests, ruff and mypy where configured", () => {
  expect(
    commandsIn({
      "pyproject.toml":
        "[tool.pytest.ini_options]\n[tool.ruff]\nline-length = 100\n[tool.mypy]\nstrict = true\n",
    }),
  ).toEqual(["ruff check .", "mypy .", "python3 -m pytest"]);

  expect(
    commandsIn({ "pyproject.toml": "[project]\nname='x'\n", "tests/unit/test_a.py": "" }),
  ).toEqual(["python3 -m pytest"]);

  expect(commandsIn({ "pyproject.toml": "[project]\nname='x'\n", "tests/data.txt": "" })).toEqual(
    [],
  );

  expect(commandsIn({ "pyproject.toml": "[tool.mypy]\nfiles = 'src'\n", "uv.lock": "" })).toEqual([
    "uv run mypy",
  ]);
});

test("Python: a check names the file that configures its tool", () => {
  const { checks } = detectChecks(
    tree({ "pyproject.toml": "[tool.ruff]\n", "mypy.ini": "[mypy]\n", "pytest.ini": "[pytest]\n" }),
  );
  expect(checks.map(({ source }) => source)).toEqual([
    "pyproject.toml tool.ruff",
    "mypy.ini",
    "pytest.ini",
  ]);
});

test("Python without pyproject.toml: each tool by its own file or section", () => {
  for (const name of ["pytest.ini", "conftest.py", "tests/conftest.py"]) {
    expect(commandsIn({ [name]: "" })).toEqual(["python3 -m pytest"]);
  }

  expect(
    commandsIn({ "setup.cfg": "[metadata]\nname = x\n[tool:pytest]\naddopts = -q\n" }),
  ).toEqual(["python3 -m pytest"]);

  expect(
    commandsIn({ "tox.ini": "[tox]\n[pytest]\n", "mypy.ini": "[mypy]\n", "ruff.toml": "" }),
  ).toEqual(["ruff check .", "mypy .", "python3 -m pytest"]);

  expect(
    commandsIn({ "setup.cfg": "[metadata]\n[mypy]\nstrict = true\n", "tox.ini": "[tox]\n" }),
  ).toEqual(["mypy ."]);
});

test("Python tests that nothing configures, wherever they lie: by what they are written for", () => {
  const pytest = "def test_a():\n    assert True\n";
  const unittest = "import unittest\n\nclass A(unittest.TestCase):\n    def test_a(self): pass\n";
  expect(
    commandsIn({ "setup.py": "", "toolz/__init__.py": "", "toolz/tests/test_core.py": pytest }),
  ).toEqual(["python3 -m pytest"]);

  expect(commandsIn({ "shop/__init__.py": "", "test_shop.py": pytest })).toEqual([
    "python3 -m pytest",
  ]);

  expect(
    commandsIn({ "setup.py": "", "tests/test_a.py": unittest, "tests/__init__.py": "" }),
  ).toEqual(["python3 -m unittest discover -s tests -t ."]);

  expect(commandsIn({ "requirements.txt": "", "test_a.py": unittest })).toEqual([
    "python3 -m unittest discover",
  ]);

  expect(
    commandsIn({ "setup.py": "", "tests/test_a.py": unittest, "tests/test_b.py": pytest }),
  ).toEqual(["python3 -m pytest"]);

  expect(
    commandsIn({ "setup.py": "", "tests/test_a.py": unittest, "tests/deep/test_b.py": unittest }),
  ).toEqual(["python3 -m pytest"]);

  expect(commandsIn({ "setup.py": "", "tests/data.py": "", "src/latest_news.py": "" })).toEqual([]);
  expect(commandsIn({ "CMakeLists.txt": "", "scripts/test_tool.py": "" })).not.toContain(
    "python3 -m pytest",
  );
});

test("Maven and Gradle by their wrapper where there is one, and the tasks of deno.json", () => {
  expect(commandsIn({ "pom.xml": "<project/>" })).toEqual(["mvn -B test"]);
  expect(commandsIn({ "pom.xml": "<project/>", mvnw: "" })).toEqual(["sh ./mvnw -B test"]);
  expect(commandsIn({ "build.gradle.kts": "", gradlew: "" })).toEqual(["sh ./gradlew test"]);
  expect(
    commandsIn({
      "deno.json":
        '{ "tasks": { "test": "deno test -A", "dev": "x", "lint": { "command": "deno lint" } } }',
    }),
  ).toEqual(["deno task lint", "deno task test"]);

  expect(
    commandsIn({ "deno.jsonc": '{\n  // what runs\n  "tasks": { "test": "deno test", },\n}' }),
  ).toEqual(["deno task test"]);
});

test("Cargo, Go and make", () => {
  expect(commandsIn({ "Cargo.toml": '[package]\nname = "x"\n' })).toEqual([
    "cargo check",
    "cargo test",
  ]);

  expect(commandsIn({ "go.mod": "module example.org/x\n" })).toEqual([
    "go vet ./...",
    "go test ./...",
  ]);

  expect(
    commandsIn({
      Makefile: ".PHONY: test lint\nall lint: x\n\techo test:\ntest: all\n\tgo\ncheck := no\n",
    }),
  ).toEqual(["make lint", "make test"]);
});

test.each([
  ["package.json", "{ not json"],
  ["package.json", "[]"],
  ["package.json", pkg(["test"])],
  ["package.json", pkg({ test: 3 })],
  ["package.json", "x".repeat(manifestCharsMax + 1)],
  ["pyproject.toml", "[tool\n"],
  ["Cargo.toml", "= ="],
  ["Cargo.toml", "[profile.dev]\n"],
  ["deno.json", "{ not json"],
  ["deno.json", '{"tasks":[]}'],
  ["go.mod", "garbage"],
  ["Makefile", "test:\0"],
])(
  "a broken %s is a warning with its name and a reason, and the other manifests still count",
  (file, text) => {
    const other =
      file === "go.mod" ? { "package.json": pkg({ test: "x" }) } : { "go.mod": "module x\n" };
    const { checks, warnings } = detectChecks(tree({ [file]: text, ...other }));
    expect(warnings).toEqual([{ file, reason: expect.stringMatching(/.{5,}/) as string }]);
    expect(checks.length).toBeGreaterThan(0);
  },
);

test("the config adds commands, and can turn looking off", () => {
  const node = tree({ "package.json": pkg({ test: "x" }) });
  expect(
    detectChecks(node, { commands: ["make smoke", "npm run test"] }).checks.map(
      ({ id, command }) => [id, command],
    ),
  ).toEqual([
    ["project:config-1", "make smoke"],
    ["project:config-2", "npm run test"],
  ]);

  expect(detectChecks(node, { commands: ["make smoke"], detect: false }).checks).toHaveLength(1);
  expect(detectChecks(node, { detect: false }).checks).toEqual([]);
});

test("a prototype's names are not scripts", () => {
  expect(commandsIn({ "package.json": '{"scripts":{"__proto__":{"test":"x"}}}' })).toEqual([]);
});
