import { expect, test } from "vitest";
import { parseTasks } from "./tasks-file.ts";

test("a list of tasks is read from YAML or JSON, with nothing but an id needed", () => {
  const tasks = [
    { id: "one", files: [], after: [] },
    { id: "2.b", files: ["src/a.ts"], after: ["one"], title: "Second", type: "manual" },
  ];
  expect(
    parseTasks(
      "tasks.yaml",
      '- id: one\n- { id: "2.b", files: [src/a.ts], after: [one], title: Second, type: manual }\n',
    ),
  ).toEqual({
    tasks,
  });

  expect(parseTasks("tasks.json", JSON.stringify(tasks))).toEqual({ tasks });
});

test.each([
  ["no list", "id: one\n", /tasks\.yaml:1/],
  ["an unknown word", "- id: one\n- { id: two, file: a }\n", /tasks\.yaml:2.*file/],
  ["an id that is a path", "- id: ../one\n", /task id/],
  ["two of one id", "- id: one\n- id: one\n", /two tasks bear the id one/],
  [
    "one after a stranger",
    "- { id: one, after: [two] }\n",
    /one comes after two, which is not there/,
  ],
  [
    "a ring",
    "- { id: a, after: [b] }\n- { id: b, after: [a] }\n- id: c\n",
    /wait for each other: a, b/,
  ],
])("%s is refused in words", (_what, text, why) => {
  expect(parseTasks("tasks.yaml", text)).toEqual({ problem: expect.stringMatching(why) as string });
});
