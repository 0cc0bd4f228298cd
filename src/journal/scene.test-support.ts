// scene: test support of the journal's stories: a folder, fixed options, events to write, and bytes
// to damage.

import {
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Entry, Event } from "../contracts/event.ts";
import { JournalFailure } from "./journal-failure.ts";
import type { JournalOptions } from "./journal.ts";
import { journalFile } from "./journal.ts";

const folders: string[] = [];

/** A folder in which a run may live; `sweep` removes them all. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "autopilot-journal-"));
  folders.push(folder);
  return join(folder, "run");
}

export function sweep(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** Options with a clock that stands still. */
export const still: JournalOptions = {
  commit: "sync",
  now: () => "2026-01-02T03:04:05.678Z",
  activeMs: () => 0,
};
export const grouped: JournalOptions = { ...still, commit: "group" };

/** Small and flat. */
export function skipped(n: number): Event {
  return {
    event: "step_skipped",
    actor: "system",
    reason_code: "ok",
    walk: String(n),
    step: `step-${n}`,
  };
}

/** With something nested in it. */
export function surveyed(...gone: string[]): Event {
  return {
    event: "artifacts_surveyed",
    actor: "operator:ann",
    reason_code: "ok",
    gone,
    proved: [],
  };
}

export function readBytes(dir: string): Buffer {
  return readFileSync(join(dir, journalFile));
}

/**
 * Puts other bytes into the journal, as damage or a crash would. In place: truncating first makes
 * some disks flush it.
 */
export function putBytes(dir: string, content: Uint8Array | string, file = journalFile): void {
  const bytes = Buffer.from(content);
  const fd = openSync(join(dir, file), "r+");
  writeSync(fd, bytes, 0, bytes.length, 0);
  ftruncateSync(fd, bytes.length);
  closeSync(fd);
}

/** The event as it was given, without the journal's envelope. */
export function entryEvents(entries: readonly Entry[]): unknown[] {
  const around = new Set(["seq", "journal", "epoch", "ts", "active_ms", "prev", "crc"]);
  return entries.map((entry) =>
    Object.fromEntries(Object.entries(entry).filter(([name]) => !around.has(name))),
  );
}

export async function failureFrom(promise: Promise<unknown>): Promise<JournalFailure> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof JournalFailure) return error;
    throw error;
  }

  throw new Error("expected a JournalFailure, and nothing failed");
}
