// fingerprint: everything a folder holds, names, kinds, modes and content, as one text: equal
// fingerprints, nothing written.

import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/**
 * Git's own index and lock files are left out where asked: looking at a checkout may refresh them.
 */
export function fingerprint(
  folder: string,
  { without = [] }: { readonly without?: readonly string[] } = {},
): string {
  const lines: string[] = [];
  const cursor = (path: string): void => {
    for (const name of readdirSync(join(folder, path)).toSorted()) {
      const at = path === "" ? name : `${path}/${name}`;
      if (without.includes(at)) continue;
      const found = lstatSync(join(folder, at));
      const kind = `${at} ${(found.mode & 0o7777).toString(8)}`;

      if (found.isSymbolicLink()) {
        lines.push(`${kind} -> ${readlinkSync(join(folder, at))}`);
      } else if (found.isDirectory()) {
        lines.push(`${kind} folder`);
        cursor(at);
      } else if (found.isFile()) {
        lines.push(
          `${kind} ${createHash("sha256")
            .update(readFileSync(join(folder, at)))
            .digest("hex")}`,
        );
      } else {
        lines.push(`${kind} other`);
      }
    }
  };
  cursor("");

  return lines.join("\n");
}
