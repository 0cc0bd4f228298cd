// Landing: into a clean checkout of the branch the run began on, or not at all.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  attempt,
  fingerprint,
  git,
  makeRepository,
  makeRoom,
  openBench,
  runRef,
  write,
  type Bench,
  mergePasses,
} from "./bench-repository.ts";
import { aFew } from "../support/sampled.ts";

async function benchWithWork(
  root?: string,
  change: (layer: string) => void = (layer) => write(layer, "src/a.ts", "landed\n"),
): Promise<Bench> {
  const bench = await openBench(root === undefined ? {} : { root });
  change(await bench.workspace.openLayer(attempt, []));
  await bench.workspace.apply(attempt, "work");

  return bench;
}

test("a checkout that has not moved is fast-forwarded, once", async () => {
  const { root, workspace } = await benchWithWork();
  const tip = runRef(root);
  const landed = { landed: true, how: "fast_forward", commit: tip };
  expect(await workspace.land("x", mergePasses)).toEqual(landed);
  expect(readFileSync(join(root, "src/a.ts"), "utf8")).toBe("landed\n");
  expect(git(root, "status", "--porcelain")).toBe("");
  expect(git(root, "symbolic-ref", "HEAD")).toBe("refs/heads/main");
  expect(await workspace.land("x", mergePasses)).toEqual(landed);
});

test("a branch that moved on gets a merge commit, once", async () => {
  const { root, workspace } = await benchWithWork();
  write(root, "README.md", "the user's\n");
  git(root, "commit", "-qam", "user");
  const landed = await workspace.land("Bring the work home", mergePasses);
  expect(landed).toMatchObject({
    landed: true,
    how: "merge",
    commit: git(root, "rev-parse", "HEAD"),
  });

  expect(git(root, "log", "-1", "--format=%s %P").split(" ").slice(-2)).toEqual([
    git(root, "rev-parse", "HEAD^1"),
    runRef(root),
  ]);

  expect(readFileSync(join(root, "README.md"), "utf8")).toBe("the user's\n");
  expect(readFileSync(join(root, "src/a.ts"), "utf8")).toBe("landed\n");
  expect(git(root, "status", "--porcelain")).toBe("");
  expect(await workspace.land("again", mergePasses)).toEqual(landed);
});

test.each(["once", "by its config"])("an index that was split %s stays readable", async (how) => {
  const { root, workspace } = await benchWithWork();
  if (how === "by its config") git(root, "config", "core.splitIndex", "true");
  git(root, "update-index", "--split-index");
  expect(readdirSync(join(root, ".git")).some((name) => name.startsWith("sharedindex."))).toBe(
    true,
  );

  expect(await workspace.land("x", mergePasses)).toMatchObject({ landed: true });
  expect(git(root, "status", "--porcelain")).toBe("");
});

test("a merge with files that nobody has checked is judged before it lands, and what fails on it keeps it away", async () => {
  const { root, workspace } = await benchWithWork();
  write(root, "README.md", "the user's\n");
  git(root, "commit", "-qam", "user");
  const head = git(root, "rev-parse", "HEAD");
  const judged: string[] = [];
  const refused = await workspace.land(
    "x",
    (merge) => (judged.push(merge), Promise.resolve("The tests fail together.")),
  );
  expect(refused).toEqual({
    landed: false,
    because: "merge_unproved",
    detail: "The tests fail together.",
  });

  expect(git(root, "rev-parse", "HEAD")).toBe(head);
  expect(git(root, "status", "--porcelain")).toBe("");
  expect(git(root, "show", `${judged[0]}:README.md`)).toBe("the user's");
  expect(git(root, "show", `${judged[0]}:src/a.ts`)).toBe("landed");
  expect(
    await workspace.land("x", (merge) => (judged.push(merge), Promise.resolve(null))),
  ).toMatchObject({
    landed: true,
    commit: judged[1],
  });
});

test("what moves forward without a merge was judged already", async () => {
  const { workspace } = await benchWithWork();
  expect(await workspace.land("x", () => Promise.reject(new Error("asked")))).toMatchObject({
    landed: true,
    how: "fast_forward",
  });
});

test("a branch that was rewritten under the run is named as one", async () => {
  const { root, workspace } = await benchWithWork();
  git(root, "checkout", "-q", "--orphan", "fresh");
  git(root, "commit", "-qm", "anew");
  git(root, "branch", "-q", "-M", "main");
  expect(await workspace.land("x", mergePasses)).toMatchObject({
    landed: false,
    because: "branch_rewritten",
  });
});

