// An agent of which only a report is kept: it may try what it likes, and nothing but the report
// reaches the branch.

import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, goScripted } from "../support/autopilot.ts";
import { git, scratchCheckedOnce as scratch, write } from "../support/scratch-repository.ts";

const flow = (check: string): string => `flow: judged
version: 1
about: Works, then has somebody look at it who may change nothing but a report.
phases:
  - id: make
    steps:
      - { id: work, agent: executor, prompt: work.md }
      - { id: opinion, agent: judge, prompt: judge.md, keeps: ["reports/{phase}.md"], proof: [{ file: "reports/{phase}.md", non_empty: true, fresh: true }] }
      - { id: prove, check: [${check}] }
after:
  - id: land
    steps: [{ id: merge, run: land }]
`;

function place(check = '"test -f src/b.txt"'): string {
  const folder = scratch({ files: { "src/a.txt": "a\n" } });
  write(folder, {
    ".autopilot/flows/judged/flow.yaml": flow(check),
    ".autopilot/flows/judged/prompts/work.md": "Work on: {goal}\n",
    ".autopilot/flows/judged/prompts/judge.md": "Look at it.\n",
  });

  return folder;
}
const works = { when: { step: "work" }, do: [{ write: { path: "src/b.txt", text: "b\n" } }] };
const meddles = [
  { write: { path: "src/b.txt", text: "I would have done it so\n" } },
  { delete: { path: "src/a.txt" } },
  { link: { path: "src/passwd", target: "/etc/passwd" } },
  { write: { path: "scratch/notes.txt", text: "x\n" } },
];
const reports = { write: { path: "reports/make.md", text: "It holds.\n" } };

describe.concurrent("what is kept", () => {
  test("is the report alone; the rest is left out and counted, and is no violation", async () => {
    const folder = place();
    const { json } = await goScripted(
      folder,
      [works, { when: { step: "opinion" }, do: [...meddles, reports] }],
      ["--flow", "judged", "--scope", "src/**", "--scope", "reports/**"],
    );
    expect(json).toMatchObject({ state: "completed" });
    expect(eventsOf(folder, "changes_applied")).toMatchObject([
      { paths: ["src/b.txt"], not_applied: 0 },
      { paths: ["reports/make.md"], not_applied: 4 },
    ]);

    expect(eventsOf(folder, "step_interrupted")).toEqual([]);
    expect(git(folder, "show", "HEAD:src/b.txt")).toBe("b");
    expect(git(folder, "ls-tree", "-r", "--name-only", "HEAD").split("\n")).toEqual(
      expect.arrayContaining(["src/a.txt", "reports/make.md"]),
    );
  });

  test("must be there all the same: a judge who writes no report has proved nothing", async () => {
    const folder = place();
    const { json } = await goScripted(
      folder,
      [works, { when: { step: "opinion" }, do: meddles }],
      ["--flow", "judged"],
    );
    expect(json).toMatchObject({ reason_code: "phase_failed", state: "paused" });
    expect(eventsOf(folder, "step_failed")).toMatchObject([
      { reason_code: "proof_missing", facts: { changed: false } },
    ]);

    expect(eventsOf(folder, "changes_applied")).toHaveLength(1);
  });

  test("and a check step may name a proof of the registry beside its commands", async () => {
    const folder = place('"test -f src/b.txt", project_tests');
    expect((await autopilot(folder, ["flow", "lint", "judged", "--json"])).json).toMatchObject({
      result: "PASS",
    });

    write(folder, { "package.json": '{ "scripts": { "test": "exit 1" } }\n' });
    git(folder, "add", "package.json");
    git(folder, "commit", "-q", "-m", "tests that fail");

    const { json } = await goScripted(
      folder,
      [works, { when: { step: "opinion" }, do: [reports] }],
      ["--flow", "judged"],
    );
    expect(json).toMatchObject({ reason_code: "phase_failed", state: "paused" });
    expect(eventsOf(folder, "step_failed").at(-1)).toMatchObject({
      detail: expect.stringContaining("project_tests:") as string,
    });
  });
});
