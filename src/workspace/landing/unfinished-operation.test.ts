import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Repository } from "../git/repository.ts";
import { findUnfinishedOperation } from "./unfinished-operation.ts";

const root = mkdtempSync(join(tmpdir(), "unfinished-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("an unfinished merge is found whether HEAD names its branch in its text or is a link to it", async () => {
  const gitDir = join(root, ".git");
  const repository = { root, gitDir, commonDir: gitDir } as Repository;
  const find = async (): Promise<string | undefined> =>
    (await findUnfinishedOperation(repository, "refs/heads/main"))?.detail;
  mkdirSync(gitDir);
  writeFileSync(join(gitDir, "MERGE_HEAD"), "");
  writeFileSync(join(gitDir, "HEAD"), "ref: refs/heads/main\n");
  expect(await find()).toBe("main can't be moved: a merge is unfinished");
  rmSync(join(gitDir, "HEAD"));
  symlinkSync("refs/heads/main", join(gitDir, "HEAD"));
  expect(await find()).toBe("main can't be moved: a merge is unfinished");
});
