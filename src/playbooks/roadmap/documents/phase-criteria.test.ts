import { expect, test } from "vitest";
import type { CheckedCriterion, Plan, PlanTask } from "../../../contracts/roadmap.ts";
import { buildChecks, mergePhaseCriteria, reportMissingCommands } from "./phase-criteria.ts";

const criterion = (text: string, command: string | null = null, line = 1): CheckedCriterion => ({
  text,
  command,
  expect: null,
  line,
});
const task = (id: string, verify: CheckedCriterion[], more: Partial<PlanTask> = {}): PlanTask => ({
  id,
  title: id,
  type: "auto",
  complexity: "simple",
  wave: null,
  after: [],
  files: [`src/${id}.ts`],
  action: "do it",
  verify,
  done: "it is done",
  requirements: [],
  line: 1,
  ...more,
});
const planned = (criteria: CheckedCriterion[], tasks: PlanTask[] = []) => ({
  path: "PLAN.md",
  plan: { requirements: [], must_haves: [], criteria, tasks } satisfies Plan,
});
const phase = (...success_criteria: CheckedCriterion[]) => ({ id: "3", success_criteria });

const reported = (criteria: ReturnType<typeof mergePhaseCriteria>) =>
  criteria.map(({ id, command, commandAuthor }) => [id, command, commandAuthor]);

test("without a plan the roadmap's criteria are all there is, with or without a command", () => {
  expect(
    reported(
      mergePhaseCriteria(phase(criterion("a", "test -f a"), criterion("b")), "ROADMAP.md", null),
    ),
  ).toEqual([
    ["criterion:3.1", "test -f a", "roadmap"],
    ["criterion:3.2", null, "roadmap"],
  ]);
});

test("the user's command stays where a plan has another one for the same criterion, in its list and in its tasks", () => {
  const found = planned(
    [criterion("A works.", "echo planner")],
    [task("03-01", [criterion("a works", "echo task")])],
  );
  expect(
    reported(mergePhaseCriteria(phase(criterion("a works", "npm run a")), "ROADMAP.md", found)),
  ).toEqual([["criterion:3.1", "npm run a", "roadmap"]]);
});

test("a plan gives a command to a criterion that has none: by its words, or by its place where the lists are as long", () => {
  const found = planned([criterion("something", "one"), criterion("second thing", "two")]);
  expect(
    reported(
      mergePhaseCriteria(
        phase(criterion("first thing"), criterion("Second thing")),
        "ROADMAP.md",
        found,
      ),
    ),
  ).toEqual([
    ["criterion:3.1", "one", "plan"],
    ["criterion:3.2", "two", "plan"],
  ]);
});

test("what no command decides is told against the plan", () => {
  const criteria = mergePhaseCriteria(
    phase(criterion("first thing", null, 12), criterion("b", "test b")),
    "ROADMAP.md",
    planned([]),
  );
  expect(reportMissingCommands(criteria, "PLAN.md")).toEqual([
    expect.objectContaining({
      file: "PLAN.md",
      rule: "criterion_without_command",
      message: expect.stringContaining("ROADMAP.md:12") as string,
    }),
  ]);
});

test("what every task must show counts too, one command once; a person's tasks show nothing to a machine", () => {
  const found = planned(
    [],
    [
      task("03-01", [criterion("a", "npm test"), criterion("b", "test -f b")]),
      task("03-02", [criterion("c", "npm test"), criterion("d", "test -f d")]),
      task("03-03", [criterion("looks good", null)], { type: "checkpoint:human-verify" }),
    ],
  );
  const criteria = mergePhaseCriteria(phase(), "ROADMAP.md", found);
  expect(reported(criteria)).toEqual([
    ["criterion:3.03-01.1", "npm test", "plan"],
    ["criterion:3.03-01.2", "test -f b", "plan"],
    ["criterion:3.03-02.2", "test -f d", "plan"],
  ]);

  expect(buildChecks(criteria)[1]).toEqual({
    id: "criterion:3.03-01.2",
    kind: "criterion",
    title: "b",
    command: "test -f b",
    source: "PLAN.md:1",
  });
});

test("a command of a planner's is an extra where the roadmap asks for something else and gives a command", () => {
  const found = planned(
    [],
    [task("03-01", [criterion("it is exported", "grep -q sum src/index.js")])],
  );
  const extras = (...asked: CheckedCriterion[]): readonly (readonly [string, boolean])[] =>
    buildChecks(mergePhaseCriteria(phase(...asked), "ROADMAP.md", found)).map(
      ({ command, extra }) => [command, extra === true],
    );
  expect(extras(criterion("it adds", "npm test"))).toEqual([
    ["npm test", false],
    ["grep -q sum src/index.js", true],
  ]);

  expect(extras(criterion("It is exported."))).toEqual([["grep -q sum src/index.js", false]]);
  expect(extras()).toEqual([["grep -q sum src/index.js", false]]);
});
