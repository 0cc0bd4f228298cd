// Taking in: what a child run did comes to its parent's branch in one commit, once, and never over
// what the parent changed meanwhile.

import { expect, test } from "vitest";
import { type Bench, git, openBench, runRef, write } from "./bench-repository.ts";

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

/**
 * A parent that has done something; its tip is where the child began, and `child` what the child
 * left: it made, changed and deleted files.
 */
async function called(): Promise<{
  readonly bench: Bench;
  readonly since: string;
  readonly child: string;
}> {
  const bench = await openBench();
  await commit(bench, "1@1/do#1", { "src/one.ts": "one\n", "src/old.ts": "old\n" });
  const since = runRef(bench.root);
  git(bench.root, "checkout", "-q", "--detach", since);
  write(bench.root, "src/one.ts", "one, by the child\n");
  write(bench.root, "src/new.ts", "new\n");
  git(bench.root, "rm", "-q", "src/old.ts");
  git(bench.root, "add", "-A", "src");
  git(bench.root, "commit", "-q", "-m", "child");
  const child = git(bench.root, "rev-parse", "HEAD");
  git(bench.root, "checkout", "-q", "main");

  return { bench, since, child };
}
const order = (since: string, child: string) =>
  ({ attempt: "1@1/kid#1", since, commit: child, subject: "Take it in" }) as const;

test("everything the child did is there, beside what the parent did meanwhile, in one commit however often it is asked for", async () => {
  const { bench, since, child } = await called();
  await commit(bench, "1@1/do#2", { "src/other.ts": "other\n" });
  const taken = await bench.workspace.mergeChild(order(since, child));
  expect(taken).toMatchObject({ paths: ["src/new.ts", "src/old.ts", "src/one.ts"] });
  const tip = runRef(bench.root);
  expect(git(bench.root, "show", `${tip}:src/one.ts`)).toBe("one, by the child");
  expect(git(bench.root, "ls-tree", "-r", "--name-only", tip, "src").split("\n")).toEqual(
    expect.arrayContaining(["src/new.ts", "src/one.ts", "src/other.ts"]),
  );

  expect(git(bench.root, "ls-tree", "-r", "--name-only", tip)).not.toContain("src/old.ts");
  expect(await bench.workspace.mergeChild(order(since, child))).toEqual(taken);
  expect(runRef(bench.root)).toBe(tip);
});

test("what the parent changed too is a conflict that names it, and nothing is taken in", async () => {
  const { bench, since, child } = await called();
  await commit(bench, "1@1/do#2", { "src/one.ts": "one, by the parent\n" });
  const tip = runRef(bench.root);
  expect(await bench.workspace.mergeChild(order(since, child))).toEqual({
    conflict: ["src/one.ts"],
  });

  expect(runRef(bench.root)).toBe(tip);
});

test("a child that did nothing leaves nothing to take in", async () => {
  const { bench, since } = await called();
  expect(await bench.workspace.mergeChild(order(since, since))).toBeNull();
});

test.each(["made_on_tip", "moved_to_it"])(
  "a crash at %s: the next try makes it one commit",
  async (place) => {
    const { bench, since, child } = await called();
    let fired = 0;

    const failpoint = (reached: string): void => {
      if (reached !== place) return;
      fired += 1;
      throw new Error("crash");
    };

    const dying = await openBench({ root: bench.root, expectedTip: since, failpoint });
    await expect(dying.workspace.mergeChild(order(since, child))).rejects.toThrow("crash");
    expect(fired).toBe(1);
    const again = await openBench({ root: bench.root, expectedTip: since });
    expect(await again.workspace.mergeChild(order(since, child))).toMatchObject({
      commit: runRef(bench.root),
      parent: since,
    });

    expect(git(bench.root, "rev-list", "--count", `${since}..${runRef(bench.root)}`)).toBe("1");
  },
);
