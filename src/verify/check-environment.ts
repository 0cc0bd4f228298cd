// check-environment: which variables of the runner's environment a command may see: a short list by
// name. Three more places add some: `checks.env` (runner/sandboxed-checks.ts), the caches of restored
// packages (cacheEnvironment in detect/detect-restore.ts), and what test runners need to report to us
// (reporter/reporter.ts).
//
// Invariants:
//   N1. Only listed variables pass, and no key or token is on the list. Those of the project's
//       toolchains and of `checks.env` are added.
//   N2. HOME and TMPDIR are folders of this command alone. HOME is also how its processes are
//       recognised (processes.ts), so no variable names the runner: a check can't tell who runs it.
//       PATH is the user's own, without the folder that npx puts in front of it.

import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Hash } from "../contracts/ids.ts";

export type Env = Readonly<Record<string, string>>;

/** Passed on unchanged, if set, so that a check behaves as in the user's shell. */
const passedVariables =
  "PATH USER LOGNAME SHELL TZ LANG LC_ALL LC_CTYPE TERM COLORTERM NO_COLOR FORCE_COLOR CI JAVA_HOME GOROOT VIRTUAL_ENV SSL_CERT_FILE SSL_CERT_DIR".split(
    " ",
  );

/**
 * Toolchains that are in the user's home by default. Without these variables they would be searched
 * in the private HOME.
 */
const toolchains = [
  ["RUSTUP_HOME", ".rustup"],
  ["PYENV_ROOT", ".pyenv"],
  ["VOLTA_HOME", ".volta"],
] as const;

export type CheckEnvironmentSources = {
  /** The runner's own environment. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  readonly hasFolder: (path: string) => boolean;
  /** The command's own folder, which holds `home` and `tmp`. */
  readonly scratch: string;
  readonly extra?: Env;
};

export function composeCheckEnvironment({
  inherited,
  hasFolder,
  scratch,
  extra = {},
}: CheckEnvironmentSources): Env {
  const env: Record<string, string> = { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8" };
  for (const name of passedVariables)
    if (inherited[name] !== undefined) env[name] = inherited[name]; // N1
  env["PATH"] = withoutNpx(env["PATH"] ?? "");

  for (const [name, folder] of toolchains) {
    const path =
      inherited[name] ??
      (inherited["HOME"] === undefined ? undefined : join(inherited["HOME"], folder));
    if (path !== undefined && hasFolder(path)) env[name] = path;
  }

  return { ...env, ...extra, HOME: join(scratch, "home"), TMPDIR: join(scratch, "tmp") }; // N2
}

/** A PATH as the user's shell has it, if `npx` started the runner (N2). */
const withoutNpx = (path: string): string =>
  path
    .split(":")
    .filter((folder) => !/\/_npx\/[^/]+\/node_modules\/\.bin\/?$/.test(folder))
    .join(":");

/** The hash of an environment, without the folders that differ with every command. */
export function hashEnvironment(env: Env): Hash {
  const isVolatile = (name: string): boolean => name === "HOME" || name === "TMPDIR";
  const lines = Object.entries(env)
    .map(([name, value]) => [name, isVolatile(name) ? "" : value] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(lines)).digest("hex");
}
