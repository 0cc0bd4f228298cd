// ignore: which paths the base tree's own ignore rules ignore. The rules are the base's, not those an agent may have rewritten: git is
// asked in a folder that holds nothing but the base's .gitignore files.

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import type { GitSha } from "../contracts/ids.ts";
import { bytePathOf, bytesOf, type BytePath } from "./byte-path.ts";
import { erase } from "./folder.ts";
import { git } from "./git.ts";
import { materialize } from "./materialize.ts";
import type { Shadow } from "./shadow.ts";
import type { Tree } from "./tree.ts";

/** Answers which of these paths are ignored; a folder is asked for with a slash at its end. */
export type IgnoredOf = (paths: readonly BytePath[]) => Promise<ReadonlySet<BytePath>>;

export function ignoredBy(shadow: Shadow, commit: GitSha, tree: Tree, rulesDir: string): IgnoredOf {
  const folder = join(rulesDir, commit);
  return async (paths) => {
    if (paths.length === 0) return new Set();
    if (!existsSync(folder)) await makeRules(shadow, tree, folder);
    const { out } = await git({
      ...shadow.call,
      cwd: folder,
      env: { ...shadow.call.env, GIT_WORK_TREE: folder },
      args: ["check-ignore", "--no-index", "-z", "--stdin"],
      codes: [0, 1],
      input: questionsOf(paths),
    });
    const ignored = new Set<BytePath>();
    for (let at = 0; at < out.length;) {
      const end = out.indexOf(0, at);
      ignored.add(bytePathOf(out.subarray(at + 2, end)));
      at = end + 1;
    }
    return ignored;
  };
}

function* questionsOf(paths: readonly BytePath[]): Generator<Buffer> {
  for (const path of paths) {
    // `./` in front, so that a name that begins with a colon is not taken for a pathspec with magic.
    yield Buffer.concat([Buffer.from("./"), bytesOf(path), Buffer.from([0])]);
  }
}

async function makeRules(shadow: Shadow, tree: Tree, folder: string): Promise<void> {
  const rules = [...tree].filter(([path, { mode }]) => (path === ".gitignore" || path.endsWith("/.gitignore")) && mode.startsWith("100"));
  const draft = `${folder}.${randomUUID()}`;
  await mkdir(draft, { recursive: true, mode: 0o700 });
  await materialize(shadow, rules, draft);
  if (existsSync(folder)) return erase(draft);
  await rename(draft, folder);
}
