// transcript-verify: finds transcripts that no longer match the hash recorded in the journal.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { forEachEntry } from "../../project/runs/read-entries.ts";
import { type ProjectPaths, runFolder } from "../../project/runs/project-paths.ts";
import { transcriptsFolder } from "../../project/runs/transcript-write.ts";
import { sha256 } from "../../project/sha256.ts";

const transcriptPathPattern = new RegExp(`^${transcriptsFolder}/[A-Za-z0-9._-]+$`);

/**
 * Transcripts that differ from what the journal recorded. A missing one is not reported: they are
 * kept within a size.
 */
export async function findChangedTranscripts(
  paths: ProjectPaths,
  run: string,
): Promise<readonly string[]> {
  const recordedHashes = new Map<string, string>();
  await forEachEntry(paths, run, (entry) => {
    if (entry.event === "turn_ended" && entry.transcript !== undefined) {
      recordedHashes.set(entry.transcript.file, entry.transcript.sha256);
    }
  });

  return [...recordedHashes]
    .filter(([file]) => transcriptPathPattern.test(file))
    .flatMap(([file, sha256]) => {
      const currentHash = readHash(join(runFolder(paths, run), file));
      return currentHash === null || currentHash === sha256
        ? []
        : [`${file} is not what it was when its turn ended`];
    });
}

function readHash(path: string): string | null {
  try {
    return sha256(readFileSync(path));
  } catch {
    return null; // it was cleaned away
  }
}
