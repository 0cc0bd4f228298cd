import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import * as fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { Plan } from "../../../contracts/roadmap.ts";
import { lintPlan, prosePhrases } from "./plan-lint.ts";
import { planWaves } from "./plan-waves.ts";
import { parsePlan } from "./plan.ts";

const fixture = (name: string): string =>
  readFileSync(resolve(import.meta.dirname, "../../../../test/fixtures/roadmap", name), "utf8");
const read = (text: string) => parsePlan("PLAN.md", text);
const lint = (text: string, requirements: readonly string[] = []) =>
  lintPlan("PLAN.md", read(text).plan, { requirements });
const task = (
  attributes: string,
  body = "**Files:** a.ts\n**Action:** do\n**Verify:** `npm test`\n**Done:** yes",
): string => `<task ${attributes}>\n${body}\n</task>\n`;
const ofAll = (text: string): readonly string[] =>
  [...read(text).findings, ...lint(text)].map(({ line, rule }) => `${line} ${rule}`);
const whole = fixture("PLAN.md");

describe("reading a plan", () => {
  test("tasks are read whatever the order, quoting and line breaks of their attributes, with bold fields or child elements", () => {
    const { plan, findings } = read(whole);
    expect(findings).toEqual([]);
    expect(v.is(Plan, plan)).toBe(true);
    expect(
      plan.tasks.map(({ id, title, type, complexity, wave, after, files, line }) => [
        id,
        title,
        type,
        complexity,
        wave,
        after,
        files,
        line,
      ]),
    ).toEqual([
      ["04-01", "Fit the curve", "auto", "medium", 1, [], ["src/fit.ts", "src/model.ts"], 20],
      ["04-02", "Print the table", "auto", "simple", 1, [], ["src/print.ts", "src/model.ts"], 46],
      ["04-03", "04-03", "checkpoint:human-verify", "simple", 2, ["04-02"], [], 61],
      ["04-10", "04-10", "auto", "complex", 2, [], ["src/**"], 71],
    ]);
  });

  test("an action keeps its code, its lists and labels of its own; tags and fields in code are none", () => {
    const [first, second] = read(whole).plan.tasks;
    expect(first?.action).toContain('// <task id="66" type="auto"> inside code is none');
    expect(first?.action).toContain("2. Solve:");
    expect(first?.action).toMatch(/does not end the action\.$/);
    expect(second?.action).toBe("Print the forecast. A **Done:** in here is not the field.");
    expect(second?.done).toBe("24 lines come out.");
  });

  test.each([
    ["a line each", "<files>a.ts</files>\n<action>do\nmore</action>\n<verify>`npm test`</verify>"],
    ["one line", "<files>a.ts</files> <action>do\nmore</action><verify>`npm test`</verify>"],
    [
      "behind the title",
      "<name>T</name> <files>a.ts</files><action>do\nmore</action> <verify>`npm test`</verify>",
    ],
  ])("elements are read from %s", (_, body) => {
    const { plan, findings } = read(task('id="a" type="auto" complexity="simple"', body));
    expect(findings).toEqual([]);
    expect(plan.tasks[0]).toMatchObject({
      files: ["a.ts"],
      action: "do\nmore",
      verify: [{ command: "npm test" }],
    });
  });

  test("an element may hold its own end tag, and one that comes twice is told", () => {
    const { plan } = read(task('id="a"', "<verify>`grep '</verify>' a.ts`</verify>"));
    expect(plan.tasks[0]?.verify).toMatchObject([{ command: "grep '</verify>' a.ts" }]);
    expect(ofAll(task('id="a"', "<done>a</done> <done>b</done>"))).toContain("2 duplicate_field");
  });

  test("verify holds criteria with their commands and lines; a command alone in backticks is one", () => {
    const verify = read(whole).plan.tasks.map((item) =>
      item.verify.map(({ text, command, line }) => [text, command, line]),
    );
    expect(verify).toEqual([
      [
        ["The model is written", "npm run fit && test -s model.json", 39],
        ["Four constituents", "jq length model.json", 40],
      ],
      [["node predict.mjs | grep -q Tide", "node predict.mjs | grep -q Tide", 54]],
      [["the curves lie on each other", null, 67]],
      [["nothing is left", "grep -rl oldName src", 74]],
    ]);
  });

  test("requirements come from the front matter and the table, must-haves from the front matter, criteria from their section", () => {
    const { plan } = read(whole);
    expect(plan.requirements).toEqual([
      { id: "FORE-01", tasks: ["04-01", "04-02"], line: 3 },
      { id: "FORE-02", tasks: ["04-03"], line: 3 },
    ]);

    expect(plan.must_haves).toEqual(["Tomorrow's tide is known"]);
    expect(plan.criteria).toEqual([
      {
        text: "A forecast is printed",
        command: "node predict.mjs --days 1",
        expect: null,
        line: 80,
      },
    ]);
  });

  test("a good plan has nothing against it", () => {
    expect(lint(whole, ["FORE-01", "FORE-02"])).toEqual([]);
  });

  test.each([
    ["CRLF", (text: string) => text.replaceAll("\n", "\r\n")],
    ["a byte order mark", (text: string) => `\ufeff${text}`],
  ])("%s changes nothing", (_what, change) => {
    expect(JSON.stringify(read(change(whole)))).toBe(JSON.stringify(read(whole)));
  });

  test("attributes in any order and quoting are the same task", () => {
    const attributes = ["id", "type", "complexity", "depends_on"];
    const values: Readonly<Record<string, string>> = {
      id: "1-1",
      type: "checkpoint:human-verify",
      complexity: "simple",
      depends_on: "1-0",
    };

    const order = fc.shuffledSubarray(attributes, { minLength: 4 });
    const quotes = fc.array(fc.constantFrom('"', "'", ""), { minLength: 4, maxLength: 4 });
    const gaps = fc.constantFrom(" ", "  ", "\t", "\n  ");
    fc.assert(
      fc.property(order, quotes, gaps, (names, marks, gap) => {
        const written = names
          .map((name, n) => `${name}=${marks[n] ?? ""}${values[name] ?? ""}${marks[n] ?? ""}`)
          .join(gap);
        const [found] = read(task(written)).plan.tasks;
        expect([found?.id, found?.type, found?.complexity, found?.after]).toEqual([
          "1-1",
          "checkpoint:human-verify",
          "simple",
          ["1-0"],
        ]);
      }),
    );
  });
});

