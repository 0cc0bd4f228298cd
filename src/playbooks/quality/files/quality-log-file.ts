// quality-log-file: `quality/run_state.jsonl` on disk, compared with what the journal yields.
//
// Invariants:
//   L1. The file is a prefix of what the journal yields, or it is left alone and reported.
//   L2. A log is only added to; one that is over is moved to history, never overwritten, not even there.
//   L3. A line that a crash cut in half is completed: bytes are compared, not lines.

import { createHash } from "node:crypto";
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { runStatePath } from "../views/run-state-names.ts";
import type { RunStateLog } from "../views/run-state.ts";
import type { Volume } from "../views/run-state-volume.ts";
import { appendToFile, moveFile, readBounded, writeWholeFile } from "../../contract/whole-file.ts";

const logBytesMax = 256 * 1024 * 1024;

/** The log that was there when the run was drafted: how long it was, what it was, and its text where it continues. */
export type EarlierLog = { readonly bytes: number; readonly hash: string; readonly text: string | null };
/** Where what is there stops being what the journal yields. */
export type Differs = { readonly line: number; readonly found: string };

type Found = { readonly at: number } | { readonly differs: Differs };

export class QualityLogFile {
  readonly #root: string;
  readonly #log: RunStateLog;
  readonly #earlier: EarlierLog | null;
  #archived = 0;
  /** Last read or written. While the file keeps that length, no other process has written to it. */
  #known: { readonly volume: Volume; readonly bytes: number } | null = null;

  constructor(root: string, log: RunStateLog, earlier: EarlierLog | null) {
    this.#root = root;
    this.#log = log;
    this.#earlier = earlier;
  }

  /** Null if the file may be added to. Reads only. */
  async differs(): Promise<Differs | null> {
    const volume = this.#log.volumes.at(-1);
    if (volume === undefined || this.#isKnown(volume)) return null;
    const bytes = await this.#read();
    if (bytes === null || "line" in bytes) return bytes;
    for (const candidate of this.#log.volumes.slice(this.#archived).toReversed()) {
      const found = this.#compared(bytes, candidate);
      if ("at" in found) return null;
      if (candidate === this.#log.volumes[0] && candidate.archive !== null && candidate.lines.length === 0) return null; // to be moved as it is
    }
    const found = this.#compared(bytes, volume);
    return "differs" in found ? found.differs : null;
  }

  /** Moves what is over to history and adds what is new. To be called only if nothing differs. */
  async write(): Promise<void> {
    const { volumes } = this.#log;
    while (this.#archived < volumes.length - 1) {
      const volume = volumes[this.#archived];
      if (volume !== undefined) await this.#archive(volume);
      this.#archived++;
      this.#known = null;
    }
    const volume = volumes.at(-1);
    if (volume !== undefined) await this.#append(volume);
  }

  async #archive(volume: Volume): Promise<void> {
    const target = volume.archive;
    if (target === null || readSize(this.#root, target) !== null) return; // L2: it is there already
    const bytes = await this.#read();
    if (bytes !== null && "line" in bytes) return;
    const newest = this.#log.volumes.at(-1);
    // The new log exists already: the old one was moved, and a user may have taken it out of history.
    if (bytes !== null && bytes.length > 0 && newest !== undefined && "at" in this.#compared(bytes, newest)) return;
    if (volume.lines.length === 0 && volume.earlier === null) return void (await moveFile(this.#root, runStatePath, target));
    if (bytes === null) return writeWholeFile(this.#root, target, this.#whole(volume));
    await this.#append(volume);
    await moveFile(this.#root, runStatePath, target);
  }

  async #append(volume: Volume): Promise<void> {
    const own = this.#own(volume);
    const before = this.#base(volume)?.bytes ?? 0;
    if (!this.#isKnown(volume)) {
      const bytes = await this.#read();
      if (bytes !== null && "line" in bytes) return;
      if (bytes === null) {
        await writeWholeFile(this.#root, runStatePath, this.#whole(volume));
        this.#known = { volume, bytes: before + own.length };
        return;
      }
      const found = this.#compared(bytes, volume);
      if ("differs" in found) return; // L1
      this.#known = { volume, bytes: before + found.at };
    }
    const position = (this.#known?.bytes ?? 0) - before;
    if (position >= own.length) return;
    await appendToFile(this.#root, runStatePath, own.subarray(position).toString("utf8"));
    this.#known = { volume, bytes: before + own.length };
  }

  #isKnown(volume: Volume): boolean {
    return this.#known?.volume === volume && readSize(this.#root, runStatePath) === this.#known.bytes;
  }

  #base(volume: Volume): EarlierLog | null {
    return volume.earlier === null ? null : this.#earlier;
  }

  /** The lines of ours, as bytes; behind a log whose last line has no end they begin with one. */
  #own(volume: Volume): Buffer {
    if (volume.lines.length === 0) return Buffer.alloc(0);
    const text = this.#base(volume)?.text ?? "";
    return Buffer.from(`${text === "" || text.endsWith("\n") ? "" : "\n"}${volume.lines.join("\n")}\n`);
  }

  #whole(volume: Volume): Buffer {
    return Buffer.concat([Buffer.from(this.#base(volume)?.text ?? ""), this.#own(volume)]);
  }

  #compared(bytes: Buffer, volume: Volume): Found {
    const base = this.#base(volume);
    const before = base?.bytes ?? 0;
    const own = this.#own(volume);
    if (base !== null && hashOf(bytes.subarray(0, before)) !== base.hash)
      return { differs: { line: 1, found: "another log than the one the run was drafted with" } };
    const ours = bytes.subarray(before);
    if (ours.length <= own.length && own.subarray(0, ours.length).equals(ours)) return { at: ours.length }; // L3
    return { differs: differenceOf(bytes, before, own) };
  }

  async #read(): Promise<Buffer | Differs | null> {
    const read = await readBounded(this.#root, runStatePath, logBytesMax);
    if (read.kind === "absent") return null;
    return read.kind === "read" ? read.bytes : { line: 1, found: `something that ${read.why}` };
  }
}

export const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const foundCharsMax = 200;

function differenceOf(bytes: Buffer, before: number, own: Buffer): Differs {
  let position = before;
  while (position < bytes.length && bytes[position] === own[position - before]) position++;
  const start = bytes.lastIndexOf(10, position - 1) + 1;
  const end = bytes.indexOf(10, start);
  let line = 1;
  for (let lineEnd = bytes.indexOf(10); lineEnd !== -1 && lineEnd < start; lineEnd = bytes.indexOf(10, lineEnd + 1)) line++;
  return { line, found: bytes.toString("utf8", start, Math.min(end === -1 ? bytes.length : end, start + foundCharsMax)) };
}

/** Null if there isn't a regular file. */
function readSize(root: string, path: string): number | null {
  const stats = lstatSync(join(root, path), { throwIfNoEntry: false });
  return stats?.isFile() === true ? stats.size : null;
}
