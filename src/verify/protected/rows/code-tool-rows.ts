// code-tool-rows: the settings of tools that judge code without running its tests: coverage, linters,
// formatters and compilers.

import { fileNamed, type ProtectionRow } from "./protection-row.ts";

export const codeToolRows: readonly ProtectionRow[] = [
  {
    kind: "coverage",
    path: fileNamed(
      "\\.nycrc(?:\\.\\w+)?",
      "nyc\\.config\\.\\w+",
      "\\.c8rc(?:\\.\\w+)?",
      "\\.istanbul\\.ya?ml",
    ),
    rules: "js",
  },
  { kind: "coverage", path: fileNamed("\\.coveragerc"), rules: "py" },
  {
    kind: "coverage",
    path: fileNamed(
      "\\.?codecov\\.ya?ml",
      "\\.?tarpaulin\\.toml",
      "jacoco[\\w-]*\\.(?:xml|gradle)",
    ),
  },

  {
    kind: "lint",
    path: fileNamed("\\.eslintrc(?:\\.\\w+)?", "eslint\\.config\\.\\w+", "\\.eslintignore"),
    rules: "tool",
    tool: /eslint/,
  },
  {
    kind: "lint",
    path: fileNamed("biome\\.jsonc?", "\\.oxlintrc\\.jsonc?", "oxlint\\.config\\.\\w+"),
    rules: "tool",
    tool: /biome|oxlint/,
  },
  {
    kind: "lint",
    path: fileNamed(
      "\\.prettierrc(?:\\.\\w+)?",
      "prettier\\.config\\.\\w+",
      "\\.prettierignore",
      "\\.stylelintrc(?:\\.\\w+)?",
      "stylelint\\.config\\.\\w+",
      "\\.stylelintignore",
    ),
    rules: "tool",
    tool: /prettier|stylelint/,
  },
  {
    kind: "lint",
    path: fileNamed(
      "\\.?ruff\\.toml",
      "\\.flake8",
      "\\.?pylintrc",
      "\\.?mypy\\.ini",
      "pyrightconfig\\.json",
      "\\.bandit",
      "\\.pre-commit-config\\.yaml",
    ),
    rules: "tool",
    tool: /ruff|flake8|pylint|mypy|pyright|bandit|pre-commit/,
  },
  {
    kind: "lint",
    path: fileNamed(
      "\\.golangci\\.(?:ya?ml|toml|json)",
      "\\.?clippy\\.toml",
      "\\.?rustfmt\\.toml",
      "deny\\.toml",
    ),
    rules: "tool",
    tool: /golangci|clippy|cargo (?:fmt|deny)/,
  },
  {
    kind: "lint",
    path: fileNamed(
      "\\.rubocop(?:_todo)?\\.yml",
      "phpstan\\.neon(?:\\.dist)?",
      "psalm\\.xml",
      "phpcs\\.xml(?:\\.dist)?",
      "\\.php-cs-fixer(?:\\.dist)?\\.php",
      "\\.clang-(?:tidy|format)",
      "\\.shellcheckrc",
      "\\.yamllint(?:\\.ya?ml)?",
      "\\.?cspell\\.(?:jsonc?|ya?ml)",
      "\\.markdownlint(?:-cli2)?\\.(?:jsonc?|ya?ml)",
      "\\.semgrep\\.ya?ml",
      "knip\\.\\w+",
      "\\.dependency-cruiser\\.\\w+",
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
];
