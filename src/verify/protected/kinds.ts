// kinds: the table of files that judge and so are protected, by the conventions of their languages.
// The first row that matches decides.

import type { ProtectedChange } from "../../contracts/evidence.ts";

export type ProtectedKind = ProtectedChange["kind"];
export type Language = "js" | "py" | "go" | "rust" | "java";
/** A file that judges only in part: how its deciding part is separated from the rest. */
export type Part =
  | "package"
  | "composer"
  | "pyproject"
  | "cargo"
  | "setup_cfg"
  | "pom"
  | "gradle"
  | "make"
  | "included"
  | "settings_gradle"
  | "properties"
  | "go_mod"
  | "go_work"
  | "cmake"
  | "deno"
  | "nx_project"
  | "pnpm_workspace"
  | "vite"
  | "lock"
  | "rust_source";

export type ProtectionRow = {
  readonly kind: ProtectedKind;
  readonly path: RegExp;
  readonly part?: Part;
  /**
   * A new file of this kind counts if it would override existing ones: tests of this family, any
   * tests, files of these names, what its tool reads, a file of the same kind beside it, or because
   * a file of the base names it.
   */
  readonly rules?: Language | RegExp | "any" | "tool" | "beside" | "named";
  /** Why a new file of this kind counts, if there is more to say than that it overrides. */
  readonly because?: string;
  /**
   * What deciding commands would contain if they used it; then a new file of this kind counts too.
   */
  readonly tool?: RegExp;
  /**
   * New tests often bring one of these: it may be added, if the others pass without it and without
   * them.
   */
  readonly comesWithTests?: true;
  /** Whether a new file of this kind overrides nothing anyway. */
  readonly isHarmless?: (text: string) => boolean;
  /** For an ambiguous name: what the base's file must contain to be a protected file. */
  readonly content?: RegExp;
  /**
   * For a file that affects another folder than its own: `.cargo/config.toml` affects the parent of
   * `.cargo`.
   */
  readonly ownFolder?: RegExp;
};

const languages: readonly (readonly [RegExp, Language])[] = [
  [/\.(?:[cm]?[jt]sx?|vue|svelte)$/, "js"],
  [/\.pyi?$/, "py"],
  [/\.go$/, "go"],
  [/\.rs$/, "rust"],
  [/\.(?:java|kts?|scala|groovy)$/, "java"],
];
/** Whether a file is a program, by its name: not data beside it. */
export function isProgramText(path: string): boolean {
  const dot = path.lastIndexOf(".");
  if (dot === -1) return false;
  const ending = path.slice(dot + 1);
  const cached = programEndings.get(ending);
  if (cached !== undefined) return cached;
  const isProgram =
    detectLanguage(path) !== null ||
    /\.(?:sh|bash|bats|rb|php|pl|pm|t|ps1|exs?|cs|c|cc|cpp|h|hpp|swift)$/.test(path);
  if (ending.length < endingCharsMax) programEndings.set(ending, isProgram);

  return isProgram;
}
/** Programs are recognised by extension alone, of which even a large tree has few. */
const programEndings = new Map<string, boolean>();
const endingCharsMax = 12;
export const detectLanguage = (path: string): Language | null =>
  languages.find(([ending]) => ending.test(path))?.[1] ?? null;

