// Lists of projects and tasks as people write them: everything wrong is told, with file and line.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { findJsonFlaws } from "../../documents/json-flaws.ts";
import { backlogKeys, readBacklog } from "./backlog.ts";
import { draftTasks, limitProblems } from "./draft-tasks.ts";
import { importKeys, readImportList } from "./import-list.ts";
import { createEmptyPortfolio, type Project } from "./state.ts";

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
  expect(
    problems.map((one) => one.replace(/(: (found|The budget|an unknown key)).*/, "$1")),
  ).toEqual([
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

  expect(projects.map(({ name, budget }) => [name, budget])).toEqual([
    ["Shop", undefined],
    ["Site", undefined],
    [undefined, undefined],
  ]); // what could be read is looked at further

  expect(tasks.map(({ objective, place }) => [objective, place])).toEqual([
    ["sell", "list.yaml:7: tasks[0]"],
    ["", "list.yaml:10: tasks[1]"],
    ["fine", "list.yaml:12: tasks[3]"],
  ]);
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
  expect(readImportList("list.yaml", "7\n").problems).toEqual([
    "list.yaml:1: expected a list of tasks, or projects: […] and tasks: […]",
  ]);
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
    "- [ ] sell plums",
    "  - budget: usd=2=3",
    "  - budget: usd=2,usd=3",
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
    "b.md:20: The budget",
    "b.md:21: The budget",
  ]);

  expect(problems[5]).toContain("Did you mean accept?");
  expect(tasks.at(-2)).toMatchObject({
    objective: "sell pears",
    budget: { usd: 2 },
    flow: "quality",
    place: "b.md:16",
  });
});

test("what is wrong in one entry is not held against those that name it", () => {
  const { invalidNames } = readImportList(
    "l.json",
    JSON.stringify({ projects: [{ name: "Site" }], tasks: [{ key: "a", project: "Site" }] }),
  );
  expect([...invalidNames]).toEqual(["Site", "a"]);
});

test("the documentation names every key", () => {
  const page = readFileSync(resolve(import.meta.dirname, "../../../docs/PORTFOLIO.md"), "utf8");
  for (const key of [...importKeys.projects, ...importKeys.tasks, ...backlogKeys]) {
    expect(page).toContain(`\`${key}\``);
  }
});

test.each([
  [
    "NaN",
    '[\n{"project": "Shop",\n"objective": "x", "priority": NaN}]',
    "list.json:3: not JSON: found NaN}], expected a value: a text in double",
  ],
  [
    "Infinity",
    '{"tasks": [\n\n-Infinity]}',
    "list.json:3: not JSON: found -Infinity]}, expected a value",
  ],
  ["a comma too many", '{"tasks": [1,\n]}', "list.json:2: not JSON: found ]}, expected a value"],
  [
    "a missing comma",
    '{"tasks": []\n"projects": []}',
    'list.json:2: not JSON: found "projects": []}, expected , or }',
  ],
  [
    "an end too early",
    '{"tasks": [',
    "list.json:1: not JSON: found the end of the file, expected more",
  ],
  [
    "a key without quotes",
    "{\ntasks: []}",
    "list.json:2: not JSON: found tasks: []}, expected a key in double quotes",
  ],
  ["two values", "[]\n[]", "list.json:2: not JSON: found [], expected the end of the file"],
  [
    "a key twice",
    '{"tasks": [{"project": "a",\n"objective": "b",\n"project": "c"}]}',
    "list.json:3: the key project is there twice",
  ],
])("JSON with %s is refused with its line, and what was expected", (_what, text, problem) => {
  const read = readImportList("list.json", text);
  expect([read.problems.map((one) => one.slice(0, problem.length)), read.tasks]).toEqual([
    [problem],
    [],
  ]);
});

test("what JSON.parse takes has no flaw, and what it refuses has one", () => {
  fc.assert(
    fc.property(
      fc.json(),
      fc.nat(),
      fc.constantFrom(...Array.from('{}[],:"0-.eE tfn')),
      (json, at, mark) => {
        const cut = at % (json.length + 1);
        for (const text of [
          json,
          json.slice(0, cut),
          `${json.slice(0, cut)}${mark}${json.slice(cut)}`,
        ]) {
          let isJson = true;
          try {
            JSON.parse(text);
          } catch {
            isJson = false;
          }

          expect([text, findJsonFlaws(text).syntaxError === null]).toEqual([text, isJson]);
        }
      },
    ),
  );
});

