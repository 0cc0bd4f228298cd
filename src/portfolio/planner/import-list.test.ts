// Lists of projects and tasks as people write them: everything wrong is told, with file and line.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { backlogKeys, readBacklog } from "./backlog.ts";
import { importKeys, readImportList } from "./import-list.ts";

test("every entry that is wrong is told with file and line; none hides another", () => {
  const yaml = [
    "projects:",
    "  - { name: Shop, repo: ., budget: beer=3 }",
    "  - { name: Site, repo: ., colour: blue, prioriti: 2 }",
    "  - {}",
    "owner: kim",
    "tasks:",
    "  - project: Shop",
    "    objective: sell",
    "    budget: tokens=lots",
    "  - { project: Shop, objective: 7, acept: [x] }",
    "  - []",
    "  - { project: Shop, objective: fine, key: a }",
  ].join("\n");
  const { problems, tasks, projects } = readImportList("list.yaml", yaml);
  expect(problems.map((one) => one.replace(/(: (found|The budget|an unknown key)).*/, "$1"))).toEqual([
    "list.yaml:5: owner: an unknown key",
    "list.yaml:2: projects[0].budget: The budget",
    "list.yaml:3: projects[1].colour: found",
    "list.yaml:3: projects[1].prioriti: found",
    "list.yaml:4: projects[2].name: found",
    "list.yaml:4: projects[2].repo: found",
    "list.yaml:9: tasks[0].budget: The budget",
    "list.yaml:10: tasks[1].objective: found",
    "list.yaml:10: tasks[1].acept: found",
    "list.yaml:11: tasks[2]: found",
    "list.yaml:11: tasks[2].project: found",
    "list.yaml:11: tasks[2].objective: found",
  ]);
  expect([projects, tasks.map(({ objective, place }) => [objective, place])]).toEqual([[], [["fine", "list.yaml:12: tasks[3]"]]]);
});

test("a list at the top is a list of tasks, in YAML and JSON", () => {
  const tasks = [
    { project: "Shop", objective: "one", budget: "usd=3" },
    { project: "Shop", objective: "two" },
  ];
  for (const [file, text] of [
    ["list.json", JSON.stringify(tasks, null, 1)],
    ["list.yaml", JSON.stringify(tasks, null, 1)],
  ] as const) {
    const read = readImportList(file, text);
    expect([read.problems, read.tasks.map(({ objective, place }) => [objective, place])]).toEqual([
      [],
      [
        ["one", `${file}:2: [0]`],
        ["two", `${file}:7: [1]`],
      ],
    ]);
    expect(read.tasks[0]?.budget).toEqual({ usd: 3 });
  }
  expect(readImportList("list.json", "[\n1,\n").problems[0]).toMatch(/^list\.json:\d+: not JSON/);
  expect(readImportList("list.yaml", "7\n").problems).toEqual(["list.yaml:1: expected a list of tasks, or projects: […] and tasks: […]"]);
});

test("a Markdown backlog drops nothing in silence: boxes and words that are none are told with their line", () => {
  const text = [
    "- [ ] before a heading",
    "# Shop",
    "  - accept: of nothing",
    "- []",
    "- [y] odd",
    "-[ ] narrow",
    "- [ ] sell apples",
    "  - acept: apples :: true",
    "  - accept:",
    "  - budget: beer=3",
    "  - a note, and [a link](x)",
    "  - [ ] inside",
    "- [a link](x)",
    "- [x] done before",
    "  - colour: blue",
    "- [ ] sell pears",
    "  - budget: usd=2",
    "  - flow: quality",
  ].join("\n");
  const { tasks, problems } = readBacklog("b.md", text);
  expect(problems.map((one) => one.split(" ").slice(0, 3).join(" "))).toEqual([
    "b.md:1: no heading",
    "b.md:3: accept: belongs",
    "b.md:4: not a",
    "b.md:5: not a",
    "b.md:6: not a",
    "b.md:8: acept is",
    "b.md:9: accept: says",
    "b.md:10: The budget",
    "b.md:12: not a",
  ]);
  expect(problems[5]).toContain("Did you mean accept?");
  expect(tasks.at(-1)).toMatchObject({ objective: "sell pears", budget: { usd: 2 }, flow: "quality", place: "b.md:16" });
});

test("what is wrong in one entry is not held against those that name it", () => {
  const { unread } = readImportList("l.json", JSON.stringify({ projects: [{ name: "Site" }], tasks: [{ key: "a", project: "Site" }] }));
  expect([unread.has("Site"), unread.has("a")]).toEqual([true, true]);
});

test("the documentation names every key", () => {
  const page = readFileSync(resolve(import.meta.dirname, "../../../docs/PORTFOLIO.md"), "utf8");
  for (const key of [...importKeys.projects, ...importKeys.tasks, ...backlogKeys]) expect(page).toContain(`\`${key}\``);
});
