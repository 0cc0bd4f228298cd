// project: what the embedded agent writes at each step of a staged project, and how the state file
// is read back.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  parseStagedState,
  type ParsedStagedState,
} from "../../src/playbooks/staged/views/parse-staged-state.ts";
import { autopilot, begin, type Ended, isolation, scripted } from "../support/autopilot.ts";
import { checkedOnce, git, write } from "../support/scratch-repository.ts";

export type Turn = {
  readonly when?: object;
  readonly do: readonly object[];
  readonly returns?: object;
  readonly repeat?: number;
};

const file = (path: string, text: string) => ({ write: { path, text } });
export const says = (summary: string, ...decisions: readonly string[]) => ({
  summary,
  ...(decisions.length === 0 ? {} : { decisions }),
});

/** A turn of one step. */
export const turn = (
  phase: string,
  files: Readonly<Record<string, string>>,
  returns: object = says(`Step ${phase} is written.`),
  step = "do",
): Turn => ({
  when: { phase, step },
  do: Object.entries(files).map(([path, text]) => file(path, text)),
  returns,
});

const page = (title: string): string =>
  `# ${title}\n\nThe shop keeps its orders in a file today, and two clerks overwrite each other every week.\nA small store with one writer ends that; it must start in a second and survive a power cut.\n`;

export const problem = {
  "_docs/00_problem/problem.md": page("Problem"),
  "_docs/00_problem/restrictions.md": page("Restrictions"),
  "_docs/00_problem/acceptance_criteria.md": page("Acceptance criteria"),
  "_docs/00_problem/input_data/orders.csv": "id,item\n1,tea\n",
};
export const draft = { "_docs/01_solution/solution_draft01.md": page("Draft of a solution") };
export const plan = {
  "_docs/01_solution/solution.md": page("Solution"),
  "_docs/02_document/architecture.md": page("Architecture"),
  "_docs/02_document/FINAL_report.md": page("Final report"),
};

export type Row = {
  readonly id: string;
  readonly points?: number;
  readonly after?: string;
  readonly files: string;
};
const head =
  "| Task | Name | Complexity | Dependencies | Files |\n|------|------|------------|--------------|-------|\n";
export const tableOf = (rows: readonly Row[]): string =>
  `# Dependencies\n\n${head}${rows.map(({ id, points = 2, after = "None", files }) => `| ${id} | ${id.replaceAll("_", " ")} | ${points} | ${after} | ${files} |\n`).join("")}`;

/** The table and a file a task. */
export const tasksOf = (rows: readonly Row[]): Record<string, string> => ({
  "_docs/02_tasks/_dependencies_table.md": tableOf(rows),
  ...Object.fromEntries(
    rows.map(({ id, files }) => [`_docs/02_tasks/${id}.md`, `${page(id)}\nFiles: ${files}\n`]),
  ),
});

export const manifest = JSON.stringify({
  name: "shop",
  version: "1.0.0",
  type: "module",
  scripts: { test: "! grep -l throw test/*.test.js" },
}); // red where a test throws, without a start of node for each file
const test = (name: string): string =>
  `import test from "node:test";\nimport assert from "node:assert";\ntest("${name}", () => assert.equal(1 + 1, 2));\n`;

export const rows: readonly Row[] = [
  { id: "01_layout", points: 1, files: "package.json" },
  { id: "02_store", points: 3, after: "01_layout", files: "src/store.js, test/store.test.js" },
  { id: "03_orders", points: 2, after: "01_layout", files: "src/orders.js, test/orders.test.js" },
];

/** For stories in which one batch after the other is enough, and those in which one is. */
export const twoRows = rows.slice(0, 2);
export const oneRow = rows.slice(0, 1);

/** What an implementer writes for a task. */
const built: Readonly<Record<string, Record<string, string>>> = {
  "01_layout": { "package.json": manifest },
  "02_store": {
    "src/store.js": "export const store = new Map();\n",
    "test/store.test.js": test("store"),
  },
  "03_orders": {
    "src/orders.js": "export const orders = [];\n",
    "test/orders.test.js": test("orders"),
  },
};

export const taskTurn = (
  phase: string,
  id: string,
  files: Readonly<Record<string, string>>,
): Turn => ({
  when: { phase, step: "do", task: id },
  do: Object.entries(files).map(([path, text]) => file(path, text)),
  returns: { summary: `Task ${id} is built and its tests pass.` },
});

export const reviews = (phase: string, isGood = true): Turn => ({
  when: { phase, step: "review" },
  do: [],
  returns: {
    confidence: 0.9,
    pass: isGood,
    issues: isGood ? [] : ["src/store.js: no error is handled"],
  },
  repeat: 0,
});

export const reportOf = (ids: readonly string[]): string =>
  `# Report\n\n| Task | Status | What was built |\n|------|--------|----------------|\n${ids.map((id) => `| ${id} | done | it works |\n`).join("")}`;

