// The user's tags in an agent's repository: those of the history that the agent has, and nothing
// else.

import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { openStore } from "../../src/workspace/bases/store.ts";
import { readBorrowedObjects } from "../../src/workspace/layers/folder-records.ts";
import {
  attempt,
  fingerprint,
  git,
  makeRepository,
  makeRoom,
  openBench,
  write,
} from "./bench-repository.ts";
import { boxLevels, hasBoxes, openLevel, run } from "./boxed.ts";

const nextAttempt = "1@1/execute#2";
const lastAttempt = "1@1/execute#3";

/** Commits of nothing on main. */
function addCommits(root: string, names: readonly string[]): void {
  const begin = "commit refs/heads/main\ncommitter user <user@example.org> 1700000000 +0000\n";
  const lines = names.map(
    (name, at) =>
      `${begin}data ${name.length}\n${name}\n${at === 0 ? "from refs/heads/main^0\n" : ""}`,
  );

  execFileSync("git", ["fast-import", "--quiet"], { cwd: root, input: lines.join("") });
}

/**
 * A repository with tags of every kind: within the last commits, before them, elsewhere, and of
 * what is no commit.
 */
function makeTagged(room: string, ...init: string[]): string {
  const root = makeRepository(join(room, "repo"), undefined, ...init);
  git(root, "tag", "v0.1");
  addCommits(
    root,
    Array.from({ length: 25 }, (_, at) => `old ${at}`),
  );

  git(root, "tag", "-a", "v1.0", "-m", "a message that stays outside");
  git(root, "tag", "-a", "release/1.0", "v1.0", "-m", "a tag of a tag");
  addCommits(root, ["one", "two"]);
  git(root, "tag", "v1.1", "HEAD~1");
  git(root, "pack-refs", "--all");
  git(root, "tag", "a-tree", "HEAD^{tree}");
  git(root, "tag", "a-blob", "HEAD:README.md");
  git(
    root,
    "tag",
    "unmerged",
    git(root, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "of no branch"),
  );

  git(root, "symbolic-ref", "refs/tags/latest", "refs/heads/main");
  return root;
}
const seenTags = ["latest", "release/1.0", "v1.0", "v1.1"];

/** What git says in a folder, with what it complains of. */
const sayIn = (folder: string, script: string): readonly string[] =>
  execFileSync("/bin/sh", ["-c", `{ ${script}; } 2>&1 || true`], { cwd: folder, encoding: "utf8" })
    .trim()
    .split("\n");

const sharing = (room: string) => ({ sharesHistory: true, store: openStore(join(room, "store")) });
const kinds = [
  { kind: "a history of its own", options: () => ({}), init: [] },
  { kind: "a shared history", options: sharing, init: [] },
  { kind: "SHA-256 objects", options: sharing, init: ["--object-format=sha256"] },
] as const;

describe.each(kinds)("an agent with $kind", ({ options, init }) => {
  test("has the tags of the commits it has, in every turn, and can ask what came since; no other tag, and no message", async () => {
    const room = makeRoom();
    const root = makeTagged(room, ...init);
    const { workspace } = await openBench({ root, ...options(room) });
    const layer = await workspace.openLayer(attempt, []);
    expect(sayIn(layer, "git tag")).toEqual(seenTags);
    expect(sayIn(layer, "git log --format=%s v1.0..HEAD")).toEqual(["two", "one"]);
    expect(sayIn(layer, "git describe --tags v1.1 HEAD~2")).toEqual([
      "v1.1",
      expect.stringMatching(/^(?:v1\.0|release\/1\.0)$/),
    ]);

    expect(git(layer, "rev-parse", "v1.0", "release/1.0")).toBe(
      git(root, "rev-parse", "v1.0^{commit}", "release/1.0^{commit}"),
    );

    for (const name of ["v1.0", "unmerged", "v0.1"]) {
      expect(
        sayIn(layer, `git cat-file -e ${git(root, "rev-parse", name)} && echo there`),
        name,
      ).not.toContain("there");
    }

    expect(git(layer, "status", "--porcelain")).toBe("");

    write(layer, "src/a.ts", "changed\n");
    await workspace.apply(attempt, "change a");
    const next = await workspace.openLayer(nextAttempt, []);
    expect(sayIn(next, "git tag")).toEqual(seenTags);
    expect(sayIn(next, "git log --format=%s v1.0..HEAD")).toEqual(["change a", "two", "one"]);
  });

  test("has none if something is hidden from it", async () => {
    const room = makeRoom();
    const { workspace } = await openBench({ root: makeTagged(room, ...init), ...options(room) });

    for (const { name, masks, tags } of [
      { name: attempt, masks: ["src/b.ts"], tags: [""] },
      { name: nextAttempt, masks: [], tags: seenTags },
      { name: lastAttempt, masks: ["src/b.ts"], tags: [""] },
    ]) {
      const layer = await workspace.openLayer(name, masks);
      expect(sayIn(layer, "git tag")).toEqual(tags);
      expect(existsSync(join(layer, ".git", "packed-refs"))).toBe(masks.length === 0);
    }
  });
});