const fileNamed = (names: string): RegExp => new RegExp(`(?:^|/)(?:${names})$`);
const configSuffix = "(?:config|conf|setup|workspace)(?:\\.[\\w-]+)*\\.\\w+";
const packageManagers = /\b(?:npm|npx|pnpm|pnpx|yarn|bun|bunx)\b/;
/** What a test file contains, if its name might mean something else. */
const testContent =
  /(?:^|[^.\w$])(?:it|test|describe|suite|assert|expect)(?:\.\w+)*\s*\(|["'](?:node:)?(?:test|assert)(?:\/\w+)?["']/m;
const rows: readonly ProtectionRow[] = [
  // The contents of installed packages are never the work; a copy in the tree would replace the
  // real one.
  {
    kind: "test_config",
    path: /(?:^|\/)(?:node_modules|site-packages|\.venv|venv)\//,
    rules: "any",
    ownFolder: /(?:node_modules|site-packages|\.venv|venv)\/.*$/,
  },
  {
    kind: "test_config",
    path: /(?:^|\/)vendor\/.*(?:testify|gomock|ginkgo|gomega|phpunit|junit)/,
    rules: "any",
    ownFolder: /vendor\/.*$/,
  },
  {
    kind: "test_config",
    path: fileNamed(
      "(?:pytest|_pytest|pluggy|iniconfig|unittest|doctest|nose2?|sitecustomize|usercustomize)(?:\\.py|/.*)",
    ),
    rules: "py",
  },
  // Python loads plugins named here, wherever it is started.
  {
    kind: "test_config",
    path: /(?:^|\/)[^/]+\.(?:egg|dist)-info\/entry_points\.txt$/,
    rules: "py",
    ownFolder: /[^/]+\.(?:egg|dist)-info\/.*$/,
    isHarmless: (text) => !/\bpytest11\b/.test(text),
  },
  { kind: "test_config", path: fileNamed("\\.proverc"), rules: "tool", tool: /\bprove\b/ },
  // At the root it shadows the module of that name that tests and their runner mean.
  {
    kind: "test_config",
    path: /^(?:json|re|os|math|random|subprocess|pathlib|tempfile|decimal|fractions|datetime|difflib|collections|itertools|functools|contextlib|io|copy|hashlib|shutil|inspect|dataclasses|warnings|traceback|importlib|threading)(?:\.py|\/__init__\.py)$/,
    rules: "py",
  },
  // A package manager in the tree is the one that is run.
  {
    kind: "scripts",
    path: /(?:^|\/)\.yarn\/(?:releases|plugins|sdks|patches)\/|(?:^|\/)\.pnp\.[cm]?js$/,
    rules: "js",
    ownFolder: /\.(?:yarn|pnp).*$/,
  },
  // Jest replaces packages by what is here, automatically.
  {
    kind: "test_config",
    path: /^__mocks__\//,
    ownFolder: /__mocks__\/.*$/,
    rules: "tool",
    tool: /\bjest\b|\breact-scripts test\b/,
  },

  {
    kind: "snapshot",
    path: /(?:^|\/)__(?:snapshots|image_snapshots)__\/|\.(?:snap|snapshot|golden|approved\.\w+)$/,
  },
  { kind: "test_config", path: fileNamed("conftest\\.py"), rules: "py", comesWithTests: true },
  { kind: "test_config", path: fileNamed("\\.?pytest\\.(?:ini|toml)"), rules: "py" },
  // Loaded before any test beside it.
  {
    kind: "test_config",
    path: /(?:^|\/)tests?\/(?:.*\/)?__init__\.py$/,
    rules: "py",
    isHarmless: (text) => /^(?:\s|#[^\n]*|"""[^"]*""")*$/.test(text),
  },
  {
    kind: "test_config",
    path: fileNamed("(?:setup-?[Tt]ests?|test-?[Ss]etup|tests?-?[Hh]elpers?)\\.[cm]?[jt]sx?"),
  },
  {
    kind: "test_config",
    path: fileNamed(
      `(?:vitest|jest|karma|ava|playwright|cypress|wdio|web-test-runner|nightwatch|jasmine)[.-]?${configSuffix}`,
    ),
    rules: "js",
  },
  {
    kind: "test_config",
    path: fileNamed(
      "\\.mocharc(?:\\.\\w+)?|mocha\\.opts|\\.taprc|jasmine\\.json|\\.babelrc(?:\\.\\w+)?|babel\\.config\\.\\w+|\\.swcrc",
    ),
    rules: "js",
  },
  { kind: "test_config", path: fileNamed(`vite\\.${configSuffix}`), part: "vite", rules: "js" },
  {
    kind: "test_config",
    path: fileNamed("\\.cargo/config(?:\\.toml)?|\\.config/nextest\\.toml"),
    rules: "rust",
    ownFolder: /\.(?:cargo|config)\/[^/]*$/,
  },
  {
    kind: "test_config",
    path: fileNamed("testng\\.xml|junit-platform\\.properties"),
    rules: "java",
    ownFolder: /(?:src\/test\/resources\/)?[^/]*$/,
  },
  {
    kind: "test_config",
    path: /META-INF\/services\/org\.(?:junit|testng)\b/,
    rules: "java",
    ownFolder: /(?:src\/test\/resources\/)?META-INF\/.*$/,
  },
  {
    kind: "test_config",
    path: fileNamed("settings\\.gradle(?:\\.kts)?"),
    part: "settings_gradle",
    rules: "java",
  },
  { kind: "test_config", path: fileNamed("go\\.mod"), part: "go_mod" },
  { kind: "test_config", path: fileNamed("go\\.work"), part: "go_work", rules: "go" },
  { kind: "test_config", path: fileNamed("phpunit\\.xml(?:\\.dist)?"), rules: /\wTest\.php$/ },
  { kind: "test_config", path: fileNamed("\\.rspec(?:-local)?|\\.simplecov"), rules: /_spec\.rb$/ },
  { kind: "test_config", path: /\.gradle(?:\.kts)?$/, part: "gradle", rules: "java" },
  {
    kind: "test_config",
    path: fileNamed("gradle\\.properties"),
    part: "properties",
    rules: "java",
  },
  {
    kind: "test_config",
    path: fileNamed("CTest(?:Custom|Config|Testfile)\\.cmake"),
    rules: "tool",
    tool: /\bctest\b/,
  },
  { kind: "test_config", path: fileNamed("CMakeLists\\.txt"), part: "cmake" },
  { kind: "test_config", path: fileNamed("setup\\.cfg"), part: "setup_cfg", rules: "py" },
  { kind: "test_config", path: fileNamed("pyproject\\.toml"), part: "pyproject", rules: "py" },
  { kind: "test_config", path: fileNamed("Cargo\\.toml"), part: "cargo" },
  { kind: "test_config", path: fileNamed("pom\\.xml"), part: "pom" },

  {
    kind: "coverage",
    path: fileNamed(
      "\\.nycrc(?:\\.\\w+)?|nyc\\.config\\.\\w+|\\.c8rc(?:\\.\\w+)?|\\.istanbul\\.ya?ml",
    ),
    rules: "js",
  },
  { kind: "coverage", path: fileNamed("\\.coveragerc"), rules: "py" },
  {
    kind: "coverage",
    path: fileNamed("\\.?codecov\\.ya?ml|\\.?tarpaulin\\.toml|jacoco[\\w-]*\\.(?:xml|gradle)"),
  },

  {
    kind: "lint",
    path: fileNamed("\\.eslintrc(?:\\.\\w+)?|eslint\\.config\\.\\w+|\\.eslintignore"),
    rules: "tool",
    tool: /eslint/,
  },
  {
    kind: "lint",
    path: fileNamed("biome\\.jsonc?|\\.oxlintrc\\.jsonc?|oxlint\\.config\\.\\w+"),
    rules: "tool",
    tool: /biome|oxlint/,
  },
  {
    kind: "lint",
    path: fileNamed(
      "\\.prettierrc(?:\\.\\w+)?|prettier\\.config\\.\\w+|\\.prettierignore|\\.stylelintrc(?:\\.\\w+)?|stylelint\\.config\\.\\w+|\\.stylelintignore",
    ),
    rules: "tool",
    tool: /prettier|stylelint/,
  },
  {
    kind: "lint",
    path: fileNamed(
      "\\.?ruff\\.toml|\\.flake8|\\.?pylintrc|\\.?mypy\\.ini|pyrightconfig\\.json|\\.bandit|\\.pre-commit-config\\.yaml",
    ),
    rules: "tool",
    tool: /ruff|flake8|pylint|mypy|pyright|bandit|pre-commit/,
  },
  {
    kind: "lint",
    path: fileNamed(
      "\\.golangci\\.(?:ya?ml|toml|json)|\\.?clippy\\.toml|\\.?rustfmt\\.toml|deny\\.toml",
    ),
    rules: "tool",
    tool: /golangci|clippy|cargo (?:fmt|deny)/,
  },
  {
    kind: "lint",
    path: fileNamed(
      "\\.rubocop(?:_todo)?\\.yml|phpstan\\.neon(?:\\.dist)?|psalm\\.xml|phpcs\\.xml(?:\\.dist)?|\\.php-cs-fixer(?:\\.dist)?\\.php|\\.clang-(?:tidy|format)|\\.shellcheckrc|\\.yamllint(?:\\.ya?ml)?|\\.?cspell\\.(?:jsonc?|ya?ml)|\\.markdownlint(?:-cli2)?\\.(?:jsonc?|ya?ml)|\\.semgrep\\.ya?ml|knip\\.\\w+|\\.dependency-cruiser\\.\\w+",
    ),
    rules: "tool",
    tool: /rubocop|phpstan|psalm|phpcs|php-cs-fixer|clang-(?:tidy|format)|shellcheck|yamllint|cspell|markdownlint|semgrep|knip|depcruise/,
  },
  {
    kind: "lint",
    path: /(?:^|\/)(?:checkstyle|pmd|spotbugs|detekt)[\w-]*\.(?:xml|ya?ml)$|(?:^|\/)config\/(?:checkstyle|pmd|spotbugs|detekt)\//,
  },
  {
    kind: "compiler",
    path: fileNamed("(?:ts|js)config(?:[\\w.-]*)?\\.json"),
    rules: "tool",
    tool: /\btsc\b|\bvue-tsc\b|type-?check|\btsx\b|\bts-node\b|ts-jest/,
  },
  { kind: "compiler", path: fileNamed("rust-toolchain(?:\\.toml)?"), rules: "rust" },

  {
    kind: "ci",
    path: /(?:^|\/)\.(?:github\/(?:workflows|actions)|circleci|buildkite|woodpecker|forgejo\/workflows|gitea\/workflows)\//,
  },
  {
    kind: "ci",
    path: fileNamed(
      "\\.gitlab-ci\\.yml|Jenkinsfile|azure-pipelines\\.ya?ml|\\.travis\\.yml|bitbucket-pipelines\\.yml|\\.drone\\.yml|\\.?appveyor\\.yml",
    ),
  },

  { kind: "scripts", path: fileNamed("package\\.json"), part: "package" },
  { kind: "scripts", path: fileNamed("composer\\.json"), part: "composer" },
  { kind: "scripts", path: fileNamed("(?:GNUm|M|m)akefile"), part: "make", rules: "beside" },
  { kind: "scripts", path: fileNamed("tox\\.ini|noxfile\\.py"), rules: "py" },
  { kind: "scripts", path: /\.mk$/, part: "included" },
  {
    kind: "scripts",
    path: fileNamed("[Jj]ustfile|\\.justfile|[Tt]askfile\\.ya?ml|Rakefile|gradlew|mvnw"),
  },
  {
    kind: "scripts",
    path: fileNamed("turbo\\.jsonc?|nx\\.json|lerna\\.json"),
    rules: "tool",
    tool: /\b(?:turbo|nx|lerna)\b/,
  },
  {
    kind: "scripts",
    path: fileNamed("project\\.json"),
    part: "nx_project",
    rules: "tool",
    tool: /\bnx\b/,
  },
  {
    kind: "scripts",
    path: fileNamed("deno\\.jsonc?"),
    part: "deno",
    rules: "tool",
    tool: /\bdeno\b/,
  },
  { kind: "scripts", path: fileNamed("pnpm-workspace\\.yaml"), part: "pnpm_workspace" },
  {
    kind: "scripts",
    path: /^(?:tasks|dodo)\.py$/,
    content: /^(?:from|import) invoke\b|^def task_/m,
  },
  { kind: "scripts", path: fileNamed("build\\.xml"), content: /<target\b/ },
  {
    kind: "scripts",
    path: /(?:^|\/)\.mvn\//,
    rules: "java",
    ownFolder: /\.mvn\/.*$/,
    tool: /\bmvnw?\b/,
  },
  { kind: "scripts", path: /(?:^|\/)gradle\/wrapper\// },
  // These set the shell, the source and the hooks of a package manager.
  {
    kind: "scripts",
    path: fileNamed("\\.npmrc"),
    rules: "js",
    tool: packageManagers,
    isHarmless: (text) =>
      !/shell|node-options|prefix|scripts|hook|workspace|ifpresent|config/i.test(text),
  },
  {
    kind: "scripts",
    path: fileNamed(
      "\\.yarnrc(?:\\.yml)?|\\.pnpmfile\\.c?js|bunfig\\.toml|\\.env\\.test(?:\\.local)?",
    ),
    rules: "js",
    tool: packageManagers,
  },
  {
    kind: "scripts",
    path: fileNamed(
      "package-lock\\.json|npm-shrinkwrap\\.json|pnpm-lock\\.yaml|yarn\\.lock|bun\\.lockb?|deno\\.lock|uv\\.lock|poetry\\.lock|pdm\\.lock|Pipfile\\.lock|requirements\\.txt|Cargo\\.lock|go\\.sum|Gemfile\\.lock|composer\\.lock",
    ),
    part: "lock",
  },

  // Last, since configuration may be in a test folder: the tests, and everything beside them except
  // prose. A new one in Go may take over the tests beside it.
  {
    kind: "test",
    path: /_test\.go$/,
    rules: "beside",
    isHarmless: (text) => !/^func\s+(?:TestMain\s*\(|init\s*\(\s*\))/m.test(text),
  },
  {
    kind: "test",
    path: /\.(?:test|spec|cy|e2e)\.[^/]+$|(?:^|\/)test_[^/]*\.(?:py|sh)$|_test\.(?:py|rs)$|_spec\.\w+$/,
  },
  {
    kind: "test",
    path: /(?:^|\/)tests?\.(?:[cm]?[jt]sx?|py|sh)$|_test\.(?:[cm]?[jt]sx?|sh)$|\.bats$|\.t$|(?:^|\/)x?t\/.*\.p[lm]$/,
  },
  {
    kind: "test",
    path: /(?:^|\/)test-[^/]*\.[cm]?[jt]sx?$|-test\.[cm]?[jt]sx?$|Spec\.[cm]?[jt]sx?$/,
    content: testContent,
  },
  {
    kind: "test",
    path: /(?:^|\/)(?:Test[A-Z]\w*|\w*(?:Tests?|TestCase|IT|Spec))\.(?:java|kt|scala|groovy)$/,
  },
  {
    kind: "test",
    path: /(?:^|\/)spec\/(?:.*\/)?[^/]+\.rb$|(?:^|\/)spec\/(?:fixtures|support|factories)\/|\wTest\.php$/,
  },
  {
    kind: "test",
    path: /(?:^|\/)(?:tests?|__tests__|__mocks__|__fixtures__|e2e|cypress|testdata|(?:unit|integration|functional|acceptance|system|smoke|contract|regression)[-_]?tests?|test[-_]?(?:utils?|helpers?|support|fixtures?|data|suite)|src\/(?:test|it|integrationTest|functionalTest|testFixtures))\/(?!.*\.(?:md|rst|adoc)$)/,
  },
  { kind: "test", path: /\.rs$/, part: "rust_source" },
];

/**
 * All rows in one expression: most files of a large tree match none, and one test in place of
 * seventy finds that out.
 */
const anyRow = new RegExp(rows.map((row) => `(?:${row.path.source})`).join("|"));

/** The same paths are looked up again and again, so results are cached. */
const rowCache = new Map<string, ProtectionRow | null>();
const rowCacheMax = 20_000;

export function findProtectionRow(path: string): ProtectionRow | null {
  const cached = rowCache.get(path);
  if (cached !== undefined) return cached;
  const row = anyRow.test(path) ? (rows.find((row) => row.path.test(path)) ?? null) : null;
  if (rowCache.size >= rowCacheMax) rowCache.clear();
  rowCache.set(path, row);

  return row;
}

/** Whether a path is a test's, by the table alone. */
export const isTestPath = (path: string): boolean =>
  mayBeTest(path) && findProtectionRow(path)?.kind === "test";

/**
 * A quick test for all files of a tree: each row of tests above requires one of these words, and
 * most paths have none. A no is certain.
 */
export const mayBeTest = (path: string): boolean => testPathPattern.test(path);
const testPathPattern =
  /test|spec|e2e|mocks|fixtures|cypress|\.(?:cy\.|bats$|rs$|t$)|\bx?t\/|IT\.(?:java|kt|scala|groovy)$|src\/it\//i;
