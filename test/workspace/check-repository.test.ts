// The repository in a check's checkout: git says there what it says in a fresh clone, of the tree
// that is checked, and nothing that a check does with it reaches another checkout or the user.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CheckoutOverrides } from "../../src/ports/workspace.ts";
import { openStore } from "../../src/workspace/bases/store.ts";
import {
  attempt,
  type Bench,
  fingerprint,
  git,
  makeRepository,
  makeRoom,
  openBench,
  write,
} from "./bench-repository.ts";
import { hasBoxes, openLevel, run } from "./boxed.ts";

const levels = [
  { level: "overlay", checkouts: "overlay", sharesHistory: true },
  { level: "bwrap", checkouts: "copy", sharesHistory: true },
  { level: "clone", checkouts: "copy", sharesHistory: false },
  { level: "none", checkouts: "copy", sharesHistory: false },
] as const;
const isPossible = ({ level }: (typeof levels)[number]): boolean =>
  hasBoxes || level === "clone" || level === "none";

/** What a command in a checkout prints, and the code it ends with. */
type Say = (folder: string, script: string) => string;

async function openAt(
  { level, checkouts, sharesHistory }: (typeof levels)[number],
  root = makeRepository(join(makeRoom(), "repo")),
): Promise<{ readonly bench: Bench; readonly say: Say }> {
  const store = openStore(join(makeRoom(), "store"));
  const bench = await openBench({ root, checkouts, sharesHistory, store });
  const isolation = await openLevel(level, bench);
  const say: Say = (folder, script) => {
    const { code, out, err } = run(isolation, folder, script, { writes: "directly" });
    return `${out}${err}${code}`;
  };

  return { bench, say };
}

const unchanged =
  "git diff --exit-code && git diff-index --quiet HEAD && git diff --cached --quiet && git status --porcelain";
const commitOf = async ({ workspace }: Bench): Promise<string> => (await workspace.tip()).commit;

describe.each(levels.filter(isPossible))("at $level", (place) => {
  test("it has the commit as HEAD, on the user's branch, a clean index, its history and its tags; no remote and no hook", async () => {
    const root = makeRepository(join(makeRoom(), "repo"));
    git(root, "tag", "v1.0");
    git(root, "remote", "add", "origin", "https://example.invalid/x.git");
    const { bench, say } = await openAt(place, root);
    const layer = await bench.workspace.openLayer(attempt, []);
    write(layer, "src/a.ts", "export const a = 3;\n");
    write(layer, "new.ts", "export {};\n");
    await bench.workspace.apply(attempt, "change a");
    const commit = await commitOf(bench);
    const folder = await bench.workspace.checkout(commit, "check");

    expect(say(folder, unchanged)).toBe("0");
    expect(say(folder, "git rev-parse HEAD; git branch --show-current")).toBe(`${commit}\nmain\n0`);
    expect(say(folder, "git log --format=%s; git describe --tags | cut -d- -f1,2")).toBe(
      "change a\nstart\nv1.0-1\n0",
    );
    expect(say(folder, "cd src && git ls-files '*.ts' && git grep -l 'a = 3'")).toBe(
      "a.ts\nb.ts\na.ts\n0",
    );
    expect(say(folder, "git remote; ls .git/hooks 2>/dev/null; git fsck --no-progress")).toBe("0");
    expect(say(folder, "ls .git/objects/info")).toBe("0");
    expect(say(folder, `grep -rl '${root}' .git`)).toBe("1");
  });

  test("git diff shows what a check wrote, and not what it was given in the place of the work's", async () => {
    const { bench, say } = await openAt(place);
    const commit = await commitOf(bench);
    const overrides: CheckoutOverrides = {
      from: commit,
      paths: [],
      without: ["src/b.ts"],
      written: [{ path: "src/a.ts", text: "export const a = 4;\n" }],
    };

    const folder = await bench.workspace.checkout(commit, "check", overrides);
    expect(say(folder, unchanged)).toBe("0");
    expect(say(folder, "git show HEAD:src/a.ts; git rev-parse HEAD^")).toBe(
      `export const a = 4;\n${commit}\n0`,
    );
    const head = say(folder, "git rev-parse HEAD");
    expect(say(folder, "echo hello > README.md; git diff --exit-code")).toBe("0");
    expect(say(folder, "echo other > README.md; git diff --exit-code --name-only")).toBe(
      "README.md\n1",
    );

    const again = await bench.workspace.checkout(commit, "check", overrides);
    expect(say(again, "git rev-parse HEAD")).toBe(head); // so that two runs of a check print the same
  });

  test("what a check does to it is no change of the tree, is gone afterwards, and reaches nothing of the user's", async () => {
    const { bench, say } = await openAt(place);
    const commit = await commitOf(bench);
    const folder = await bench.workspace.checkout(commit, "check");
    const [tree, stamp] = [
      await bench.workspace.treeOf(folder),
      await bench.workspace.stampOf(folder),
    ];
    const before = fingerprint(bench.root);

    expect(say(folder, unchanged)).toBe("0");
    const harm = [
      "git config core.hooksPath harm",
      "git tag mine",
      "git commit -q --allow-empty -m mine",
      "git branch mine",
      "git gc -q --prune=now",
      "git rev-list --count HEAD",
    ];
    expect(say(folder, harm.join(" && "))).toMatch(/2\n0$/);
    expect(await bench.workspace.treeOf(folder)).toBe(tree);
    expect(await bench.workspace.stampOf(folder)).not.toBe(stamp); // so the next check gets another folder
    expect(fingerprint(bench.root)).toBe(before);
    expect(git(bench.root, "fsck", "--no-progress")).toBe("");

    const next = await bench.workspace.checkout(commit, "check");
    expect(
      say(next, "git log --format=%s; git tag; git branch; cat .git/config | grep hooksPath"),
    ).toBe("start\n* main\n1");
    expect(say(next, unchanged)).toBe("0");
  });

  test("a run on no branch, and a commit of before it, have one too", async () => {
    const root = makeRepository(join(makeRoom(), "repo"));
    const older = git(root, "rev-parse", "HEAD");
    git(root, "commit", "-q", "--allow-empty", "-m", "two");
    git(root, "checkout", "-q", "--detach");
    const { bench, say } = await openAt(place, root);
    for (const commit of [await commitOf(bench), older]) {
      const folder = await bench.workspace.checkout(commit, "check");
      expect(say(folder, `${unchanged} && git rev-parse HEAD`)).toBe(`${commit}\n0`);
    }
  });
});

test("a folder that no command runs in has none", async () => {
  const { workspace } = await openBench();
  const folder = await workspace.checkout((await workspace.tip()).commit, "proof");
  expect(existsSync(join(folder, ".git"))).toBe(false);
});