type Obstacle = {
  readonly name: string;
  readonly because: string;
  readonly set: (root: string) => void;
};
const obstacles: readonly Obstacle[] = [
  {
    name: "an uncommitted change elsewhere",
    because: "checkout_dirty",
    set: (root) => write(root, "README.md", "mine\n"),
  },
  {
    name: "an uncommitted change in the same file",
    because: "checkout_dirty",
    set: (root) => write(root, "src/a.ts", "mine\n"),
  },
  {
    name: "a staged change",
    because: "checkout_dirty",
    set: (root) => (write(root, "README.md", "mine\n"), git(root, "add", "-A")),
  },
  {
    name: "another branch",
    because: "checkout_moved",
    set: (root) => void git(root, "switch", "-q", "-c", "other"),
  },
  {
    name: "a detached HEAD",
    because: "checkout_moved",
    set: (root) => void git(root, "switch", "-q", "--detach"),
  },
  {
    name: "a conflicting commit",
    because: "merge_conflict",
    set: (root) => (write(root, "src/a.ts", "mine\n"), git(root, "commit", "-qam", "mine")),
  },
  {
    name: "an untracked file in the way",
    because: "checkout_dirty",
    set: (root) => write(root, "src/new.ts", "mine\n"),
  },
  {
    name: "an ignored file in the way",
    because: "checkout_dirty",
    set: (root) => (
      write(root, ".git/info/exclude", "src/new.ts\n"),
      write(root, "src/new.ts", "mine\n")
    ),
  },
  {
    name: "a merge that is not through",
    because: "checkout_busy",
    set: (root) => {
      git(root, "branch", "side");
      git(root, "commit", "-q", "--allow-empty", "-m", "mine");
      git(root, "switch", "-q", "side");
      git(root, "commit", "-q", "--allow-empty", "-m", "theirs");
      git(root, "switch", "-q", "-");
      git(root, "merge", "-q", "--no-commit", "--no-ff", "-s", "ours", "side");
    },
  },
  {
    name: "a rebase that is not through",
    because: "checkout_busy",
    set: (root) => {
      git(root, "commit", "-q", "--allow-empty", "-m", "mine");
      git(
        root,
        "-c",
        "sequence.editor=sed -i 1s/^pick/edit/",
        "rebase",
        "-q",
        "-i",
        "--keep-empty",
        "HEAD~1",
      );
    },
  },
  {
    name: "a lock that another git holds or left",
    because: "checkout_busy",
    set: (root) => write(root, ".git/index.lock", ""),
  },
];

aFew(4).each(obstacles)(
  "$name: nothing is touched, and the reason is told",
  async ({ because, set }) => {
    const { root, workspace } = await benchWithWork(
      undefined,
      (layer) => (write(layer, "src/a.ts", "landed\n"), write(layer, "src/new.ts", "landed\n")),
    );
    set(root);
    const before = fingerprint(root);
    const tip = runRef(root);
    expect(await workspace.land("x", mergePasses)).toMatchObject({ landed: false, because });
    expect(fingerprint(root)).toBe(before);
    expect(runRef(root)).toBe(tip);
  },
);

test("a landing that lost its race with a commit leaves nothing of itself behind, and lands after it", async () => {
  const { root, runDir, workspace } = await benchWithWork(undefined, (layer) =>
    write(layer, "src/new.ts", "landed\n"),
  );
  const from = git(root, "rev-parse", "HEAD").trim();
  write(runDir, "landing.json", JSON.stringify({ version: 1, from, to: runRef(root) }));
  // As git leaves it where somebody moves the branch after it has moved the files.
  write(root, "src/new.ts", "landed\n");
  git(root, "add", "src/new.ts");
  git(root, "commit", "-q", "--allow-empty", "--only", "-m", "mine");
  expect(git(root, "status", "--porcelain").trim()).toBe("A  src/new.ts");
  expect(await workspace.land("x", mergePasses)).toMatchObject({ landed: true, how: "merge" });
  expect(git(root, "status", "--porcelain").trim()).toBe("");
});

