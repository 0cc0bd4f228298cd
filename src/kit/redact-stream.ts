// redact-stream: takes secrets out of bytes that come in pieces, wherever the pieces were cut.
//
// Invariants:
//   T1. What is given out holds no secret, whole or begun: as much as the longest could take up is held back until more has come.
//   T2. Memory stays below twice what is held back, and one chunk.

import type { Redactor, Span } from "./redact.ts";
import { redactionMark } from "./redact.ts";
import { patternCharsMax } from "./redact-patterns.ts";

export type RedactedStream = {
  /** Takes the next bytes and gives those that are safe to write now. */
  readonly push: (chunk: Uint8Array) => Buffer;
  /** Gives the rest. */
  readonly end: () => Buffer;
};

export function openRedactedStream(redactor: Redactor): RedactedStream {
  let buffered = "";
  const emit = (text: string, safe: number, spans: readonly Span[]): Buffer => {
    const parts: string[] = [];
    let position = 0;
    for (const { start, end, name } of spans) {
      if (start >= safe) break;
      parts.push(text.slice(position, start), redactionMark(name));
      position = end;
    }
    parts.push(text.slice(position, Math.max(position, safe)));
    buffered = text.slice(Math.max(position, safe));
    return Buffer.from(parts.join(""), "latin1");
  };
  return {
    push: (chunk) => {
      // One character a byte, so that no byte is changed that is not redacted.
      buffered += Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString("latin1");
      const holdBackChars = Math.max(redactor.charsMax(), patternCharsMax);
      if (buffered.length < 2 * holdBackChars) return Buffer.alloc(0); // T2
      const spans = redactor.spansIn(buffered);
      // T1: one that reaches over the border may go on behind what has come so far, so it waits where it began.
      const safe = buffered.length - holdBackChars;
      const openSpan = spans.find(({ start, end }) => start < safe && end > safe && end - start < holdBackChars);
      return emit(buffered, openSpan?.start ?? safe, spans);
    },
    end: () => emit(buffered, buffered.length, redactor.spansIn(buffered)),
  };
}

/** The same for bytes that are all there; the very same bytes where nothing was found. */
export function redactBytes<Bytes extends Uint8Array>(redactor: Redactor, bytes: Bytes): Bytes | Buffer {
  const stream = openRedactedStream(redactor);
  const parts: Buffer[] = [];
  const sliceBytes = 1024 * 1024;
  for (let index = 0; index < bytes.length; index += sliceBytes) parts.push(stream.push(bytes.subarray(index, index + sliceBytes)));
  const clean = Buffer.concat([...parts, stream.end()]);
  return clean.equals(bytes) ? bytes : clean;
}
