// run-binding: records which user on which machine drafted or adopted a run, and checks that a run
// is this user's.
//
// Invariants:
//   B1. Nothing inside a repository can make a run ours. Only a record in the user's state folder
//       can.
//   B2. A record is about one journal file in one repository's folder, by inode numbers and birth
//       time. A copy is another file, in a clone, an archive or a second repository; a repository
//       that is moved or renamed keeps its own.
//   B3. The record has the hash of a line of the journal. A journal that was overwritten in the
//       same file does not have it. The record may lag behind the journal, for example after a
//       crash, but is never ahead of the disk, so no user is locked out of their own run.
//   B4. The run's folder is at its path, with no link on the way, and only its user can open it.

import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  type BigIntStats,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { nodeDisk, replaceFile } from "../../journal/disk.ts";
import { journalFile, type Position } from "../../journal/journal.ts";
import { hasLineAt } from "../../journal/read.ts";
import { findProject, type ProjectPaths, isBegun, runFolder } from "./project-paths.ts";
import type { CommandContext } from "../command-context.ts";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Recorded when the user acknowledges a run: enough to recognise it, and the weakest isolation its
 * journal may ask for.
 */
export type BindingRecord = {
  readonly run: string;
  /** The id of the preview that was shown. */
  readonly ack: string;
  readonly isolation: string;
  /** The journal file's birth time in nanoseconds; 0 if the file system has none. */
  readonly born: string;
  /** The repository folder's inode number. */
  readonly root: string;
  /** The last line when the run was last opened or left; none before that. B3 */
  readonly head?: JournalHead;
};

export type JournalHead = Pick<Position, "seq" | "byte" | "prev">;

export type Binding =
  | { readonly kind: "ours"; readonly record: BindingRecord }
  | { readonly kind: "foreign"; readonly why: string };

/**
 * The user's state folder, as the XDG specification places it. A relative path in the variable is
 * ignored, as it asks.
 */
export function stateFolder(env: Env): string {
  const xdg = env["XDG_STATE_HOME"];
  const base =
    xdg !== undefined && xdg.startsWith("/")
      ? xdg
      : join(env["HOME"] ?? homedir(), ".local", "state");
  return join(base, "autopilot");
}

/**
 * Records that a run is this user's. Durable before it returns: a run without its record is foreign
 * to its own user.
 */
export function bindRun(
  env: Env,
  paths: ProjectPaths,
  folder: string,
  fields: Pick<BindingRecord, "run" | "ack" | "isolation" | "head">,
): void {
  const journal = lstatSync(join(folder, journalFile), { bigint: true });
  const record: BindingRecord = {
    ...fields,
    born: String(journal.birthtimeNs),
    root: readRootInode(paths),
  };

  const path = toRecordPath(env, fields.run, journal);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  replaceFile(
    nodeDisk,
    path,
    `${path}.${process.pid}.new`,
    Buffer.from(`${JSON.stringify(record)}\n`),
  );
}

export type OpenBinding = {
  readonly record: () => BindingRecord;
  readonly update: (fields: Partial<Pick<BindingRecord, "isolation" | "head">>) => void;
  /**
   * Records the journal's last line: once per opening and once at its end, never for each event. B3
   */
  readonly rememberHead: () => void;
};

type OpenBindingParts = {
  readonly env: Env;
  readonly paths: ProjectPaths;
  readonly folder: string;
  readonly record: BindingRecord;
  /** The end of the open journal. */
  readonly position: () => JournalHead;
};

/** Keeps the record of an open run up to date. */
export function openBinding({
  env,
  paths,
  folder,
  record: initial,
  position,
}: OpenBindingParts): OpenBinding {
  let record = initial;
  const update: OpenBinding["update"] = (fields) => {
    record = { ...record, ...fields };
    bindRun(env, paths, folder, record);
  };

  return {
    record: () => record,
    update,
    rememberHead: () => {
      const { seq, byte, prev } = position();
      try {
        if (seq !== record.head?.seq) update({ head: { seq, byte, prev } });
      } catch {
        // The record may lag behind the journal. B3
      }
    },
  };
}

