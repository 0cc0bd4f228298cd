// read-evidence: reads a piece of evidence by its hash; null if it is missing or damaged.

import * as v from "valibot";
import { Evidence } from "../../contracts/evidence.ts";
import { readBlob } from "../../journal/blobs.ts";

/** A piece of evidence by its hash; null if it is gone, damaged, or not evidence. */
export function readEvidence(folder: string, hash: string): Evidence | null {
  try {
    return v.parse(Evidence, JSON.parse(readBlob(folder, hash).toString("utf8")));
  } catch {
    return null;
  }
}
