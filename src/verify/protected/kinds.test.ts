import { expect, test } from "vitest";
import { findNamingPattern } from "./explicit-scope.ts";
import { isProgramText, isTestPath, findProtectionRow } from "./kinds.ts";
import { createRowFinder } from "./protect.ts";
import { findPrograms } from "./programs.ts";

test.each([
  [
    "test",
    "src/a.test.ts src/a.spec.jsx test/a.mjs packages/x/__tests__/a.js e2e/login.ts tests/fixtures/in.json tests/test_a.py pkg/a_test.py",
  ],
  [
    "test",
    "cmd/a_test.go cmd/testdata/in.txt tests/it.rs src/test/java/x/AppTest.java app/src/test/resources/x.json core/FooIT.java FooTests.kt",
  ],
  [
    "test_config",
    "vitest.config.ts vitest.workspace.js jest.config.cjs jest.setup.ts .mocharc.json karma.conf.js conftest.py tests/conftest.py pytest.ini",
  ],
  [
    "test_config",
    ".cargo/config.toml .config/nextest.toml build.gradle.kts pom.xml setup.cfg pyproject.toml Cargo.toml node_modules/vitest/index.js pytest.py",
  ],
  ["snapshot", "src/__snapshots__/a.test.ts.snap ui.snap internal/testdata/out.golden"],
  ["coverage", ".nycrc .c8rc.json .coveragerc codecov.yml .tarpaulin.toml"],
  [
    "lint",
    ".eslintrc.cjs eslint.config.mjs .eslintignore biome.json ruff.toml .flake8 mypy.ini .golangci.yml clippy.toml checkstyle.xml",
  ],
  [
    "compiler",
    "tsconfig.json tsconfig.build.json packages/a/tsconfig.json jsconfig.json rust-toolchain.toml",
  ],
  [
    "ci",
    ".github/workflows/ci.yml .github/actions/x/action.yml .gitlab-ci.yml Jenkinsfile .circleci/config.yml",
  ],
  [
    "scripts",
    "package.json Makefile GNUmakefile tox.ini noxfile.py justfile composer.json .npmrc gradlew package-lock.json Cargo.lock",
  ],
])("by convention a %s: %s", (kind, paths) => {
  for (const path of paths.split(" ")) {
    expect([path, findProtectionRow(path)?.kind]).toEqual([path, kind]);
  }
});

test("code, writing and data beside it judge nothing", () => {
  for (const path of [
    "src/a.ts",
    "README.md",
    "test/README.md",
    "src/verify.ts",
    "lib/check.py",
    "docs/testing.md",
    "src/latest/a.go",
    "contest.py",
    "spec/plan.md",
  ]) {
    expect([path, findProtectionRow(path)]).toEqual([path, null]);
  }
});

test("the config protects further files and leaves others open, and leaving open wins", () => {
  const row = createRowFinder(["golden/", "schema/*.sql", "!legacy/**"]);
  expect(row("golden/a/b.txt")?.kind).toBe("test");
  expect(row("schema/x.sql")?.kind).toBe("test");
  expect(row("legacy/a.test.ts")).toBeNull();
  expect(row("src/a.test.ts")?.kind).toBe("test");
  expect(createRowFinder(["package.json"])("package.json")).toMatchObject({ kind: "scripts" });
  expect(createRowFinder(["package.json"])("package.json")?.part).toBeUndefined();
});

test.each([
  ["test/a.test.ts", ["test/**"]],
  ["test/a.test.ts", ["src/**", "./test/"]],
  ["src/a.test.ts", ["**/*.test.ts"]],
  ["src/a.test.ts", ["src/a.test.ts"]],
  ["test/a.test.ts", ["{src,test}/**"]],
  ["tsconfig.json", ["tsconfig*.json"]],
  [".github/workflows/ci.yml", [".github/workflows/**"]],
  ["packages/a/package.json", ["packages/*/package.json"]],
  ["package.json", ["package.json"]],
  ["vitest.config.ts", ["vitest.config.*"]],
  ["tests/test_a.py", ["**/test_*.py"]],
])("%s is named by the scope %j", (path, scope) =>
  expect(findNamingPattern(scope, path, findProtectionRow)).not.toBeNull(),
);

