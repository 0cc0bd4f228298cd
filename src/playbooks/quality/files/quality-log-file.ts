// quality-log-file: writes `quality/run_state.jsonl`, after comparing the file on disk with what
// the journal yields.
//
// Invariants:
//   L1. The file is a prefix of what the journal yields, or it is left alone and reported.
//   L2. A log is only appended to. A finished one is moved to history and never overwritten, not
//       even there.
//   L3. A line that a crash left incomplete is completed: bytes are compared, not lines.
// A volume is one log file of the run: a run has several if phases are repeated
// (quality-log-volume.ts).

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { qualityLogPath } from "../views/quality-names.ts";
import type { QualityLog } from "../views/quality-log.ts";
import type { Volume } from "../views/quality-log-volume.ts";
import { appendToFile, moveFile, readBounded, writeWholeFile } from "../../contract/whole-file.ts";
import { sha256 } from "../../../project/sha256.ts";

const logBytesMax = 256 * 1024 * 1024;
const newline = 0x0a;

/**
 * The log that existed when the run was drafted: its length, its hash, and its text if this run
 * continues it.
 */
export type EarlierLog = {
  readonly bytes: number;
  readonly hash: string;
  readonly text: string | null;
};
/** The first line of the file that is not what the journal yields. */
export type LogDifference = { readonly line: number; readonly actual: string };

type Comparison = { readonly matchedBytes: number } | { readonly difference: LogDifference };

export class QualityLogFile {
  readonly #root: string;
  readonly #log: QualityLog;
  readonly #earlier: EarlierLog | null;
  #archivedCount = 0;
  /**
   * The volume written last and its size then. While the file keeps that size, no other process has
   * written to it.
   */
  #lastWrite: { readonly volume: Volume; readonly bytes: number } | null = null;

  constructor(root: string, log: QualityLog, earlier: EarlierLog | null) {
    this.#root = root;
    this.#log = log;
    this.#earlier = earlier;
  }

