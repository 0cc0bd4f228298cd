// user-config: reads the user's git configuration, cached for as long as its files are unchanged:
// each run, proof and landing of a long process would ask again, and each answer costs a process.
//
// Invariants:
//   C1. An answer is cached while the files that git usually reads here are unchanged. If one
//       includes others, nothing is cached.
//   C2. The system's file may be at another path: no answer is cached for longer than a minute.

import { statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { readSmallFile } from "../folder.ts";
import { git } from "./git.ts";
import type { GitCall } from "./safe-git-call.ts";
import { findGitPlaces } from "./git-places.ts";

const cachedMsMax = 60_000;
const cachedMax = 200;
const configBytesMax = 1 << 20;
const cache = new Map<
  string,
  { readonly stamp: string; readonly readAtMs: number; readonly text: string | null }
>();

/** The output of `git config` with these arguments; null if nothing is set. */
export async function readUserConfig(
  call: Omit<GitCall, "args" | "acceptedExitCodes">,
  args: readonly string[],
): Promise<string | null> {
  // The call's own variables name a repository (GIT_DIR); where the user's files are is said by
  // this process's environment, as git sees it too.
  const key = JSON.stringify([call.cwd, call.env, call.config, args]);
  const stamp = readStamp(call.cwd);
  const cached = cache.get(key);
  const isCurrent = cached !== undefined && stamp !== null && cached.stamp === stamp; // C1
  if (isCurrent && performance.now() - cached.readAtMs < cachedMsMax) return cached.text; // C2
  const { code, out } = await git({
    ...call,
    args: ["config", "-z", ...args],
    acceptedExitCodes: [0, 1],
  });
  const text = code === 0 ? out.toString("utf8") : null;
  if (cache.size >= cachedMax) cache.clear();
  if (stamp !== null) cache.set(key, { stamp, readAtMs: performance.now(), text });

  return text;
}

/**
 * The stat data of the files that git reads in this folder; null if they include others, or can't
 * be read. C1
 */
function readStamp(folder: string): string | null {
  const places = findGitPlaces(folder);
  const { env } = process;
  const home = env["HOME"] ?? homedir();
  const global = env["GIT_CONFIG_GLOBAL"] ?? join(home, ".gitconfig");

  const files = [
    ...(places === null
      ? []
      : [join(places.commonDir, "config"), join(places.gitDir, "config.worktree")]),
    global,
    join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "git", "config"),
    env["GIT_CONFIG_SYSTEM"] ?? "/etc/gitconfig",
  ];
  const fileStamps = files.map(readFileStamp);
  return fileStamps.includes(null)
    ? null
    : JSON.stringify([files, fileStamps, env["GIT_CONFIG_NOSYSTEM"]]);
}

function readFileStamp(path: string): string | null {
  try {
    const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
    if (stat === undefined) return "";
    if (
      !stat.isFile() ||
      /include/i.test(
        readSmallFile(path, configBytesMax)?.toString("latin1") ??
          "include" /* too large to tell */,
      )
    ) {
      return null;
    }

    return `${stat.ino} ${stat.ctimeNs} ${stat.size}`;
  } catch {
    return null; // not readable for us: git decides
  }
}
