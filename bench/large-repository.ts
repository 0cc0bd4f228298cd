// large-repository: a git repository of any size, the same every time: text like source code, some
// folders deep, some links, a few commits.

import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export type LargeRepository = { readonly files: number; readonly bytes: number };

const argv =
  "const value return function export import type readonly string number false true await async map filter length index".split(
    " ",
  );

/** Pseudo-random, so that every machine makes the same repository. */
function dice(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export const filePath = (at: number): string =>
  `packages/p${Math.floor(at / 500)}/src/m${Math.floor(at / 25) % 20}/file${at}.ts`;

/** Makes the repository in `folder`, which is not there yet. */
export function makeLargeRepository(folder: string, { files, bytes }: LargeRepository): void {
  const git = (...args: string[]): string =>
    execFileSync("git", args, {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      maxBuffer: 1 << 28,
    });

  mkdirSync(folder, { recursive: true });
  git("init", "-q", "-b", "main");

  // Without gc.auto the commit below starts a repack in the background that takes a core for
  // minutes and is measured with everything.
  const settings = {
    "user.name": "Bench",
    "user.email": "bench@example.invalid",
    "commit.gpgsign": "false",
    "gc.auto": "0",
  };
  for (const [key, value] of Object.entries(settings)) git("config", key, value);
  const roll = dice(7);
  // Text from one long page of words, cut at random places: it compresses like source and is quick
  // to make.
  const page = Array.from(
    { length: 400_000 },
    (_, at) => `${argv[Math.floor(roll() * argv.length)] ?? ""}${at % 9 === 0 ? "\n" : " "}`,
  ).join("");

  const mean = Math.floor(bytes / files);
  for (let at = 0; at < files; at += 1) {
    const path = join(folder, filePath(at));
    if (at % 25 === 0) mkdirSync(dirname(path), { recursive: true });
    const length = Math.min(page.length - 1, Math.floor(mean * (0.5 + roll())));
    const from = Math.floor(roll() * (page.length - length));
    writeFileSync(path, `// file ${at}\n${page.slice(from, from + length)}\n`);
  }

  writeFileSync(join(folder, "check.sh"), "#!/bin/sh\nsleep 0.1\n", { mode: 0o755 });
  writeFileSync(join(folder, ".gitignore"), "node_modules/\n");
  symlinkSync("packages", join(folder, "all"));
  git("add", "-A");
  git("commit", "-q", "-m", "start");
  writeFileSync(join(folder, "NOTES.md"), "notes\n");
  git("add", "-A");
  git("commit", "-q", "-m", "notes");
  git("repack", "-a", "-d", "-q", "--window=0");
}
