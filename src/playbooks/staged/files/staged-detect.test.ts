import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { detectStaged } from "./staged-detect.ts";
import { findSource } from "./staged-tree.ts";

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});
function here(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "autopilot-detect-"));
  made.push(folder);

  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }

  return folder;
}
const at = async (files: Readonly<Record<string, string>>) => {
  const { flow, step } = await detectStaged(here(files));
  return [flow, step];
};

test.each([
  "main.py",
  "a/b.cs",
  "lib.rs",
  "x.ts",
  "m.go",
  "M.java",
  "a.csproj",
  "Cargo.toml",
  "package.json",
  "go.mod",
  "pom.xml",
  "src/readme.txt",
])("%s is source", async (name) => {
  expect(await at({ [name]: "x\n" })).toEqual(["existing-code", "1"]);
});

test.each(["README.md", "node_modules/a/index.ts", ".git/hooks/a.py", "docs/a.txt", "_docs/a.ts"])(
  "%s is none",
  async (name) => {
    expect(await findSource(here({ [name]: "x\n" }))).toBeNull();
  },
);

test("the state file alone is no document: a project that was just begun stays where it says", async () => {
  const state = (step: number, name: string) =>
    `# Autopilot State\n## Current Step\nflow: existing-code\nstep: ${step}\nname: ${name}\nstatus: in_progress\nretry_count: 0\n`;
  expect(await at({ "a.py": "x\n", "_docs/_autopilot_state.md": state(1, "Document") })).toEqual([
    "existing-code",
    "1",
  ]);

  expect(await at({ "a.py": "x\n", "_docs/_autopilot_state.md": state(2, "Test Spec") })).toEqual([
    "existing-code",
    "1",
  ]);
});

const code = { "a.py": "x\n" };
const documents: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
  [{ "_docs/02_document/FINAL_report.md": "x\n" }, "2"],
  [{ "_docs/02_document/tests/traceability-matrix.md": "x\n" }, "3"],
  [
    {
      "_docs/02_tasks/_dependencies_table.md":
        "| Task | Dependencies |\n|---|---|\n| 01_tests | None |\n",
      "_docs/02_tasks/01_tests.md": "x\n",
    },
    "4",
  ],
  [{ "_docs/03_implementation/tests_report.md": "| 01_tests | done |\n" }, "5"],
  [{ "_docs/03_implementation/test_run.md": "x\n" }, "6"],
  [{ "_docs/03_implementation/refactor_report.md": "x\n" }, "7"],
  [{ "_docs/02_tasks/02_new.md": "x\n" }, "8"],
  [{ "_docs/03_implementation/FINAL_implementation_report.md": "| 02_new | done |\n" }, "9"],
  [{ "_docs/03_implementation/test_run_2.md": "x\n" }, "10"],
  [{ "_docs/05_security/security_report.md": "x\n" }, "11"],
  [{ "_docs/06_metrics/performance_report.md": "x\n" }, "12"],
  [{ "_docs/04_deploy/deploy_report.md": "x\n" }, "done"],
];
test("every step of existing-code is found by its own documents, one after the other", async () => {
  let files: Record<string, string> = { ...code };
  for (const [more, step] of documents) {
    files = { ...files, ...more };
    expect(await at(files)).toEqual(["existing-code", step]);
  }
});

const fresh: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
  [
    {
      "_docs/00_problem/problem.md": "x\n",
      "_docs/00_problem/restrictions.md": "x\n",
      "_docs/00_problem/acceptance_criteria.md": "x\n",
    },
    "1",
  ],
  [{ "_docs/00_problem/input_data/a.csv": "x\n" }, "2"],
  [{ "_docs/01_solution/solution_draft01.md": "x\n" }, "2"],
  [{ "_docs/01_solution/solution.md": "x\n" }, "3"],
  [{ "_docs/02_document/architecture.md": "x\n", "_docs/02_document/FINAL_report.md": "x\n" }, "4"],
  [{ "_docs/02_document/ui/a.md": "x\n" }, "5"],
  [{ "_docs/02_tasks/_dependencies_table.md": "x\n" }, "5"],
  [{ "_docs/02_tasks/01_a.md": "x\n" }, "6"],
  [{ "_docs/03_implementation/FINAL_implementation_report.md": "x\n" }, "7"],
  [{ "_docs/03_implementation/test_run.md": "x\n" }, "8"],
  [{ "_docs/05_security/security_report.md": "x\n" }, "9"],
  [{ "_docs/04_deploy/deploy_report.md": "x\n" }, "done"], // the optional ninth is passed over by the tenth
];
test("every step of greenfield is found by its own documents, one after the other", async () => {
  let files: Record<string, string> = {};
  for (const [more, step] of fresh) {
    files = { ...files, ...more };
    expect(await at(files)).toEqual(["greenfield", step]);
  }
});

const planned = (status: string): Readonly<Record<string, string>> => ({
  "_docs/_autopilot_state.md": `# Autopilot State\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: ${status}\nretry_count: 0\n## Key Decisions\n- Research decision: go on to planning\n`,
  "_docs/00_problem/problem.md": "x\n",
  "_docs/00_problem/restrictions.md": "x\n",
  "_docs/00_problem/acceptance_criteria.md": "x\n",
  "_docs/00_problem/input_data/a.csv": "x\n",
  "_docs/01_solution/solution_draft01.md": "x\n",
});
const architecture = { "_docs/02_document/architecture.md": "x\n" };

test("the state file says step 3 and architecture.md is there: the folders say that the step was begun, and they hold", async () => {
  const found = await detectStaged(here({ ...planned("not_started"), ...architecture }));
  expect([found.step, found.because]).toEqual([
    "3",
    "_docs/_autopilot_state.md says that step 3 Plan has not started; the folders say that it was begun (_docs/02_document/architecture.md is there, _docs/01_solution/solution.md is not), and they hold",
  ]);

  const begun = await detectStaged(here({ ...planned("in_progress"), ...architecture }));
  expect(begun.because).toContain(
    "the folders agree: _docs/02_document/architecture.md is there, _docs/01_solution/solution.md is not",
  );

  expect((await detectStaged(here(planned("not_started")))).because).toBe(
    "_docs/_autopilot_state.md says so, and the folders agree",
  );

  const rest = {
    "_docs/01_solution/solution.md": "x\n",
    "_docs/02_document/FINAL_report.md": "x\n",
  };

  expect(await at({ ...planned("not_started"), ...architecture, ...rest })).toEqual([
    "greenfield",
    "4",
  ]);
});
