// scratch-repository: a git repository in its own folder, made for one test and taken away after
// it.

import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterFile } from "./after-file.ts";

export type Files = Readonly<Record<string, string>>;

/** A folder that the test file's end takes away. */
export function scratchFolder(name = "autopilot-test-"): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), name)));
  afterFile(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/**
 * A repository on branch main with these files committed; it is in `<scratch folder>/repo`, so that
 * beside it there is room.
 */
export function scratch({
  files = { "README.md": "# scratch\n" },
}: { readonly files?: Files } = {}): string {
  const folder = join(scratchFolder(), "repo");
  cpSync(prepared(), folder, { recursive: true });
  write(folder, files);
  // One start from this process, which has much to copy for each.
  run(folder, "sh", "-c", "git add -A && git -c maintenance.auto=false commit -q -m start");
  return folder;
}

let empty: string | null = null;

/** A repository without a commit, made once in this process and copied. */
function prepared(): string {
  if (empty !== null && existsSync(empty)) return empty;
  const folder = join(scratchFolder(), "empty");
  mkdirSync(folder);
  git(folder, "init", "-q", "-b", "main", "--template=");
  const settings =
    "[user]\n\tname = Scratch\n\temail = scratch@example.invalid\n[commit]\n\tgpgsign = false\n";
  appendFileSync(join(folder, ".git", "config"), settings);
  for (const name of ["hooks", "info"]) mkdirSync(join(folder, ".git", name)); // a template brings them

  return (empty = folder);
}

export function write(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    if (text.startsWith("#!")) chmodSync(join(folder, path), 0o755);
  }
}

/**
 * For a story that isn't about proof: its user has each check run once, with no experiment after a
 * pass. Checks take most of a run's computing otherwise. A user whose settings the story has
 * written keeps them.
 */
export function checkedOnce(folder: string): string {
  const settings = join(dirname(folder), "home/.config/autopilot");
  if (!existsSync(join(settings, "config.yaml"))) {
    write(settings, { "config.yaml": "checks: { repeat: 1, canary: off }\n" });
  }

  return folder;
}

/** `scratch` for such stories. */
export const scratchCheckedOnce = (made?: Parameters<typeof scratch>[0]): string =>
  checkedOnce(scratch(made));

/** What git says, without its last line's end. */
export const git = (folder: string, ...args: readonly string[]): string =>
  run(folder, "git", ...args);

function run(folder: string, program: string, ...args: readonly string[]): string {
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
  };

  return execFileSync(program, args, {
    cwd: folder,
    encoding: "utf8",
    env,
    stdio: ["ignore", "pipe", "pipe"],
  }).trimEnd();
}
