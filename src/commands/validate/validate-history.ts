// validate-history: finds out whether a log was edited, although written lines must stay (rule
// RS5). The file alone cannot show that, but our own journal or git's history can, if they have
// this log.
//
// Invariants:
//   A1. Nothing in the repository is executed: only git plumbing is used, and only for names and
//       bytes (git.ts refuses anything else).
//   A2. A version in history is compared with the beginning of the file by hash; its bytes are
//       fetched only if they differ.
//   A3. Another run's log under the same name isn't an edit: only versions of a run that began at
//       the same time count, by their first line.

import { createHash } from "node:crypto";
import { existsSync, fstatSync, readSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { Entry } from "../../contracts/event.ts";
import type { RunView } from "../../core/state.ts";
import { qualityLogPath } from "../../playbooks/quality/views/quality-names.ts";
import type { QualityLogFacts } from "../../playbooks/quality/views/quality-log-rules.ts";
import { readBlob } from "../../journal/blobs.ts";
import { WorkspaceFailed } from "../../workspace/failure.ts";
import { git } from "../../workspace/git/git.ts";
import { readEntries } from "../../project/runs/read-entries.ts";
import { QualityLogFile } from "../../playbooks/quality/files/quality-log-file.ts";
import { findEarlierLog, buildLog } from "../../playbooks/quality/files/quality-open.ts";
import { findProject, type ProjectPaths, runFolder } from "../../project/runs/project-paths.ts";
import { readRun } from "../../project/runs/read-run.ts";
import { Refusal } from "../../project/respond.ts";
import { readBytes } from "./validate-open.ts";

export type LogEdit = { readonly line: number; readonly message: string };
/** `why`: the reason that edits can't be determined. */
export type EditSearch = { readonly edits: readonly LogEdit[] } | { readonly why: string };

const comparedBytesMax = 16 * 1_048_576;
/** The first line of a log, `_index`, is some hundred bytes long. */
const firstLineBytesMax = 65_536;
const versionsMax = 20;
const gitTimeoutMs = 20_000;

/** The journal decides if it shows an edit, else git's history; `why` if neither knows the log. */
export async function findEdits(
  path: string,
  fd: number,
  facts: QualityLogFacts,
): Promise<EditSearch> {
  if (facts.events === 0) return { why: "there is nothing in it" };
  const byJournal = await compareWithJournal(path, fd, facts);
  if (byJournal !== null && "edits" in byJournal && byJournal.edits.length > 0) return byJournal;
  const byGit = await compareWithGit(path, fd, facts);
  if (byGit !== null && "edits" in byGit) return byGit;

  return (
    byJournal ?? byGit ?? { why: "neither a journal of ours nor git's history knows this log" }
  );
}

/**
 * Compares with what our journal says the log must be; null if the run isn't ours, or this isn't
 * its log.
 */
async function compareWithJournal(
  path: string,
  fd: number,
  { runId }: QualityLogFacts,
): Promise<EditSearch | null> {
  const paths = findProject(dirname(path));
  if (
    paths === null ||
    runId === null ||
    !hasOwnJournal(paths, runId) ||
    join(paths.root, qualityLogPath) !== path
  ) {
    return null;
  }

  if (fstatSync(fd).size > comparedBytesMax) {
    return { why: "it is too long to be held against the journal at once" };
  }

  const ownRun = await readRunWithEntries(paths, runId);
  if (ownRun === null) return { why: `the journal of ${runId} cannot be read` };
  const folder = runFolder(paths, runId);

  const readBlobOrNull = (hash: string): Buffer | null => {
    try {
      return readBlob(folder, hash);
    } catch {
      return null; // the log is compared without it
    }
  };

  const expectedLog = new QualityLogFile(
    paths.root,
    buildLog({ entries: () => ownRun.entries, readBlob: readBlobOrNull }),
    findEarlierLog(ownRun.view.drafted, readBlobOrNull),
  );
  const difference = await expectedLog.findDifference();
  if (difference === null) return { edits: [] };

  return {
    edits: [
      {
        line: difference.line,
        message: `differs from the journal of ${runId}: written lines must not be edited`,
      },
    ],
  };
}

const hasOwnJournal = (paths: ProjectPaths, run: string): boolean =>
  /^run-[\d-]+$/.test(run) && existsSync(join(runFolder(paths, run), "journal.jsonl"));

async function readRunWithEntries(
  paths: ProjectPaths,
  run: string,
): Promise<{ readonly view: RunView; readonly entries: readonly Entry[] } | null> {
  try {
    return {
      view: (await readRun(paths, run)).view,
      entries: (await readEntries(paths, run)).entries,
    };
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

type Version = { readonly commit: string; readonly oid: string; readonly size: number };

async function compareWithGit(
  path: string,
  fd: number,
  facts: QualityLogFacts,
): Promise<EditSearch | null> {
  try {
    const versions = await readVersions(path);
    if (versions.length === 0) return null;
    let hasOwnVersion = false;

    for (const version of versions) {
      const edit = await findEdit(path, fd, version, facts);
      if (edit === "another run") break; // older versions are other runs' too
      if (edit !== null) return { edits: [edit] };
      hasOwnVersion = true;
    }

    return hasOwnVersion
      ? { edits: [] }
      : { why: "what git's history holds under this name is another run's log" };
  } catch (error) {
    if (error instanceof WorkspaceFailed) return null; // no git, no repository, no commit: then there is no history
    throw error;
  }
}

/** The newest commits that changed the file, at most `versionsMax`, and its content in them. */
async function readVersions(path: string): Promise<readonly Version[]> {
  const cwd = dirname(path);
  const gitOptions = { cwd, timeoutMs: gitTimeoutMs, outputBytesMax: 65_536 }; // paths, and a line for each of a few commits
  const location = await git({
    ...gitOptions,
    args: ["rev-parse", "--show-toplevel", "--absolute-git-dir"],
  }); // A1
  const [root = "", gitDir = ""] = location.out.toString("utf8").split("\n");
  const name = relative(root, path);
  if (name.startsWith("..") || /[\n\0]/.test(name)) return [];
  const repositoryOptions = { ...gitOptions, cwd: root, env: { GIT_DIR: gitDir } };
  const commits = await git({
    ...repositoryOptions,
    args: ["rev-list", "-n", String(versionsMax), "HEAD", "--", `:(literal)${name}`],
  });
  const commitIds = commits.out.toString("utf8").split("\n").filter(Boolean);
  if (commitIds.length === 0) return [];
  const input = [Buffer.from(commitIds.map((commit) => `${commit}:${name}\n`).join(""))];
  const blobs = await git({ ...repositoryOptions, args: ["cat-file", "--batch-check"], input });

  return blobs.out
    .toString("utf8")
    .split("\n")
    .flatMap((line, index) => {
      const [oid = "", kind, size] = line.split(" ");
      return kind === "blob" ? [{ commit: commitIds[index] ?? "", oid, size: Number(size) }] : [];
    });
}

/** The first line that differs from an earlier version; null if the file begins with all of it. */
async function findEdit(
  path: string,
  fd: number,
  { commit, oid, size }: Version,
  facts: QualityLogFacts,
): Promise<LogEdit | "another run" | null> {
  if (
    fstatSync(fd).size >= size &&
    hashFirstBytes(fd, size, oid.length === 64 ? "sha256" : "sha1") === oid
  ) {
    return null;
  } // A2

  const oldBytes = await readBlobStart(
    path,
    oid,
    size > comparedBytesMax ? firstLineBytesMax : comparedBytesMax,
  );
  const oldLines = splitLines(oldBytes);
  if (parseStartedAt(oldLines[0] ?? "") !== facts.startedAt) return "another run"; // A3
  if (size > comparedBytesMax) {
    return {
      line: 1,
      message: `does not begin with what commit ${commit.slice(0, 10)} holds under ${basename(path)}`,
    };
  }

  // As many lines may take more bytes now: other line endings, or a line that became longer.
  const currentLines = splitLines(readBytes(fd, Math.max(size * 2, firstLineBytesMax)));
  const line = oldLines.findIndex(
    (text, index) =>
      text !== currentLines[index] && !(index === oldLines.length - 1 && text === ""),
  );
  if (line === -1) return null; // only the line endings differ
  const change = currentLines[line] === undefined ? "is gone" : "was edited";

  return {
    line: line + 1,
    message: `${change} since commit ${commit.slice(0, 10)}; what is written is never edited`,
  };
}

async function readBlobStart(path: string, oid: string, bytesMax: number): Promise<Buffer> {
  const args = ["cat-file", "blob", oid];
  return (
    await git({ cwd: dirname(path), args, timeoutMs: gitTimeoutMs, outputBytesMax: bytesMax })
  ).out;
}

const splitLines = (bytes: Buffer): readonly string[] => bytes.toString("utf8").split(/\r?\n/);

/** When the run of a log began, by its first line: `started_at` of a run, `ts` of a cycle. */
function parseStartedAt(line: string): string | null {
  return (
    /"started_at"\s*:\s*"([^"]*)"/.exec(line)?.[1] ?? /"ts"\s*:\s*"([^"]*)"/.exec(line)?.[1] ?? null
  );
}

/** The object id that git would give to the first bytes of the file. */
function hashFirstBytes(fd: number, size: number, algorithm: "sha1" | "sha256"): string {
  const hash = createHash(algorithm).update(`blob ${size}\0`);
  const chunk = Buffer.allocUnsafeSlow(262_144);

  for (let index = 0; index < size;) {
    const read = readSync(fd, chunk, 0, Math.min(chunk.length, size - index), index);
    if (read === 0) break;
    hash.update(chunk.subarray(0, read));
    index += read;
  }

  return hash.digest("hex");
}
