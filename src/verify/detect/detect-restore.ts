// detect-restore: finds the commands that restore a project's dependencies, from its lock files and
// with their tools. Nothing is run here.

import type { Check } from "../../contracts/evidence.ts";
import type { Tree } from "./manifest.ts";

/**
 * The config's choice: `copy` takes the installed folders, `lockfile` restores them, a list names
 * the commands.
 */
export type RestoreSetting = "copy" | "lockfile" | readonly string[];

/**
 * The first lock file of each group decides. The command installs exactly what the lock file says,
 * or fails; a requirements.txt says as much as it pins.
 */
const lockFileGroups: readonly (readonly (readonly [lock: string, command: string])[])[] = [
  [
    ["pnpm-lock.yaml", "pnpm install --frozen-lockfile"],
    ["yarn.lock", "yarn install --immutable || yarn install --frozen-lockfile"],
    ["bun.lock", "bun install --frozen-lockfile"],
    ["bun.lockb", "bun install --frozen-lockfile"],
    ["package-lock.json", "npm ci --no-audit --no-fund"],
    ["npm-shrinkwrap.json", "npm ci --no-audit --no-fund"],
  ],
  [
    ["uv.lock", "uv sync --frozen"],
    ["poetry.lock", "poetry install --no-interaction"],
    ["Pipfile.lock", "pipenv sync --dev"],
    [
      "requirements.txt",
      "python3 -m venv .venv && .venv/bin/pip install --require-virtualenv -r requirements.txt",
    ],
  ],
  [["Cargo.lock", "cargo fetch --locked"]],
  [["go.sum", "go mod download"]],
];

export function detectRestores(tree: Tree, setting: RestoreSetting): readonly Check[] {
  if (setting === "copy") return [];
  if (setting !== "lockfile") {
    return setting.map((command, index) =>
      restoreCheck(`config-${index + 1}`, command, `config checks.restore[${index}]`),
    );
  }

  return lockFileGroups.flatMap((group) => {
    const [lock, command] = group.find(([name]) => tree.files.has(name)) ?? [];
    return lock === undefined || command === undefined ? [] : [restoreCheck(lock, command, lock)];
  });
}

const restoreCheck = (name: string, command: string, source: string): Check => ({
  id: `restore:${name}`,
  kind: "restore",
  title: `dependencies from ${source}`,
  command,
  source,
});

/**
 * Variables that point every tool's cache at one folder, which restoring fills and checks only
 * read.
 */
export function cacheEnvironment(folder: string): Readonly<Record<string, string>> {
  return {
    npm_config_cache: `${folder}/npm`,
    npm_config_store_dir: `${folder}/pnpm`,
    YARN_CACHE_FOLDER: `${folder}/yarn`,
    BUN_INSTALL_CACHE_DIR: `${folder}/bun`,
    PIP_CACHE_DIR: `${folder}/pip`,
    UV_CACHE_DIR: `${folder}/uv`,
    POETRY_CACHE_DIR: `${folder}/poetry`,
    PIPENV_CACHE_DIR: `${folder}/pipenv`,
    CARGO_HOME: `${folder}/cargo`,
    GOMODCACHE: `${folder}/go`,
  };
}
