// parse-entry: parses one line and checks its numbers against the journal's position; and reads
// bytes of the file at a position.

import { readSync } from "node:fs";
import type { Entry } from "../contracts/event.ts";
import { journalVersion } from "../contracts/journal-version.ts";
import { errorCode, damaged } from "./journal-failure.ts";
import type { Position } from "./journal.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Parses the next line, without its tail. Its number, epoch and active time go into the position;
 * bytes and hash are the caller's.
 */
export function parseEntry(position: Position, head: string): Partial<Mutable<Entry>> {
  const line = position.seq + 1;
  const entry = parseObject(head) as Partial<Mutable<Entry>> & { readonly journal?: unknown };
  if (entry.seq !== line) {
    throw damaged(line, position.byte, `its number is ${String(entry.seq)}, not ${line}`);
  }

  if (!isInteger(entry.epoch) || entry.epoch < Math.max(position.epoch, 1)) {
    throw damaged(line, position.byte, "its epoch is older than the line before");
  }

  if (!isInteger(entry.active_ms) || entry.active_ms < position.activeMs) {
    throw damaged(line, position.byte, "its active_ms falls");
  }

  if (typeof entry.ts !== "string" || typeof entry.event !== "string") {
    throw damaged(line, position.byte, "no event");
  }

  if (typeof entry.actor !== "string" || typeof entry.reason_code !== "string") {
    throw damaged(line, position.byte, "no actor or reason");
  }

  if (line === 1 ? !isKnownVersion(entry.journal) : entry.journal !== undefined) {
    throw damaged(line, position.byte, "the format's version is not where it belongs");
  }

  position.seq = line;
  position.epoch = entry.epoch;
  position.activeMs = entry.active_ms;

  return entry;
}

/** An empty object stands for anything that isn't a JSON object: it fails the next check. */
function parseObject(text: string): object {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** This product's format, or an older one; a newer one is refused before its lines are read. */
const isKnownVersion = (version: unknown): boolean =>
  isInteger(version) && version >= 1 && version <= journalVersion;

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/**
 * Reads until the buffer is full or the file ends; the buffer's first byte is the one at the
 * position.
 */
export function fillBuffer(
  fd: number,
  buffer: Buffer,
  offset: number,
  length: number,
  position: Position,
): number {
  let filled = 0;
  try {
    while (filled < length) {
      const read = readSync(
        fd,
        buffer,
        offset + filled,
        length - filled,
        position.byte + offset + filled,
      );
      if (read === 0) break;
      filled += read;
    }
  } catch (error) {
    throw damaged(
      position.seq + 1,
      position.byte,
      `${errorCode(error) ?? "error"} while reading`,
      error,
    );
  }

  return filled;
}
