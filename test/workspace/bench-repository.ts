// bench-repository: a throw-away repository with a workspace on it, and a fingerprint of everything
// the runner must not touch.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Workspace } from "../../src/ports/workspace.ts";
import { addIgnoreLines } from "../../src/workspace/owned-paths.ts";
import { openRepository, type SurveyedRepository } from "../../src/workspace/git/repository.ts";
import type { WorkspaceOptions } from "../../src/workspace/open-run-workspace.ts";
import { openWorkspace } from "../../src/workspace/workspace.ts";
import { scratchFolder } from "../support/scratch-repository.ts";

export const runId = "run-2026-01-02-030405";
export const attempt = "1@1/execute#1";

export const makeRoom = (): string => scratchFolder("autopilot-ws-");

const env = {
  PATH: process.env["PATH"] ?? "",
  HOME: "/nonexistent",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "user",
  GIT_AUTHOR_EMAIL: "user@example.org",
  GIT_COMMITTER_NAME: "user",
  GIT_COMMITTER_EMAIL: "user@example.org",
};

/** Plain git, as a user would run it. */
export const git = (cwd: string, ...args: string[]): string =>
  execFileSync("git", args, {
    cwd,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).replace(/\n$/, "");

export function write(root: string, path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  chmodSync(join(root, path), mode);
}

export const startingFiles = {
  "README.md": "hello\n",
  "src/a.ts": "export const a = 1;\n",
  "src/b.ts": "export const b = 2;\n",
  "docs/guide.md": "guide\n",
  ".gitignore": "node_modules/\n*.log\nbuild/\n",
};

/** What was made twice is kept, and copied from then on. */
const kept = new Map<string, string | null>();

export function makeRepository(
  root: string,
  files: Readonly<Record<string, string>> = startingFiles,
  ...init: string[]
): string {
  mkdirSync(root, { recursive: true });
  const key = JSON.stringify([files, init]);
  const made = kept.get(key);
  if (typeof made === "string" && existsSync(made)) {
    cpSync(made, root, { recursive: true });
    return root;
  }

  git(root, "init", "-q", "-b", "main", "--template=", ...init);
  for (const name of ["hooks", "info"]) mkdirSync(join(root, ".git", name)); // a template brings them
  for (const [path, text] of Object.entries(files)) write(root, path, text);
  git(root, "add", "-A");
  git(root, "commit", "-q", "-m", "start");

  if (made === undefined) {
    kept.set(key, null);
  } else {
    const copy = join(scratchFolder(), "kept");
    cpSync(root, copy, { recursive: true });
    kept.set(key, copy);
  }

  return root;
}

export type Bench = {
  readonly root: string;
  readonly runDir: string;
  readonly repository: SurveyedRepository;
  readonly workspace: Workspace;
};

export async function openBench(
  options: Partial<WorkspaceOptions> & { readonly root?: string } = {},
): Promise<Bench> {
  const root = options.root ?? makeRepository(join(makeRoom(), "repo"));
  const opened = await openRepository(root);
  if ("failure" in opened) throw new Error(opened.failure.detail);
  const { repository } = opened;
  await addIgnoreLines(repository.commonDir);
  const runDir = join(repository.root, ".autopilot", "runs", runId);
  mkdirSync(runDir, { recursive: true });
  const base = { branch: repository.branch, commit: repository.head.commit };

  const workspace = await openWorkspace({
    runDir,
    runId,
    base,
    scope: ["**"],
    ownedPaths: [],
    repository,
    ...options,
  });

  return { root: repository.root, runDir, repository, workspace };
}

/**
 * Everything of the user's that must not change: files, modes, links, index, HEAD, config, hooks,
 * refs other than the run's.
 */
export function fingerprint(root: string): string {
  const hash = createHash("sha256");
  const visit = (path: string): void => {
    for (const name of readdirSync(path).sort()) {
      const full = join(path, name);
      const place = full.slice(root.length + 1);
      if (
        [".autopilot", ".git/objects", ".git/logs", ".git/refs/heads/autopilot"].includes(place)
      ) {
        continue;
      }

      const stat = lstatSync(full);
      if (stat.isDirectory() && place.startsWith(".git/refs")) {
        visit(full);
        continue; // which folders there are for them says nothing
      }

      hash.update(`${place}\0${stat.mode}\0`);
      if (stat.isDirectory()) visit(full);
      else hash.update(stat.isSymbolicLink() ? readlinkSync(full) : readFileSync(full));
    }
  };
  visit(root);
  if (lstatSync(join(root, ".git")).isDirectory()) return hash.digest("hex");
  const refs = git(root, "for-each-ref", "--format=%(refname) %(objectname)")
    .split("\n")
    .filter((line) => !line.startsWith("refs/heads/autopilot/"));
  hash.update(refs.join("\n"));

  return hash.digest("hex");
}

export function runRef(root: string): string {
  return hasRunRef(root)
    ? readFileSync(join(root, ".git", "refs", "heads", "autopilot", runId), "utf8").trim()
    : git(root, "rev-parse", `autopilot/${runId}`);
}
export const hasRunRef = (root: string): boolean =>
  existsSync(join(root, ".git", "refs", "heads", "autopilot", runId));
/** Every path of a commit with its mode. */
export const pathsIn = (root: string, commit: string): string[] =>
  git(root, "ls-tree", "-r", "-z", commit)
    .split("\0")
    .filter((row) => row !== "")
    .map((row) => `${row.slice(0, 6)} ${row.split("\t")[1] ?? ""}`);

/** Finds nothing wrong with any merge. */
export const mergePasses = (): Promise<null> => Promise.resolve(null);