  /** Null if the file may be appended to. Reads only. */
  async findDifference(): Promise<LogDifference | null> {
    const currentVolume = this.#log.volumes.at(-1);
    if (currentVolume === undefined || this.#isUnchanged(currentVolume)) return null;
    const bytes = await this.#read();
    if (bytes === null || "line" in bytes) return bytes;
    // The file may still be an older volume, if the last process ended before it moved that one to
    // history.
    for (const volume of this.#log.volumes.slice(this.#archivedCount).toReversed()) {
      if ("matchedBytes" in this.#compare(bytes, volume)) return null;
      const isForeignLog =
        volume === this.#log.volumes[0] && volume.archive !== null && volume.lines.length === 0;
      if (isForeignLog) return null; // it will be moved to history unchanged
    }

    const comparison = this.#compare(bytes, currentVolume);
    return "difference" in comparison ? comparison.difference : null;
  }

  /**
   * Moves finished volumes to history and appends new lines. Only to be called if there is no
   * difference.
   */
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
    const currentVolume = this.#log.volumes.at(-1);
    // The new log exists already: the old one was moved before, and a user may have deleted it from
    // history.
    if (
      bytes !== null &&
      bytes.length > 0 &&
      currentVolume !== undefined &&
      "matchedBytes" in this.#compare(bytes, currentVolume)
    ) {
      return;
    }

    const isForeignLog = volume.lines.length === 0 && volume.earlier === null;
    if (!isForeignLog && bytes === null) {
      return writeWholeFile(this.#root, target, this.#allBytes(volume));
    }

    if (!isForeignLog) await this.#append(volume);
    await moveFile(this.#root, qualityLogPath, target);
  }

  /** Writes the lines of a volume that are not in the file yet; the whole file if there is none. */
  async #append(volume: Volume): Promise<void> {
    const ownBytes = this.#ownBytes(volume);
    const earlierBytes = this.#earlierPart(volume)?.bytes ?? 0;

    if (!this.#isUnchanged(volume)) {
      const bytes = await this.#read();
      if (bytes !== null && "line" in bytes) return;
      if (bytes === null) {
        await writeWholeFile(this.#root, qualityLogPath, this.#allBytes(volume));
        this.#lastWrite = { volume, bytes: earlierBytes + ownBytes.length };
        return;
      }

      const comparison = this.#compare(bytes, volume);
      if ("difference" in comparison) return; // L1
      this.#lastWrite = { volume, bytes: earlierBytes + comparison.matchedBytes };
    }

    const position = (this.#lastWrite?.bytes ?? 0) - earlierBytes;
    if (position >= ownBytes.length) return;
    await appendToFile(this.#root, qualityLogPath, ownBytes.subarray(position).toString("utf8"));
    this.#lastWrite = { volume, bytes: earlierBytes + ownBytes.length };
  }

  #isUnchanged(volume: Volume): boolean {
    return (
      this.#lastWrite?.volume === volume &&
      readSize(this.#root, qualityLogPath) === this.#lastWrite.bytes
    );
  }

  /** The log of another run that this volume continues. */
  #earlierPart(volume: Volume): EarlierLog | null {
    return volume.earlier === null ? null : this.#earlier;
  }

  /**
   * The lines of this run as bytes. They start with a line break if the earlier log does not end
   * with one.
   */
  #ownBytes(volume: Volume): Buffer {
    if (volume.lines.length === 0) return Buffer.alloc(0);
    const earlierText = this.#earlierPart(volume)?.text ?? "";
    const separator = earlierText === "" || earlierText.endsWith("\n") ? "" : "\n";

    return Buffer.from(`${separator}${volume.lines.join("\n")}\n`);
  }

  #allBytes(volume: Volume): Buffer {
    return Buffer.concat([
      Buffer.from(this.#earlierPart(volume)?.text ?? ""),
      this.#ownBytes(volume),
    ]);
  }

  #compare(bytes: Buffer, volume: Volume): Comparison {
    const earlierLog = this.#earlierPart(volume);
    const earlierBytes = earlierLog?.bytes ?? 0;
    const ownBytes = this.#ownBytes(volume);

    if (earlierLog !== null && sha256(bytes.subarray(0, earlierBytes)) !== earlierLog.hash) {
      return {
        difference: { line: 1, actual: "another log than the one the run was drafted with" },
      };
    }

    const writtenBytes = bytes.subarray(earlierBytes);
    if (
      writtenBytes.length <= ownBytes.length &&
      ownBytes.subarray(0, writtenBytes.length).equals(writtenBytes)
    ) {
      return { matchedBytes: writtenBytes.length };
    } // L3

    return { difference: findFirstDifference(bytes, earlierBytes, ownBytes) };
  }

  /** The file's bytes; a difference if something else is in its place; null if nothing is there. */
  async #read(): Promise<Buffer | LogDifference | null> {
    const file = await readBounded(this.#root, qualityLogPath, logBytesMax);
    if (file.kind === "absent") return null;
    return file.kind === "read" ? file.bytes : { line: 1, actual: `something that ${file.why}` };
  }
}

const lineCharsMax = 200;

/** The line of the file that holds the first byte that differs, and its number. */
function findFirstDifference(bytes: Buffer, earlierBytes: number, ownBytes: Buffer): LogDifference {
  let position = earlierBytes;
  while (position < bytes.length && bytes[position] === ownBytes[position - earlierBytes]) {
    position++;
  }

  const lineStart = bytes.lastIndexOf(newline, position - 1) + 1;
  const nextNewline = bytes.indexOf(newline, lineStart);
  const lineEnd = nextNewline === -1 ? bytes.length : nextNewline;
  let line = 1;

  for (
    let index = bytes.indexOf(newline);
    index !== -1 && index < lineStart;
    index = bytes.indexOf(newline, index + 1)
  ) {
    line++;
  }

  return {
    line,
    actual: bytes.toString("utf8", lineStart, Math.min(lineEnd, lineStart + lineCharsMax)),
  };
}

/** Null if there isn't a regular file. */
function readSize(root: string, path: string): number | null {
  const stats = lstatSync(join(root, path), { throwIfNoEntry: false });
  return stats?.isFile() === true ? stats.size : null;
}
