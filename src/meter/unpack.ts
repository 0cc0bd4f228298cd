// unpack: decompresses an answer that a provider compressed although it was asked not to, so that its figures can be read.

import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

/** The answer's own bytes, or null if the compression is unknown. */
export function unpacked(incoming: IncomingMessage): Readable | null {
  const how = (incoming.headers["content-encoding"] ?? "identity").toLowerCase().trim();
  if (how === "identity" || how === "") return incoming;
  const opener = how === "gzip" ? createGunzip() : how === "br" ? createBrotliDecompress() : how === "deflate" ? createInflate() : null;
  if (opener === null) return null;
  // An error on the way in must reach the reader.
  incoming.on("error", (error) => opener.destroy(error));
  incoming.on("aborted", () => opener.destroy(new Error("aborted")));
  delete incoming.headers["content-length"];
  return incoming.pipe(opener);
}