/** Forgets a run that is removed, and its child runs. */
export function unbindRun(env: Env, folder: string, run: string): void {
  const journal = lstatSync(join(folder, journalFile), { bigint: true, throwIfNoEntry: false });
  if (journal !== undefined) rmSync(toRecordPath(env, run, journal), { force: true });
  const children = join(folder, "children");
  if (lstatSync(children, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  for (const child of readdirSync(children)) unbindRun(env, join(children, child), child);
}

/** Determines whose a run is, without running git or opening its journal. */
export function findBinding(env: Env, paths: ProjectPaths, folder: string, run: string): Binding {
  const unsafe = whyUnusable(env, paths, folder) ?? whyOpenToOthers(paths, folder);
  if (unsafe !== null) return { kind: "foreign", why: unsafe };
  const journal = lstatSync(join(folder, journalFile), { bigint: true, throwIfNoEntry: false });
  if (journal === undefined) return { kind: "foreign", why: "it has no journal" };
  const record = readRecord(toRecordPath(env, run, journal));
  const isSame =
    record?.run === run &&
    record.born === String(journal.birthtimeNs) &&
    record.root === readRootInode(paths); // B2

  return isSame ? { kind: "ours", record } : { kind: "foreign", why: "you didn't start it here" };
}

/**
 * Why a valid journal isn't the one this user left, although it is in its file; null if it is. B3
 */
export const whyOverwritten = (folder: string, { head }: BindingRecord): string | null =>
  head === undefined || hasLineAt(folder, head)
    ? null
    : `its journal isn't the one you left: line ${head.seq} is missing or another one`;

/** Every response about another user's run says so first, from every command. */
export function markForeign(
  context: Pick<CommandContext, "cwd" | "env">,
  response: CommandResponse,
): CommandResponse {
  const { run_id: run, reason_code } = response;
  const paths =
    run === null || reason_code === "run_foreign" || reason_code === "journal_damaged"
      ? null
      : findProject(context.cwd);
  const why =
    paths === null || run === null || !isBegun(paths, run) ? null : whyForeign(context, paths, run);
  if (why === null) return response;
  const warning = `${run} isn't yours: ${why}. It is only read here; autopilot adopt ${run} takes it over.`;

  return {
    ...response,
    warnings: [warning, ...response.warnings],
    data: { ...response.data, foreign: true },
  };
}

/** Null if a run is its user's. Reads the end of the journal they left; nothing is executed. */
export function whyForeign(
  context: Pick<CommandContext, "env">,
  paths: ProjectPaths,
  run: string,
): string | null {
  const folder = runFolder(paths, run);
  const binding = findBinding(context.env, paths, folder, run);
  return binding.kind === "foreign" ? binding.why : whyOverwritten(folder, binding.record);
}

/** Whether a run may be chosen if none is named. */
export const isOwnRun = (
  context: Pick<CommandContext, "env">,
  paths: ProjectPaths,
  run: string,
): boolean => findBinding(context.env, paths, runFolder(paths, run), run).kind === "ours";

/** Why a run cannot belong to anyone here; null if it can. Adopting it does not help. */
export function whyUnusable(env: Env, paths: ProjectPaths, folder: string): string | null {
  return whyFilesUnsafe(paths, folder) ?? whyStateUnsafe(env, paths);
}

/** B4: whether others can open the folder. */
function whyOpenToOthers({ root }: ProjectPaths, folder: string): string | null {
  const { mode } = lstatSync(folder, { bigint: true });
  return (mode & 0o077n) === 0n ? null : `others can open its folder ${relative(root, folder)}`;
}

function whyFilesUnsafe({ root }: ProjectPaths, folder: string): string | null {
  const parts = relative(root, folder).split(sep);
  let path = root;

  for (const part of parts) {
    path = join(path, part);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory() !== true) {
      return `${relative(root, path)} is ${stats?.isSymbolicLink() === true ? "a link" : "not a folder"}`;
    } // B4
  }

  const stats = lstatSync(folder, { bigint: true });
  const journal = lstatSync(join(folder, journalFile), { bigint: true, throwIfNoEntry: false });
  if (!isUsersOwn(stats) || (journal !== undefined && !isUsersOwn(journal))) {
    return "its files belong to another user";
  }

  if (journal !== undefined && (!journal.isFile() || journal.nlink !== 1n)) {
    return "its journal is not a file of its own";
  }

  return null;
}

/** A state folder inside the repository, or one that others can write to, is not trusted. */
function whyStateUnsafe(env: Env, { root }: ProjectPaths): string | null {
  const folder = join(stateFolder(env), "runs");
  const stats = lstatSync(folder, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return null;
  if (!stats.isDirectory() || !isUsersOwn(stats) || (stats.mode & 0o022n) !== 0n) {
    return `others can write to ${folder}`;
  }

  return `${realpathSync(folder)}${sep}`.startsWith(`${realpathSync(root)}${sep}`)
    ? `your state folder ${folder} lies inside this repository; set XDG_STATE_HOME to a folder outside it`
    : null;
}

const isUsersOwn = ({ uid }: BigIntStats): boolean =>
  process.getuid === undefined || uid === BigInt(process.getuid());

const readRootInode = ({ root }: ProjectPaths): string =>
  String(statSync(root, { bigint: true }).ino);

const toRecordPath = (env: Env, run: string, { ino }: BigIntStats): string =>
  join(stateFolder(env), "runs", `${run}.${ino}.json`);

function readRecord(path: string): BindingRecord | null {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats?.isFile() !== true || !isUsersOwn(stats) || (stats.mode & 0o022n) !== 0n) return null;
  try {
    const { run, ack, isolation, born, root, head } = JSON.parse(
      readFileSync(path, "utf8"),
    ) as Partial<BindingRecord>;
    if (
      run === undefined ||
      ack === undefined ||
      isolation === undefined ||
      born === undefined ||
      root === undefined
    ) {
      return null;
    }

    return { run, ack, isolation, born, root, ...(head === undefined ? {} : { head }) };
  } catch {
    return null; // a damaged record counts as none
  }
}
