// Applying: one commit an attempt, whatever happens in between.

import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AppliedCommit } from "../../src/ports/workspace.ts";
import {
  attempt,
  fingerprint,
  git,
  makeRepository,
  makeRoom,
  openBench,
  runId,
  runRef,
  write,
  type Bench,
  mergePasses,
} from "./bench-repository.ts";
import { aFew } from "../support/sampled.ts";

const second = "1@1/execute#2";
const commitCount = (root: string): number =>
  Number(git(root, "rev-list", "--count", `main..autopilot/${runId}`));
const applied = async ({ workspace }: Bench, which = attempt): Promise<AppliedCommit> => {
  const result = await workspace.apply(which, "subject");
  if (result === null || "conflict" in result) {
    throw new Error(`expected a commit, got ${JSON.stringify(result)}`);
  }

  return result;
};

test("a commit carries the user's name, the subject, and the run and attempt as trailers", async () => {
  const root = makeRepository(join(makeRoom(), "repo"));
  git(root, "config", "user.name", "Ada");
  git(root, "config", "user.email", "ada@example.org");
  const bench = await openBench({ root });
  write(await bench.workspace.openLayer(attempt, []), "src/a.ts", "x\n");
  await applied(bench);
  expect(git(root, "log", "-1", "--format=%an <%ae>%n%B", runRef(root))).toBe(
    `Ada <ada@example.org>\nsubject\n\nAutopilot-Run: ${runId}\nAutopilot-Attempt: ${attempt}\n`,
  );
});

test("without a configured name the runner commits in its own", async () => {
  const home = process.env["HOME"];
  process.env["HOME"] = "/nonexistent";

  try {
    const bench = await openBench();
    write(await bench.workspace.openLayer(attempt, []), "src/a.ts", "x\n");
    await applied(bench);
    expect(git(bench.root, "log", "-1", "--format=%an <%ae>", runRef(bench.root))).toBe(
      "autopilot <autopilot@localhost>",
    );
  } finally {
    process.env["HOME"] = home;
  }
});

test("applying twice makes one commit and answers the same", async () => {
  const bench = await openBench();
  write(await bench.workspace.openLayer(attempt, []), "src/a.ts", "x\n");
  const first = await applied(bench);
  expect(await applied(bench)).toEqual(first);
  expect(commitCount(bench.root)).toBe(1);
  expect(await bench.workspace.inspect(attempt, first.tree)).toEqual({
    layer: "intact",
    commit: first.commit,
  });
});

aFew(2).each(["blobs_stored", "tree_written", "commit_written", "branch_moved"])(
  "a crash at %s leaves nothing or all, and the next try makes it one commit",
  async (place) => {
    let fired = 0;
    const failpoint = (reached: string): void => {
      if (reached !== place) return;
      fired += 1;
      throw new Error("crash");
    };

    const bench = await openBench({ failpoint });
    write(await bench.workspace.openLayer(attempt, []), "src/a.ts", "x\n");
    const { tree } = await bench.workspace.changesOf(attempt);
    const before = fingerprint(bench.root);
    await expect(bench.workspace.apply(attempt, "subject")).rejects.toThrow("crash");
    expect(fired).toBe(1);
    expect(commitCount(bench.root)).toBe(place === "branch_moved" ? 1 : 0);

    const again = await openBench({
      root: bench.root,
      expectedTip: git(bench.root, "rev-parse", "main"),
    });
    expect(await again.workspace.inspect(attempt, tree)).toMatchObject({ layer: "intact" });
    expect((await applied(again)).tree).toBe(tree);
    expect(commitCount(bench.root)).toBe(1);
    expect(fingerprint(bench.root)).toBe(before);
  },
);

test("two attempts side by side: what does not meet is applied, what does is a conflict", async () => {
  const bench = await openBench();
  const one = await bench.workspace.openLayer(attempt, []);
  const two = await bench.workspace.openLayer(second, []);
  const third = await bench.workspace.openLayer("1@1/execute#3", []);
  write(one, "src/a.ts", "one\n");
  write(one, "src/new", "file\n");
  write(two, "src/b.ts", "two\n");
  write(third, "src/a.ts", "three\n");
  write(third, "src/new/file", "folder\n");
  write(third, "SRC2", "x");
  await applied(bench);
  await applied(bench, second);
  expect(await bench.workspace.apply("1@1/execute#3", "x")).toEqual({
    conflict: ["src/a.ts", "src/new/file"],
  });

  expect(commitCount(bench.root)).toBe(2);
  expect(git(bench.root, "show", `${runRef(bench.root)}:src/a.ts`)).toBe("one");
  expect(git(bench.root, "show", `${runRef(bench.root)}:src/b.ts`)).toBe("two");
});

