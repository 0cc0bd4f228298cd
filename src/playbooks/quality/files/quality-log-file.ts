// quality-log-file: writes `quality/run_state.jsonl`, after comparing the file on disk with what the journal yields.
//
// Invariants:
//   L1. The file is a prefix of what the journal yields, or it is left alone and reported.
//   L2. A log is only appended to. A finished one is moved to history and never overwritten, not even there.
//   L3. A line that a crash left incomplete is completed: bytes are compared, not lines.

import { createHash } from "node:crypto";
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { runStatePath } from "../views/run-state-names.ts";
import type { RunStateLog } from "../views/run-state.ts";
import type { Volume } from "../views/run-state-volume.ts";
import { appendToFile, moveFile, readBounded, writeWholeFile } from "../../contract/whole-file.ts";

const logBytesMax = 256 * 1024 * 1024;

/** The log that existed when the run was drafted: its length, its hash, and its text if this run continues it. */
export type EarlierLog = { readonly bytes: number; readonly hash: string; readonly text: string | null };
/** The first line of the file that is not what the journal yields. */
export type LogDifference = { readonly line: number; readonly actual: string };

type Comparison = { readonly matchedBytes: number } | { readonly difference: LogDifference };

export class QualityLogFile {
  readonly #root: string;
  readonly #log: RunStateLog;
  readonly #earlier: EarlierLog | null;
  #archivedCount = 0;
  /** The volume written last and its size then. While the file keeps that size, no other process has written to it. */
  #lastWrite: { readonly volume: Volume; readonly bytes: number } | null = null;

  constructor(root: string, log: RunStateLog, earlier: EarlierLog | null) {
    this.#root = root;
    this.#log = log;
    this.#earlier = earlier;
  }

