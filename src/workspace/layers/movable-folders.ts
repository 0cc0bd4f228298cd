// movable-folders: lets an agent rename folders in a view. The kernel refuses to rename a folder
// that lies in a lower layer (EXDEV): `mv` copies it then, `git mv` and `rename` give up. So the
// folders of a small tree are copied into the view's own layer once, when it is made.
//
// Invariants:
//   M1. No program of the repository is run: the script stands in its folder, so programs are looked
//       for in absolute folders alone, the system's first.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { delimiter } from "node:path";
import { composeMountedCheckout, mergedFolder } from "../checkouts/checkout-place.ts";
import { WorkspaceFailed } from "../failure.ts";
import { findMountPrograms } from "../isolation/overlay-mount.ts";

const execFileAsync = promisify(execFile);
/** What is copied has to be read back after each turn. */
const filesMax = 1_000;
const kilobytesMax = 10_000;
const timeoutMs = 60_000;
const reasonCharsMax = 300;

/** Each folder of the top is copied beside itself, and the copy takes its place. */
const script = `cd "$1" || exit 1
[ "$(find . -path ./.git -prune -o -print 2>/dev/null | head -n ${filesMax + 1} | wc -l)" -le ${filesMax} ] || exit 0
[ "$(du -sk --exclude=./.git . 2>/dev/null | cut -f1)" -le ${kilobytesMax} ] || exit 0
copy=$(mktemp -d ./.copy-XXXXXX) || exit 0
for folder in */ .[!.]*/; do
  folder=\${folder%/}
  if [ -L "$folder" ] || [ ! -d "$folder" ] || [ "$folder" = .git ] || [ "./$folder" = "$copy" ]; then continue; fi
  cp -a -- "./$folder" "$copy/x" 2>/dev/null || { rm -rf -- "$copy/x"; continue; }
  rm -rf -- "./$folder" && mv -T -- "$copy/x" "./$folder" || exit 1
done
rmdir -- "$copy"`;

/** `place`: that of a view which no command was run in yet. */
export async function makeFoldersMovable(place: string): Promise<void> {
  const [program = "", ...args] = composeMountedCheckout(findMountPrograms(), place, script, [
    mergedFolder(place),
  ]);
  const absolute = (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((one) => one.startsWith("/"));
  const env = { LC_ALL: "C", PATH: ["/usr/bin", "/bin", ...absolute].join(delimiter) }; // M1
  try {
    await execFileAsync(program, args, { timeout: timeoutMs, env });
  } catch (error) {
    const reason = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
    throw new WorkspaceFailed(
      "workspace_unusable",
      `The folders of an agent's workspace could not be copied: ${reason.slice(0, reasonCharsMax)}`,
    );
  }
}
