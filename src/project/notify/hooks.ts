// hooks: reads the user's notification hooks and the secrets they need.
//
// Invariants:
//   H1. Only the user's own file is read: nothing from a repository makes this machine send or run
//       anything.
//   H2. A secret is read when it is used, from the environment or from a file that only its user
//       can read, and is never stored.

import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  type NoticeKind,
  type NotifyHook,
  noticeKinds,
  type SecretPlace,
} from "../../contracts/config.ts";
import { findingText } from "../../kit/finding.ts";
import { userConfigPath } from "../config/config.ts";
import { readConfigFile } from "../config/config-file.ts";

type Env = Readonly<Record<string, string | undefined>>;
export type Hook = Omit<NotifyHook, "name" | "on"> & {
  readonly name: string;
  readonly on: readonly NoticeKind[];
};

const secretBytesMax = 16 * 1024;

/** The user's hooks, or what is wrong with their file. */
export function readHooks(env: Env): {
  readonly hooks: readonly Hook[];
  readonly problem: string | null;
} {
  const file = readConfigFile(userConfigPath(env)); // H1
  if ("findings" in file) return { hooks: [], problem: file.findings.map(findingText).join("; ") };

  const hooks = (file.config.notify ?? []).map((hook, index) => ({
    ...hook,
    name: hook.name ?? `hook-${index + 1}`,
    on: hook.on ?? [...noticeKinds],
  }));
  const duplicate = hooks.find(
    ({ name }, index) => hooks.findIndex((other) => other.name === name) !== index,
  );
  if (duplicate !== undefined) {
    return {
      hooks: [],
      problem: `${userConfigPath(env)}: two hooks of notify are called ${duplicate.name}; give each a name of its own`,
    };
  }

  return { hooks, problem: null };
}

export type SecretResult = { readonly value: string } | { readonly problem: string };

/** H2. */
export function readSecret(place: SecretPlace, env: Env): SecretResult {
  if ("env" in place) {
    const value = env[place.env]?.trim();
    return value === undefined || value === "" ? { problem: `${place.env} is not set` } : { value };
  }

  const path = place.file.startsWith("~/")
    ? join(env["HOME"] ?? homedir(), place.file.slice(2))
    : place.file;

  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return { problem: `${path} cannot be read` };
  }

  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > secretBytesMax) {
      return { problem: `${path} isn't a file with a secret` };
    }

    if ((stat.mode & 0o077) !== 0) {
      return { problem: `${path} can be read by others (chmod 600 ${path})` };
    }

    const value = readFileSync(fd, "utf8").trim();
    return value === "" ? { problem: `${path} is empty` } : { value };
  } finally {
    closeSync(fd);
  }
}

/** A hook's destination without secrets: a URL may have one in its path. */
export function describeHook({ run, webhook }: Pick<NotifyHook, "run" | "webhook">): string {
  if (run !== undefined) return `runs ${run[0] ?? ""}`;
  if (typeof webhook === "object") {
    return "env" in webhook
      ? `posts to the address in ${webhook.env}`
      : `posts to the address in ${webhook.file}`;
  }

  try {
    return `posts to ${new URL(webhook ?? "").origin}`;
  } catch {
    return "posts to an address that cannot be read";
  }
}
