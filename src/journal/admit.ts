// admit: checks what one line says against the journal's position, and reads its bytes.

import { readSync } from "node:fs";
import type { Entry } from "../contracts/event.ts";
import { journalVersion } from "../contracts/journal-version.ts";
import { codeOf, damaged } from "./failure.ts";
import type { Position } from "./journal.ts";

type Written<T> = { -readonly [K in keyof T]: T[K] };

/** The next line's content, without its tail; the position moves on as far as its numbers say. */
export function entryOf(at: Position, head: string): Partial<Written<Entry>> {
  const line = at.seq + 1;
  const entry = parsed(head) as Partial<Written<Entry>> & { readonly journal?: unknown };
  if (entry.seq !== line) throw damaged(line, at.byte, `its number is ${String(entry.seq)}, not ${line}`);
  if (!isWhole(entry.epoch) || entry.epoch < Math.max(at.epoch, 1)) throw damaged(line, at.byte, "its epoch is older than the line before");
  if (!isWhole(entry.active_ms) || entry.active_ms < at.activeMs) throw damaged(line, at.byte, "its active_ms falls");
  if (typeof entry.ts !== "string" || typeof entry.event !== "string") throw damaged(line, at.byte, "no event");
  if (typeof entry.actor !== "string" || typeof entry.reason_code !== "string") throw damaged(line, at.byte, "no actor or reason");
  if (line === 1 ? !isKnown(entry.journal) : entry.journal !== undefined)
    throw damaged(line, at.byte, "the format's version is not where it belongs");
  at.seq = line;
  at.epoch = entry.epoch;
  at.activeMs = entry.active_ms;
  return entry;
}

/** An empty object stands for anything that isn't a JSON object: it fails the next check. */
function parsed(text: string): object {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** This product's format, or an older one; a newer one is refused before its lines are read. */
const isKnown = (version: unknown): boolean => isWhole(version) && version >= 1 && version <= journalVersion;

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/** Reads until the buffer is full or the file ends; the buffer's first byte is the one at the position. */
export function readAt(fd: number, buffer: Buffer, offset: number, length: number, at: Position): number {
  let done = 0;
  try {
    while (done < length) {
      const read = readSync(fd, buffer, offset + done, length - done, at.byte + offset + done);
      if (read === 0) break;
      done += read;
    }
  } catch (error) {
    throw damaged(at.seq + 1, at.byte, `${codeOf(error) ?? "error"} while reading`, error);
  }
  return done;
}