test("a tag of the oldest commit that an agent has is there in every turn, one of an older commit in none", async () => {
  const room = makeRoom();
  const root = makeTagged(room);
  git(root, "tag", "edge", "HEAD~19");
  git(root, "tag", "beyond", "HEAD~20");
  const { workspace } = await openBench({ root });
  const layer = await workspace.openLayer(attempt, []);
  expect(sayIn(layer, "git tag")).toEqual(["edge", ...seenTags]);
  write(layer, "src/a.ts", "changed\n");
  await workspace.apply(attempt, "change a");
  const next = await workspace.openLayer(nextAttempt, []);
  expect(sayIn(next, "git fsck --connectivity-only --no-progress; git tag")).toEqual([
    "edge",
    ...seenTags,
  ]);
});

test("an agent from which only the runner's own files are hidden has them", async () => {
  const room = makeRoom();
  const { workspace } = await openBench({ root: makeTagged(room), ownedPaths: ["docs/**"] });
  const layer = await workspace.openLayer(attempt, []);
  expect(existsSync(join(layer, "docs"))).toBe(false);
  expect(sayIn(layer, "git tag")).toEqual(seenTags);
});

test.skipIf(!hasBoxes).each(boxLevels)(
  "an agent at %s asks what came since a tag, and moves tags as it likes",
  async (level) => {
    const room = makeRoom();
    const checkouts = level === "overlay" ? "overlay" : "copy";
    const bench = await openBench({ root: makeTagged(room), ...sharing(room), checkouts });
    const layer = await bench.workspace.openLayer(attempt, []);
    const borrowed = { readable: readBorrowedObjects(bench.runDir, attempt) };
    const script =
      "git log --format=%s v1.0..HEAD; git describe --tags HEAD~1; git tag mine && git tag -d v1.1";
    expect(run(await openLevel(level, bench), layer, script, borrowed).out).toMatch(
      /^two\none\nv1\.1\nDeleted tag 'v1\.1'/,
    );
  },
);

test("tags that an agent makes, moves and deletes change nothing outside, and nothing of the next turn", async () => {
  const room = makeRoom();
  const { root, workspace } = await openBench({ root: makeTagged(room) });
  const layer = await workspace.openLayer(attempt, []);
  const before = fingerprint(root);
  git(layer, "tag", "mine");
  git(layer, "tag", "-f", "v1.0");
  git(layer, "tag", "-d", "v1.1");
  git(layer, "pack-refs", "--all");
  expect(sayIn(layer, "git tag; git log --format=%s v1.0..HEAD")).toEqual([
    "latest",
    "mine",
    "release/1.0",
    "v1.0",
  ]); // it works there

  expect(await workspace.changesOf(attempt)).toMatchObject({ paths: [], violations: [] });
  expect(fingerprint(root)).toBe(before);
  const next = await workspace.openLayer(nextAttempt, []);
  expect(sayIn(next, "git tag; git log --format=%s v1.0..HEAD")).toEqual([
    ...seenTags,
    "two",
    "one",
  ]);
});

test("a run in a linked worktree has them", async () => {
  const room = makeRoom();
  git(makeTagged(room), "worktree", "add", "-q", "-b", "side", join(room, "side"));
  const { workspace } = await openBench({ root: join(room, "side") });
  expect(sayIn(await workspace.openLayer(attempt, []), "git tag")).toEqual(seenTags);
});

test.each([
  { kind: "a history of its own", options: () => ({}) },
  { kind: "a shared history", options: sharing },
])(
  "in a shallow clone an agent with $kind has the tags of the commits that the clone has",
  async ({ options }) => {
    const room = makeRoom();
    const root = join(room, "shallow");
    git(room, "clone", "-q", "--depth=2", `file://${makeTagged(room)}`, root);
    git(root, "fetch", "-q", "--depth=1", "origin", "refs/tags/v0.1:refs/tags/v0.1");
    const { workspace } = await openBench({ root, ...options(room) });
    const layer = await workspace.openLayer(attempt, []);
    expect(sayIn(layer, "git tag")).toEqual(["latest", "v1.1"]);
    expect(sayIn(layer, "git log --format=%h")).toEqual(
      git(root, "log", "--format=%h").split("\n"),
    );
  },
);

