// sealed-lines: verifies and unwraps the lines of a channel, and detects missing ones. The channel
// is a named pipe, and the code under test runs as the same user: it can write to it, and read
// lines from it before we do.
//
// Invariants:
//   S1. A line counts only with its seal: a digest over it, its sender and its number, with a key
//       that never goes through the pipe.
//   S2. Each sender numbers its lines from 1. A missing or repeated number is reported as foreign
//       interference. Each sender's last line tells of its end (test-record.ts): if it is missing,
//       so may be lines before it.

import { createHash } from "node:crypto";
import type { RecordReader } from "./test-record.ts";

export type SealedLines = {
  readonly addLine: (line: string, isBeyondLimit: boolean) => void;
  /** Reports lines that never came. */
  readonly end: () => void;
};

/**
 * `next`: the number of the line that is expected next. `early`: later numbers that have arrived
 * already.
 */
type Sender = { next: number; readonly early: Set<number> };

const sealChars = 32;
const earlyMax = 10_000;
const sendersMax = 100_000;
/** The record counts a line without its nonce as foreign. */
const foreignLine = "?";

export const computeSeal = (key: string, text: string): string =>
  createHash("sha256").update(`${key}${text}${key}`).digest("hex").slice(0, sealChars);

/** A line as a sender writes it: nonce, sender, number and seal, then the text. */
export const toSealedLine = (
  channel: { readonly nonce: string; readonly key: string },
  sender: string,
  number: number,
  text: string,
): string =>
  `${channel.nonce}\t${sender}\t${number}.${computeSeal(channel.key, `${sender}\t${number}\t${text}`)}\t${text}`;

export function openSealedLines(
  channel: { readonly nonce: string; readonly key: string },
  record: Pick<RecordReader, "addLine">,
): SealedLines {
  const senders = new Map<string, Sender>();
  return {
    addLine(line, isBeyondLimit) {
      const [, nonce, id = "", number = "", seal, text = ""] =
        /^([^\t]*)\t([^\t]*)\t(\d{1,10})\.([0-9a-f]*)\t(.*)$/s.exec(line) ?? [];
      if (
        nonce !== channel.nonce ||
        seal !== computeSeal(channel.key, `${id}\t${number}\t${text}`)
      ) {
        return record.addLine(line === "" ? "" : foreignLine);
      } // S1

      const sender = senders.get(id) ?? { next: 1, early: new Set() };
      if (senders.size < sendersMax) senders.set(id, sender);
      const position = Number(number);
      if (position < sender.next || sender.early.has(position)) return record.addLine(foreignLine); // S2
      if (sender.early.size < earlyMax) sender.early.add(position);
      while (sender.early.delete(sender.next)) sender.next++;
      record.addLine(`${nonce}\t${id}\t${text}`, isBeyondLimit);
    },
    end() {
      for (const { early } of senders.values()) if (early.size > 0) record.addLine(foreignLine); // S2
    },
  };
}
