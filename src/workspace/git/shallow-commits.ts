// shallow-commits: reads which commits of a repository have parents that it does not have: git
// shows those without parents.

import { join } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import { readSmallFile } from "../folder.ts";

const shallowBytesMax = 16 << 20;

export const readShallowCommits = (gitDir: string): readonly GitSha[] =>
  (readSmallFile(join(gitDir, "shallow"), shallowBytesMax)?.toString("latin1") ?? "")
    .split("\n")
    .filter((line) => line !== "");
