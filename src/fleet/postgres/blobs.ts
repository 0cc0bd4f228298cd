// blobs: stores large payloads by their hash, before the line that names them. Runs share them: a
// hash says what a blob is, not whose.

import { hash } from "node:crypto";
import type { Hash } from "../../contracts/ids.ts";
import { damaged, JournalFailure } from "../../journal/journal-failure.ts";
import type { Database } from "./connect.ts";
import { storeFailure } from "./store-failure.ts";

export const storedBlobBytesMax = 16 * 1024 * 1024;
const hashPattern = /^[0-9a-f]{64}$/;

export async function putBlob(
  { query, name }: Database,
  content: string | Uint8Array,
): Promise<Hash> {
  const bytes =
    typeof content === "string"
      ? Buffer.from(content)
      : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  if (bytes.length > storedBlobBytesMax) {
    throw new JournalFailure({
      kind: "event_too_large",
      bytes: bytes.length,
      bytesMax: storedBlobBytesMax,
    });
  }

  const blobHash = hash("sha256", bytes);
  try {
    // After a lost answer it can simply be sent again: it is the same blob.
    await query("insert into autopilot.blob (hash, bytes) values ($1, $2) on conflict do nothing", [
      Buffer.from(blobHash, "hex"),
      bytes,
    ]);
  } catch (error) {
    throw storeFailure(error, name);
  }

  return blobHash;
}

export async function readBlob({ query, name }: Database, blobHash: Hash): Promise<Buffer> {
  if (!hashPattern.test(blobHash)) throw damaged(null, null, "a blob is named by 64 hex digits");
  try {
    const { rows } = await query("select bytes from autopilot.blob where hash = $1", [
      Buffer.from(blobHash, "hex"),
    ]);
    const bytes = rows[0]?.["bytes"];
    if (!(bytes instanceof Buffer)) {
      throw damaged(null, null, `blob ${blobHash} is not in the store`);
    }

    if (hash("sha256", bytes) !== blobHash) {
      throw damaged(null, null, `blob ${blobHash} is not what its name says`);
    }

    return bytes;
  } catch (error) {
    throw storeFailure(error, name);
  }
}

export async function hasBlob({ query, name }: Database, blobHash: Hash): Promise<boolean> {
  if (!hashPattern.test(blobHash)) return false;
  try {
    return (
      (await query("select 1 from autopilot.blob where hash = $1", [Buffer.from(blobHash, "hex")]))
        .count === 1
    );
  } catch (error) {
    throw storeFailure(error, name);
  }
}
