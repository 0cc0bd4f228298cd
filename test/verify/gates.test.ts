// Gates on real commits: who judges, which of two files is newer, and what is in the artifacts that
// hold them.

import { utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Gate } from "../../src/contracts/flow.ts";
import { openVerifier } from "../../src/verify/verifier.ts";
import { git, makeRepository, makeRoom, openBench, write } from "../workspace/bench-repository.ts";

type Files = Readonly<Record<string, string | null>>;
const clock = {
  now: () => "2026-01-01T00:00:00.000Z",
  monotonicMs: () => performance.now(),
  after: () => () => undefined,
};

/**
 * A repository whose history is these commits, one after the other, and a verifier over it; the
 * first commit is the run's base.
 */
async function history(...commits: readonly Files[]) {
  const [first = {}, ...others] = commits;
  const root = makeRepository(join(makeRoom(), "repo"), first as Record<string, string>);
  const base = git(root, "rev-parse", "HEAD");
  for (const files of others) commitOf(root, files);
  const { workspace } = await openBench({ root });

  const verifier = openVerifier({
    workspace,
    isLater: (at, path, than) => workspace.isLater(at, path, than),
    putBlob: async () => "0".repeat(64),
    isolation: "none",
    product: "p",
    timeoutMs: 20_000,
    clock,
  });

  const prove = async (
    gates: readonly Gate[],
    more: { changed?: readonly string[]; prompt?: string } = {},
  ) => {
    const commit = git(root, "rev-parse", "HEAD");
    const { changes } = await verifier.inspectProtected({
      base,
      commit,
      scope: ["**"],
      approved: [],
      checks: [],
    });
    const baseProtected = changes.length === 0 ? {} : { fromBase: { base, changes } };

    const order = {
      attempt: "1@1/a#1" as const,
      commit,
      base,
      changed: [],
      cancel: new AbortController().signal,
      onLiveEvent: () => undefined,
    };

    return verifier.prove({ ...order, ...baseProtected, gates, ...more });
  };

  return { root, prove };
}

function commitOf(root: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    if (text === null) git(root, "rm", "-q", "--", path);
    else write(root, path, text);
  }

  git(root, "add", "-A");
  git(root, "commit", "-q", "-m", "more");
}

test("a gate's command runs with the base's tests: an agent that rewrites them proves nothing", async () => {
  const judge = "grep -q right src/answer.txt";
  const { prove } = await history(
    {
      "src/answer.txt": "wrong\n",
      "test/run.test.sh": `${judge}\n`,
      "package.json": JSON.stringify({ scripts: { test: "sh test/run.test.sh" } }),
    },
    { "test/run.test.sh": "true\n" },
  );
  const bribed = await prove([{ command: "sh test/run.test.sh" }]);
  expect(bribed).toMatchObject({
    holds: false,
    failures: [{ rule: "command", expected: "exit 0" }],
  });

  expect(bribed.failures[0]?.found).toBe(
    "failed (exit 1) with the base's test/run.test.sh: sh test/run.test.sh",
  );
});

test("the same command holds on honest work, whatever became of the tests meanwhile", async () => {
  const { prove } = await history(
    { "src/answer.txt": "wrong\n", "test/run.test.sh": "grep -q right src/answer.txt\n" },
    { "src/answer.txt": "right\n", "test/run.test.sh": "false\n" },
  );
  expect(await prove([{ command: "sh test/run.test.sh" }])).toMatchObject({
    holds: true,
    failures: [],
  });
});

test("after goes by commits and never by the clock of the disk", async () => {
  const { root, prove } = await history(
    { "old.md": "1\n", "new.md": "1\n" },
    { "old.md": "2\n" },
    { "new.md": "2\n" },
  );

  const long = new Date("2001-01-01T00:00:00Z");
  utimesSync(join(root, "new.md"), long, long);
  expect(await prove([{ file: "new.md", after: "old.md" }])).toMatchObject({ holds: true });
  expect(await prove([{ file: "old.md", after: "new.md" }])).toMatchObject({
    holds: false,
    failures: [
      {
        rule: "after",
        file: "old.md",
        found: "not changed since",
        expected: "changed in a later commit than new.md",
      },
    ],
  });
});

