// script-rows: the files that say which commands are run: CI, manifests, makefiles, package managers
// and lock files.

import { fileNamed, type ProtectionRow } from "./protection-row.ts";

const packageManagers = /\b(?:npm|npx|pnpm|pnpx|yarn|bun|bunx)\b/;

export const scriptRows: readonly ProtectionRow[] = [
  {
    kind: "ci",
    path: /(?:^|\/)\.(?:github\/(?:workflows|actions)|circleci|buildkite|woodpecker|forgejo\/workflows|gitea\/workflows)\//,
  },
  {
    kind: "ci",
    path: fileNamed(
      "\\.gitlab-ci\\.yml",
      "Jenkinsfile",
      "azure-pipelines\\.ya?ml",
      "\\.travis\\.yml",
      "bitbucket-pipelines\\.yml",
      "\\.drone\\.yml",
      "\\.?appveyor\\.yml",
    ),
  },

  { kind: "scripts", path: fileNamed("package\\.json"), part: "package" },
  { kind: "scripts", path: fileNamed("composer\\.json"), part: "composer" },
  { kind: "scripts", path: fileNamed("(?:GNUm|M|m)akefile"), part: "make", rules: "beside" },
  { kind: "scripts", path: fileNamed("tox\\.ini", "noxfile\\.py"), rules: "py" },
  { kind: "scripts", path: /\.mk$/, part: "included" },
  {
    kind: "scripts",
    path: fileNamed(
      "[Jj]ustfile",
      "\\.justfile",
      "[Tt]askfile\\.ya?ml",
      "Rakefile",
      "gradlew",
      "mvnw",
    ),
  },
  {
    kind: "scripts",
    path: fileNamed("turbo\\.jsonc?", "nx\\.json", "lerna\\.json"),
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
      "\\.yarnrc(?:\\.yml)?",
      "\\.pnpmfile\\.c?js",
      "bunfig\\.toml",
      "\\.env\\.test(?:\\.local)?",
    ),
    rules: "js",
    tool: packageManagers,
  },
  {
    kind: "scripts",
    path: fileNamed(
      "package-lock\\.json",
      "npm-shrinkwrap\\.json",
      "pnpm-lock\\.yaml",
      "yarn\\.lock",
      "bun\\.lockb?",
      "deno\\.lock",
      "uv\\.lock",
      "poetry\\.lock",
      "pdm\\.lock",
      "Pipfile\\.lock",
      "requirements\\.txt",
      "Cargo\\.lock",
      "go\\.sum",
      "Gemfile\\.lock",
      "composer\\.lock",
    ),
    part: "lock",
  },
];
