// bwrap-variants: which bubblewrap is installed and what it supports, asked once.

import { execFileSync } from "node:child_process";
import { findProgramOnPath } from "./program-paths.ts";
import { noCache, type SelfTestCache } from "./self-test-cache.ts";

/** `closed`: a user namespace without further ones; `own`: a user namespace; `tried`: if the kernel allows it. */
export type UserNamespaceMode = {
  readonly kind: "closed" | "own" | "tried";
  /** The command's user, if bubblewrap itself runs as another. */
  readonly ids?: { readonly uid: number; readonly gid: number };
};

export type BwrapVariant = {
  readonly bwrap: string;
  /** Whether it can limit the size of a tmpfs. */
  readonly hasSizes: boolean;
  readonly users: UserNamespaceMode;
};

const versionTimeoutMs = 2_000;
const sizesSince = [0, 7] as const;
const closedSince = [0, 8] as const;

/** The strictest first; empty if bubblewrap is not installed. */
export function findBwrapVariants(
  fallback: "own" | "tried",
  cache: SelfTestCache = noCache,
  ids?: UserNamespaceMode["ids"],
): readonly BwrapVariant[] {
  const bwrap = findProgramOnPath("bwrap");
  if (bwrap === null) return [];
  const version = bwrapVersion(bwrap, cache);
  const kinds = isAtLeast(version, closedSince) ? (["closed", fallback] as const) : [fallback];
  return kinds.map((kind) => ({ bwrap, hasSizes: isAtLeast(version, sizesSince), users: ids === undefined ? { kind } : { kind, ids } }));
}

type Version = readonly [major: number, minor: number];

function bwrapVersion(bwrap: string, cache: SelfTestCache): Version {
  const askVersion = (): string =>
    execFileSync(bwrap, ["--version"], { encoding: "utf8", timeout: versionTimeoutMs, stdio: ["ignore", "pipe", "ignore"] });
  try {
    const cached = cache.read("version", [bwrap]);
    const text = cached ?? askVersion();
    if (cached === null) cache.note("version", [bwrap], text);
    const match = /(\d+)\.(\d+)/.exec(text);
    return [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0)];
  } catch {
    return [0, 0];
  }
}

const isAtLeast = ([major, minor]: Version, [least, leastMinor]: Version): boolean =>
  major > least || (major === least && minor >= leastMinor);
