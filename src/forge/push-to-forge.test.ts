// A push goes to the project of the pull request, and over nothing that was not seen.

import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { git, scratch } from "../../test/support/scratch-repository.ts";
import { findRepository } from "../workspace/git/repository.ts";
import { pushCommit } from "./push-to-forge.ts";

test("an address that was changed since is not pushed to", async () => {
  const folder = scratch();
  const place = {
    tool: "gh",
    host: "github.com",
    project: "acme/shop",
    remote: "origin",
    branch: "work",
    into: "main",
  } as const;

  git(folder, "remote", "add", "origin", "https://github.com/acme/other.git");
  const push = async () => {
    const lookup = await findRepository(folder);
    if (!("repository" in lookup)) throw new Error("no repository");
    await pushCommit(lookup.repository, join(dirname(folder), "run"), place, {
      commit: git(folder, "rev-parse", "main"),
      env: {},
    });
  };
  await expect(push()).rejects.toMatchObject({ reason: "remote_missing" });

  for (const url of ["https://github.evil.example/acme/shop.git", `file://${folder}`, folder]) {
    git(folder, "remote", "set-url", "origin", url);
    await expect(push(), url).rejects.toMatchObject({ reason: "remote_missing" });
  }
});
