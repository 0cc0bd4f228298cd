// kinds: which files judge, by the conventions of their languages. A table; the first row that fits a path decides.

import type { ProtectedChange } from "../../contracts/evidence.ts";

export type ProtectedKind = ProtectedChange["kind"];
export type Family = "js" | "py" | "go" | "rust" | "java";
/** A file that judges only in part: how its deciding part is distinguished from the rest. */
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

export type Row = {
  readonly kind: ProtectedKind;
  readonly fits: RegExp;
  readonly part?: Part;
  /**
   * A new file of this sort counts where it would rule over what was there: tests of this family, any tests, files of these names, what
   * its tool reads, a file of the same sort beside it, or because a file of the base names it.
   */
  readonly rules?: Family | RegExp | "any" | "tool" | "beside" | "named";
  /** Why a new file of this sort counts, if there is more to say than that it rules. */
  readonly because?: string;
  /** What the commands that decide would say if they used it; then a new file of this sort counts too. */
  readonly tool?: RegExp;
  /** New tests often bring one of these: it may be added, if the others pass without it and without them. */
  readonly serves?: true;
  /** Whether a new file of this sort rules over nothing anyway. */
  readonly idle?: (text: string) => boolean;
  /** For a name that may mean something else: what the base's file must say to be a protected file. */
  readonly says?: RegExp;
  /** For a file whose folder is not the one it rules over: `.cargo/config.toml` rules from above `.cargo`. */
  readonly from?: RegExp;
};

const families: readonly (readonly [RegExp, Family])[] = [
  [/\.(?:[cm]?[jt]sx?|vue|svelte)$/, "js"],
  [/\.pyi?$/, "py"],
  [/\.go$/, "go"],
  [/\.rs$/, "rust"],
  [/\.(?:java|kts?|scala|groovy)$/, "java"],
];
/** Whether a file is a program, by its name: not data that is beside it. */
export function isProgramText(path: string): boolean {
  const dot = path.lastIndexOf(".");
  if (dot === -1) return false;
  const ending = path.slice(dot + 1);
  const known = programEndings.get(ending);
  if (known !== undefined) return known;
  const isProgram = familyOf(path) !== null || /\.(?:sh|bash|bats|rb|php|pl|ps1|exs?|cs|c|cc|cpp|h|hpp|swift)$/.test(path);
  if (ending.length < endingCharsMax) programEndings.set(ending, isProgram);
  return isProgram;
}
/** A program is told by its ending alone, of which even a large tree has few. */
const programEndings = new Map<string, boolean>();
const endingCharsMax = 12;

export const familyOf = (path: string): Family | null => families.find(([ending]) => ending.test(path))?.[1] ?? null;