test.each([
  ["test/a.test.ts", ["**"]],
  ["test/a.test.ts", ["**/*"]],
  ["src/a.test.ts", ["src/**"]],
  ["src/a.test.ts", ["**/*.ts"]],
  ["test/a.test.ts", ["{src,test}/**/*.json"]],
  ["test/a.test.ts", ["!test/**", "**"]],
  ["package.json", ["*.json"]],
  [".github/workflows/ci.yml", [".github/**"]],
  ["tsconfig.json", ["*"]],
  ["src/lib.rs", ["src/lib.rs"]],
])("%s is not named by the scope %j", (path, scope) =>
  expect(findNamingPattern(scope, path, findProtectionRow)).toBeNull(),
);

test("a script that a check starts judges if it was made for that", () => {
  expect([
    ...findPrograms([
      "sh scripts/check.sh",
      "FOO=1 ./run-tests --all && node e2e/smoke.mjs",
      "node src/validate.js | grep ok",
      "test -f src/b.txt",
    ]),
  ]).toEqual(["scripts/check.sh", "run-tests", "e2e/smoke.mjs"]);
});

test("what one look takes for no test is none by the rows either", () => {
  const folders =
    ` src/ test/ tests/ __tests__/ __mocks__/ __fixtures__/ e2e/ cypress/ testdata/ unit-tests/ smoke_test/ test-utils/ spec/
    spec/support/ src/it/ src/integrationTest/ app/src/testFixtures/ docs/ attest/ latest/`.split(
      /\s+/,
    );

  const files =
    `a.ts a.test.ts a.cy.ts a.e2e.js x_spec.rb FooIT.java FooTests.kt TestFoo.java BarTestCase.scala ASpec.ts ASpec.groovy test.py
    tests.mjs test_a.sh test-b.js c-test.mjs a_test.go a_test.rs lib.rs a.bats FooTest.php README.md in.json contest.ts`.split(
      /\s+/,
    );

  for (const folder of folders) {
    for (const file of files) {
      expect([folder + file, isTestPath(folder + file)]).toEqual([
        folder + file,
        findProtectionRow(folder + file)?.kind === "test",
      ]);
    }
  }
});

test("a program is told by its ending, whatever was asked before", () => {
  for (let round = 0; round < 2; round += 1) {
    expect(
      ["a.ts", "b/a.txt", "a.ts/b", "sh", "x.sh", ".ts", "a.tar.gz", "noext"].map(isProgramText),
    ).toEqual([true, false, false, false, true, true, false, false]);
  }
});

test("a new Go test file decides nothing by an init that only fills its own variables", () => {
  const isHarmless = (init: string, own = 'var examples = []string{"1B"}\n'): boolean | undefined =>
    findProtectionRow("a_test.go")?.isHarmless?.(
      `package a\n\nfunc init() {\n${init}}\n\n${own}\nfunc TestA(t *testing.T) {\n}\n`,
    );

  expect(isHarmless('\texamples = append(examples, "7MB", "8MB")\n')).toBe(true);
  expect(
    isHarmless('\tsizes["7MB"] = 7\n\tlast = 3\n', "var (\n\tlast = 1\n\tsizes = m()\n)\n"),
  ).toBe(true);
  expect(isHarmless('\texamples = append(examples, "7MB")\n', "")).toBe(false);
  expect(isHarmless("\texamples = read()\n")).toBe(false);
  expect(isHarmless('\texamples = append(examples, "7MB")\n\tos.Exit(0)\n')).toBe(false);
  expect(isHarmless('\tflag.Set("test.run", "None")\n')).toBe(false);
});
