// What the person who answers a question about changed tests sees of the change, and what it says
// is missing.

import { expect, test } from "vitest";
import { git, scratch, write } from "../../../test/support/scratch-repository.ts";
import type { RunView } from "../../core/state.ts";
import { readTestsPatch } from "./tests-patch.ts";

const lines = (count: number): string =>
  Array.from({ length: count }, (_, index) => `line ${index}\n`).join("");

/** The lines shown for new files with so many lines each. */
async function readPatchOf(counts: Readonly<Record<string, number>>): Promise<readonly string[]> {
  const root = scratch();
  const base = git(root, "rev-parse", "HEAD");
  write(
    root,
    Object.fromEntries(Object.entries(counts).map(([path, count]) => [path, lines(count)])),
  );

  git(root, "add", "-A");
  git(root, "commit", "-q", "-m", "tests");

  const run = {
    drafted: { base: { commit: base } },
    tip: { commit: git(root, "rev-parse", "HEAD") },
    blocks: { b1: { tests: { paths: Object.keys(counts) } } },
  } as unknown as RunView;

  return readTestsPatch({ root }, run, "b1");
}

test("a short change is shown whole", async () => {
  const shown = await readPatchOf({ "a.test.ts": 2 });
  expect(shown.slice(-2)).toEqual(["+line 0", "+line 1"]);
});

test("the end of the one file that doesn't fit is counted, with the command that shows that file", async () => {
  // Each new file has four lines of head: new file mode, ---, +++, @@.
  const shown = await readPatchOf({ "a.test.ts": 2, "b.test.ts": 20 });
  expect(shown).toHaveLength(17);
  expect(shown.at(-1)).toBe("… 14 more lines of b.test.ts: autopilot diff --file b.test.ts");
});

test("files after it are counted too", async () => {
  const shown = await readPatchOf({ "a.test.ts": 20, "b.test.ts": 1, "c.test.ts": 1 });
  expect(shown.at(-1)).toBe("… 8 more lines of a.test.ts, and 2 more files: autopilot diff");
});
