// scratch-repository: a git repository in a folder of its own, made for one test and taken away after it.

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";

export type Files = Readonly<Record<string, string>>;

const made: string[] = [];
afterAll(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** A folder that the test file's end takes away. */
export function scratchFolder(name = "autopilot-test-"): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), name)));
  made.push(folder);
  return folder;
}

/** A repository on branch main with these files committed; it lies in `<scratch folder>/repo`, so that beside it there is room. */
export function scratch({ files = { "README.md": "# scratch\n" } }: { readonly files?: Files } = {}): string {
  const folder = join(scratchFolder(), "repo");
  mkdirSync(folder);
  git(folder, "init", "-q", "-b", "main");
  git(folder, "config", "user.name", "Scratch");
  git(folder, "config", "user.email", "scratch@example.invalid");
  git(folder, "config", "commit.gpgsign", "false");
  write(folder, files);
  git(folder, "add", "-A");
  git(folder, "commit", "-q", "-m", "start");
  return folder;
}

export function write(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    if (text.startsWith("#!")) chmodSync(join(folder, path), 0o755);
  }
}

/** What git says, without its last line's end. */
export function git(folder: string, ...words: readonly string[]): string {
  const env = { PATH: process.env["PATH"], HOME: folder, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
  return execFileSync("git", words, { cwd: folder, encoding: "utf8", env, stdio: ["ignore", "pipe", "pipe"] }).trimEnd();
}
