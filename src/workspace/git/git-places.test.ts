import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findGitPlaces } from "./git-places.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "places-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("a folder called .git without a HEAD is passed over, as git does; one whose HEAD is a link to a branch yet to come is not", () => {
  const inner = join(root, "inner");
  mkdirSync(join(inner, ".git"), { recursive: true });
  mkdirSync(join(root, ".git"));
  symlinkSync("refs/heads/main", join(root, ".git", "HEAD"));
  expect(findGitPlaces(inner)).toMatchObject({ root, gitDir: join(root, ".git") });
});
