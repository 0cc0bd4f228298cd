// owned-paths: the runner's own files in the user's checkout, and the lines that keep git from
// seeing them.

import { lstat, mkdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readErrorCode } from "./failure.ts";
import { writeFileAtomically } from "./folder.ts";

/**
 * Owned in every run, whatever its flow. Config and flows are the user's policy: agents may read
 * but never change them.
 */
export const alwaysOwnedPaths = [".autopilot/**"] as const;

/**
 * The lines of the exclude file, in this order: the folder's content is ignored, the user's own
 * files in it are not.
 */
export const ignoreLines = [
  ".autopilot/*",
  "!.autopilot/config.yaml",
  "!.autopilot/flows/",
  // Listed one by one as well: a user who removes the rule to share the folder must not share what
  // only this machine knows.
  "# Autopilot runtime state",
  ".autopilot/state.json",
  ".autopilot/archive/",
  ".autopilot/diagnostics/",
] as const;
const heading = "# autopilot's own files";

/**
 * Adds the ignore lines to the repository's exclude file; an existing line stays where it is.
 * Returns what it added.
 */
export async function addIgnoreLines(commonDir: string): Promise<readonly string[]> {
  const path = join(commonDir, "info", "exclude");
  if (await isLinked(path)) return []; // a link may lead to any file of the user's, and these lines would be added there
  const text = await readLatin1(path);
  const present = new Set(text.split(/\r?\n/).map((line) => line.trimEnd()));
  // The exceptions must come after their rule, so one missing line adds all of them again.
  if (ignoreLines.every((line) => present.has(line))) return [];
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  await mkdir(dirname(path), { recursive: true });
  const updated = `${text}${gap}${heading}\n${ignoreLines.join("\n")}\n`;
  await writeFileAtomically(path, Buffer.from(updated, "latin1"), await readModeOrDefault(path));

  return ignoreLines;
}

async function isLinked(path: string): Promise<boolean> {
  const stats = await Promise.all(
    [path, dirname(path)].map((place) => lstat(place).catch(() => null)),
  );
  return stats.some((stat) => stat?.isSymbolicLink() === true);
}

/** The file is the user's, and others may have to read it, so it keeps its mode. */
async function readModeOrDefault(path: string): Promise<number> {
  const stats = await stat(path).catch(() => null);
  return stats === null ? 0o644 : stats.mode & 0o777;
}

/**
 * One character per byte: file names need not be UTF-8, and every byte is written back unchanged.
 */
async function readLatin1(path: string): Promise<string> {
  try {
    return await readFile(path, "latin1");
  } catch (error) {
    if (readErrorCode(error) === "ENOENT") return "";
    throw error;
  }
}
