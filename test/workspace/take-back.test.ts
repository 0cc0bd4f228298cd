// Taking back: what a phase did is undone in one commit, kept under its own branch, and nothing of
// anybody else's is touched.

import { expect, test } from "vitest";
import { aFew } from "../support/sampled.ts";
import type { RevertResult } from "../../src/ports/workspace.ts";
import { type Bench, git, openBench, runId, runRef, write } from "./bench-repository.ts";

const tipOf = (root: string): string => runRef(root);
const branches = (root: string): string[] =>
  git(root, "branch", "--list", "autopilot-*", "--format=%(refname:short)").split("\n");
const order = (since: string, attempt = "2@1/undo#1") =>
  ({
    attempt,
    since,
    of: "2@",
    branch: "autopilot-diagnostic-phase-2",
    subject: "Take back phase 2",
  }) as const;

async function commit(
  { workspace }: Bench,
  attempt: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  const layer = await workspace.openLayer(attempt, []);
  for (const [path, text] of Object.entries(files)) write(layer, path, text);
  const applied = await workspace.apply(attempt, attempt);
  if (applied === null || "conflict" in applied) throw new Error("nothing was applied");
}

/** Phase 1 has left its commit; phase 2 has changed, made and overwritten files. */
async function walked(): Promise<{ readonly bench: Bench; readonly since: string }> {
  const bench = await openBench();
  await commit(bench, "1@1/do#1", { "src/one.ts": "one\n" });
  const since = tipOf(bench.root);
  await commit(bench, "2@1/execute#1/02-01@1/do#1", {
    "src/a.ts": "changed\n",
    "src/two.ts": "two\n",
  });

  await commit(bench, "2@1/debug#1", { "src/two.ts": "two again\n" });
  return { bench, since };
}

test("the tree is that of the checkpoint again, by one commit on top; what was taken back stays under the diagnostic branch", async () => {
  const { bench, since } = await walked();
  const before = tipOf(bench.root);
  const { applied, branch, conflict } = await bench.workspace.revert(order(since));
  expect(conflict).toEqual([]);
  expect(branch).toBe("autopilot-diagnostic-phase-2");
  expect(git(bench.root, "rev-parse", "autopilot-diagnostic-phase-2")).toBe(before);
  expect(applied).toMatchObject({
    parent: before,
    commit: tipOf(bench.root),
    paths: ["src/a.ts", "src/two.ts"],
  });

  expect(git(bench.root, "rev-parse", `${tipOf(bench.root)}^{tree}`)).toBe(
    git(bench.root, "rev-parse", `${since}^{tree}`),
  );

  expect(git(bench.root, "rev-list", "--count", `main..autopilot/${runId}`)).toBe("4"); // U2: nothing was rewritten
});

test("done again, after whatever was cut off, it is the same commit and the same branch", async () => {
  const { bench, since } = await walked();
  const first = await bench.workspace.revert(order(since));
  const again = await openBench({ root: bench.root, expectedTip: since });
  expect(await again.workspace.revert(order(since))).toEqual(first);
  expect(branches(bench.root)).toEqual(["autopilot-diagnostic-phase-2"]);
});

aFew(1).each(["kept", "made_on_tip", "moved_to_it"])(
  "a crash at %s: the next try makes it one commit and one branch",
  async (place) => {
    const { bench, since } = await walked();
    let fired = 0;

    const failpoint = (reached: string): void => {
      if (reached !== place) return;
      fired += 1;
      throw new Error("crash");
    };

    const dying = await openBench({ root: bench.root, expectedTip: since, failpoint });
    await expect(dying.workspace.revert(order(since))).rejects.toThrow("crash");
    expect(fired).toBe(1);
    const again = await openBench({ root: bench.root, expectedTip: since });
    const { applied } = await again.workspace.revert(order(since));
    expect(applied?.commit).toBe(tipOf(bench.root));
    expect(git(bench.root, "rev-list", "--count", `main..autopilot/${runId}`)).toBe("4");
    expect(branches(bench.root)).toEqual(["autopilot-diagnostic-phase-2"]);
  },
);

test("later work of another phase stays, in the same file too where both can be told apart", async () => {
  const bench = await openBench();
  const lines = (first: string, last: string): string =>
    `${first}\n${"middle\n".repeat(20)}${last}\n`;
  await commit(bench, "1@1/do#1", { "src/shared.ts": lines("first", "last") });
  const since = tipOf(bench.root);
  await commit(bench, "2@1/do#1", {
    "src/shared.ts": lines("first of two", "last"),
    "src/two.ts": "two\n",
  });

  await commit(bench, "3@1/do#1", {
    "src/shared.ts": lines("first of two", "last of three"),
    "src/three.ts": "three\n",
  });

  const { applied, conflict } = await bench.workspace.revert(order(since));
  expect(conflict).toEqual([]);
  expect(applied?.paths).toEqual(["src/shared.ts", "src/two.ts"]);
  expect(git(bench.root, "show", `${tipOf(bench.root)}:src/shared.ts`)).toBe(
    lines("first", "last of three").trimEnd(),
  );

  expect(git(bench.root, "show", `${tipOf(bench.root)}:src/three.ts`)).toBe("three");
});

test("where they cannot be told apart nothing is taken back: half of it would be worse than all or nothing", async () => {
  const { bench, since } = await walked();
  await commit(bench, "3@1/do#1", {
    "src/two.ts": "two, and three's\n",
    "src/three.ts": "three\n",
  });

  const before = tipOf(bench.root);
  expect(await bench.workspace.revert(order(since))).toEqual({
    applied: null,
    branch: null,
    conflict: ["src/two.ts"],
  });

  expect(tipOf(bench.root)).toBe(before);
});

test("where nothing was done nothing is taken back, and no branch is made", async () => {
  const bench = await openBench();
  await commit(bench, "1@1/do#1", { "src/one.ts": "one\n" });
  const since = tipOf(bench.root);
  const nothing: RevertResult = { applied: null, branch: null, conflict: [] };
  expect(await bench.workspace.revert(order(since))).toEqual(nothing);
  expect(tipOf(bench.root)).toBe(since);
});

test("a diagnostic branch that is there already is not overwritten: the next one bears a number", async () => {
  const { bench, since } = await walked();
  git(bench.root, "branch", "autopilot-diagnostic-phase-2", "main");
  const { branch } = await bench.workspace.revert(order(since));
  expect(branch).toBe("autopilot-diagnostic-phase-2-2");
  expect(git(bench.root, "rev-parse", "autopilot-diagnostic-phase-2")).toBe(
    git(bench.root, "rev-parse", "main"),
  );
});
