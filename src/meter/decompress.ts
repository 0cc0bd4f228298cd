// decompress: decompresses an answer that a provider compressed although it was asked not to, so
// that its figures can be read.

import type { IncomingMessage } from "node:http";
import type { Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

const decompressors: ReadonlyMap<string, () => Transform> = new Map([
  ["gzip", () => createGunzip()],
  ["br", () => createBrotliDecompress()],
  ["deflate", () => createInflate()],
]);

/** The answer's own bytes, or null if the compression is unknown. */
export function decompress(incoming: IncomingMessage): Readable | null {
  const encoding = (incoming.headers["content-encoding"] ?? "identity").toLowerCase().trim();
  if (encoding === "identity" || encoding === "") return incoming;
  const decompressor = decompressors.get(encoding)?.();
  if (decompressor === undefined) return null;
  // An error on the way in must reach the reader.
  incoming.on("error", (error) => decompressor.destroy(error));
  incoming.on("aborted", () => decompressor.destroy(new Error("aborted")));
  delete incoming.headers["content-length"];

  return incoming.pipe(decompressor);
}
