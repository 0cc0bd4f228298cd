import { expect, test } from "vitest";
import type { RunView } from "../../core/state.ts";
import { listFiles } from "./diff-files.ts";

test("of more files than a page has, those are left out that are plainly in scope", () => {
  const changed = Array.from({ length: 600 }, (_, n) => ({
    path: `src/${n}.ts`,
    insertions: 1,
    deletions: 0,
  }));

  const view = {
    oracles: {
      changes: [{ path: "src/599.ts", how: "changed", allowed: null }],
      look: [{ path: "src/598.ts", what: "a lock file" }],
    },
    violation: { by: "scope", paths: ["etc/passwd"], detail: "" },
  } as unknown as Pick<RunView, "oracles" | "violation">;

  const { files, unlistedFiles } = listFiles(view, changed);
  expect(files.slice(0, 4).map(({ path, mark }) => `${path} ${mark}`)).toEqual([
    "etc/passwd refused",
    "src/599.ts protected",
    "src/598.ts look",
    "src/0.ts scope",
  ]);

  expect([files.length, unlistedFiles]).toEqual([500, 101]);
});

test("a changed test that the merge waits for is marked for a look", () => {
  const view = {
    oracles: { changes: [{ path: "test/a.test.js", how: "weakened", allowed: "held" }] },
    violation: null,
  } as unknown as Pick<RunView, "oracles" | "violation">;
  const changed = [{ path: "test/a.test.js", insertions: 1, deletions: 2 }];
  expect(listFiles(view, changed).files).toMatchObject([
    { mark: "look", word: "judges this work, weakened: look before you merge" },
  ]);
});
