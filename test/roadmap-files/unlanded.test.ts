// Work of earlier runs that nobody merged: what a phase builds upon must be here.

import { describe, expect, test } from "vitest";
import type { RoadmapPhase } from "../../src/contracts/roadmap.ts";
import { findUnmerged } from "../../src/playbooks/roadmap/files/unmerged-dependencies.ts";
import { git, scratch, write } from "../support/scratch-repository.ts";

const phase = (id: string, ...depends_on: readonly string[]): RoadmapPhase =>
  ({ id, depends_on }) as unknown as RoadmapPhase;
const phases = [phase("1"), phase("2", "1"), phase("3", "2"), phase("4")];
const run = "run-2026-01-01-000000";
const branch = `autopilot/${run}`;
const completed = (...ids: readonly string[]) =>
  new Map(ids.map((id) => [id, { isCompleted: true, runs: [run], name: null }]));

/**
 * A run's branch with one commit a phase, as the runner writes them; the user's branch stays
 * behind.
 */
function worked(...ids: readonly string[]): string {
  const root = scratch();
  git(root, "checkout", "-q", "-b", branch);

  for (const id of ids) {
    write(root, { [`${id}.txt`]: `${id}\n` });
    git(root, "add", "-A");
    git(
      root,
      "commit",
      "-q",
      "-m",
      `autopilot ${id}/do: x\n\nAutopilot-Run: ${run}\nAutopilot-Attempt: ${id}@1/execute#1/a@1/do#1`,
    );
  }

  git(root, "checkout", "-q", "main");
  return root;
}
const below = (root: string, wanted: string, known = completed("1", "2")) =>
  findUnmerged({ root, phases, phaseIds: [wanted], history: known });

describe("a phase that was completed on a branch", () => {
  test("is not here until it is merged: whoever builds upon it, by however many steps, is told which and where", async () => {
    const root = worked("1", "2");
    expect(await below(root, "3")).toEqual([
      { phase: "2", branch },
      { phase: "1", branch },
    ]);

    expect(await below(root, "4")).toEqual([]); // it builds upon neither
    git(root, "merge", "-q", branch);
    expect(await below(root, "3")).toEqual([]);
  });

  test("and landed only in part: what landed is here", async () => {
    const root = worked("1", "2");
    git(root, "merge", "-q", `${branch}~1`);
    expect(await below(root, "3")).toEqual([{ phase: "2", branch }]);
    expect(await below(root, "2")).toEqual([]);
  });

  test("whose work came here another way is here, and so is one whose branch is gone", async () => {
    const squashed = worked("1", "2");
    git(squashed, "merge", "-q", "--squash", branch);
    git(squashed, "commit", "-q", "-m", "both phases");
    expect(await below(squashed, "3")).toEqual([]);
    const gone = worked("1", "2");
    git(gone, "branch", "-q", "-D", branch);
    expect(await below(gone, "3")).toEqual([]);
  });
});