test("attempts applied at the same moment take turns", async () => {
  const bench = await openBench();
  const names = Array.from({ length: 4 }, (_, at) => `1@1/execute#${at + 1}`);
  for (const name of names) {
    write(await bench.workspace.openLayer(name, []), `src/${name.slice(-1)}.txt`, name);
  }

  await Promise.all(names.map((name) => bench.workspace.apply(name, name)));
  expect(commitCount(bench.root)).toBe(4);
});

test("a branch that somebody else moved or removed is noticed", async () => {
  const bench = await openBench();
  write(await bench.workspace.openLayer(attempt, []), "src/a.ts", "x\n");
  await applied(bench);
  const tip = runRef(bench.root);
  const foreign = git(bench.root, "commit-tree", `${tip}^{tree}`, "-p", tip, "-m", "mine");
  git(bench.root, "update-ref", `refs/heads/autopilot/${runId}`, foreign);
  await expect(openBench({ root: bench.root, expectedTip: tip })).rejects.toMatchObject({
    reason: "workspace_changed",
  });

  git(bench.root, "update-ref", `refs/heads/autopilot/${runId}`, "main");
  await expect(openBench({ root: bench.root, expectedTip: tip })).rejects.toMatchObject({
    reason: "workspace_changed",
  });

  git(bench.root, "update-ref", "-d", `refs/heads/autopilot/${runId}`);
  const hint = `git branch autopilot/${runId} ${tip.slice(0, 12)}`;
  await expect(openBench({ root: bench.root, expectedTip: tip })).rejects.toMatchObject({
    reason: "workspace_changed",
    hint: expect.stringContaining(hint) as string,
  });

  await expect(bench.workspace.tip()).rejects.toMatchObject({ reason: "workspace_changed" });
});

test("a repository that was moved or renamed since goes on where it is now", async () => {
  const bench = await openBench();
  write(await bench.workspace.openLayer(attempt, []), "src/a.ts", "x\n");
  const { commit } = await applied(bench);
  const root = join(makeRoom(), 'moved "here"');
  renameSync(bench.root, root);
  const moved = await openBench({ root, expectedTip: commit });
  write(await moved.workspace.openLayer(second, []), "src/a.ts", "y\n");
  expect((await applied(moved, second)).parent).toBe(commit);
  expect(await moved.workspace.land("x", mergePasses)).toMatchObject({ landed: true });
});

test("nothing is committed to the run's branch while the user has it checked out", async () => {
  const bench = await openBench();
  write(await bench.workspace.openLayer(attempt, []), "src/a.ts", "x\n");
  git(bench.root, "switch", "-q", `autopilot/${runId}`);
  await expect(bench.workspace.apply(attempt, "x")).rejects.toMatchObject({
    reason: "workspace_changed",
  });

  git(bench.root, "switch", "-q", "main");
  await applied(bench);
});

test("setting aside keeps a patch that applies, and takes the layer away", async () => {
  const bench = await openBench({ scope: ["src/**"] });
  const layer = await bench.workspace.openLayer(attempt, []);
  write(layer, "src/a.ts", "x\n");
  write(layer, "docs/outside.md", "y\n");
  await bench.workspace.quarantine(attempt);
  expect(existsSync(layer)).toBe(false);
  expect(await bench.workspace.inspect(attempt, null)).toEqual({ layer: "absent", commit: null });
  const aside = join(bench.runDir, "aside");
  const [patch = ""] = readdirSync(aside);
  expect(readFileSync(join(aside, patch), "utf8")).toContain("violation outside_scope");
  git(bench.root, "apply", "--check", join(aside, patch));
  await bench.workspace.quarantine(attempt);
  expect(readdirSync(aside)).toHaveLength(1);
});

test("opening a layer again gives the same folder, made anew; a half-made one counts as absent", async () => {
  const bench = await openBench();
  const layer = await bench.workspace.openLayer(attempt, []);
  write(layer, "src/a.ts", "half done\n");
  expect(await bench.workspace.inspect(attempt, null)).toMatchObject({ layer: "dirty" });
  expect(await bench.workspace.openLayer(attempt, [])).toBe(layer);
  expect(readFileSync(join(layer, "src/a.ts"), "utf8")).toBe("export const a = 1;\n");
  rmSync(layer, { recursive: true });
  expect(await bench.workspace.inspect(attempt, null)).toMatchObject({ layer: "absent" });
});

