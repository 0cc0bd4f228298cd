// Attributes that convert files (line endings, encodings, $Id$): agents and checks see what a fresh
// clone shows, and what lands is what `git add` stores.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openStore } from "../../src/workspace/bases/store.ts";
import { turnTest } from "../support/sampled.ts";
import {
  attempt,
  type Bench,
  git,
  makeRepository,
  makeRoom,
  openBench,
  write,
  mergePasses,
} from "./bench-repository.ts";
import { hasBoxes, openLevel, run } from "./boxed.ts";

const utf16 = (text: string): Buffer => Buffer.from(text, "utf16le");
const files = {
  ".gitattributes":
    "*.bat text eol=crlf\n*.utf16 text working-tree-encoding=UTF-16LE eol=lf\n*.id ident\n",
  "run.bat": "@echo off\r\n",
  "sub/.gitattributes": "*.txt text eol=crlf\n",
  "sub/a.txt": "one\r\n",
  "a.txt": "one\n",
  "v.id": "$Id$\n",
  "s.utf16": utf16("hi\n").toString("latin1"),
};

async function openAt(level: "overlay" | "copy"): Promise<Bench> {
  const room = makeRoom();
  const root = makeRepository(join(room, "repo"), { ...files, "s.utf16": "" });
  writeFileSync(join(root, "s.utf16"), utf16("hi\n"));
  git(root, "add", "-A");
  git(root, "commit", "-q", "-m", "files");
  for (const path of Object.keys(files)) execFileSync("rm", ["-f", join(root, path)]);
  git(root, "checkout", "-q", "--", ".");

  return openBench({
    root,
    checkouts: level,
    sharesHistory: true,
    store: openStore(join(room, "store")),
  });
}

const listing =
  'find . -path ./.git -prune -o -path ./.autopilot -prune -o -type f -print | LC_ALL=C sort | xargs -d "\\n" sha1sum';
function freshClone({ root }: Bench, commit: string): string {
  const clone = join(makeRoom(), "clone");
  git(root, "clone", "-q", "--no-checkout", root, clone);
  git(clone, "checkout", "-q", "--detach", commit);

  return execFileSync("/bin/sh", ["-c", listing], { cwd: clone, encoding: "utf8" });
}

