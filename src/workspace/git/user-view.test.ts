import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratch } from "../../../test/support/scratch-repository.ts";
import { findGitPlaces } from "./git-places.ts";
import { openUserView } from "./user-view.ts";

test("a view of a repository that is gone is refused, rather than tried again for ever", async () => {
  const root = scratch();
  const places = findGitPlaces(root) ?? expect.unreachable();
  await openUserView(places);
  rmSync(join(root, ".git"), { recursive: true });
  await expect(openUserView(places)).rejects.toMatchObject({
    name: "WorkspaceFailed",
    reason: "workspace_unusable",
  });
});
