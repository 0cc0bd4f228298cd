// movable-folders: lets an agent rename folders in a view. The kernel refuses to rename a folder
// that lies in a lower layer (EXDEV): `mv` copies it then, `git mv` and `rename` give up. So the
// folders of a small tree are copied into the view's own layer once, when it is made.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { composeMountedCheckout, mergedFolder } from "../checkouts/checkout-place.ts";
import { findProgramOnPath } from "../isolation/program-paths.ts";

const execFileAsync = promisify(execFile);
/** What is copied has to be read back after each turn. */
const filesMax = 1_000;
const kilobytesMax = 10_000;
const timeoutMs = 60_000;

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
  const programs = {
    unshare: findProgramOnPath("unshare") ?? "unshare",
    mount: findProgramOnPath("mount") ?? "mount",
  };
  const [program = "", ...args] = composeMountedCheckout(programs, place, script, [
    mergedFolder(place),
  ]);
  await execFileAsync(program, args, {
    timeout: timeoutMs,
    env: { LC_ALL: "C", PATH: process.env["PATH"] },
  });
}