describe.skipIf(!hasBoxes).each(["overlay", "copy"] as const)(
  "at %s (needs bubblewrap and namespaces)",
  (level) => {
    /** What git stores is the same at both. */
    const testOrInTurn = level === "overlay" ? test : turnTest;
    const openBox = (bench: Bench): ReturnType<typeof openLevel> =>
      openLevel(level === "overlay" ? "overlay" : "bwrap", bench);

    test("agents and checks see what a fresh clone shows, also after attributes changed", async () => {
      const bench = await openAt(level);
      const isolation = await openBox(bench);
      const layer = await bench.workspace.openLayer(attempt, []);
      const fresh = freshClone(bench, bench.repository.head.commit);
      expect(run(isolation, layer, listing).out).toBe(fresh);
      expect(run(isolation, layer, "git status --porcelain").out).toBe("");
      expect((await bench.workspace.changesOf(attempt)).paths).toEqual([]);

      run(
        isolation,
        layer,
        `printf '* text eol=crlf\\n' > sub/.gitattributes; printf 'new\\r\\n' > sub/new; printf 'more\\r\\n' >> run.bat`,
      );

      expect(await bench.workspace.apply(attempt, "x")).toMatchObject({
        paths: ["run.bat", "sub/.gitattributes", "sub/new"],
      });

      const { commit, tree } = await bench.workspace.tip();
      expect(git(bench.root, "show", `${commit}:run.bat`)).toBe("@echo off\nmore");
      expect(git(bench.root, "show", `${commit}:sub/new`)).toBe("new");
      const folder = await bench.workspace.checkout(commit, "check");
      expect(run(isolation, folder, listing, { writes: "directly" }).out).toBe(
        freshClone(bench, commit),
      );

      expect(await bench.workspace.treeOf(folder)).toBe(tree);
    });

    testOrInTurn(
      "what an agent writes as the attributes say lands as git add stores it, and the checkout is clean",
      async () => {
        const bench = await openAt(level);
        const isolation = await openBox(bench);
        const layer = await bench.workspace.openLayer(attempt, []);

        const edits = [
          "printf '@echo off\\r\\necho hi\\r\\n' > run.bat",
          "printf 'h\\0o\\0\\n\\0' > s.utf16",
          "echo more >> v.id",
          "printf 'lf\\n' > sub/lf.txt",
          "touch sub/a.txt",
          "printf 'raw\\r\\n' > raw",
        ].join("; ");
        run(isolation, layer, edits);
        expect((await bench.workspace.changesOf(attempt)).violations).toEqual([]);
        await bench.workspace.apply(attempt, "x");
        const { commit } = await bench.workspace.tip();
        const changed = git(bench.root, "diff", "--name-only", "HEAD", commit).split("\n");
        expect(changed).toEqual(["raw", "run.bat", "s.utf16", "sub/lf.txt", "v.id"]);
        expect(git(bench.root, "show", `${commit}:s.utf16`)).toBe("ho");
        expect(git(bench.root, "show", `${commit}:v.id`)).toBe("$Id$\nmore");
        const expected = join(makeRoom(), "expected");
        git(bench.root, "clone", "-q", bench.root, expected);
        execFileSync("/bin/sh", ["-c", edits], { cwd: expected });
        git(expected, "add", "-A");
        expect(git(expected, "write-tree")).toBe(git(bench.root, "rev-parse", `${commit}^{tree}`));
        expect(await bench.workspace.land("x", mergePasses)).toMatchObject({ landed: true });
        expect(git(bench.root, "status", "--porcelain")).toBe("");
        expect(readFileSync(join(bench.root, "s.utf16"))).toEqual(utf16("ho\n"));
        expect(readFileSync(join(bench.root, "sub/lf.txt"), "utf8")).toBe("lf\r\n");
      },
    );

    testOrInTurn(
      "a file that git can't store as its attributes say is a violation, and the others are judged",
      async () => {
        const bench = await openAt(level);
        const layer = await bench.workspace.openLayer(attempt, []);
        run(await openBox(bench), layer, "printf 'abc' > s.utf16; printf 'x\\r\\n' >> run.bat");
        const { paths, violations } = await bench.workspace.changesOf(attempt);
        expect(violations).toEqual([
          {
            path: "s.utf16",
            kind: "special_file",
            detail: expect.stringContaining("git can't store it") as unknown,
          },
        ]);

        expect(paths).toContain("run.bat");
      },
    );

    testOrInTurn(
      "no program runs that attributes name, whatever an agent writes into them",
      async () => {
        const bench = await openAt(level);
        const layer = await bench.workspace.openLayer(attempt, []);
        const mark = join(bench.root, "ran");
        git(bench.root, "config", "filter.evil.clean", `touch ${mark}`);
        run(
          await openBox(bench),
          layer,
          "printf '[attr]odd filter=evil\\n* odd\\n*.x filter=evil\\n' > .gitattributes; echo x > a.x",
        );

        expect(await bench.workspace.apply(attempt, "x")).toMatchObject({
          paths: [".gitattributes", "a.x"],
        });

        expect(existsSync(mark)).toBe(false);
      },
    );
  },
);

test("a file with a path of any kind is stored beside attributes", async () => {
  const root = makeRepository(join(makeRoom(), "repo"), {
    ".gitattributes": "* text=auto\n",
    "a.txt": "a\n",
  });

  const { workspace } = await openBench({ root });
  const layer = await workspace.openLayer(attempt, []);

  for (const path of ["with space", "-dash", "new\nline", "ü/é", '"quote"', "a.txt"]) {
    write(layer, path, "x\r\n");
  }

  const { paths, violations } = await workspace.changesOf(attempt);
  expect([paths.length, violations]).toEqual([6, []]);
  await workspace.apply(attempt, "x");
  expect(git(root, "show", `${(await workspace.tip()).commit}:with space`)).toBe("x");
});
