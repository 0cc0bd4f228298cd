// Repositories that are not here whole, and files too large to be read twice: nothing is fetched
// unasked, what is missing is reported.

import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { openStore } from "../../src/workspace/bases/store.ts";
import {
  attempt,
  type Bench,
  git,
  makeRepository,
  makeRoom,
  openBench,
  mergePasses,
} from "./bench-repository.ts";

const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 2147483648\n";
const files = {
  "a.txt": "a\n",
  "in/one.txt": "one\n",
  "out/two.txt": "two\n",
  "big.bin": pointer,
  ".gitattributes": "*.bin filter=lfs\n",
};

async function openView(
  root: string,
  room: string,
): Promise<Bench & { readonly base: () => string }> {
  const store = openStore(join(room, "store"));
  const bench = await openBench({ root, checkouts: "overlay", sharesHistory: true, store });
  return {
    ...bench,
    base: () =>
      join(store.folder, "bases", readdirSync(join(store.folder, "bases"))[0] ?? "", "tree"),
  };
}

test("a partial clone that has not all files of its commit is refused with the way to get them, and nothing is fetched", async () => {
  const room = makeRoom();
  const origin = makeRepository(join(room, "origin"), files);
  git(origin, "config", "uploadpack.allowFilter", "true");
  const root = join(room, "repo");
  git(room, "clone", "-q", "--filter=blob:none", "--no-checkout", `file://${origin}`, root);
  const objects = (): number =>
    Number(/^in-pack: (\d+)$/m.exec(git(root, "count-objects", "-v"))?.[1]);
  const before = objects();
  const bench = await openView(root, room);
  await expect(bench.workspace.openLayer(attempt, [])).rejects.toMatchObject({
    message: expect.stringMatching(
      /objects? of the commit (is|are) missing from this repository/,
    ) as unknown,
    hint: expect.not.stringMatching(/\bgit [a-z]/) as unknown,
  });

  expect(objects()).toBe(before);
  execFileSync("/bin/sh", ["-c", "git archive HEAD > /dev/null"], { cwd: root });
  expect(existsSync(join(await bench.workspace.openLayer(attempt, []), ".git"))).toBe(true);
});

test("a partial clone without its past, and a sparse checkout, work from the whole commit and stay as they are", async () => {
  const room = makeRoom();
  const origin = makeRepository(join(room, "origin"), { ...files, "a.txt": "old\n" });
  writeFileSync(join(origin, "a.txt"), "a\n");
  git(origin, "commit", "-qam", "second");
  git(origin, "config", "uploadpack.allowFilter", "true");
  const root = join(room, "repo");
  git(room, "clone", "-q", "--filter=blob:none", `file://${origin}`, root);
  git(root, "sparse-checkout", "set", "in");
  expect(existsSync(join(root, "out"))).toBe(false);
  const bench = await openView(root, room);
  const layer = await bench.workspace.openLayer(attempt, []);
  expect(readFileSync(join(bench.base(), "out/two.txt"), "utf8")).toBe("two\n");
  writeFileSync(join(layer, "a.txt"), "b\n");
  await bench.workspace.apply(attempt, "change a");
  await bench.workspace.land("landed", mergePasses);
  expect([readFileSync(join(root, "a.txt"), "utf8"), existsSync(join(root, "out"))]).toEqual([
    "b\n",
    false,
  ]);

  expect(git(root, "status", "--porcelain")).toBe("");
});

test("a pointer to a large file is shown as it lies in git, and no filter runs for it", async () => {
  const room = makeRoom();
  const root = makeRepository(join(room, "repo"), files);
  git(root, "config", "filter.lfs.smudge", "false");
  const bench = await openView(root, room);
  await bench.workspace.openLayer(attempt, []);
  expect(readFileSync(join(bench.base(), "big.bin"), "utf8")).toBe(pointer);
});

test("a file of 2 GB that an agent leaves is refused without being read", async () => {
  const room = makeRoom();
  const bench = await openView(makeRepository(join(room, "repo"), files), room);
  const layer = await bench.workspace.openLayer(attempt, []);
  writeFileSync(join(layer, "huge.bin"), "");
  truncateSync(join(layer, "huge.bin"), 2 * 1024 ** 3);
  const before = process.resourceUsage().maxRSS;
  const { violations } = await bench.workspace.changesOf(attempt);
  expect(violations).toMatchObject([{ path: "huge.bin", kind: "too_large" }]);
  expect((process.resourceUsage().maxRSS - before) / 1024).toBeLessThan(200);
});

test("a tree of many links is a base like any other", async () => {
  const room = makeRoom();
  const root = makeRepository(join(room, "repo"), files);

  const target = execFileSync("git", ["hash-object", "-w", "--stdin"], {
    cwd: root,
    input: "a.txt",
    encoding: "utf8",
  }).trim();

  const rows = Array.from(
    { length: 300 },
    (_, at) => `120000 ${target}\tlinks/${at % 30}/l${at}\n`,
  ).join("");

  execFileSync("git", ["update-index", "--index-info"], { cwd: root, input: rows });
  git(root, "commit", "-q", "-m", "links");
  git(root, "checkout-index", "-qaf");
  const bench = await openView(root, room);
  await bench.workspace.openLayer(attempt, []);
  expect(lstatSync(join(bench.base(), "links/7/l7")).isSymbolicLink()).toBe(true);
  expect((await bench.workspace.changesOf(attempt)).paths).toEqual([]);
});

test("a folder of 5,000 files, and one 40 folders deep, are worked in and landed in like any other", async () => {
  const room = makeRoom();
  const deep = `${Array.from({ length: 40 }, (_, at) => `d${at}`).join("/")}/end.txt`;
  const root = makeRepository(join(room, "repo"), { ...files, [deep]: "end\n" });
  const one = git(root, "rev-parse", "HEAD:in/one.txt");
  const rows = Array.from({ length: 5_000 }, (_, at) => `100644 ${one}\twide/f${at}.txt\n`).join(
    "",
  );

  execFileSync("git", ["update-index", "--index-info"], { cwd: root, input: rows });
  git(root, "commit", "-q", "-m", "wide");
  git(root, "checkout-index", "-qaf");
  const bench = await openView(root, room);
  const layer = await bench.workspace.openLayer(attempt, []);

  for (const path of ["wide/f4999.txt", "wide/new.txt", deep]) {
    mkdirSync(dirname(join(layer, path)), { recursive: true });
    writeFileSync(join(layer, path), "changed\n");
  }

  expect((await bench.workspace.changesOf(attempt)).paths.toSorted()).toEqual([
    deep,
    "wide/f4999.txt",
    "wide/new.txt",
  ]);

  await bench.workspace.apply(attempt, "change a few");
  expect(await bench.workspace.land("landed", mergePasses)).toMatchObject({ landed: true });
  expect(git(root, "show", "--stat", "--format=", "HEAD")).toContain("3 files changed");
  expect(git(root, "status", "--porcelain")).toBe("");
});
