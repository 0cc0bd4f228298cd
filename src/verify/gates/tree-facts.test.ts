import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listTree, textBytesMax, createTextReader } from "./tree-facts.ts";

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

test("a link to a folder is not run, so nothing behind it can be read", async () => {
  mkdirSync(join(folder, "real"));
  writeFileSync(join(folder, "real/secret"), "s");
  symlinkSync("real", join(folder, "way"));
  const listing = await listTree(folder);
  const read = createTextReader(listing);
  expect([...listing.entries.keys()].sort()).toEqual(["real", "real/secret", "way"]);
  expect(read("real/secret")).toEqual({ text: "s", isWhole: true });
  expect(read("way/secret")).toBeNull();
  expect(read("way")).toBeNull();
  expect(read("../outside")).toBeNull();
});

test("a file that becomes a link after it was listed is not followed", async () => {
  writeFileSync(join(folder, "a"), "a");
  const read = createTextReader(await listTree(folder));
  rmSync(join(folder, "a"));
  symlinkSync("/etc/passwd", join(folder, "a"));
  expect(read("a")).toBeNull();
});

test("a file at the bound is read whole, one byte more is not", async () => {
  writeFileSync(join(folder, "at"), "x".repeat(textBytesMax));
  writeFileSync(join(folder, "over"), "x".repeat(textBytesMax + 1));
  const read = createTextReader(await listTree(folder));
  expect(read("at")?.isWhole).toBe(true);
  expect(read("over")?.isWhole).toBe(false);
  expect(read("over")?.text).toHaveLength(textBytesMax);
});

test("what is no text says so: bytes that are not UTF-8, a NUL; a character cut in two by the bound is none of that", async () => {
  writeFileSync(join(folder, "bytes"), Buffer.from([0x41, 0xff, 0xfe]));
  writeFileSync(join(folder, "nul"), "abc\0def");
  writeFileSync(join(folder, "marked"), "\uFEFF# Title\n");
  writeFileSync(join(folder, "cut"), `${"x".repeat(textBytesMax - 1)}é`);
  const read = createTextReader(await listTree(folder));
  expect(read("bytes")).toEqual({
    text: "",
    isWhole: true,
    fault: "no text: bytes that are not UTF-8",
  });

  expect(read("nul")).toEqual({ text: "", isWhole: true, fault: "no text: a NUL at byte 3" });
  expect(read("marked")).toEqual({ text: "# Title\n", isWhole: true });
  expect(read("cut")).toMatchObject({
    isWhole: false,
    text: expect.stringMatching(/x$/) as string,
  });

  expect(read("cut")?.fault).toBeUndefined();
});

test("a file that grows while it is read is told apart from one that is whole", async () => {
  writeFileSync(join(folder, "a"), "one\n");
  const read = createTextReader(await listTree(folder));

  // /proc shows a file whose size is said to be 0 and whose content is not: it grows with every
  // look.
  const grown = createTextReader({
    entries: new Map([["status", { kind: "file", size: 0 }]]),
    isWhole: true,
    folderOf: () => "/proc/self",
  });
  expect(grown("status")).toEqual({
    text: "",
    isWhole: false,
    fault: "a file that changed while it was read",
  });

  expect(read("a")).toEqual({ text: "one\n", isWhole: true });
});

test("all that one judgement reads is bounded, and what lies beyond says so", async () => {
  for (const name of ["a", "b", "c"]) writeFileSync(join(folder, name), "12345");
  const listing = await listTree(folder);
  const byFiles = createTextReader(listing, { filesMax: 2, bytesMax: 1_000 });
  expect(["a", "b", "c"].map((name) => byFiles(name)?.fault)).toEqual([
    undefined,
    undefined,
    "too much to read: 2 files, 10 bytes before it",
  ]);

  const byBytes = createTextReader(listing, { filesMax: 9, bytesMax: 5 });
  expect(["a", "b"].map((name) => byBytes(name)?.fault)).toEqual([
    undefined,
    "too much to read: 1 files, 5 bytes before it",
  ]);

  expect(byBytes("a")).toEqual({ text: "12345", isWhole: true }); // What was read is remembered.
});

test("a file nobody may read, one that is gone, and a pipe in its place are no text", async () => {
  writeFileSync(join(folder, "a"), "x");
  const listing = await listTree(folder);
  const read = createTextReader(listing);
  rmSync(join(folder, "a"));
  expect(read("a")).toBeNull();
  execFileSync("mkfifo", [join(folder, "a")]);
  expect(createTextReader(listing)("a")).toBeNull();
});

test("a tree larger than the bound says that it is not whole", async () => {
  for (const name of ["a", "b", "c"]) writeFileSync(join(folder, name), "");
  expect(await listTree(folder, { entriesMax: 3, depthMax: 9 })).toMatchObject({ isWhole: true });
  expect(await listTree(folder, { entriesMax: 2, depthMax: 9 })).toMatchObject({ isWhole: false });
});

test("folders that lie over each other are listed as the kernel's overlay shows them", async () => {
  const [upper, lower] = [join(folder, "upper"), join(folder, "lower")];
  const write = (top: string, paths: readonly string[]): void => {
    for (const path of paths) {
      mkdirSync(join(top, path, ".."), { recursive: true });
      writeFileSync(join(top, path), top === lower ? "lower" : "upper");
    }
  };
  write(upper, ["new/inside.md", "same.md", "file-over-folder"]);
  write(lower, ["new/old.md", "same.md", "file-over-folder/hidden.md", "gone/deep.md", "kept.md"]);
  execFileSync("mknod", [join(upper, "gone"), "c", "0", "0"]);
  const listing = await listTree([upper, lower]);
  expect([...listing.entries.keys()].toSorted()).toEqual([
    "file-over-folder",
    "kept.md",
    "new",
    "new/inside.md",
    "new/old.md",
    "same.md",
  ]);

  const read = createTextReader(listing);
  expect(
    ["new/inside.md", "new/old.md", "same.md", "kept.md"].map((path) => read(path)?.text),
  ).toEqual(["upper", "lower", "upper", "lower"]);
});
