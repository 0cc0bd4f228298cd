// blobs: payloads by their hash, before the line that names them. They belong to every run; a hash says what they are, not whose.

import { hash } from "node:crypto";
import type { Hash } from "../../contracts/ids.ts";
import { damaged, JournalFailure } from "../../journal/failure.ts";
import type { Database } from "./connect.ts";
import { storeFailure } from "./store-failure.ts";

export const storedBlobBytesMax = 16 * 1024 * 1024;
const hashPattern = /^[0-9a-f]{64}$/;

export async function putBlob({ ask, name }: Database, content: string | Uint8Array): Promise<Hash> {
  const bytes = typeof content === "string" ? Buffer.from(content) : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  if (bytes.length > storedBlobBytesMax)
    throw new JournalFailure({ kind: "event_too_large", bytes: bytes.length, bytesMax: storedBlobBytesMax });
  const sum = hash("sha256", bytes);
  try {
    // Sent again after a lost answer it is the same blob, so nothing needs to be asked first.
    await ask("insert into autopilot.blob (hash, bytes) values ($1, $2) on conflict do nothing", [Buffer.from(sum, "hex"), bytes]);
  } catch (error) {
    throw storeFailure(error, name);
  }
  return sum;
}

export async function readBlob({ ask, name }: Database, sum: Hash): Promise<Buffer> {
  if (!hashPattern.test(sum)) throw damaged(null, null, "a blob is named by 64 hex digits");
  try {
    const { rows } = await ask("select bytes from autopilot.blob where hash = $1", [Buffer.from(sum, "hex")]);
    const bytes = rows[0]?.["bytes"];
    if (!(bytes instanceof Buffer)) throw damaged(null, null, `blob ${sum} is not in the store`);
    if (hash("sha256", bytes) !== sum) throw damaged(null, null, `blob ${sum} is not what its name says`);
    return bytes;
  } catch (error) {
    throw storeFailure(error, name);
  }
}

export async function hasBlob({ ask, name }: Database, sum: Hash): Promise<boolean> {
  if (!hashPattern.test(sum)) return false;
  try {
    return (await ask("select 1 from autopilot.blob where hash = $1", [Buffer.from(sum, "hex")])).count === 1;
  } catch (error) {
    throw storeFailure(error, name);
  }
}