describe("what is wrong is told all at once", () => {
  test("every fault of a broken plan, by line", () => {
    expect(ofAll(fixture("PLAN-broken.md"))).toEqual([
      "19 task_type",
      "19 task_complexity",
      "24 task_complexity",
      "25 file_path",
      "30 unclosed_task",
      "5 unknown_task",
      "6 requirement_without_task",
      "12 prose_criterion",
      "13 criterion_without_command",
      "14 trivial_command",
      "15 trivial_command",
      "19 duplicate_task",
      "19 missing_files",
      "19 missing_done",
      "24 missing_files",
      "24 missing_action",
      "24 task_cycle",
      "30 unknown_task",
      "33 trivial_command",
    ]);
  });

  test("a requirement of the phase that the plan does not name has no task", () => {
    expect(lint(whole, ["FORE-09"]).map(({ message }) => message)).toEqual([
      expect.stringContaining("FORE-09") as string,
    ]);
  });

  test("a task may say itself which requirement it fulfils", () => {
    const said = [
      task('id="a" type="auto" complexity="simple" requirements="R-1"'),
      task(
        'id="b" type="auto" complexity="simple"',
        "**Requirements:** R-2\n**Files:** b.ts\n**Action:** do\n**Verify:** `npm test`\n**Done:** yes",
      ),
    ];
    expect(lint(said.join(""), ["R-1", "R-2"])).toEqual([]);
  });

  test.each(prosePhrases)("%j alone is no check, with a command it may stand", (phrase) => {
    const of = (verify: string) =>
      lint(
        task(
          'id="a" type="auto" complexity="simple"',
          `**Files:** a\n**Action:** do\n**Verify:**\n- It ${phrase}${verify}\n**Done:** yes`,
        ),
      ).map(({ rule }) => rule);
    expect(of("")).toEqual(["prose_criterion"]);
    expect(of(" :: npm test")).toEqual([]);
  });

  test.each([
    ["no task", "# Plan\n", "no_tasks"],
    ["tasks in a fence", `\`\`\`\n${task('id="a"')}\`\`\`\n`, "no_tasks"],
    ["a task in a comment", `<!--\n${task('id="a"')}-->\n`, "no_tasks"],
    ["a task without an id", task('type="auto"'), "task_id"],
    ["an id that is a path", task('id="../a" type="auto"'), "task_id"],
    ["an attribute twice", task('id="a" id="b" type="auto"'), "duplicate_attribute"],
    ["a tag that is never closed", '<task id="a" type="auto"\n', "task_tag"],
    ["an end without a beginning", `</task>\n${task('id="a" type="auto"')}`, "task_tag"],
    [
      "a task inside a task",
      `<task id="a" type="auto">\n${task('id="b" type="auto"')}`,
      "unclosed_task",
    ],
    [
      "an element that is never closed",
      task('id="a" type="auto"', "<files>a.ts"),
      "unclosed_element",
    ],
    ["a field twice", task('id="a" type="auto"', "**Done:** a\n**Done:** b"), "duplicate_field"],
    ["front matter that is no YAML", `---\na: [\n---\n${task('id="a" type="auto"')}`, "syntax"],
    [
      "front matter that is no mapping",
      `---\n- a\n---\n${task('id="a" type="auto"')}`,
      "wrong_type",
    ],
    [
      "a must-have that YAML takes for a mapping",
      `---\nmust_haves:\n  - a: b\n---\n${task('id="a" type="auto"')}`,
      "wrong_type",
    ],
    [
      "must-haves that are no list",
      `---\nmust_haves: { truths: 5 }\n---\n${task('id="a" type="auto"')}`,
      "wrong_type",
    ],
    [
      "too many files",
      task(
        'id="a" type="auto"',
        `**Files:** ${Array.from({ length: 501 }, (_, n) => `${n}.ts`).join(", ")}`,
      ),
      "too_many",
    ],
    [
      "too many requirements",
      task(
        'id="a" type="auto"',
        `**Requirements:** ${Array.from({ length: 201 }, (_, n) => `R-${n}`).join(", ")}`,
      ),
      "too_many",
    ],
    [
      "front matter of a wrong type",
      `---\nrequirements: 5\n---\n${task('id="a" type="auto"')}`,
      "wrong_type",
    ],
    [
      "an earlier wave after a later one",
      `## Wave 1\n${task('id="a" type="auto" after="b"')}## Wave 2\n${task('id="b" type="auto"')}`,
      "wave_order",
    ],
  ])("%s", (_what, text, rule) => {
    expect(ofAll(text).map((found) => found.split(" ")[1])).toContain(rule);
  });

  test("findings of the front matter bear the file's own line", () => {
    expect(
      read(
        `---\na: 1\nrequirements: 5\n---\n${task('id="a" type="auto" complexity="simple"')}`,
      ).findings.map(({ line, file }) => [line, file]),
    ).toEqual([[3, "PLAN.md"]]);
  });
});

