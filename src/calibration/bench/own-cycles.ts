// own-cycles: records and checks which calibration cycles this user began on this machine.
//
// Invariants:
//   W1. A cycle's log is in the repository, so it is untrusted, and its plan has commands. Nothing
//       in the repository makes it ours: only a record in the user's state folder does.
//   W2. The record is about one repository's folder and one plan. A clone is another folder, and a
//       log that was overwritten, for example by a pull, has another plan.

import { mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { nodeDisk, replaceFile } from "../../journal/disk.ts";
import { readOwnFile } from "../../project/own-file.ts";
import { stateFolder } from "../../project/runs/run-binding.ts";
import type { Cycle } from "../cycle/state.ts";
import { sha256 } from "../../project/sha256.ts";

type Env = Readonly<Record<string, string | undefined>>;

const recordText = ({ plan }: Pick<Cycle, "plan">): string => `${sha256(JSON.stringify(plan))}\n`;

/**
 * The record's name is a hash of the repository's path, its inode number and the cycle's name. W2
 */
function recordPath(env: Env, root: string, name: string): string {
  const inode = String(statSync(root, { bigint: true }).ino);
  return join(stateFolder(env), "cycles", sha256(JSON.stringify([root, inode, name])));
}

/**
 * Records that this user began the cycle. Durable before it returns: a cycle without its record is
 * foreign to its own user.
 */
export function bindCycle(env: Env, root: string, cycle: Pick<Cycle, "name" | "plan">): void {
  const path = recordPath(env, root, cycle.name);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  replaceFile(nodeDisk, path, `${path}.${process.pid}.new`, Buffer.from(recordText(cycle)));
}

/** Whether this user began the cycle with this very plan (W1). */
export const isOwnCycle = (env: Env, root: string, cycle: Cycle): boolean =>
  readOwnFile(recordPath(env, root, cycle.name)) === recordText(cycle);
