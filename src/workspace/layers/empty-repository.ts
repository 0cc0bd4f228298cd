// empty-repository: the files of a repository in a folder of an agent or a check, before it has
// commits, an index or refs. Nothing in it is the user's: no remote, no hook, no setting.

import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Identity } from "../git/identity.ts";
import { withoutFilters } from "../git/shadow.ts";
import type { ObjectFormat } from "../git/tree.ts";
import type { RunWorkspace } from "../run-workspace.ts";

const folders = ["info", "objects/info", "objects/pack", "refs/heads", "refs/tags"];

/** `head`: the line of HEAD; `identity`: who commits there. */
export async function writeEmptyRepository(
  { shadow }: RunWorkspace,
  gitDir: string,
  { head, identity }: { readonly head: string; readonly identity: Identity },
): Promise<void> {
  for (const name of folders) await mkdir(join(gitDir, name), { recursive: true });
  await writeFile(join(gitDir, "HEAD"), `${head}\n`);
  await writeFile(join(gitDir, "config"), composeConfig(shadow.format, identity));
  // The same attributes and ignore rules as the runner's, so that `git status` shows there what
  // will be judged.
  await writeFile(join(gitDir, "info", "attributes"), withoutFilters);
  await cp(join(shadow.gitDir, "info", "exclude"), join(gitDir, "info", "exclude"));
}

function composeConfig(format: ObjectFormat, { name, email }: Identity): string {
  const extension = format === "sha1" ? [] : ["[extensions]", `\tobjectFormat = ${format}`];
  const lines = [
    "[core]",
    `\trepositoryformatversion = ${extension.length === 0 ? 0 : 1}`,
    "\tfilemode = true",
    "\tbare = false",
    "\tlogallrefupdates = true",
    "\ttrustctime = false", // links and views change a file's ctime; its size, mtime and inode are enough
    ...extension,
    "[user]",
    `\tname = ${quoteValue(name)}`,
    `\temail = ${quoteValue(email)}`,
  ];

  return `${lines.join("\n")}\n`;
}

const quoteValue = (value: string): string => `"${value.replaceAll(/["\\]/g, "\\$&")}"`;