describe("waves", () => {
  const one = (
    id: string,
    files: string,
    more: Partial<Parameters<typeof planWaves>[0][number]> = {},
  ) => ({
    id,
    files: files.split(" "),
    wave: null,
    after: [],
    complexity: "simple" as const,
    type: "auto" as const,
    ...more,
  });

  test("tasks that share no file go together, small ones first; those that share one go to sub-waves", () => {
    expect(
      planWaves([one("3", "c", { complexity: "medium" }), one("1", "a"), one("2", "a b")]),
    ).toEqual([["1", "3"], ["2"]]);
  });

  test("a folder and a pattern share with all that lies in them", () => {
    expect(
      planWaves([
        one("1", "src/a.ts"),
        one("2", "src/"),
        one("3", "src/deep/**/*.ts"),
        one("4", "srcs/a.ts"),
      ]),
    ).toEqual([["1", "3", "4"], ["2"]]);

    expect(planWaves([one("1", "."), one("2", "a")])).toEqual([["1"], ["2"]]);
  });

  test("a complex task and a person's checkpoint stand alone", () => {
    expect(
      planWaves([
        one("1", "a"),
        one("2", "b", { complexity: "complex" }),
        one("3", "c"),
        one("4", "d", { type: "checkpoint:human-verify" }),
      ]),
    ).toEqual([["1", "3"], ["2"], ["4"]]);
  });

  test("the plan's own waves and what a task comes after are kept", () => {
    expect(
      planWaves([
        one("1", "a", { wave: 2 }),
        one("2", "b", { wave: 1 }),
        one("3", "c", { wave: 1, after: ["2"] }),
        one("4", "d", { wave: 2 }),
      ]),
    ).toEqual([["2"], ["3"], ["1", "4"]]);
  });

  test("the fixture's waves", () => {
    expect(planWaves(read(whole).plan.tasks)).toEqual([["04-02"], ["04-01"], ["04-10"], ["04-03"]]);
  });

  test("whatever the tasks: each once, none beside one of its files, none before what it comes after", () => {
    const any = fc.array(
      fc.record({
        files: fc.uniqueArray(fc.constantFrom("a", "b", "c/d", "c/", "e"), {
          minLength: 1,
          maxLength: 3,
        }),
        after: fc.array(fc.nat(12), { maxLength: 2 }),
        complexity: fc.constantFrom("simple" as const, "medium" as const, "complex" as const),
      }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(any, (drawn) => {
        const tasks = drawn.map(({ files, after, complexity }, n) =>
          one(String(n), files.join(" "), {
            complexity,
            after: after.filter((on) => on < n).map(String),
          }),
        );
        const waves = planWaves(tasks);
        const at = new Map(waves.flatMap((ids, n) => ids.map((id) => [id, n] as const)));
        expect(at.size).toBe(tasks.length);

        for (const { id, after, files } of tasks) {
          for (const on of after) expect(at.get(on)).toBeLessThan(at.get(id) ?? -1);
          const beside = tasks.filter(
            (other) => other.id !== id && at.get(other.id) === at.get(id),
          );
          for (const other of beside) {
            expect(
              other.files.filter(
                (file) =>
                  files.includes(file) ||
                  files.some((mine) => mine.endsWith("/") && file.startsWith(mine)),
              ),
            ).toEqual([]);
          }
        }
      }),
    );
  });
});