const head = (root: string): string => git(root, "rev-parse", "HEAD");
const hostile: readonly {
  readonly name: string;
  readonly make: (root: string) => void;
  readonly adds?: readonly string[];
}[] = [
  {
    name: "a tag of nothing",
    make: (root) => write(root, ".git/refs/tags/broken", `${"1".repeat(40)}\n`),
  },
  {
    name: "a tag that stands for itself",
    make: (root) => write(root, ".git/refs/tags/itself", "ref: refs/tags/itself\n"),
  },
  {
    name: "a tag that is garbage",
    make: (root) => write(root, ".git/refs/tags/garbage", "\0".repeat(3_000)),
  },
  {
    name: "a tag whose object is damaged",
    make: (root) => {
      git(root, "tag", "-a", "damaged", "-m", "x");
      const hash = git(root, "rev-parse", "damaged");
      const path = join(root, ".git/objects", hash.slice(0, 2), hash.slice(2));
      chmodSync(path, 0o644);
      writeFileSync(path, "damaged");
    },
  },
  {
    name: "names that git refuses, or takes for something else",
    make: (root) => {
      const names = ["-rf", "HEAD", "a..b", "v1.0/below", "with space", "work", "x.lock"];
      appendFileSync(
        join(root, ".git/packed-refs"),
        names.map((name) => `${head(root)} refs/tags/${name}\n`).join(""),
      );
    },
    adds: ["-rf", "v1.0/below"],
  },
  {
    name: "a name that is no text, and one that is too long",
    make: (root) => {
      const names = ["caf\xe9", `${"long/".repeat(100)}end`];
      appendFileSync(
        join(root, ".git/packed-refs"),
        names.map((name) => `${head(root)} refs/tags/${name}\n`).join(""),
        "latin1",
      );
    },
    adds: ["caf\ufffd"],
  },
];

const listAll = "git show-ref --tags -d; git fsck --connectivity-only --no-progress --no-dangling";

test.each(hostile)(
  "$name does no harm, and is in no other tag's way",
  async ({ make, adds = [] }) => {
    const room = makeRoom();
    const root = makeTagged(room);
    const before = sayIn(root, listAll);
    make(root);
    expect(sayIn(root, listAll)).not.toEqual(before); // git comes upon it
    const { workspace } = await openBench({ root });
    const layer = await workspace.openLayer(attempt, []);
    expect(sayIn(layer, "git tag")).toEqual([...seenTags, ...adds].toSorted());
    expect(sayIn(layer, "git log --format=%s v1.0..HEAD")).toEqual(["two", "one"]);
  },
);

test("of thousands of tags of one commit there are a hundred, and those of other commits are there", async () => {
  const room = makeRoom();
  const root = makeTagged(room);
  const commit = head(root);
  const lines = Array.from({ length: 3_000 }, (_, at) => `${commit} refs/tags/many/${at}\n`);
  appendFileSync(join(root, ".git/packed-refs"), lines.join(""));
  const { workspace } = await openBench({ root });
  const layer = await workspace.openLayer(attempt, []);
  const tags = sayIn(layer, "git tag");
  expect(tags.filter((tag) => tag.startsWith("many/") || tag === "latest")).toHaveLength(100);
  expect(tags).toEqual(expect.arrayContaining(["v1.0", "v1.1"]));
});

/** Runs some work with a `git` first on the PATH that writes down how it was called. */
async function recordGits(room: string, work: () => Promise<unknown>): Promise<readonly string[]> {
  const [folder, log, path] = [
    join(room, "bin"),
    join(room, "gits.log"),
    process.env["PATH"] ?? "",
  ];

  const real = execFileSync("/bin/sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  write(folder, "git", `#!/bin/sh\necho "$*" >> '${log}'\nexec '${real}' "$@"\n`, 0o755);
  process.env["PATH"] = `${folder}${delimiter}${path}`;

  try {
    await work();
  } finally {
    process.env["PATH"] = path;
  }

  return readFileSync(log, "utf8").trim().split("\n");
}

test.each([
  { made: makeTagged, of: "with tags", started: 1 },
  { made: (room: string) => makeRepository(join(room, "repo")), of: "without tags", started: 0 },
])("tags of a repository $of cost $started git processes a run", async ({ made, started }) => {
  const room = makeRoom();
  const { workspace } = await openBench({ root: made(room) });
  const gits = await recordGits(room, async () => {
    for (const name of [attempt, nextAttempt, lastAttempt]) await workspace.openLayer(name, []);
  });
  expect(gits.filter((call) => call.includes(" pack-objects "))).toHaveLength(1); // the history of all three
  expect(gits.filter((call) => !/ (?:pack-objects|rev-list|cat-file) /.test(call))).toHaveLength(
    started,
  );
});
