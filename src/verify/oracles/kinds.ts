// kinds: which files judge, by the conventions of their languages. A table; the first row that fits a path decides.

import type { OracleChange } from "../../contracts/evidence.ts";

export type OracleKind = OracleChange["kind"];
export type Family = "js" | "py" | "go" | "rust" | "java";
/** A file that judges only in part: how its deciding part is told from the rest. */
export type Part =
  | "package"
  | "composer"
  | "pyproject"
  | "cargo"
  | "setup_cfg"
  | "pom"
  | "gradle"
  | "make"
  | "vite"
  | "lock"
  | "rust_source";

export type Row = {
  readonly kind: OracleKind;
  readonly fits: RegExp;
  readonly part?: Part;
  /** A new file of this sort counts where it would rule over what was there: tests of this family, any tests, what its tool reads, or a file of the same sort beside it. */
  readonly rules?: Family | "any" | "tool" | "beside";
  /** For `rules: "tool"`: what the commands that decide would say if they used it. */
  readonly tool?: RegExp;
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
export const familyOf = (path: string): Family | null => families.find(([ending]) => ending.test(path))?.[1] ?? null;

const file = (names: string): RegExp => new RegExp(`(?:^|/)(?:${names})$`);
const config = "(?:config|conf|setup|workspace)(?:\\.[\\w-]+)*\\.\\w+";
const rows: readonly Row[] = [
  // What installed packages hold is never the work; a copy in the tree would stand in for the real one.
  {
    kind: "test_config",
    fits: /(?:^|\/)(?:node_modules|site-packages|\.venv|venv)\//,
    rules: "any",
    from: /(?:node_modules|site-packages|\.venv|venv)\/.*$/,
  },
  { kind: "test_config", fits: /(?:^|\/)vendor\/.*(?:testify|gomock|ginkgo|gomega|phpunit|junit)/, rules: "any", from: /vendor\/.*$/ },
  { kind: "test_config", fits: file("(?:pytest|_pytest|unittest|nose2?|sitecustomize|usercustomize)(?:\\.py|/.*)"), rules: "py" },

  { kind: "snapshot", fits: /(?:^|\/)__(?:snapshots|image_snapshots)__\/|\.(?:snap|snapshot|golden|approved\.\w+)$/ },
  { kind: "test_config", fits: file("conftest\\.py|\\.?pytest\\.ini|pytest\\.toml"), rules: "py" },
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
  { kind: "test_config", fits: file("build\\.gradle(?:\\.kts)?"), part: "gradle", rules: "java" },
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
    fits: /(?:^|\/)(?:checkstyle|pmd|spotbugs|detekt)[\w-]*\.(?:xml|ya?ml)$|(?:^|\/)config\/(?:checkstyle|pmd|spotbugs|detekt)\//,
  },
  { kind: "compiler", fits: file("(?:ts|js)config(?:[\\w.-]*)?\\.json"), rules: "tool", tool: /\btsc\b|\bvue-tsc\b|type-?check/ },
  { kind: "compiler", fits: file("rust-toolchain(?:\\.toml)?") },

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
  { kind: "scripts", fits: file("[Jj]ustfile|\\.justfile|[Tt]askfile\\.ya?ml|gradlew|mvnw") },
  { kind: "scripts", fits: /(?:^|\/)\.mvn\/|(?:^|\/)gradle\/wrapper\// },
  // These say with which shell, from where and with which hooks a package manager runs what it runs.
  { kind: "scripts", fits: file("\\.npmrc|\\.yarnrc(?:\\.yml)?|\\.pnpmfile\\.c?js|bunfig\\.toml|\\.env\\.test(?:\\.local)?"), rules: "js" },
  {
    kind: "scripts",
    fits: file(
      "package-lock\\.json|npm-shrinkwrap\\.json|pnpm-lock\\.yaml|yarn\\.lock|bun\\.lockb?|uv\\.lock|poetry\\.lock|Pipfile\\.lock|requirements\\.txt|Cargo\\.lock|go\\.sum",
    ),
    part: "lock",
  },

  // Last, since configuration may lie in a folder of tests: the tests, and whatever lies beside them but is no writing about them.
  { kind: "test", fits: /\.(?:test|spec|cy|e2e)\.[^/]+$|(?:^|\/)test_[^/]*\.py$|_test\.(?:py|go|rs)$|_spec\.\w+$/ },
  { kind: "test", fits: /(?:^|\/)(?:Test[A-Z]\w*|\w*(?:Tests?|TestCase|IT|Spec))\.(?:java|kt|scala|groovy)$/ },
  {
    kind: "test",
    fits: /(?:^|\/)(?:tests?|__tests__|__mocks__|__fixtures__|e2e|cypress|testdata|src\/(?:test|it|integrationTest|functionalTest|testFixtures))\/(?!.*\.(?:md|rst|adoc)$)/,
  },
  { kind: "test", fits: /\.rs$/, part: "rust_source" },
];

export const rowOf = (path: string): Row | null => rows.find(({ fits }) => fits.test(path)) ?? null;
