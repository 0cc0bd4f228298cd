// test-config-rows: the files that decide how tests run: what a test runner loads, its settings, and
// recorded snapshots.

import { fileNamed, type ProtectionRow } from "./protection-row.ts";

const configSuffix = "(?:config|conf|setup|workspace)(?:\\.[\\w-]+)*\\.\\w+";

export const testConfigRows: readonly ProtectionRow[] = [
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
      "\\.mocharc(?:\\.\\w+)?",
      "mocha\\.opts",
      "\\.taprc",
      "jasmine\\.json",
      "\\.babelrc(?:\\.\\w+)?",
      "babel\\.config\\.\\w+",
      "\\.swcrc",
    ),
    rules: "js",
  },
  { kind: "test_config", path: fileNamed(`vite\\.${configSuffix}`), part: "vite", rules: "js" },
  {
    kind: "test_config",
    path: fileNamed("\\.cargo/config(?:\\.toml)?", "\\.config/nextest\\.toml"),
    rules: "rust",
    ownFolder: /\.(?:cargo|config)\/[^/]*$/,
  },
  {
    kind: "test_config",
    path: fileNamed("testng\\.xml", "junit-platform\\.properties"),
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
  {
    kind: "test_config",
    path: fileNamed("\\.rspec(?:-local)?", "\\.simplecov"),
    rules: /_spec\.rb$/,
  },
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
];
