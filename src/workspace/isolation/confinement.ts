// confinement: the types that every isolation level uses: a command, its limits, an isolation; and
// the environment that a command gets.

import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { IsolationInForce } from "../../contracts/event.ts";
import type { IsolationLevel } from "../../contracts/isolation-levels.ts";
import { toolchainVariables } from "./sandbox-paths.ts";
import type { SelfTestCache } from "./self-test-cache.ts";

export type Command = {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Already chosen by the caller, name by name. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Folders it may write to; everything else is read-only or absent if the level can enforce that.
   */
  readonly writable: readonly string[];
  /** Files and folders it must be able to read although they are in a hidden path. */
  readonly readable?: readonly string[];
  /** `user`: keeps the user's own HOME, for agents that are logged in there. */
  readonly home?: "private" | "user";
  /**
   * Whether it may reach the network, nothing, or the egress alone; only some levels can enforce
   * it.
   */
  readonly network?: "on" | "off" | "egress";
  /** For `network: "egress"`: where the egress leads. */
  readonly egress?: Egress;
  /**
   * `apart`: writes into its folder are kept beside it if the level supports that, and merged by
   * `collect`.
   */
  readonly writes?: "directly" | "apart";
  readonly limits?: Limits;
  /**
   * The path at which a sandbox shows `cwd`, if nothing else the command needs lies below it: the
   * real one would say that this is a copy.
   */
  readonly shownAs?: string;
};

/**
 * The only network exit of a sandbox: what is sent to 127.0.0.1:`port` inside comes out at the
 * socket. If the network is shared, `port` is the meter's own.
 */
export type Egress = { readonly socket: string; readonly port: number };

/** Resource limits of one command's processes together. */
export type Limits = {
  readonly processesMax: number;
  readonly memoryBytesMax: number;
  readonly diskBytesMax: number;
};

/** The command line that runs a command inside its isolation. */
export type WrappedCommand = {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
};

export type Isolation = Readonly<Omit<IsolationInForce, "enforced" | "not_enforced">> & {
  readonly level: IsolationLevel;
  readonly enforced: readonly string[];
  readonly not_enforced: readonly string[];
  wrap(command: Command): WrappedCommand;
  /** Whether 127.0.0.1 inside is the sandbox's own, so that only the egress leads out. */
  readonly hasOwnNetwork: boolean;
  /**
   * Merges what an ended command wrote apart into its folder; called after each turn, and after a
   * crash. Idempotent.
   */
  collect(folder: string): Promise<void>;
  /** Sentences about what did not hold; empty means it works here. */
  selfTest(): Promise<readonly string[]>;
};

export type IsolationPlace = {
  /** Folders that must not be seen or written: the user's checkout, the run's folder. */
  readonly hidden: readonly string[];
  /** A folder of the run for the private HOME and for self-tests. */
  readonly runDir: string;
  /** Cached self-tests; without them everything is tested again. */
  readonly cache?: SelfTestCache;
};

/**
 * The gap of levels without a pid namespace or cgroup: a process without our mark can't be found
 * and ended.
 */
export const detachedProcessGap = "a detached process may survive its command";

/** HOME for the agents of a run, so that the user's own settings are neither read nor changed. */
export const privateHome = (runDir: string): string => join(runDir, "home");

/**
 * Removes git's variables; and tells a git in the folder `cwd` never to look for the user's
 * repository above it, nor to prompt. `cwd`: null if there is no repository above it.
 */
export function cleanEnvironment(
  env: Readonly<Record<string, string>>,
  cwd: string | null,
): Record<string, string> {
  const pairs = Object.entries(env).filter(([name]) => !name.startsWith("GIT_"));
  const ceiling =
    cwd === null ? {} : { GIT_CEILING_DIRECTORIES: dirname(cwd), GIT_TERMINAL_PROMPT: "0" };
  return { ...Object.fromEntries(pairs), ...ceiling };
}

/**
 * Variables for toolchains that would not find themselves with another HOME: as the user has set
 * them (images often put rustup below /usr/local), or their folders in the user's home.
 */
export function composeToolchainVariables(
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  const pairs = toolchainVariables.map(
    ([name, path]) => [name, process.env[name] ?? join(homedir(), path)] as const,
  );
  return Object.fromEntries(
    pairs.filter(([name, path]) => env[name] === undefined && existsSync(path)),
  );
}