test("a layer knows nothing of the user's repository but a little history", async () => {
  const root = makeRepository(join(makeRoom(), "repo"));
  const commits = Array.from({ length: 30 }, (_, at) => {
    const parent = at === 0 ? "from refs/heads/main^0\n" : "";
    return `commit refs/heads/main\ncommitter user <user@example.org> ${1_700_000_000 + at} +0000\ndata 4\nmore\n${parent}\n`;
  });

  execFileSync("git", ["fast-import", "--quiet"], { cwd: root, input: commits.join("") });
  const bench = await openBench({ root });
  const layer = await bench.workspace.openLayer(attempt, []);
  expect(git(layer, "rev-list", "--count", "HEAD")).toBe("20");
  expect(git(layer, "rev-parse", "HEAD")).toBe(git(root, "rev-parse", "HEAD"));
  expect(git(layer, "remote")).toBe("");
  expect(existsSync(join(layer, ".git/objects/info/alternates"))).toBe(false);
  expect(readFileSync(join(layer, ".git/config"), "utf8")).not.toContain(root);
  expect(git(layer, "status", "--porcelain")).toBe("");
});

test("installed packages that git does not ignore are used like those it ignores, and are nobody's change", async () => {
  const root = makeRepository(join(makeRoom(), "repo"), {
    "src/a.ts": "a\n",
    "vendor-of-ours.txt": "",
  });
  write(root, "node_modules/dep/index.js", "dep");
  write(root, "vendor/own.js", "somebody's new code");
  const bench = await openBench({ root });
  const layer = await bench.workspace.openLayer(attempt, []);
  expect(readFileSync(join(layer, "node_modules/dep/index.js"), "utf8")).toBe("dep");
  expect(existsSync(join(layer, "vendor"))).toBe(false);
  write(layer, "node_modules/dep/index.js", "tampered by the agent");
  write(layer, "src/a.ts", "x\n");
  expect(await bench.workspace.changesOf(attempt)).toMatchObject({
    paths: ["src/a.ts"],
    violations: [],
  });

  const { commit, tree } = await applied(bench);
  const folder = await bench.workspace.checkout(commit, "checks");
  expect(readFileSync(join(folder, "node_modules/dep/index.js"), "utf8")).toBe("dep");
  expect(await bench.workspace.treeOf(folder)).toBe(tree);
});

test("installed packages are copied for agents and checks, and a check's copy is renewed once it was touched", async () => {
  const root = makeRepository(join(makeRoom(), "repo"));
  write(root, "node_modules/dep/index.js", "dep");
  write(root, "src/node_modules/inner/index.js", "inner");
  const bench = await openBench({ root });
  const layer = await bench.workspace.openLayer(attempt, []);
  expect(readFileSync(join(layer, "src/node_modules/inner/index.js"), "utf8")).toBe("inner");
  write(layer, "node_modules/dep/index.js", "tampered by the agent");
  write(layer, "src/a.ts", "x\n");
  expect(await bench.workspace.changesOf(attempt)).toMatchObject({
    paths: ["src/a.ts"],
    ignored: 0,
    violations: [],
  });

  const { commit, tree } = await applied(bench);

  const folder = await bench.workspace.checkout(commit, "checks");
  const inode = (): number => lstatSync(join(folder, "node_modules/dep/index.js")).ino;
  expect(readFileSync(join(folder, "node_modules/dep/index.js"), "utf8")).toBe("dep");
  expect(existsSync(join(folder, ".git"))).toBe(false);
  expect(await bench.workspace.treeOf(folder)).toBe(tree);
  write(folder, "build/out.js", "ignored");
  expect(await bench.workspace.treeOf(folder)).toBe(tree);
  write(folder, "src/a.ts", "changed by a check\n");
  expect(await bench.workspace.treeOf(folder)).not.toBe(tree);

  const untouched = inode();
  await bench.workspace.checkout(commit, "checks");
  expect(inode()).toBe(untouched);
  expect(await bench.workspace.treeOf(folder)).toBe(tree);
  write(folder, "node_modules/dep/index.js", "tampered by a check");
  expect(await bench.workspace.checkout(commit, "checks")).toBe(folder);
  expect(readFileSync(join(folder, "node_modules/dep/index.js"), "utf8")).toBe("dep");
  expect(await bench.workspace.treeOf(folder)).toBe(tree);
  expect(readFileSync(join(root, "node_modules/dep/index.js"), "utf8")).toBe("dep");
});

test("the summary counts lines, files and the run's commits", async () => {
  const bench = await openBench();
  write(await bench.workspace.openLayer(attempt, []), "src/a.ts", "one\ntwo\n");
  const { commit } = await applied(bench);
  expect(await bench.workspace.summary()).toEqual({
    files: 1,
    insertions: 2,
    deletions: 1,
    commits: [{ sha: commit, subject: "subject" }],
  });
});
