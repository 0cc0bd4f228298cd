// safe-git-call: what a call of git is, and the settings and the environment that every git of ours
// gets, so that neither a repository's configuration and hooks nor the user's shell decide what it
// does. git.ts makes the calls.

import { delimiter, isAbsolute } from "node:path";
import type { GitPlaces } from "./git-places.ts";

export type GitCall = {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: Iterable<Buffer>;
  /** Exit codes that are answers rather than failures. */
  readonly acceptedExitCodes?: readonly number[];
  /**
   * Whose configuration counts besides that of the git directory: nobody's by default, or the
   * user's (global, system).
   */
  readonly config?: "none" | "user";
  /**
   * The git directory is one the runner made, so a command that obeys a configuration may run in
   * it.
   */
  readonly isOwn?: true;
  /** The repository that the call reads or writes through a git directory of the runner. */
  readonly into?: GitPlaces;
  /**
   * Larger output is cut off (`isCut`). Without this limit there is one that no output should
   * reach, and reaching it is a failure.
   */
  readonly outputBytesMax?: number;
  /** Receives the output as it comes; then the result has none. */
  readonly onOutput?: (chunk: Buffer) => void;
  readonly timeoutMs?: number;
};

/** How and where git runs: a call without its arguments. */
export type GitContext = Omit<GitCall, "args">;

export type GitAnswer = {
  readonly code: number;
  readonly out: Buffer;
  readonly err: string;
  readonly isCut: boolean;
};

export const timeoutMsDefault = 600_000;

/**
 * Settings that override every configuration: no hook, monitor, cache, signature, transport,
 * maintenance or submodule.
 */
const hardening = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.untrackedCache", "false"],
  ["protocol.allow", "never"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["commit.gpgsign", "false"],
  ["submodule.recurse", "false"],
  ["fetch.recurseSubmodules", "false"],
] as const;
/**
 * Added unless the user's configuration counts: then `safe.directory=*` would run filters of a
 * folder that somebody else owns.
 */
const isolationSettings = [
  ["safe.directory", "*"],
  ["core.attributesFile", "/dev/null"],
  ["core.excludesFile", "/dev/null"],
] as const;

/** The options of every git call. */
export function composeGitArguments({ config }: Pick<GitCall, "config">): readonly string[] {
  const settings = config === "user" ? hardening : [...hardening, ...isolationSettings];
  return settings.flatMap(([key, value]) => ["-c", `${key}=${value}`]);
}

/**
 * The environment variable with the pid of the runner that started a git, so that the next runner
 * can find it.
 */
export const gitMarkVariable = "AUTOPILOT_GIT";
/** Where a user may keep their configuration instead of the usual places. */
const configVariables = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

/**
 * The absolute folders of a PATH: a relative one would be inside the repository, where a program
 * called git could be.
 */
const keepAbsoluteFolders = (path: string): string =>
  path.split(delimiter).filter(isAbsolute).join(delimiter);

/**
 * The whole environment of a git call: of the runner's own variables only those named here, or with
 * the user's configuration most.
 */
export function composeGitEnvironment(call: GitContext): Record<string, string> {
  const path = process.env["PATH"];
  const searchPath = path === undefined ? {} : { PATH: keepAbsoluteFolders(path) };
  // Overrides any configuration: nothing is fetched implicitly, and the runner's own calls fetch
  // from folders only, unless `env` allows more (transfer.ts). No protocol is called "none".
  const transports = {
    GIT_ALLOW_PROTOCOL: call.isOwn === true ? "file" : "none",
    GIT_NO_LAZY_FETCH: "1",
  };

  const fixed = {
    ...transports,
    [gitMarkVariable]: String(process.pid),
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    LC_ALL: "C",
    LANGUAGE: "C",
  };

  if (call.config === "user") {
    return { ...readUserEnvironment(), ...searchPath, ...fixed, ...call.env };
  }

  const temporary = process.env["TMPDIR"];
  const withoutUserConfig = {
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    // Git looks here for attributes and ignore files even without a configuration.
    HOME: "/nonexistent",
    XDG_CONFIG_HOME: "/nonexistent",
  };

  return {
    ...searchPath,
    ...(temporary === undefined ? {} : { TMPDIR: temporary }),
    ...fixed,
    ...withoutUserConfig,
    ...call.env,
  };
}

/** The user's own environment without variables that would redirect git. */
function readUserEnvironment(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    const isHarmless = !name.startsWith("GIT_") || configVariables.includes(name);
    if (value !== undefined && isHarmless) env[name] = value;
  }

  return env;
}
