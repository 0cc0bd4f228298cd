import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listTree, textBytesMax, textReader } from "./tree-facts.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "facts-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("files, folders, links and pipes are told apart, and neither git's own folder nor installed packages are seen", async () => {
  mkdirSync(join(folder, "docs/.git"), { recursive: true });
  writeFileSync(join(folder, "docs/.git/config"), "x");
  mkdirSync(join(folder, "node_modules/left-pad"), { recursive: true });
  writeFileSync(join(folder, "docs/a.md"), "12345");
  symlinkSync("docs/a.md", join(folder, "link.md"));
  execFileSync("mkfifo", [join(folder, "pipe")]);
  const { entries, isWhole } = await listTree(folder);
  expect(isWhole).toBe(true);
  expect(Object.fromEntries(entries)).toEqual({
    docs: { kind: "folder", size: 0 },
    "docs/a.md": { kind: "file", size: 5 },
    "link.md": { kind: "link", size: 0 },
    pipe: { kind: "other", size: 0 },
  });
});

test("a link to a folder is not walked, so nothing behind it can be read", async () => {
  mkdirSync(join(folder, "real"));
  writeFileSync(join(folder, "real/secret"), "s");
  symlinkSync("real", join(folder, "way"));
  const listing = await listTree(folder);
  const read = textReader(folder, listing);
  expect([...listing.entries.keys()].sort()).toEqual(["real", "real/secret", "way"]);
  expect(read("real/secret")).toEqual({ text: "s", isWhole: true });
  expect(read("way/secret")).toBeNull();
  expect(read("way")).toBeNull();
  expect(read("../outside")).toBeNull();
});

test("a file that becomes a link after it was listed is not followed", async () => {
  writeFileSync(join(folder, "a"), "a");
  const read = textReader(folder, await listTree(folder));
  rmSync(join(folder, "a"));
  symlinkSync("/etc/passwd", join(folder, "a"));
  expect(read("a")).toBeNull();
});

test("a file at the bound is read whole, one byte more is not", async () => {
  writeFileSync(join(folder, "at"), "x".repeat(textBytesMax));
  writeFileSync(join(folder, "over"), "x".repeat(textBytesMax + 1));
  const read = textReader(folder, await listTree(folder));
  expect(read("at")?.isWhole).toBe(true);
  expect(read("over")?.isWhole).toBe(false);
  expect(read("over")?.text).toHaveLength(textBytesMax);
});

test("a tree larger than the bound says that it is not whole", async () => {
  for (const name of ["a", "b", "c"]) writeFileSync(join(folder, name), "");
  expect(await listTree(folder, { entriesMax: 3, depthMax: 9 })).toMatchObject({ isWhole: true });
  expect(await listTree(folder, { entriesMax: 2, depthMax: 9 })).toMatchObject({ isWhole: false });
});
