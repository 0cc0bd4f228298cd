// run-blobs: reads agents' returns and checks' output from a run's blobs, for rendering.

import * as v from "valibot";
import { Evidence } from "../../contracts/evidence.ts";
import type { FindEvidence } from "../../views/phase-trace.ts";

type ReadBlob = (hash: string) => Buffer | null;

/** Claims beyond these are read each time. */
const claimsKeptMax = 4_000;

/**
 * Returns a reader of claims that reads each once: a state is rendered many times, and its claims
 * do not change.
 */
export function openClaimReader(readBlob: ReadBlob): (hash: string) => unknown {
  const cached = new Map<string, unknown>();
  return (hash) => {
    if (cached.has(hash)) return cached.get(hash);
    const claim = parseClaim(readBlob(hash));
    if (cached.size < claimsKeptMax) cached.set(hash, claim);

    return claim;
  };
}

/** A turn's blob has the text and the return; only the latter is a claim. */
function parseClaim(bytes: Buffer | null): unknown {
  const content = bytes === null ? null : parseJson(bytes);
  return typeof content === "object" && content !== null && "claim" in content
    ? content.claim
    : undefined;
}

export function openEvidenceReader(readBlob: ReadBlob): FindEvidence {
  return (hash) => {
    const bytes = readBlob(hash);
    const result = bytes === null ? null : v.safeParse(Evidence, parseJson(bytes));
    return result === null || !result.success ? null : result.output;
  };
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch {
    return null; // a damaged blob counts as empty
  }
}