test("after: changed in one commit, neither is later; on branches that know nothing of each other, nobody can tell", async () => {
  const { root, prove } = await history({ "a.md": "1\n", "b.md": "1\n" });
  expect(await prove([{ file: "a.md", after: "b.md" }])).toMatchObject({
    holds: false,
    failures: [{ found: "not changed since" }],
  });

  git(root, "checkout", "-q", "-b", "side");
  commitOf(root, { "b.md": "side\n" });
  git(root, "checkout", "-q", "main");
  commitOf(root, { "a.md": "main\n" });
  git(root, "merge", "-q", "--no-edit", "side");
  expect(await prove([{ file: "a.md", after: "b.md" }])).toMatchObject({
    holds: false,
    failures: [{ found: "an order the history cannot tell" }],
  });
});

test("120 empty lines hold the gate and are told as hollow; so are headings alone, and what lay there before is not measured", async () => {
  const headings = Array.from({ length: 120 }, (_, n) => `## Finding ${n}`).join("\n");
  const { prove } = await history(
    { "mine.md": "# only a heading\n" },
    {
      "empty.md": "\n".repeat(120),
      "heads.md": headings,
      "good.md": "# Title\n\nIt is so.\n",
      mark: "",
    },
  );

  const proof = await prove([
    { files: ["empty.md", "heads.md"], min_lines: 120 },
    { file: "good.md", non_empty: true },
    { file: "mine.md" },
    { file: "mark" },
  ]);
  expect(proof).toEqual({
    holds: true,
    failures: [],
    checks: [],
    hollow: [
      { file: "empty.md", why: "nothing but 120 blank lines" },
      { file: "heads.md", why: "nothing but headings" },
    ],
    solid: ["good.md"],
  });
});

test("what an artifact only repeats of the prompt is no content", async () => {
  const { prove } = await history(
    { a: "" },
    { "plan.md": "- Say in one sentence what will be built.\n" },
  );

  const gates = [{ file: "plan.md", non_empty: true }];
  expect(await prove(gates)).toMatchObject({ hollow: [] });
  expect(
    await prove(gates, { prompt: "# Plan\n\n- Say in one sentence what will be built.\n" }),
  ).toMatchObject({
    holds: true,
    hollow: [{ file: "plan.md", why: "nothing but what the agent was told" }],
  });
});

test("a document that names what is not there fails its gate with the list, also one that is only a condition or a list", async () => {
  const { prove } = await history(
    { "src/sum.js": "x\n".repeat(20), "src/gone.js": "x\n".repeat(9), ".gitignore": "build/\n" },
    {
      "src/gone.js": null,
      "BUGS.md":
        "### BUG-1\nsrc/sum.js:12-400, build/out.js:3, since commit `1a2b3c4d`, by `src/show.js`\n",
      "good.md": "src/sum.js:20, src/gone.js:9 and sum.js:3\n",
      "found.json": JSON.stringify({ bugs: [{ file: "src/sum.js", title: "wrong", line: 21 }] }),
    },
  );

  const list =
    "names what is not there (src/sum.js:12-400, build/out.js:3, commit 1a2b3c4d, src/show.js)";
  expect(
    await prove([{ if: { file: "BUGS.md", matches: "^### BUG" }, all: [{ file: "good.md" }] }]),
  ).toMatchObject({
    holds: false,
    failures: [{ rule: "citations", file: "BUGS.md", found: list }],
  });

  const each = { for_each: { file: "BUGS.md", matches: "^### (BUG)-1" }, files: ["good.md"] };
  expect(await prove([each])).toMatchObject({
    holds: false,
    failures: [{ rule: "citations", file: "BUGS.md" }],
  });

  expect(await prove([{ file: "good.md" }])).toMatchObject({ holds: true });
  expect(await prove([{ file: "found.json" }])).toMatchObject({
    holds: false,
    failures: [{ found: expect.stringContaining("src/sum.js:21") as string }],
  });
});
