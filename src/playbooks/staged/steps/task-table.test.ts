import { describe, expect, test } from "vitest";
import { measureTasks, scheduleTasks } from "./batches.ts";
import { findNextBatchNumber, readReports } from "./reports.ts";
import { readTasks } from "./task-table.ts";
import { findOpenTaskFault, findUnnamedTasks } from "./task-proofs.ts";
import type { TreeView } from "./tree-view.ts";

const tree = (files: Readonly<Record<string, string>>): TreeView => ({
  paths: Object.keys(files),
  read: (path) => Promise.resolve(files[path] ?? null),
});
const table = (...rows: readonly string[]): string =>
  `# Tasks\n\n| Task | Name | Complexity | Dependencies | Files |\n|---|---|---|---|---|\n${rows.join("\n")}\n`;
const tasks = (text: string, files: Readonly<Record<string, string>> = {}) =>
  readTasks(tree({ "_docs/02_tasks/_dependencies_table.md": text, ...files }));

describe("the table of tasks", () => {
  test("is read by the names of its columns, with what each task's own file adds", async () => {
    const found = await tasks(
      "| ID | Depends on | Points |\n|---|---|---|\n| [AZ-1](AZ-1_store.md) | None | 3 |\n| `AZ-2` | AZ-1 | |\n",
      {
        "_docs/02_tasks/AZ-1_store.md": "# Store\n\n**Files**: src/a.ts, src/b.ts\n",
        "_docs/02_tasks/todo/AZ-2_api.md":
          "# Api\n\n**Complexity**: 5 points\n\n## Files\n- `src/api.ts`\n- src/http.ts\n",
      },
    );
    expect(found.faults).toEqual([]);
    expect(
      found.tasks.map(({ id, points, after, files, path }) => ({ id, points, after, files, path })),
    ).toEqual([
      {
        id: "AZ-1",
        points: 3,
        after: [],
        files: ["src/a.ts", "src/b.ts"],
        path: "_docs/02_tasks/AZ-1_store.md",
      },
      {
        id: "AZ-2",
        points: 5,
        after: ["AZ-1"],
        files: ["src/api.ts", "src/http.ts"],
        path: "_docs/02_tasks/todo/AZ-2_api.md",
      },
    ]);
  });

  test("takes a dependency by the number a task begins with", async () => {
    const found = await tasks(table("| 01_a | a | 1 | - | x |", "| 02_b | b | 1 | 01 | y |"));
    expect(found.tasks[1]?.after).toEqual(["01_a"]);
  });

  test.each([
    ["no table at all", "nothing here\n", /no table with a column Task/],
    [
      "a task that is no name",
      table("| ../x | a | 1 | None | x |"),
      /:5: found "\.\.\/x" as a task/,
    ],
    [
      "two rows of one task",
      table("| a | a | 1 | None | x |", "| a | a | 1 | None | x |"),
      /:6: found a second row for the task a/,
    ],
    [
      "a dependency on nobody",
      table("| a | a | 1 | zz | x |"),
      /:5: task a depends on zz, which is not there/,
    ],
    [
      "a ring",
      table("| a | a | 1 | b | x |", "| b | b | 1 | a | x |"),
      /tasks wait for each other: a -> b -> a/,
    ],
    [
      "a task that waits for itself",
      table("| a | a | 1 | a | x |"),
      /tasks wait for each other: a/,
    ],
  ])("%s is a fault with its line, and yields no tasks", async (_what, text, fault) => {
    const found = await tasks(text);
    expect(found.tasks).toEqual([]);
    expect(found.faults.join("; ")).toMatch(fault);
  });
});

describe("batches", () => {
  const none = (): boolean => false;
  test("are by dependency, and no two of one batch touch the same file or folder", async () => {
    const { tasks: found } = await tasks(
      table(
        "| a | a | 1 | None | src/a.ts |",
        "| b | b | 2 | None | src/b.ts |",
        "| c | c | 3 | None | src/ |",
        "| d | d | 1 | a | lib/d.ts |",
        "| e | e | 1 | None | lib/** |",
      ),
    );
    expect(measureTasks(found, none)).toEqual({ tasks: 5, batches: 3, points: 8 });
    const walked = scheduleTasks(found, none);
    const of = (id: string) => walked.find((task) => task.id === id)?.files ?? [];
    expect(of("a")).toContain("src/"); // so that a and c share a name, and never a batch
    expect(of("d")).toContain("lib/**");
    expect(of("b").some((file) => of("a").includes(file) && file !== "src/")).toBe(false);
  });

  test("a task that does not say what it changes works alone", async () => {
    const { tasks: found } = await tasks(
      table("| a | a | 1 | None | x |", "| b | b | 1 | None | |", "| c | c | 1 | None | y |"),
    );
    expect(scheduleTasks(found, none).map(({ id, after }) => [id, after])).toEqual([
      ["a", []],
      ["b", ["a"]],
      ["c", ["b"]],
    ]);
  });

  test("what a report says is done is not done again, and holds nothing up", async () => {
    const { tasks: found } = await tasks(
      table("| a | a | 1 | None | x |", "| b | b | 1 | a | y |"),
    );
    expect(scheduleTasks(found, (id) => id === "a").map(({ id, after }) => [id, after])).toEqual([
      ["b", []],
    ]);
  });
});

describe("reports", () => {
  const report = (text: string, path = "FINAL_implementation_report.md") => ({
    [`_docs/03_implementation/${path}`]: text,
  });

  test.each([
    ["| 01_a | done | it works |", true],
    ["- [x] 01_a.md", true],
    ["01_a: ✅ implemented", true],
    ["| 01_a | not done yet |", false],
    ["| 01_a | failed, was done before |", false],
    ["| 01_a_more | done |", false],
    ["| x01_a | done |", false],
    ["- [ ] 01_a, to be completed", false],
  ])("%s", async (line, isDone) => {
    expect((await readReports(tree(report(`${line}\n`)))).isDone("01_a")).toBe(isDone);
  });

  test("the runner's own batch reports count for what need not be done again, not for what an agent must report", async () => {
    const batch = tree(report("| 01_a | done |\n", "batch_03_report.md"));
    expect((await readReports(batch)).isDone("01_a")).toBe(true);
    expect((await readReports(batch, "agents")).isDone("01_a")).toBe(false);
    expect(findNextBatchNumber(batch)).toBe(4);
  });

  test("a task that no report names is open; to find a project at work the final report will do", async () => {
    const task = {
      "_docs/02_tasks/01_a.md": "# a\n",
      "_docs/02_tasks/_dependencies_table.md": table("| 01_a | a | 1 | None | x |"),
    };
    expect(await findUnnamedTasks(tree(task))).toEqual(["_docs/02_tasks/01_a.md"]);
    expect(await findOpenTaskFault(tree(task), false)).toBeNull();
    const reported = tree({ ...task, ...report("| 01_a | done |\n") });
    expect(await findUnnamedTasks(reported)).toEqual([]);
    expect(await findOpenTaskFault(reported, true)).toBeNull();
    expect(await findOpenTaskFault(reported, false)).toMatch(/no task/);
  });
});
