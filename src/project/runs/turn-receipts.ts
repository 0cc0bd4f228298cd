// turn-receipts: keeps the outcome of a paid turn in a file of the run's folder until the run's
// branch has its work.
//
// Invariants:
//   T1. The file has its full size before the turn is paid for, and the outcome is written over it,
//       which works on a full disk too. Room that the outcome doesn't need is given back only if
//       the disk is full when the outcome is to be recorded.
//   T2. Half an outcome is none: the file begins with a hash of the rest.
//   T3. An outcome is never larger than the room, if it can be made to fit: what the agent said is
//       cut first, and its transcript has it.

import { hash } from "node:crypto";
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import * as v from "valibot";
import { type EventOf, eventSchemas } from "../../contracts/event.ts";
import type { EndedTurn, TurnReceipts } from "../../ports/turn-receipts.ts";
import { readFolderNames, readSmallFile } from "../../workspace/folder.ts";
import { toSlug } from "../../workspace/layers/folder-records.ts";

export const receiptsPath = "records/turns";
const roomBytes = 1 << 20;
const receiptBytesMax = 64 << 20;
const turnBytesMax = 256 << 20;
/** `<sha256 of the content> <length of the content>`, then a newline. */
const header = /^([0-9a-f]{64}) (\d{1,9})\n/;
const headerBytesMax = 80;
const writeFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;

const Receipt = v.strictObject({
  event: eventSchemas.turn_ended,
  report: v.strictObject({ said: v.string(), claim: v.optional(v.unknown()) }),
});

export function openTurnReceipts(run: string): TurnReceipts {
  const folder = join(run, receiptsPath);
  const pathOf = (attempt: string): string => join(folder, toSlug(attempt));
  const drop = (attempt: string): void => rmSync(pathOf(attempt), { force: true });

  return {
    reserve: (attempt) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      try {
        writeFileSync(pathOf(attempt), Buffer.alloc(roomBytes), { mode: 0o600 }); // T1
      } catch (error) {
        drop(attempt);
        throw error;
      }
    },
    keep: (attempt, turn) => {
      try {
        overwrite(pathOf(attempt), encode(turn));
      } catch {
        // The journal is next, and reports what is wrong with the disk.
      }
    },
    read: (attempt) => {
      const turn = parseReceipt(readContent(pathOf(attempt)));
      return turn?.event.attempt === attempt ? turn : null;
    },
    drop,
  };
}

/** The slugs of a run's attempts whose turns have ended and whose work is not on its branch yet. */
export function readEndedTurns(run: string): readonly string[] {
  const folder = join(run, receiptsPath);
  return readFolderNames(folder).filter((slug) => readContent(join(folder, slug)) !== null);
}

/**
 * Gives back what kept outcomes don't need of their room, so that reading and recording what their
 * turns made has some. T1
 */
export function shrinkReceipts(run: string): void {
  for (const slug of readEndedTurns(run)) {
    const path = join(run, receiptsPath, slug);
    truncateSync(path, headerBytesMax + (readContent(path)?.length ?? roomBytes)); // its header is no longer than that
  }
}

function encode(turn: EndedTurn): Buffer {
  const whole = encodeReceipt(turn);
  return whole.length <= roomBytes
    ? whole
    : encodeReceipt({ ...turn, report: { ...turn.report, said: turn.event.said } }); // T3
}

function encodeReceipt(turn: EndedTurn): Buffer {
  const content = deflateRawSync(JSON.stringify(turn));
  return Buffer.concat([Buffer.from(`${hash("sha256", content)} ${content.length}\n`), content]);
}

function overwrite(path: string, bytes: Buffer): void {
  const fd = openSync(path, writeFlags, 0o600);
  try {
    for (let written = 0; written < bytes.length;) {
      written += writeSync(fd, bytes, written, bytes.length - written, written);
    }
  } finally {
    closeSync(fd);
  }
}

/** What was written over the room; null if that is nothing, or not whole. T2 */
function readContent(path: string): Buffer | null {
  const bytes = readSmallFile(path, receiptBytesMax);
  const [line = "", expected = "", length] =
    header.exec(bytes?.toString("latin1", 0, headerBytesMax) ?? "") ?? [];
  const content = bytes?.subarray(line.length, line.length + Number(length)) ?? null;

  return content !== null && line !== "" && hash("sha256", content) === expected ? content : null;
}

function parseReceipt(content: Buffer | null): EndedTurn | null {
  if (content === null) return null;
  const value: unknown = JSON.parse(
    inflateRawSync(content, { maxOutputLength: turnBytesMax }).toString("utf8"),
  );
  const receipt = v.safeParse(Receipt, value);
  if (!receipt.success) return null; // written by another version
  const { event, report } = receipt.output;

  return {
    event: event as unknown as EventOf<"turn_ended">,
    report: { said: report.said, claim: report.claim },
  };
}