  /** Null if the file may be appended to. Reads only. */
  async findDifference(): Promise<LogDifference | null> {
    const volume = this.#log.volumes.at(-1);
    if (volume === undefined || this.#isUnchanged(volume)) return null;
    const bytes = await this.#read();
    if (bytes === null || "line" in bytes) return bytes;
    for (const candidate of this.#log.volumes.slice(this.#archivedCount).toReversed()) {
      const comparison = this.#compare(bytes, candidate);
      if ("matchedBytes" in comparison) return null;
      if (candidate === this.#log.volumes[0] && candidate.archive !== null && candidate.lines.length === 0) return null; // it will be moved to history unchanged
    }
    const comparison = this.#compare(bytes, volume);
    return "difference" in comparison ? comparison.difference : null;
  }

  /** Moves finished volumes to history and appends new lines. Only to be called if there is no difference. */
  async write(): Promise<void> {
    const { volumes } = this.#log;
    while (this.#archivedCount < volumes.length - 1) {
      const volume = volumes[this.#archivedCount];
      if (volume !== undefined) await this.#archive(volume);
      this.#archivedCount++;
      this.#lastWrite = null;
    }
    const volume = volumes.at(-1);
    if (volume !== undefined) await this.#append(volume);
  }

  async #archive(volume: Volume): Promise<void> {
    const target = volume.archive;
    if (target === null || readSize(this.#root, target) !== null) return; // L2: already moved
    const bytes = await this.#read();
    if (bytes !== null && "line" in bytes) return;
    const newest = this.#log.volumes.at(-1);
    // The new log exists already: the old one was moved before, and a user may have deleted it from history.
    if (bytes !== null && bytes.length > 0 && newest !== undefined && "matchedBytes" in this.#compare(bytes, newest)) return;
    if (volume.lines.length === 0 && volume.earlier === null) return void (await moveFile(this.#root, runStatePath, target));
    if (bytes === null) return writeWholeFile(this.#root, target, this.#allBytes(volume));
    await this.#append(volume);
    await moveFile(this.#root, runStatePath, target);
  }

  async #append(volume: Volume): Promise<void> {
    const ownBytes = this.#ownBytes(volume);
    const earlierBytes = this.#earlierPart(volume)?.bytes ?? 0;
    if (!this.#isUnchanged(volume)) {
      const bytes = await this.#read();
      if (bytes !== null && "line" in bytes) return;
      if (bytes === null) {
        await writeWholeFile(this.#root, runStatePath, this.#allBytes(volume));
        this.#lastWrite = { volume, bytes: earlierBytes + ownBytes.length };
        return;
      }
      const comparison = this.#compare(bytes, volume);
      if ("difference" in comparison) return; // L1
      this.#lastWrite = { volume, bytes: earlierBytes + comparison.matchedBytes };
    }
    const position = (this.#lastWrite?.bytes ?? 0) - earlierBytes;
    if (position >= ownBytes.length) return;
    await appendToFile(this.#root, runStatePath, ownBytes.subarray(position).toString("utf8"));
    this.#lastWrite = { volume, bytes: earlierBytes + ownBytes.length };
  }

  #isUnchanged(volume: Volume): boolean {
    return this.#lastWrite?.volume === volume && readSize(this.#root, runStatePath) === this.#lastWrite.bytes;
  }

  #earlierPart(volume: Volume): EarlierLog | null {
    return volume.earlier === null ? null : this.#earlier;
  }

  /** The lines of this run as bytes. They start with a line break if the earlier log does not end with one. */
  #ownBytes(volume: Volume): Buffer {
    if (volume.lines.length === 0) return Buffer.alloc(0);
    const text = this.#earlierPart(volume)?.text ?? "";
    return Buffer.from(`${text === "" || text.endsWith("\n") ? "" : "\n"}${volume.lines.join("\n")}\n`);
  }

  #allBytes(volume: Volume): Buffer {
    return Buffer.concat([Buffer.from(this.#earlierPart(volume)?.text ?? ""), this.#ownBytes(volume)]);
  }

  #compare(bytes: Buffer, volume: Volume): Comparison {
    const base = this.#earlierPart(volume);
    const earlierBytes = base?.bytes ?? 0;
    const ownBytes = this.#ownBytes(volume);
    if (base !== null && hashOf(bytes.subarray(0, earlierBytes)) !== base.hash)
      return { difference: { line: 1, actual: "another log than the one the run was drafted with" } };
    const writtenBytes = bytes.subarray(earlierBytes);
    if (writtenBytes.length <= ownBytes.length && ownBytes.subarray(0, writtenBytes.length).equals(writtenBytes))
      return { matchedBytes: writtenBytes.length }; // L3
    return { difference: findFirstDifference(bytes, earlierBytes, ownBytes) };
  }

  async #read(): Promise<Buffer | LogDifference | null> {
    const file = await readBounded(this.#root, runStatePath, logBytesMax);
    if (file.kind === "absent") return null;
    return file.kind === "read" ? file.bytes : { line: 1, actual: `something that ${file.why}` };
  }
}

export const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const lineCharsMax = 200;

function findFirstDifference(bytes: Buffer, earlierBytes: number, ownBytes: Buffer): LogDifference {
  let position = earlierBytes;
  while (position < bytes.length && bytes[position] === ownBytes[position - earlierBytes]) position++;
  const start = bytes.lastIndexOf(10, position - 1) + 1;
  const end = bytes.indexOf(10, start);
  let line = 1;
  for (let lineEnd = bytes.indexOf(10); lineEnd !== -1 && lineEnd < start; lineEnd = bytes.indexOf(10, lineEnd + 1)) line++;
  return { line, actual: bytes.toString("utf8", start, Math.min(end === -1 ? bytes.length : end, start + lineCharsMax)) };
}

/** Null if there isn't a regular file. */
function readSize(root: string, path: string): number | null {
  const stats = lstatSync(join(root, path), { throwIfNoEntry: false });
  return stats?.isFile() === true ? stats.size : null;
}
