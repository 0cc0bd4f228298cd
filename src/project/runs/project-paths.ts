// project-paths: finds the repository, its .autopilot folder and the runs in it, and names new
// runs.

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { compareText } from "../../kit/compare-text.ts";
import { readOwnFile, withOwnFile } from "../own-file.ts";
import { ensureFolderBelow } from "../own-folder.ts";
import { refuse } from "../respond.ts";

const newline = 10;
/** `run-2026-03-01-101500`, or `run-2026-03-01-101500-2` for the second one in a second. */
const runPattern = /^run-\d{4}-\d{2}-\d{2}-\d{6}(-\d+)?$/;

/** The repository a command is about, and the folder in it that is ours. */
export type ProjectPaths = { readonly root: string; readonly folder: string };

/**
 * Finds the project without running git, so that `status` stays fast; null outside every
 * repository.
 */
export function findProject(cwd: string): ProjectPaths | null {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) {
      return { root: folder, folder: join(folder, ".autopilot") };
    }

    if (dirname(folder) === folder) return null;
  }
}

/**
 * Finds the project a run would belong to; if there is none git is asked why, because a bare
 * repository has no `.git` to find it by.
 */
export async function requireProject(cwd: string): Promise<ProjectPaths> {
  const paths = findProject(cwd);
  if (paths !== null) return paths;
  const { requireRepository } = await import("./require-repository.ts"); // the fast commands never get here
  const { root } = await requireRepository(cwd);

  return refuse("workspace_unusable", {
    message: `git finds a repository at ${root}, but there is no .git above ${cwd}.`,
  });
}

/**
 * Whether something else is at our folder's path: a file, or a link, which is never followed. Then
 * no run can be here.
 */
export function isFolderBlocked({ folder }: ProjectPaths): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  return stats !== undefined && !stats.isDirectory();
}

/**
 * A folder of ours in the repository, created if missing. A link or a file in its place is refused:
 * a repository may have either.
 */
export function ensureOwnFolder(paths: ProjectPaths, ...names: readonly string[]): string {
  return ensureFolderBelow(dirname(paths.folder), join(basename(paths.folder), ...names));
}

export const runFolder = (paths: ProjectPaths, run: string): string =>
  join(paths.folder, "runs", run);

const chunkBytes = 64 * 1024;
const runsShownMax = 3;

/** A run exists once its journal has a whole line: a draft that a crash cut short never existed. */
export function isBegun(paths: ProjectPaths, run: string): boolean {
  const path = join(runFolder(paths, run), "journal.jsonl");
  if (!runPattern.test(run)) return false;

  const hasLine = withOwnFile(path, (fd) => {
    const bytes = Buffer.alloc(chunkBytes);
    for (let position = 0; ; position += chunkBytes) {
      const bytesRead = readSync(fd, bytes, 0, chunkBytes, position);
      if (bytes.subarray(0, bytesRead).includes(newline)) return true;
      if (bytesRead < chunkBytes) return false;
    }
  });
  return hasLine ?? false;
}

/**
 * Every run begun here, oldest first. `isKnown`: one known to be begun, so that its journal isn't
 * opened again.
 */
export function listRuns(
  paths: ProjectPaths,
  isKnown: (run: string) => boolean = () => false,
): string[] {
  const folder = join(paths.folder, "runs");
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => isKnown(name) || isBegun(paths, name))
    .toSorted(compareByAge);
}

/** By the time in the id, then by the number after it. */
function compareByAge(a: string, b: string): number {
  const [left, right] = [a, b].map((name) => ({
    stem: name.slice(0, stemChars),
    n: Number(name.slice(stemChars + 1) || "1"),
  }));
  if (left === undefined || right === undefined) return 0;
  return compareText(left.stem, right.stem) || left.n - right.n;
}

/** The run a bare command means; null if there is none. */
export function findCurrentRun(paths: ProjectPaths): string | null {
  const path = join(paths.folder, "current");
  const recorded = readOwnFile(path, chunkBytes)?.trim() ?? "";
  if (isBegun(paths, recorded)) return recorded;

  return listRuns(paths).at(-1) ?? null;
}

/** The run a command names, or the current one; refused if it does not exist. */
export function resolveRun(paths: ProjectPaths | null, run: string | undefined): string | null {
  if (run === undefined) return paths === null ? null : findCurrentRun(paths);
  if (paths === null || !isBegun(paths, run)) {
    const runs = paths === null ? [] : listRuns(paths);
    const [newest, more] = [runs.slice(-runsShownMax), runs.length - runsShownMax];
    refuse("run_missing", {
      message: `There is no run ${run} here.`,
      remediation:
        newest.length > 0
          ? [`runs here: ${newest.join(", ")}${more > 0 ? `; ${more} more: autopilot runs` : ""}`]
          : ["autopilot status"],
    });
  }

  return run;
}

export function writeCurrent(paths: ProjectPaths, run: string): void {
  const path = join(ensureOwnFolder(paths), "current");
  const temporary = `${path}.${process.pid}.new`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, `${run}\n`, { mode: 0o600, flag: "wx" }); // an existing name, for example a link, is never written through
  renameSync(temporary, path);
}

const stemChars = "run-YYYY-MM-DD-HHMMSS".length;

/**
 * Claims a new run's id by creating its folder. The id is the run's start in UTC; a second one in
 * the same second gets a number. If the clock was set back, the id still sorts after the newest
 * one. `isTaken`: ids that are taken elsewhere, for example in a shared store.
 */
export function claimRunId(
  paths: ProjectPaths,
  now: string,
  isTaken: (id: string) => boolean = () => false,
): string {
  const [day, time] = now.split("T");
  const started = `run-${day}-${(time ?? "").slice(0, 8).replaceAll(":", "")}`;
  const newest = listRuns(paths).at(-1)?.slice(0, stemChars) ?? started;
  const stem = newest > started ? newest : started; // runs are distinguished by age through their ids
  ensureOwnFolder(paths, "runs");

  for (let n = 1; ; n++) {
    const id = n === 1 ? stem : `${stem}-${n}`;
    if (isTaken(id)) continue;
    try {
      mkdirSync(runFolder(paths, id), { mode: 0o700 }); // creating the folder claims the id
      return id;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}
