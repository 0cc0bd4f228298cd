// redact-find: which of the secrets that are known stand in bytes that are all there, and how they are written there. What only looks like
// a secret is none here: tests and examples are full of such.

import type { Redactor } from "./redact.ts";

/** `text`: as it is there, one character a byte. */
export type FoundSecret = { readonly name: string; readonly text: string };

const windowBytes = 64 * 1024;

/** One result per window, so that a caller scanning a large file may yield between two. */
export function* findSecrets(redactor: Redactor, bytes: Uint8Array): Generator<readonly FoundSecret[]> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const overlapBytes = redactor.charsMax(); // one that is cut by a window's end is whole in the next
  for (let index = 0; index < buffer.length; index += windowBytes) {
    const text = buffer.toString("latin1", index, index + windowBytes + overlapBytes);
    yield redactor.spansIn(text).flatMap(({ start, end, name }) => (name === null ? [] : [{ name, text: text.slice(start, end) }]));
  }
}