const finalReport = "_docs/03_implementation/FINAL_implementation_report.md";

/** Greenfield's turns, with a step that decomposes into these tasks. */
export const decomposing = (into: readonly Row[]): readonly Turn[] => [
  turn("5", tasksOf(into), says("Tasks.")),
  ...greenfield,
];

/** Every turn of greenfield, from an empty folder to the end. */
export const greenfield: readonly Turn[] = [
  turn("1", problem, says("The problem is written down.", "Users: two clerks in one shop")),
  turn("2", draft, says("One draft with two ways.")),
  turn("3", plan, says("A store with one writer.", "Tech stack: Node, no database")),
  turn("5", tasksOf(rows), says("Three tasks.")),
  ...Object.entries(built).map(([id, files]) => taskTurn("6", id, files)),
  reviews("6"),
  turn(
    "6",
    { [finalReport]: reportOf(rows.map(({ id }) => id)) },
    says("Three tasks are built."),
    "report",
  ),
  turn("7", { "_docs/03_implementation/test_run.md": page("Test run") }, says("Two tests pass.")),
  turn(
    "10",
    { "_docs/04_deploy/deploy_report.md": page("Deployment") },
    says("A tarball and one command."),
  ),
];

/** A small code base with one test of its own. */
export const codeBase: Readonly<Record<string, string>> = {
  "package.json": manifest,
  "src/price.js": "export const price = (net) => Math.round(net * 119) / 100;\n",
  "test/price.test.js": `import test from "node:test";\nimport assert from "node:assert";\nimport { price } from "../src/price.js";\ntest("price", () => assert.equal(price(1), 1.19));\n`,
};

export const testRows: readonly Row[] = [
  { id: "01_price_tests", points: 2, files: "test/price-more.test.js" },
];
export const newRow: Row = {
  id: "02_discount",
  points: 2,
  files: "src/discount.js, test/discount.test.js",
};

export const documented = {
  "_docs/02_document/architecture.md": page("Architecture"),
  "_docs/02_document/FINAL_report.md": page("Final report"),
};
export const specified = {
  "_docs/02_document/tests/test-cases.md": page("Test cases"),
  "_docs/02_document/tests/traceability-matrix.md": page("Traceability"),
};

/** Every turn of existing-code over that code base, with one new task. */
export const existingCode: readonly Turn[] = [
  turn("1", documented, says("The code is described.")),
  turn("2", specified, says("Nine test cases.")),
  turn("3", tasksOf(testRows), says("One task.")),
  taskTurn("4", "01_price_tests", { "test/price-more.test.js": test("more") }),
  reviews("4"),
  turn(
    "4",
    { "_docs/03_implementation/tests_report.md": reportOf(["01_price_tests"]) },
    says("One test file."),
    "report",
  ),
  turn("5", { "_docs/03_implementation/test_run.md": page("Test run") }, says("Two tests pass.")),
  turn("7", tasksOf([...testRows, newRow]), says("A task for discounts.")),
  taskTurn("8", "02_discount", {
    "src/discount.js": "export const discount = (price) => price * 0.9;\n",
    "test/discount.test.js": test("discount"),
  }),
  reviews("8"),
  turn(
    "8",
    { [finalReport]: reportOf(["01_price_tests", "02_discount"]) },
    says("Discounts are built."),
    "report",
  ),
  turn(
    "9",
    { "_docs/03_implementation/test_run_2.md": page("Second test run") },
    says("Three tests pass."),
  ),
  turn(
    "12",
    { "_docs/04_deploy/deploy_report.md": page("Deployment") },
    says("Published by hand."),
  ),
];

export const stateOf = (folder: string): ParsedStagedState["state"] =>
  parseStagedState(stateText(folder)).state;
export const stateText = (folder: string): string =>
  readFileSync(join(folder, "_docs/_autopilot_state.md"), "utf8");

/** `go` on a staged flow, acknowledged, in a disposable copy. */
export const goStaged = (
  folder: string,
  flow: string,
  turns: readonly Turn[],
  args: readonly string[] = [],
): Promise<Ended> => autopilot(folder, goArgs(folder, flow, turns, args));
export const beginStaged = (
  folder: string,
  flow: string,
  turns: readonly Turn[],
  args: readonly string[] = [],
) => begin(folder, goArgs(folder, flow, turns, args));

const goArgs = (
  folder: string,
  flow: string,
  turns: readonly Turn[],
  args: readonly string[],
): readonly string[] => [
  "go",
  "--flow",
  flow,
  "--yes",
  "--json",
  "--isolation",
  isolation,
  ...scripted(checkedOnce(folder), turns),
  ...args,
];

/** Files that are there and committed. */
export function commit(
  folder: string,
  files: Readonly<Record<string, string>>,
  message = "documents",
): void {
  write(folder, files);
  git(folder, "add", "-A");
  git(folder, "commit", "-q", "-m", message);
}
