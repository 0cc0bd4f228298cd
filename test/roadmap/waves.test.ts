// Tasks of a plan in waves: side by side where they may be, in the order of the plan where they
// meet, each in its own commit.

import { describe, expect, test } from "vitest";
import { eventsOf, journal } from "../support/autopilot.ts";
import { git } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";
import {
  around,
  does,
  goRoadmap,
  plan,
  planCheck,
  planOf,
  plansOf,
  project,
  research,
  stepsOf,
} from "./stories.ts";

const sum = `import { a } from './src/a.js'; import { d } from './src/d.js'; console.log(a + d)`;
const phases = [
  {
    id: "1",
    name: "Four numbers",
    criteria: [`all are there :: test "$(node --input-type=module -e "${sum}")" = 2`],
  },
];
const exported = (name: string): string => `it is exported :: grep -q ${name} src/index.js`;
const there = (name: string): string => `${name} is there :: test -f src/${name}.js`;
/** a and b are small and share nothing; c shares a file with a; d is complex and stands alone. */
const tasks = [
  { id: "01-01", files: ["src/a.js"], verify: [there("a")] },
  { id: "01-02", files: ["src/b.js"], verify: [there("b")] },
  { id: "01-03", files: ["src/a.js", "src/c.js"], verify: [there("c")] },
  {
    id: "01-04",
    files: ["src/d.js", "src/index.js"],
    verify: [there("d"), exported("d")],
    complexity: "complex",
  },
];
const makes = (id: string, name: string, more: readonly object[] = []) => {
  const turn = does("1", id, { [`src/${name}.js`]: `export const ${name} = 1;\n` });
  return { ...turn, do: [...more, ...turn.do] };
};
const index = ["greet", "a", "b", "c", "d"]
  .map((name) => `export { ${name} } from "./${name}.js";\n`)
  .join("");

/** The most turns that were open at one moment. */
function sideBySide(folder: string): number {
  const open = new Set<unknown>();
  let most = 0;

  for (const { event, kind, attempt } of journal(folder)) {
    if (event === "step_started" && kind === "agent") open.add(attempt);
    if (event === "turn_ended") open.delete(attempt);
    most = Math.max(most, open.size);
  }

  return most;
}

describe.concurrent("waves", () => {
  test("what shares no file is done side by side, what does goes to a later wave, a complex task stands alone", async () => {
    const folder = project(phases, plansOf([plan("1", planOf(tasks))]));
    const turns = [
      planCheck("1"),
      makes("01-01", "a", [{ sleep: 1500 }]),
      makes("01-02", "b", [{ sleep: 1500 }]),
      makes("01-03", "c"),
      does("1", "01-04", { "src/d.js": "export const d = 1;\n", "src/index.js": index }),
      ...around("1"),
    ];

    // At the level a user has, where checkouts are views.
    const { json } = await goRoadmap(folder, turns, ["--isolation", "auto"]);
    expect(json, json.message).toMatchObject({
      result: "PASS",
      state: "completed",
      verdict: "verified",
    });

    const waves = eventsOf(folder, "tasks_read").flatMap(
      (entry) => entry["waves"] as { id: string }[][],
    );
    expect(waves.map((wave) => wave.map(({ id }) => id))).toEqual([
      ["01-01", "01-02"],
      ["01-03"],
      ["01-04"],
    ]);

    expect(sideBySide(folder)).toBe(2);
    const commits = eventsOf(folder, "changes_applied").filter(({ attempt }) =>
      String(attempt).includes("/execute#1/"),
    );
    expect(commits.map(({ attempt }) => /execute#1\/([^@]+)@/.exec(String(attempt))?.[1])).toEqual([
      "01-01",
      "01-02",
      "01-03",
      "01-04",
    ]);

    expect(
      git(folder, "log", "--format=%s")
        .split("\n")
        .filter((line) => /^1 Four numbers\/01-0\d: /.test(line)),
    ).toHaveLength(4);
  });

  longTest(
    "two of one wave that change the same file after all: the later one fails, is tried again on what the first left, and both are in",
    "test/simulation/stories-waves.ts › waves: two change one file that neither named, the later fails and is done again on the new tip",
    async () => {
      const folder = project(phases);
      const both = [
        { id: "01-01", files: ["src/a.js"], verify: [there("a"), exported("a")] },
        { id: "01-02", files: ["src/d.js"], verify: [there("d"), exported("d")] },
      ];

      const adds = (name: string, sleep: number) => [
        { sleep },
        { write: { path: `src/${name}.js`, text: `export const ${name} = 1;\n` } },
        { append: { path: "src/index.js", text: `export { ${name} } from "./${name}.js";\n` } },
      ];

      const turns = [
        research("1"),
        plan("1", planOf(both)),
        planCheck("1"),
        { ...does("1", "01-01", {}), do: adds("a", 1500) },
        { ...does("1", "01-02", {}), do: adds("d", 200) },
        { ...does("1", "01-02", {}), do: adds("d", 0) },
        ...around("1"),
      ];

      const { json } = await goRoadmap(folder, turns);
      expect(json, json.message).toMatchObject({ result: "PASS", state: "completed" });
      expect(eventsOf(folder, "step_failed")).toMatchObject([
        { reason_code: "merge_conflict", attempt: expect.stringContaining("/01-02@") as string },
      ]);

      expect(eventsOf(folder, "step_retried")).toHaveLength(1);
      expect(git(folder, "show", "HEAD:src/index.js").split("\n").slice(1)).toEqual([
        'export { a } from "./a.js";',
        'export { d } from "./d.js";',
      ]);
    },
  );

  longTest(
    "a task that fails twice ends its wave; what it left undone is red in the checks, and is debugged there",
    "test/simulation/stories.ts › roadmap: a task fails for good, later waves wait, debugging fixes it",
    async () => {
      const folder = project(phases);
      const turns = [
        research("1"),
        plan("1", planOf(tasks)),
        planCheck("1"),
        makes("01-01", "a"),
        { ...does("1", "01-02", {}), repeat: 2 },
        {
          when: { phase: "1", step: "debug" },
          do: ["b", "c", "d"]
            .map((name) => ({
              write: { path: `src/${name}.js`, text: `export const ${name} = 1;\n` },
            }))
            .concat([{ write: { path: "src/index.js", text: index } }]),
          returns: {
            fixed: true,
            changes: ["src/b.js -- written"],
            commits: [],
            remaining_issues: [],
            failure_categories: ["executor_incomplete"],
          },
        },
        ...around("1"),
      ];

      const { json } = await goRoadmap(folder, turns);
      expect(json, json.message).toMatchObject({ result: "PASS", state: "completed" });
      expect(stepsOf(folder, "1").slice(5, 9)).toEqual([
        "execute failed",
        "checks failed",
        "debug passed",
        "checks passed",
      ]);

      const [executed] = eventsOf(folder, "step_failed").filter(({ attempt }) =>
        String(attempt).endsWith("/execute#1"),
      );
      expect(executed).toMatchObject({
        facts: { done: 1, failed: 1, not_begun: 2, failed_tasks: "01-02" },
      });
    },
  );
});
