// installed-folders: folders of installed packages in the user's checkout that git neither tracks nor ignores. Nobody means to commit them,
// so a run treats them as if they were ignored: checks use them, and what an agent does to its copy is no change.

import { basename } from "node:path";
import { bytePathOf, textOf } from "./byte-path.ts";
import { git } from "./git.ts";
import type { GitPlaces } from "./places.ts";
import { inView } from "./user-view.ts";

/** Names that only an installer gives. `vendor` may be somebody's own code, so it counts only where git ignores it. */
const installedNames: ReadonlySet<string> = new Set(["node_modules", ".venv", "venv"]);

/** Ignore rules for such folders, each for exactly one path. */
export async function installedRules(places: GitPlaces): Promise<string> {
  const { out } = await git({ ...inView(places), args: ["ls-files", "-z", "--others", "--exclude-standard", "--directory"] });
  return foldersListed(out)
    .filter((path) => installedNames.has(basename(path)) && !path.includes("\n"))
    .map((path) => `/${path.replaceAll(/[*?[\]\\!#\s]/g, String.raw`\$&`)}/\n`)
    .join("");
}

/** The folders of a listing that git ended with NULs, without the slash at their end. */
export const foldersListed = (out: Buffer): readonly string[] =>
  out
    .toString("latin1")
    .split("\0")
    .filter((path) => path.endsWith("/"))
    .flatMap((path) => textOf(bytePathOf(Buffer.from(path.slice(0, -1), "latin1"))) ?? []);
