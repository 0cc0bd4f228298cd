import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratch, scratchFolder } from "../../../test/support/scratch-repository.ts";
import { bytePathFromText } from "./byte-path.ts";
import { findRepository } from "./repository.ts";
import { openShadow } from "./shadow.ts";

test("however long the copied ignore rules are, they outlast packages that are installed later", async () => {
  const [root, runDir] = [scratch(), scratchFolder()];
  const lookup = await findRepository(root);
  if ("failure" in lookup) throw new Error(lookup.failure.detail);
  const { repository } = lookup;

  const open = (...installed: readonly string[]) =>
    openShadow({
      repository,
      user: repository,
      runDir,
      installed: installed.map(bytePathFromText),
      isApart: true,
    });

  const { gitDir } = await open();
  const path = join(gitDir, "info", "exclude");
  const copied = `${"# a long remark of the user's\n".repeat(60_000)}*.secret\n`; // two files of up to 1 MiB each are copied
  writeFileSync(path, copied);
  mkdirSync(join(root, "node_modules"));
  writeFileSync(join(root, "node_modules", "x.js"), "");
  await open("node_modules");
  expect(readFileSync(path, "utf8") === `${copied}/node_modules/\n/.venv/\n/venv/\n`).toBe(true);
});
