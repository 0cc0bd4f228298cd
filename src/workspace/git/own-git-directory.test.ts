import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git, scratch, scratchFolder } from "../../../test/support/scratch-repository.ts";
import { createOwnGitDirectory } from "./own-git-directory.ts";

const repository = () => ({ root: scratch(), format: "sha1" }) as const;

test("made by many at once it is whole for each of them, and nothing is left beside it", async () => {
  const [own, folder] = [repository(), scratchFolder()];
  const path = join(folder, "deep", "own.git");

  const kinds = await Promise.all(
    Array.from({ length: 6 }, async () => {
      await createOwnGitDirectory(own, path);
      return git(path, "rev-parse", "--is-bare-repository");
    }),
  );
  expect(kinds).toEqual(Array.from({ length: 6 }, () => "true"));
  expect(readdirSync(join(folder, "deep"))).toEqual(["own.git"]);
});

test("what somebody who was killed left half-made is made whole", async () => {
  const path = join(scratchFolder(), "own.git");
  mkdirSync(join(path, "refs"), { recursive: true });
  await createOwnGitDirectory(repository(), path);
  expect(git(path, "rev-parse", "--is-bare-repository")).toBe("true");
});