const file = (names: string): RegExp => new RegExp(`(?:^|/)(?:${names})$`);
const config = "(?:config|conf|setup|workspace)(?:\\.[\\w-]+)*\\.\\w+";
const packageManagers = /\b(?:npm|npx|pnpm|pnpx|yarn|bun|bunx)\b/;
/** What a file of tests says, where its name might mean something else. */
const saysTests = /(?:^|[^.\w$])(?:it|test|describe|suite|assert|expect)(?:\.\w+)*\s*\(|["'](?:node:)?(?:test|assert)(?:\/\w+)?["']/m;
const rows: readonly Row[] = [
  // What installed packages hold is never the work; a copy in the tree would stand in for the real one.
  {
    kind: "test_config",
    fits: /(?:^|\/)(?:node_modules|site-packages|\.venv|venv)\//,
    rules: "any",
    from: /(?:node_modules|site-packages|\.venv|venv)\/.*$/,
  },
  { kind: "test_config", fits: /(?:^|\/)vendor\/.*(?:testify|gomock|ginkgo|gomega|phpunit|junit)/, rules: "any", from: /vendor\/.*$/ },
  {
    kind: "test_config",
    fits: file("(?:pytest|_pytest|pluggy|iniconfig|unittest|doctest|nose2?|sitecustomize|usercustomize)(?:\\.py|/.*)"),
    rules: "py",
  },
  // Python finds plugins by what is written here, wherever it is started.
  {
    kind: "test_config",
    fits: /(?:^|\/)[^/]+\.(?:egg|dist)-info\/entry_points\.txt$/,
    rules: "py",
    from: /[^/]+\.(?:egg|dist)-info\/.*$/,
    idle: (text) => !/\bpytest11\b/.test(text),
  },
  // At the top it is before the module of that name that tests and their runner mean.
  {
    kind: "test_config",
    fits: /^(?:json|re|os|math|random|subprocess|pathlib|tempfile|decimal|fractions|datetime|difflib|collections|itertools|functools|contextlib|io|copy|hashlib|shutil|inspect|dataclasses|warnings|traceback|importlib|threading)(?:\.py|\/__init__\.py)$/,
    rules: "py",
  },
  // A package manager that is in the tree is the one that is run.
  {
    kind: "scripts",
    fits: /(?:^|\/)\.yarn\/(?:releases|plugins|sdks|patches)\/|(?:^|\/)\.pnp\.[cm]?js$/,
    rules: "js",
    from: /\.(?:yarn|pnp).*$/,
  },
  // Jest puts what is here in the place of packages, unasked.
  { kind: "test_config", fits: /^__mocks__\//, from: /__mocks__\/.*$/, rules: "tool", tool: /\bjest\b|\breact-scripts test\b/ },

  { kind: "snapshot", fits: /(?:^|\/)__(?:snapshots|image_snapshots)__\/|\.(?:snap|snapshot|golden|approved\.\w+)$/ },
  { kind: "test_config", fits: file("conftest\\.py"), rules: "py", serves: true },
  { kind: "test_config", fits: file("\\.?pytest\\.(?:ini|toml)"), rules: "py" },
  // Read before any test beside it is.
  {
    kind: "test_config",
    fits: /(?:^|\/)tests?\/(?:.*\/)?__init__\.py$/,
    rules: "py",
    idle: (text) => /^(?:\s|#[^\n]*|"""[^"]*""")*$/.test(text),
  },
  { kind: "test_config", fits: file("(?:setup-?[Tt]ests?|test-?[Ss]etup|tests?-?[Hh]elpers?)\\.[cm]?[jt]sx?") },
  {
    kind: "test_config",
    fits: file(`(?:vitest|jest|karma|ava|playwright|cypress|wdio|web-test-runner|nightwatch|jasmine)[.-]?${config}`),
    rules: "js",
  },
  {
    kind: "test_config",
    fits: file("\\.mocharc(?:\\.\\w+)?|mocha\\.opts|\\.taprc|jasmine\\.json|\\.babelrc(?:\\.\\w+)?|babel\\.config\\.\\w+|\\.swcrc"),
    rules: "js",
  },
  { kind: "test_config", fits: file(`vite\\.${config}`), part: "vite", rules: "js" },
  {
    kind: "test_config",
    fits: file("\\.cargo/config(?:\\.toml)?|\\.config/nextest\\.toml"),
    rules: "rust",
    from: /\.(?:cargo|config)\/[^/]*$/,
  },
  { kind: "test_config", fits: file("testng\\.xml|junit-platform\\.properties"), rules: "java", from: /(?:src\/test\/resources\/)?[^/]*$/ },
  {
    kind: "test_config",
    fits: /META-INF\/services\/org\.(?:junit|testng)\b/,
    rules: "java",
    from: /(?:src\/test\/resources\/)?META-INF\/.*$/,
  },
  { kind: "test_config", fits: file("settings\\.gradle(?:\\.kts)?"), part: "settings_gradle", rules: "java" },
  { kind: "test_config", fits: file("go\\.mod"), part: "go_mod" },
  { kind: "test_config", fits: file("go\\.work"), part: "go_work", rules: "go" },
  { kind: "test_config", fits: file("phpunit\\.xml(?:\\.dist)?"), rules: /\wTest\.php$/ },
  { kind: "test_config", fits: file("\\.rspec(?:-local)?|\\.simplecov"), rules: /_spec\.rb$/ },
  { kind: "test_config", fits: /\.gradle(?:\.kts)?$/, part: "gradle", rules: "java" },
  { kind: "test_config", fits: file("gradle\\.properties"), part: "properties", rules: "java" },
  { kind: "test_config", fits: file("CTest(?:Custom|Config|Testfile)\\.cmake"), rules: "tool", tool: /\bctest\b/ },
  { kind: "test_config", fits: file("CMakeLists\\.txt"), part: "cmake" },
  { kind: "test_config", fits: file("setup\\.cfg"), part: "setup_cfg", rules: "py" },
  { kind: "test_config", fits: file("pyproject\\.toml"), part: "pyproject", rules: "py" },
  { kind: "test_config", fits: file("Cargo\\.toml"), part: "cargo" },
  { kind: "test_config", fits: file("pom\\.xml"), part: "pom" },

  { kind: "coverage", fits: file("\\.nycrc(?:\\.\\w+)?|nyc\\.config\\.\\w+|\\.c8rc(?:\\.\\w+)?|\\.istanbul\\.ya?ml"), rules: "js" },
  { kind: "coverage", fits: file("\\.coveragerc"), rules: "py" },
  { kind: "coverage", fits: file("\\.?codecov\\.ya?ml|\\.?tarpaulin\\.toml|jacoco[\\w-]*\\.(?:xml|gradle)") },

  { kind: "lint", fits: file("\\.eslintrc(?:\\.\\w+)?|eslint\\.config\\.\\w+|\\.eslintignore"), rules: "tool", tool: /eslint/ },
  { kind: "lint", fits: file("biome\\.jsonc?|\\.oxlintrc\\.jsonc?|oxlint\\.config\\.\\w+"), rules: "tool", tool: /biome|oxlint/ },
  {
    kind: "lint",
    fits: file(
      "\\.prettierrc(?:\\.\\w+)?|prettier\\.config\\.\\w+|\\.prettierignore|\\.stylelintrc(?:\\.\\w+)?|stylelint\\.config\\.\\w+|\\.stylelintignore",
    ),
    rules: "tool",
    tool: /prettier|stylelint/,
  },
  {
    kind: "lint",
    fits: file("\\.?ruff\\.toml|\\.flake8|\\.?pylintrc|\\.?mypy\\.ini|pyrightconfig\\.json|\\.bandit|\\.pre-commit-config\\.yaml"),
    rules: "tool",
    tool: /ruff|flake8|pylint|mypy|pyright|bandit|pre-commit/,
  },
  {
    kind: "lint",
    fits: file("\\.golangci\\.(?:ya?ml|toml|json)|\\.?clippy\\.toml|\\.?rustfmt\\.toml|deny\\.toml"),
    rules: "tool",
    tool: /golangci|clippy|cargo (?:fmt|deny)/,
  },
  {
    kind: "lint",
    fits: file(
      "\\.rubocop(?:_todo)?\\.yml|phpstan\\.neon(?:\\.dist)?|psalm\\.xml|phpcs\\.xml(?:\\.dist)?|\\.php-cs-fixer(?:\\.dist)?\\.php|\\.clang-(?:tidy|format)|\\.shellcheckrc|\\.yamllint(?:\\.ya?ml)?|\\.?cspell\\.(?:jsonc?|ya?ml)|\\.markdownlint(?:-cli2)?\\.(?:jsonc?|ya?ml)|\\.semgrep\\.ya?ml|knip\\.\\w+|\\.dependency-cruiser\\.\\w+",
    ),
    rules: "tool",
    tool: /rubocop|phpstan|psalm|phpcs|php-cs-fixer|clang-(?:tidy|format)|shellcheck|yamllint|cspell|markdownlint|semgrep|knip|depcruise/,
  },
  {
    kind: "lint",
    fits: /(?:^|\/)(?:checkstyle|pmd|spotbugs|detekt)[\w-]*\.(?:xml|ya?ml)$|(?:^|\/)config\/(?:checkstyle|pmd|spotbugs|detekt)\//,
  },
  {
    kind: "compiler",
    fits: file("(?:ts|js)config(?:[\\w.-]*)?\\.json"),
    rules: "tool",
    tool: /\btsc\b|\bvue-tsc\b|type-?check|\btsx\b|\bts-node\b|ts-jest/,
  },
  { kind: "compiler", fits: file("rust-toolchain(?:\\.toml)?"), rules: "rust" },

  { kind: "ci", fits: /(?:^|\/)\.(?:github\/(?:workflows|actions)|circleci|buildkite|woodpecker|forgejo\/workflows|gitea\/workflows)\// },
  {
    kind: "ci",
    fits: file(
      "\\.gitlab-ci\\.yml|Jenkinsfile|azure-pipelines\\.ya?ml|\\.travis\\.yml|bitbucket-pipelines\\.yml|\\.drone\\.yml|\\.?appveyor\\.yml",
    ),
  },

  { kind: "scripts", fits: file("package\\.json"), part: "package" },
  { kind: "scripts", fits: file("composer\\.json"), part: "composer" },
  { kind: "scripts", fits: file("(?:GNUm|M|m)akefile"), part: "make", rules: "beside" },
  { kind: "scripts", fits: file("tox\\.ini|noxfile\\.py"), rules: "py" },
  { kind: "scripts", fits: /\.mk$/, part: "included" },
  { kind: "scripts", fits: file("[Jj]ustfile|\\.justfile|[Tt]askfile\\.ya?ml|Rakefile|gradlew|mvnw") },
  { kind: "scripts", fits: file("turbo\\.jsonc?|nx\\.json|lerna\\.json"), rules: "tool", tool: /\b(?:turbo|nx|lerna)\b/ },
  { kind: "scripts", fits: file("project\\.json"), part: "nx_project", rules: "tool", tool: /\bnx\b/ },
  { kind: "scripts", fits: file("deno\\.jsonc?"), part: "deno", rules: "tool", tool: /\bdeno\b/ },
  { kind: "scripts", fits: file("pnpm-workspace\\.yaml"), part: "pnpm_workspace" },
  { kind: "scripts", fits: /^(?:tasks|dodo)\.py$/, says: /^(?:from|import) invoke\b|^def task_/m },
  { kind: "scripts", fits: file("build\\.xml"), says: /<target\b/ },
  { kind: "scripts", fits: /(?:^|\/)\.mvn\//, rules: "java", from: /\.mvn\/.*$/, tool: /\bmvnw?\b/ },
  { kind: "scripts", fits: /(?:^|\/)gradle\/wrapper\// },
  // These say with which shell, from where and with which hooks a package manager runs what it runs.
  {
    kind: "scripts",
    fits: file("\\.npmrc"),
    rules: "js",
    tool: packageManagers,
    idle: (text) => !/shell|node-options|prefix|scripts|hook|workspace|ifpresent|config/i.test(text),
  },
  {
    kind: "scripts",
    fits: file("\\.yarnrc(?:\\.yml)?|\\.pnpmfile\\.c?js|bunfig\\.toml|\\.env\\.test(?:\\.local)?"),
    rules: "js",
    tool: packageManagers,
  },
  {
    kind: "scripts",
    fits: file(
      "package-lock\\.json|npm-shrinkwrap\\.json|pnpm-lock\\.yaml|yarn\\.lock|bun\\.lockb?|deno\\.lock|uv\\.lock|poetry\\.lock|pdm\\.lock|Pipfile\\.lock|requirements\\.txt|Cargo\\.lock|go\\.sum|Gemfile\\.lock|composer\\.lock",
    ),
    part: "lock",
  },

  // Last, since configuration may be in a folder of tests: the tests, and whatever is beside them but isn't prose about them.
  // A new one in Go may take the tests beside it over.
  { kind: "test", fits: /_test\.go$/, rules: "beside", idle: (text) => !/^func\s+(?:TestMain\s*\(|init\s*\(\s*\))/m.test(text) },
  { kind: "test", fits: /\.(?:test|spec|cy|e2e)\.[^/]+$|(?:^|\/)test_[^/]*\.(?:py|sh)$|_test\.(?:py|rs)$|_spec\.\w+$/ },
  { kind: "test", fits: /(?:^|\/)tests?\.(?:[cm]?[jt]sx?|py|sh)$|_test\.(?:[cm]?[jt]sx?|sh)$|\.bats$/ },
  { kind: "test", fits: /(?:^|\/)test-[^/]*\.[cm]?[jt]sx?$|-test\.[cm]?[jt]sx?$|Spec\.[cm]?[jt]sx?$/, says: saysTests },
  { kind: "test", fits: /(?:^|\/)(?:Test[A-Z]\w*|\w*(?:Tests?|TestCase|IT|Spec))\.(?:java|kt|scala|groovy)$/ },
  { kind: "test", fits: /(?:^|\/)spec\/(?:.*\/)?[^/]+\.rb$|(?:^|\/)spec\/(?:fixtures|support|factories)\/|\wTest\.php$/ },
  {
    kind: "test",
    fits: /(?:^|\/)(?:tests?|__tests__|__mocks__|__fixtures__|e2e|cypress|testdata|(?:unit|integration|functional|acceptance|system|smoke|contract|regression)[-_]?tests?|test[-_]?(?:utils?|helpers?|support|fixtures?|data|suite)|src\/(?:test|it|integrationTest|functionalTest|testFixtures))\/(?!.*\.(?:md|rst|adoc)$)/,
  },
  { kind: "test", fits: /\.rs$/, part: "rust_source" },
];

/** The same paths are asked for again and again, so what was found of one is kept. */
const found = new Map<string, Row | null>();
const foundMax = 20_000;

export function rowOf(path: string): Row | null {
  const known = found.get(path);
  if (known !== undefined) return known;
  const row = rows.find(({ fits }) => fits.test(path)) ?? null;
  if (found.size >= foundMax) found.clear();
  found.set(path, row);
  return row;
}

/**
 * Whether a path is a test's. Asked of every file of a tree, which may have a hundred thousand, so what cannot be one is told by one look:
 * each row of tests above demands one of these words.
 */
export const isTest = (path: string): boolean => testPathPattern.test(path) && rowOf(path)?.kind === "test";
const testPathPattern = /test|spec|e2e|mocks|fixtures|cypress|\.(?:cy\.|bats$|rs$)|IT\.(?:java|kt|scala|groovy)$|src\/it\//i;
