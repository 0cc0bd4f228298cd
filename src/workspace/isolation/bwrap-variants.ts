// bwrap-variants: which bubblewrap is installed and what it supports, asked once.

import { execFileSync } from "node:child_process";
import { findProgramOnPath } from "./program-paths.ts";
import { noCache, type SelfTestCache } from "./self-test-cache.ts";

/**
 * How bubblewrap uses user namespaces. `closed`: one in which no further ones can be created;
 * `own`: one; `tried`: one, if the kernel allows it.
 */
export type UserNamespaceMode = {
  readonly kind: "closed" | "own" | "tried";
  /** The command's user, if bubblewrap itself runs as another. */
  readonly ids?: { readonly uid: number; readonly gid: number };
};

export type BwrapVariant = {
  readonly bwrap: string;
  /** Whether this version can limit the size of a tmpfs. */
  readonly canLimitSizes: boolean;
  readonly users: UserNamespaceMode;
};

const versionTimeoutMs = 2_000;
const sizesSinceVersion = [0, 7] as const;
const closedSinceVersion = [0, 8] as const;

/** The ways to run the installed bubblewrap, the strictest first; empty if it is not installed. */
export function findBwrapVariants(
  fallback: "own" | "tried",
  cache: SelfTestCache = noCache,
  ids?: UserNamespaceMode["ids"],
): readonly BwrapVariant[] {
  const bwrap = findProgramOnPath("bwrap");
  if (bwrap === null) return [];
  const version = readBwrapVersion(bwrap, cache);
  const kinds = isAtLeast(version, closedSinceVersion)
    ? (["closed", fallback] as const)
    : [fallback];

  return kinds.map((kind) => ({
    bwrap,
    canLimitSizes: isAtLeast(version, sizesSinceVersion),
    users: ids === undefined ? { kind } : { kind, ids },
  }));
}

type Version = readonly [major: number, minor: number];

function readBwrapVersion(bwrap: string, cache: SelfTestCache): Version {
  const printVersion = (): string =>
    execFileSync(bwrap, ["--version"], {
      encoding: "utf8",
      timeout: versionTimeoutMs,
      stdio: ["ignore", "pipe", "ignore"],
    });

  try {
    const cached = cache.read("version", [bwrap]);
    const text = cached ?? printVersion();
    if (cached === null) cache.record("version", [bwrap], text);
    const match = /(\d+)\.(\d+)/.exec(text);

    return [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0)];
  } catch {
    return [0, 0]; // it counts as old, and gets no option that an old one lacks
  }
}

const isAtLeast = ([major, minor]: Version, [majorMin, minorMin]: Version): boolean =>
  major > majorMin || (major === majorMin && minor >= minorMin);
