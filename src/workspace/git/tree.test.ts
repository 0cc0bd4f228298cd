import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git, readGitLine } from "./git.ts";
import type { BytePath } from "./byte-path.ts";
import { readTree } from "./read-tree.ts";
import { computeObjectHash, computeTreeHash } from "./tree.ts";

let folder = "";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "autopilot-tree-"));
  await git({ cwd: folder, args: ["init", "-q", "-b", "main"] });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function treeWith(name: string): Promise<string> {
  writeFileSync(join(folder, name), name);
  await git({ cwd: folder, isOwn: true, args: ["add", "-A"] });
  return readGitLine({ cwd: folder, isOwn: true, args: ["write-tree"] });
}

test("what bears an object's name is read once; what bears another is read whenever it is asked for", async () => {
  const first = await treeWith("a");
  const read = await readTree({ cwd: folder }, first);
  expect([...read.keys()]).toEqual(["a"]);
  expect(await readTree({ cwd: folder }, first)).toBe(read);

  await git({ cwd: folder, isOwn: true, args: ["tag", "now", first] });
  const named = await readTree({ cwd: folder }, "now");
  expect([...named.keys()]).toEqual(["a"]);
  await git({ cwd: folder, isOwn: true, args: ["tag", "-f", "now", await treeWith("b")] });
  expect([...(await readTree({ cwd: folder }, "now")).keys()]).toEqual(["a", "b"]);
});

test("a tree that is not there is asked for again, for it may come", async () => {
  const before = await readTree({ cwd: folder }, await treeWith("b"));
  const sha = computeObjectHash("sha1", "blob", Buffer.from("late"));
  const name = computeTreeHash("sha1", [...before, ["late" as BytePath, { mode: "100644", sha }]]);
  await expect(readTree({ cwd: folder }, name)).rejects.toThrow("not a tree object");
  expect(await treeWith("late")).toBe(name);
  expect([...(await readTree({ cwd: folder }, name)).keys()]).toEqual(["a", "b", "late"]);
});

test("only the last few are kept", async () => {
  const first = await treeWith("c");
  const read = await readTree({ cwd: folder }, first);

  for (const name of ["d", "e", "f", "g", "h", "i"]) {
    await readTree({ cwd: folder }, await treeWith(name));
  }

  const again = await readTree({ cwd: folder }, first);
  expect(again).toEqual(read);
  expect(again).not.toBe(read);
});

test("a tree of many folders, and one that differs from it in a file, are listed as git lists them", async () => {
  for (let index = 0; index < 40; index++) {
    mkdirSync(join(folder, `f${index}`, "below"), { recursive: true });
    writeFileSync(join(folder, `f${index}`, "below", "x"), String(index));
  }

  for (const tree of [await treeWith("many"), await treeWith("more")]) {
    const { out } = await git({ cwd: folder, args: ["ls-tree", "-r", "--full-tree", tree] });
    const rows = [...(await readTree({ cwd: folder }, tree))].map(
      ([path, { mode, sha }]) => `${mode} blob ${sha}\t${path}\n`,
    );
    expect(rows.join("")).toBe(out.toString("utf8"));
  }
});