test("a ring of dependencies is told with file and line; a long text is cut; a priority is told as it was written", () => {
  const list = [
    "tasks:",
    ...["a", "b", "c"].map(
      (key, at) =>
        `  - { key: ${key}, project: Shop, objective: do ${key}, after: [${"bca"[at] ?? ""}] }`,
    ),
  ];

  const { tasks } = readImportList("list.yaml", list.join("\n"));
  const state = {
    ...createEmptyPortfolio(),
    projects: { "proj-shop": { project_id: "proj-shop", name: "Shop" } as Project },
  };

  let made = 0;
  const { problems } = draftTasks(state, tasks, {
    actor: "operator:kim",
    newId: () => `task-x-aaaaa${made++}`,
  });
  expect(problems).toEqual([
    "list.yaml:2: tasks[0]: these depend on each other in a ring: a (list.yaml:2: tasks[0]) → b (list.yaml:3: tasks[1]) → c (list.yaml:4: tasks[2]) → a (list.yaml:2: tasks[0])",
  ]);

  const long = draftTasks(
    state,
    [{ place: "b.md:1", project: "x".repeat(100_000), objective: "y" }],
    {
      actor: "operator:kim",
      newId: () => "task-x-aaaaaa",
    },
  );
  expect(limitProblems(long.problems).join("").length).toBeLessThan(500);
  expect(readBacklog("b.md", "# Shop\n- [ ] x\n  - priority: high\n").problems).toEqual([
    "b.md:3: its priority is high, expected 1 (highest) to 5",
  ]);
});

test("a mistake in an entry's shape hides no other of its mistakes", () => {
  const yaml = [
    "tasks:",
    "  - { project: Nowhere, objective: '', priority: 9, accept: ['a::b', 7], after: [gone], colour: blue, agent: 3 }",
  ].join("\n");
  const read = readImportList("list.yaml", yaml);

  const all = [
    ...read.problems,
    ...draftTasks(createEmptyPortfolio(), read.tasks, {
      actor: "operator:kim",
      newId: (name) => `task-${name}`,
      invalidNames: read.invalidNames,
    }).problems,
  ];

  for (const words of [
    "accept[1]: found 7",
    "colour: found the unknown key",
    "agent: found 3",
    "no project Nowhere",
    "objective is empty",
    "priority is 9",
    "needs spaces around ::",
    "depends on gone",
  ]) {
    expect(
      all.filter((one) => one.includes(words)),
      words,
    ).toHaveLength(1);
  }

  expect(all).toHaveLength(8);
});

test("every ring of dependencies is told, each once", () => {
  const tasks = [
    ["a", "b"],
    ["b", "a"],
    ["c", "a"],
    ["d", "d"],
    ["e", "f"],
    ["f", "g"],
    ["g", "e"],
  ].map(([key = "", after = ""], at) => ({
    place: `list.yaml:${at + 1}`,
    key,
    project: "proj-a",
    objective: key,
    after: [after],
  }));

  const { problems } = draftTasks(createEmptyPortfolio(), tasks, {
    actor: "operator:kim",
    newId: (name) => `task-${name}`,
    invalidNames: new Set(["proj-a"]),
  });
  expect(problems).toEqual([
    "list.yaml:1: these depend on each other in a ring: a (list.yaml:1) → b (list.yaml:2) → a (list.yaml:1)",
    "list.yaml:4: these depend on each other in a ring: d (list.yaml:4) → d (list.yaml:4)",
    "list.yaml:5: these depend on each other in a ring: e (list.yaml:5) → f (list.yaml:6) → g (list.yaml:7) → e (list.yaml:5)",
  ]);
});

test("check boxes in code and in comments are no tasks, and a fence that never ends is told", () => {
  const text = [
    "# Shop",
    "- [ ] sell apples",
    "```",
    "- [ ] shown only",
    "  - colour: blue",
    "```",
    "<!-- - [ ] later",
    "- [ ] much later -->",
    "- [ ] sell pears <!-- soon -->",
  ];

  const { tasks, problems } = readBacklog("list.md", text.join("\n"));
  expect([tasks.map(({ objective, place }) => `${objective} ${place}`), problems]).toEqual([
    ["sell apples list.md:2", "sell pears list.md:9"],
    [],
  ]);

  expect(readBacklog("list.md", "# Shop\n~~~\n- [ ] a\n").problems).toEqual([
    expect.stringContaining("list.md:2: found a code fence that never ends"),
  ]);
});
