// Documents drawn whole: only when they changed, never over what somebody else left, never through
// a link.

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { clearRooms, room } from "../roadmap/files/roadmap-room.test-support.ts";
import { openGeneratedFiles } from "./generated-files.ts";

afterEach(clearRooms);
const page = ".planning/phases/1/VERIFICATION.md";

test("a sheet that did not change is not written again, in this life or the next", async () => {
  const here = room();
  const generatedFiles = openGeneratedFiles(here.root, here.folder);
  await generatedFiles.write(page, "one");
  const inode = (): number => lstatSync(join(here.root, page)).ino;
  const first = inode();
  await generatedFiles.write(page, "one");
  await openGeneratedFiles(here.root, here.folder).write(page, "one");
  expect(inode()).toBe(first);
  await generatedFiles.write(page, "two");
  expect([here.text(page), inode() === first]).toEqual(["two", false]);
});
test("what this run drew it may draw over, also in its next life; what another left is kept aside", async () => {
  const here = room();
  here.write(page, "mine");
  await openGeneratedFiles(here.root, here.folder).write(page, "one");
  await openGeneratedFiles(here.root, here.folder).write(page, "two");
  expect(here.text(page)).toBe("two");
  expect(readFileSync(join(here.folder, "set-aside", page), "utf8")).toBe("mine");
  expect(readdirSync(join(here.folder, "set-aside/.planning/phases/1"))).toEqual([
    "VERIFICATION.md",
  ]);
});
test("a page of ours that a person wrote in is kept aside before it is drawn anew or taken away, and that is told once", async () => {
  const here = room();
  const first = openGeneratedFiles(here.root, here.folder);
  await first.write(page, "one");
  await first.write(page, "two");
  expect(first.takeWarnings()).toEqual([]);
  here.write(page, "two, and a note of mine");
  await first.write(page, "three");
  expect(here.text(page)).toBe("three");
  const kept = join(here.folder, "set-aside", page);
  expect(readFileSync(kept, "utf8")).toBe("two, and a note of mine");
  expect(first.takeWarnings()).toEqual([expect.stringContaining(kept)]);
  expect(first.takeWarnings()).toEqual([]);
  here.write(page, "a second note");
  const next = openGeneratedFiles(here.root, here.folder); // between two lives
  await next.remove(page);
  expect([here.has(page), readFileSync(`${kept}.2`, "utf8")]).toEqual([false, "a second note"]);
});
test("what a run drew before it wrote down hashes is its own", async () => {
  const here = room();
  writeFileSync(join(here.folder, "drawn"), `${page}\n`);
  here.write(page, "of an older version");
  await openGeneratedFiles(here.root, here.folder).write(page, "new");
  expect([here.text(page), existsSync(join(here.folder, "set-aside"))]).toEqual(["new", false]);
});
test("what is to be taken away is kept aside where another left it, and deleted where this run drew it", async () => {
  const here = room();
  here.write(".autopilot/learnings.md", "of the run before");
  const generatedFiles = openGeneratedFiles(here.root, here.folder);
  await generatedFiles.remove(".autopilot/learnings.md");
  expect(here.has(".autopilot/learnings.md")).toBe(false);
  expect(readFileSync(join(here.folder, "set-aside/.autopilot/learnings.md"), "utf8")).toBe(
    "of the run before",
  );

  await generatedFiles.write(".autopilot/learnings.md", "ours");
  await generatedFiles.remove(".autopilot/learnings.md");
  expect(here.has(".autopilot/learnings.md")).toBe(false);
  await generatedFiles.remove(".autopilot/learnings.md");
});
test("nothing is moved, deleted or written behind a link", async () => {
  const here = room();
  const elsewhere = room();
  elsewhere.write("phases/1/VERIFICATION.md", "mine");
  symlinkSync(elsewhere.root, join(here.root, ".planning"));
  const generatedFiles = openGeneratedFiles(here.root, here.folder);
  await expect(generatedFiles.write(page, "ours")).rejects.toThrow("links are not followed");
  await generatedFiles.remove(page);
  expect(elsewhere.text("phases/1/VERIFICATION.md")).toBe("mine");
  expect(existsSync(join(here.folder, "set-aside"))).toBe(false);
});
test("a folder under a sheet's name stays where it is", async () => {
  const here = room();
  mkdirSync(join(here.root, ".autopilot/learnings.md"), { recursive: true });
  const generatedFiles = openGeneratedFiles(here.root, here.folder);
  await generatedFiles.remove(".autopilot/learnings.md");
  await expect(generatedFiles.write(".autopilot/learnings.md", "x")).rejects.toThrow("is a folder");
  expect(lstatSync(join(here.root, ".autopilot/learnings.md")).isDirectory()).toBe(true);
});
