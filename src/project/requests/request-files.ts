// request-files: stores requests as files in the run's folder. A request exists once its final name
// does: it is written to a temporary file, synced, renamed, and the folder is synced.
//
// Invariants:
//   I1. A request file is complete or absent, whenever the power goes.
//   I2. Only regular files of bounded size are read, never through a link; anything else of a
//       request's name goes to `bad/` with a reason, or is deleted if too much is there.
//   I3. Only the user can read or write here.

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { chmod, lstat, mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { erase } from "../../workspace/folder.ts";
import { join } from "node:path";
import * as v from "valibot";
import { eventSchemas } from "../../contracts/event.ts";
import type { RunRequest } from "../../ports/request-queue.ts";
import { sha256 } from "../sha256.ts";

export const requestBytesMax = 256 * 1024;
const pendingMax = 1_000;
const badMax = 200;
const temporaryPrefix = ".aside-";
const temporaryAgeMs = 60 * 60_000;

const RequestKey = v.looseObject({
  event: v.picklist([
    "control_requested",
    "limit_raised",
    "review_noted",
    "block_answered",
    "run_resumed",
  ]),
  request: v.pipe(
    v.string(),
    v.regex(
      /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/,
      "expected a request id: letters, digits, . _ : -",
    ),
  ),
});
/** Schemas of the requests: each is an event without the fields that the run's owner adds. */
const requestSchemas = {
  control_requested: v.omit(eventSchemas.control_requested, ["reason_code"]),
  limit_raised: v.omit(eventSchemas.limit_raised, ["reason_code"]),
  review_noted: v.omit(eventSchemas.review_noted, ["reason_code"]),
  block_answered: v.omit(eventSchemas.block_answered, ["reason_code"]),
  run_resumed: v.omit(eventSchemas.run_resumed, ["reason_code", "from_state", "to_state"]),
} as const;

/** The folder is called `inbox` on disk, so that a request reaches an owner of another version. */
export const requestFolder = (runDir: string): string => join(runDir, "inbox");

/**
 * Creates the folder if missing. A link or a file in its place is refused, because it would send
 * requests elsewhere.
 */
export async function ensureRequestFolder(runDir: string): Promise<string> {
  const folder = requestFolder(runDir);
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });

  const stat = await lstat(folder);
  if (!stat.isDirectory()) throw new Error(`${folder} is not a folder; move it away`);
  if ((stat.mode & 0o077) !== 0) await chmod(folder, 0o700); // I3: a backup that was restored may have opened it to others

  return folder;
}

/**
 * Writes a request to a file of its own; when this returns, it survives a power cut. Returns its
 * path.
 */
export async function writeRequest(runDir: string, request: RunRequest): Promise<string> {
  const text = `${JSON.stringify(request)}\n`;
  const problem = findRequestProblem(text);
  if (problem !== null) throw new Error(`this is no request: ${problem}`);
  const folder = await ensureRequestFolder(runDir);
  const temporary = join(folder, `${temporaryPrefix}${randomBytes(8).toString("hex")}`);
  const path = join(folder, `${createTimestamp()}-${toFileNameKey(request.request)}.json`);
  const file = await open(temporary, "wx", 0o600); // I3

  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }

  await rename(temporary, path); // I1
  await syncFolder(folder);
  return path;
}

/**
 * Reads the oldest requests, in order; the rest is read once those are removed. One that was sent
 * twice counts once. Moves other files to `bad/`.
 */
export async function readRequests(runDir: string): Promise<readonly RunRequest[]> {
  const folder = await ensureRequestFolder(runDir);
  const requests = new Map<string, RunRequest>();

  for (const name of (await readRequestNames(folder)).slice(0, pendingMax)) {
    const request = await readRequest(join(folder, name));
    if (request === null) continue;
    if (typeof request === "string") await moveToBad(folder, name, request);
    else if (!requests.has(request.request)) requests.set(request.request, request);
  }

  return [...requests.values()];
}

/**
 * Removes every file of a request. Not synced: one that comes back after a power cut is recognised
 * by its key.
 */
export async function removeRequest(runDir: string, request: string): Promise<void> {
  const folder = requestFolder(runDir);
  for (const name of await readRequestNames(folder)) {
    if (name.endsWith(`-${toFileNameKey(request)}.json`)) {
      await rm(join(folder, name), { force: true });
    }
  }
}

