// redact-stream: removes secrets from bytes that come in chunks, wherever the chunks were cut.
//
// Invariants:
//   T1. The output has no secret, nor the beginning of one: as much as the longest could take is
//       held back until more has come.
//   T2. Memory stays below twice what is held back, and one chunk.

import type { Redactor, Span } from "./redact.ts";
import { redactionMark } from "./redact.ts";
import { patternCharsMax } from "./redact-patterns.ts";

export type RedactedStream = {
  /** Takes the next bytes and returns those that are safe to write now. */
  readonly push: (chunk: Uint8Array) => Buffer;
  /** Returns what was held back. */
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
      // One character for each byte, so that bytes outside secrets stay as they are.
      buffered += Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString("latin1");
      const holdBackChars = Math.max(redactor.charsMax(), patternCharsMax);
      if (buffered.length < 2 * holdBackChars) return Buffer.alloc(0); // T2
      const spans = redactor.spansIn(buffered);
      // A secret that crosses the border may go on in what has not come yet, so nothing from its
      // beginning on is written (T1).
      const safe = buffered.length - holdBackChars;
      const openSpan = spans.find(
        ({ start, end }) => start < safe && end > safe && end - start < holdBackChars,
      );

      return emit(buffered, openSpan?.start ?? safe, spans);
    },
    end: () => emit(buffered, buffered.length, redactor.spansIn(buffered)),
  };
}

/** The same for bytes that are all there; returns the very same bytes if nothing was found. */
export function redactBytes<Bytes extends Uint8Array>(
  redactor: Redactor,
  bytes: Bytes,
): Bytes | Buffer {
  const stream = openRedactedStream(redactor);
  const parts: Buffer[] = [];
  const sliceBytes = 1024 * 1024;
  for (let index = 0; index < bytes.length; index += sliceBytes) {
    parts.push(stream.push(bytes.subarray(index, index + sliceBytes)));
  }

  const clean = Buffer.concat([...parts, stream.end()]);
  return clean.equals(bytes) ? bytes : clean;
}
