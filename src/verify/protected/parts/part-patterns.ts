// part-patterns: the names and settings by which a part of a file is recognised as one that checks
// run or are configured by.

import { oneOf } from "../../../kit/compose-pattern.ts";

// Tasks that test by their name, even if no command of a check runs them:

/** `:unit` of `test:unit`, `-all` of `test-all`. */
const taskSuffix = "(?:[:._-].*)?";
const taskNames = `tests? unit e2e spec lint checks? type-?checks? build verify validate ci cov
  coverage fmt format`;

/** Of deno.json and project.json. */
export const testTaskName = new RegExp(`^${oneOf(taskNames)}${taskSuffix}$`);

/** Of package.json and composer.json, with their hooks: `pretest`. */
export const testScriptName = new RegExp(
  `^(?:pre|post)?${oneOf(`${taskNames} types tsc cover`)}${taskSuffix}$`,
);

const targetNames = "tests? unit e2e lint check verify typecheck ci cov coverage build all";
/** Of a makefile. */
export const testTargetName = new RegExp(`^${oneOf(targetNames)}${taskSuffix}$`);

// Sections of configuration files:

const pythonTools = String.raw`pytest coverage ruff mypy pyright basedpyright tox nox black isort
  flake8 pylint pyflakes bandit poe taskipy hatch\.envs pdm\.scripts uv\.scripts`;
/** Tables of pyproject.toml: `tool.pytest.ini_options`. */
export const pyprojectTable = new RegExp(
  String.raw`^tool\.${oneOf(pythonTools)}\b|^project\.entry-points\.pytest11$`,
);

const setupCfgSections = `tool:pytest pytest coverage(?::.*)? flake8 mypy(?:-.*)? pycodestyle
  pydocstyle isort pylint.* aliases tox(?::.*)?`;
/** Sections of setup.cfg: `tool:pytest`, `mypy-tests.*`. */
export const setupCfgSection = new RegExp(`^${oneOf(setupCfgSections)}$`);

const cargoTables = String.raw`profile\.(?:test|dev)\b lints\b
  workspace\.(?:lints|members|exclude|default-members)\b test\b bench\b
  lib\.(?:test|doctest|harness)\b package\.(?:autotests|autobenches)\b patch\b replace\b`;
/** Tables and keys of Cargo.toml: `lib.doctest`, `profile.test`. */
export const cargoTable = new RegExp(`^${oneOf(cargoTables)}`);

// Single settings:

/** Lines of a .properties file: `skipTests=true`, `maven.test.failure.ignore=true`. */
export const testProperty =
  /skip|exclude|ignore|failure|\.continue\b|(?:run|enable|disable|with|no)[\w.-]*tests?\b|tests?[.-]?enabled/i;

/** Plugins of Maven that run or measure tests. */
export const mavenTestPlugin = /surefire|failsafe|jacoco|checkstyle|pmd|spotbugs|enforcer|pitest/;

const mavenElements = String.raw`skipTests skipITs testSourceDirectory testOutputDirectory
  maven\.test\.[\w.]{1,80} testFailureIgnore jacoco\.[\w.]{1,80} checkstyle\.[\w.]{1,80}`;
/** `<skipTests>true<`. */
export const mavenTestElement = new RegExp(`<${oneOf(mavenElements)}>[^<]{0,200}<`, "g");

// Blocks of Gradle and Vite:

const gradleBlockNames = String.raw`tests? integrationTest check jacoco\w{0,40} checkstyle\w{0,40}
  pmd\w{0,40} spotbugs\w{0,40} detekt\w{0,40} testLogging`;
const gradleBlockForms = [
  // `test {`, `tasks.integrationTest {`
  String.raw`(?:^|[\s.])${oneOf(gradleBlockNames)}\b[^\n{]{0,200}\{`,
  // `tasks.withType(Test) {`
  String.raw`withType[<(]\s{0,9}Test\b[^\n{]{0,200}\{`,
  // `named("check") {`
  String.raw`\(\s{0,9}["'](?:test|check|integrationTest)["'][^\n{]{0,200}\{`,
];
/** Where a block about tests opens. */
export const gradleTestBlock = new RegExp(gradleBlockForms.join("|"), "g");

/** `ignoreFailures = true`, `enabled = false`, `exclude("SlowTest")`. */
export const gradleTestLine =
  /ignoreFailures|useJUnitPlatform|startParameter|excludedTask|onlyIf|\benabled\s{0,9}=|test\.enabled|\bexclude.{0,80}[Tt]est/;

/** Where a block of settings.gradle opens that reaches into every project: `subprojects {`. */
export const gradleProjectsBlock =
  /\b(?:allprojects|subprojects|taskGraph|beforeProject|afterProject|projectsLoaded)\b[^\n{]{0,200}\{/g;

/** `startParameter.excludedTaskNames`, in settings.gradle. */
export const gradleStartLine = /startParameter|excludedTask/;

/** `test: {` of a Vite configuration. */
export const viteTestBlock = /\btest\s{0,9}:\s{0,9}\{/g;
/** `import { defineConfig } from "vitest/config"`. */
export const vitestLine = /\bvitest\b/;
