// scratch: creates an empty private HOME and TMP for a check and removes them afterwards.
// Invariants N1 and on: verify/check-environment.ts.

import { chmod, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type MakeFolder = () => Promise<string>;
/** Its name does not say who runs the command: HOME is in it. N2 */
const makeTemporaryFolder: MakeFolder = () => mkdtemp(join(tmpdir(), "work-"));

/** A command's own `home` and `tmp`, empty, readable by the user alone. Closing removes them. */
export async function openScratch(
  make: MakeFolder = makeTemporaryFolder,
): Promise<{ readonly folder: string; readonly close: () => Promise<void> }> {
  const folder = await make();
  await mkdir(join(folder, "home"), { mode: 0o700 });
  await mkdir(join(folder, "tmp"), { mode: 0o700 });

  return { folder, close: () => remove(folder) };
}

async function remove(folder: string): Promise<void> {
  const removed = await rm(folder, { recursive: true, force: true }).then(
    () => true,
    () => false,
  );
  if (removed) return;
  // Some tools keep read-only caches (Go's modules); they are made writable first. If something
  // still remains, it only wastes space in a temporary folder, and the command's result is not lost
  // for that.
  await makeWritable(folder, 0);
  await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}

const depthMax = 64;

async function makeWritable(folder: string, depth: number): Promise<void> {
  if (depth > depthMax) return;
  await chmod(folder, 0o700).catch(() => undefined);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name), depth + 1);
  }
}