test("untracked files that are not in the way, and the runner's own, do not keep the work from landing", async () => {
  const root = makeRepository(join(makeRoom(), "repo"));
  const bench = await openBench({ root, ownedPaths: ["docs/**"] });
  write(await bench.workspace.openLayer(attempt, []), "src/a.ts", "landed\n");
  await bench.workspace.apply(attempt, "work");
  write(root, "notes.txt", "mine\n");
  write(root, "docs/guide.md", "rewritten by the runner\n");
  expect(await bench.workspace.land("x", mergePasses)).toMatchObject({ landed: true });
  expect(readFileSync(join(root, "docs/guide.md"), "utf8")).toBe("rewritten by the runner\n");
});

test("a run that began detached keeps its branch, a run without work has nothing to land", async () => {
  const detached = makeRepository(join(makeRoom(), "repo"));
  git(detached, "switch", "-q", "--detach");
  expect(await (await benchWithWork(detached)).workspace.land("x", mergePasses)).toMatchObject({
    landed: false,
    because: "checkout_moved",
  });

  expect(await (await openBench()).workspace.land("x", mergePasses)).toMatchObject({
    landed: false,
    because: "nothing_to_land",
  });
});

test("the user's own smudge filter runs when their checkout is updated; the repository's and their hooks do not", async () => {
  const root = makeRepository(join(makeRoom(), "repo"), {
    "a.txt": "one\n",
    "b.md": "one\n",
    ".gitattributes": "*.txt filter=shout\n*.md filter=own\n",
  });

  const theirs = join(makeRoom(), "gitconfig");
  const outer = process.env["GIT_CONFIG_GLOBAL"];
  process.env["GIT_CONFIG_GLOBAL"] = theirs;

  try {
    git(root, "config", "-f", theirs, "filter.shout.clean", "tr A-Z a-z");
    git(root, "config", "-f", theirs, "filter.shout.smudge", "tr a-z A-Z");
    git(root, "config", "filter.own.smudge", "tr a-z A-Z");
    write(root, ".git/hooks/post-merge", "#!/bin/sh\ntouch hooked\n", 0o755);
    const bench = await benchWithWork(
      root,
      (layer) => (write(layer, "a.txt", "two\n"), write(layer, "b.md", "two\n")),
    );

    expect(git(root, "show", `${runRef(root)}:a.txt`)).toBe("two");
    expect(await bench.workspace.land("x", mergePasses)).toMatchObject({ landed: true });
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("TWO\n");
    expect(readFileSync(join(root, "b.md"), "utf8")).toBe("two\n");
    expect(existsSync(join(root, "hooked"))).toBe(false);
  } finally {
    if (outer === undefined) delete process.env["GIT_CONFIG_GLOBAL"];
    else process.env["GIT_CONFIG_GLOBAL"] = outer;
  }
});

test("squashed, the work is one commit of its own, once, and later work brings only what is new", async () => {
  const bench = await openBench({ isSquashed: true });
  const { root, workspace } = bench;
  const work = async (name: string, path: string, text: string): Promise<void> => {
    write(await workspace.openLayer(name, []), path, text);
    await workspace.apply(name, name);
  };

  const before = git(root, "rev-parse", "HEAD");
  await work("1@1/execute#1", "src/a.ts", "one\n");
  await work("1@1/execute#2", "src/a.ts", "two\n");
  const landed = await workspace.land("Make a\n\nproved", mergePasses);
  const head = git(root, "rev-parse", "HEAD");
  expect(landed).toEqual({ landed: true, how: "squash", commit: head });
  expect(git(root, "log", "--format=%s %P", `${before}..HEAD`)).toBe(`Make a ${before}`);
  expect(readFileSync(join(root, "src/a.ts"), "utf8")).toBe("two\n");
  expect(git(root, "status", "--porcelain")).toBe("");
  expect(await workspace.land("again", mergePasses)).toEqual(landed);

  write(root, "README.md", "the user's\n");
  git(root, "commit", "-qam", "user");
  await work("2@1/execute#1", "src/a.ts", "three\n"); // the same line as what has landed
  expect(await workspace.land("Make it three", mergePasses)).toMatchObject({
    landed: true,
    how: "squash",
  });

  expect(git(root, "log", "--format=%s", `${before}..HEAD`)).toBe("Make it three\nuser\nMake a");
  expect([
    readFileSync(join(root, "src/a.ts"), "utf8"),
    readFileSync(join(root, "README.md"), "utf8"),
  ]).toEqual(["three\n", "the user's\n"]);
});
