// run-blobs: agents' returns and checks' output, read from a run's blobs for rendering.

import * as v from "valibot";
import { Evidence } from "../../contracts/evidence.ts";
import type { EvidenceOf } from "../../views/phase-trace.ts";

type ReadBlob = (hash: string) => Buffer | null;

const claimsKeptMax = 4_000;

/** Each claim is read once: a state is rendered many times, and its claims do not change. */
export function claimsFrom(readBlob: ReadBlob): (hash: string) => unknown {
  const known = new Map<string, unknown>();
  return (hash) => {
    if (known.has(hash)) return known.get(hash);
    const claim = handedIn(readBlob(hash));
    if (known.size < claimsKeptMax) known.set(hash, claim);
    return claim;
  };
}

/** A turn's blob has the text and the return; only the latter is a claim. */
function handedIn(bytes: Buffer | null): unknown {
  const kept = bytes === null ? null : parsed(bytes);
  return typeof kept === "object" && kept !== null && "claim" in kept ? kept.claim : undefined;
}

export function evidenceFrom(readBlob: ReadBlob): EvidenceOf {
  return (hash) => {
    const bytes = readBlob(hash);
    const read = bytes === null ? null : v.safeParse(Evidence, parsed(bytes));
    return read === null || !read.success ? null : read.output;
  };
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch {
    return null; // a damaged blob counts as empty
  }
}
