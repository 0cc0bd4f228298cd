// redact-find: finds the known secrets in the bytes of a whole file, and how they are written
// there. What only looks like a secret doesn't count here: tests and examples are full of that.

import type { Redactor } from "./redact.ts";

/** `text`: the secret as it is written there, one character for each byte. */
export type FoundSecret = { readonly name: string; readonly text: string };

const windowBytes = 64 * 1024;

/** One result per window, so that a caller scanning a large file may yield between two. */
export function* findSecrets(
  redactor: Redactor,
  bytes: Uint8Array,
): Generator<readonly FoundSecret[]> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const overlapBytes = redactor.charsMax(); // a secret that crosses the end of a window is whole in it all the same

  for (let index = 0; index < buffer.length; index += windowBytes) {
    const text = buffer.toString("latin1", index, index + windowBytes + overlapBytes);
    yield redactor
      .spansIn(text)
      .flatMap(({ start, end, name }) =>
        name === null ? [] : [{ name, text: text.slice(start, end) }],
      );
  }
}