/**
 * Removes temporary files of senders that died before the rename. A living sender renames its file
 * long before an hour has passed.
 */
export async function clearTemporaryFiles(runDir: string, nowMs: number): Promise<void> {
  const folder = await ensureRequestFolder(runDir);
  for (const name of await readdir(folder)) {
    if (!name.startsWith(temporaryPrefix)) continue;
    const path = join(folder, name);
    const stat = await lstat(path).catch(() => null);
    if (stat !== null && nowMs - stat.mtimeMs > temporaryAgeMs) await rm(path, { force: true });
  }
}

/** Names of the request files, oldest first: a name begins with the time it was sent at. */
export async function readRequestNames(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return names.filter((name) => name.endsWith(".json") && !name.startsWith(".")).sort();
}

/** The request in a file, a message why it isn't one, or null if the file has gone meanwhile. */
async function readRequest(path: string): Promise<RunRequest | string | null> {
  const stat = await lstat(path).catch(() => null);
  if (stat === null) return null;
  if (!stat.isFile()) return stat.isSymbolicLink() ? "it is a link" : "it is not a regular file"; // I2
  const file = await open(
    path,
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  ).catch((error: NodeJS.ErrnoException) => error);
  if (file instanceof Error) {
    return file.code === "ENOENT" ? null : `it cannot be opened: ${file.message}`;
  }

  try {
    const bytes = Buffer.alloc(requestBytesMax + 1);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    if (bytesRead > requestBytesMax) return `it is larger than ${requestBytesMax} bytes`; // I2
    const text = bytes.toString("utf8", 0, bytesRead);
    const problem = findRequestProblem(text);
    if (problem !== null) return problem;
    const request = JSON.parse(text) as RunRequest;

    // The name contains the key by which it is removed; a file without it could never be removed.
    return path.endsWith(`-${toFileNameKey(request.request)}.json`)
      ? request
      : "its name does not carry its request id";
  } finally {
    await file.close();
  }
}

/** Why a text isn't a request, or null. */
export function findRequestProblem(text: string): string | null {
  if (Buffer.byteLength(text) > requestBytesMax) {
    return `it is larger than ${requestBytesMax} bytes`;
  }

  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "it is not JSON";
  }

  const key = v.safeParse(RequestKey, value);
  const issue = key.success
    ? v.safeParse(requestSchemas[key.output.event], value).issues?.[0]
    : key.issues[0];
  return issue === undefined ? null : `${v.getDotPath(issue) ?? "it"}: ${issue.message}`;
}

/**
 * I2. A file that isn't a request is kept for a person to inspect, up to a number; the rest is
 * deleted.
 */
async function moveToBad(folder: string, name: string, reason: string): Promise<void> {
  const bad = join(folder, "bad");
  await mkdir(bad, { mode: 0o700 }).catch(() => undefined);
  const stat = await lstat(bad).catch(() => null);
  const hasRoom = stat?.isDirectory() === true && (await readdir(bad)).length < badMax * 2; // a file and its reason each
  if (!hasRoom) return erase(join(folder, name));
  await rename(join(folder, name), join(bad, name)).catch(() => erase(join(folder, name)));
  await writeFile(join(bad, `${name}.reason`), `${reason}\n`, { mode: 0o600, flag: "wx" }).catch(
    () => undefined,
  );
}

/**
 * A request's key as part of a file name: unchanged if every file system allows it (`pause-3f2a`),
 * else its hash (`h9c56…`).
 */
function toFileNameKey(request: string): string {
  return /^[a-z0-9][a-z0-9-]{0,63}$/.test(request) ? request : `h${sha256(request).slice(0, 32)}`;
}

let lastTimestampMs = 0;
/**
 * Milliseconds since 1970, padded with zeros. Each call returns a later one, so requests of one
 * process sort in the order they were sent.
 */
function createTimestamp(): string {
  lastTimestampMs = Math.max(Date.now(), lastTimestampMs + 1);
  return String(lastTimestampMs).padStart(15, "0");
}

async function syncFolder(folder: string): Promise<void> {
  const file = await open(folder, constants.O_RDONLY);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
