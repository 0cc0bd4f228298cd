// docs/ROADMAP-FORMAT.md says what the reader does: its example is read without a remark, and each
// mistake it names is found.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { lintPlan } from "./plan-lint.ts";
import { parsePlan } from "./plan.ts";
import { parseRoadmap } from "./roadmap.ts";

const page = readFileSync(new URL("../../../../docs/ROADMAP-FORMAT.md", import.meta.url), "utf8");
const [, example = ""] = /```markdown\n([\s\S]*?)```/.exec(page) ?? [];
const mistakes = [...page.matchAll(/^\| `([^`]+)` \| `([a-z_]+)` \|$/gm)].map(
  ([, line = "", rule = ""]) => [line, rule] as const,
);

describe("the page on the format", () => {
  test("has an example that is read as it says, without a remark", () => {
    const { phases, findings } = parseRoadmap("ROADMAP.md", example);
    expect(findings).toEqual([]);
    expect(
      phases.map(({ id, checked, inserted, depends_on }) => ({
        id,
        checked,
        inserted,
        depends_on,
      })),
    ).toEqual([
      { id: "1", checked: true, inserted: false, depends_on: [] },
      { id: "2", checked: false, inserted: false, depends_on: ["1"] },
      { id: "2.1", checked: false, inserted: true, depends_on: ["2"] },
      { id: "3", checked: false, inserted: false, depends_on: ["2", "2.1"] },
    ]);

    expect(
      phases[1]?.success_criteria.map(({ command, expect: expected }) => [command, expected]),
    ).toEqual([
      ["node test/sum.js", null],
      ["node list.js | grep -c customer", { kind: "exactly", count: 3 }],
      ["node list.js --total", { kind: "text", text: "119.00" }],
    ]);
  });

  test("has a plan that is read without a remark", () => {
    const [, plan = ""] = /```text\n(# Plan[\s\S]*?)```/.exec(page) ?? [];
    const { plan: read, findings } = parsePlan("PLAN.md", plan);
    expect([findings, lintPlan("PLAN.md", read, { requirements: [] })]).toEqual([[], []]);
    expect(read.tasks).toHaveLength(1);
  });

  test("names mistakes", () => expect(mistakes.length).toBeGreaterThan(5));
  test.each(mistakes)("%s is found as %s, an error", (line, rule) => {
    const needs = line.startsWith("**Depends") ? line : "**Depends on**: Nothing";
    const criterion = /^\d/.test(line) ? line : "1. it is there :: test -f a.txt";
    const more = line === needs || line === criterion ? "" : `${line}\n`;
    const text = `- [ ] **Phase 1: A**\n\n### Phase 1: A\n**Goal**: g\n${needs}\n**Success Criteria**:\n${criterion}\n\n${more}`;
    expect(parseRoadmap("ROADMAP.md", text).findings).toContainEqual(
      expect.objectContaining({ rule, severity: "error" }),
    );
  });
});

describe("a label that is not bold", () => {
  const read = (...lines: readonly string[]) =>
    parseRoadmap("ROADMAP.md", ["- [ ] **Phase 1: A**", "", "### Phase 1: A", ...lines].join("\n"))
      .phases[0];

  test.each([
    "Success Criteria",
    "Success Criteria:",
    "#### Success Criteria",
    "#### Success criteria (what must hold):",
    "**Success Criteria**:",
  ])("%s counts", (label) => {
    const phase = read(
      "**Goal**: g",
      "",
      label,
      "",
      "1. it adds :: npm test",
      "2. it stays :: npm run lint",
    );
    expect(phase?.success_criteria.map(({ command }) => command)).toEqual([
      "npm test",
      "npm run lint",
    ]);
  });

  test("no dependency is dropped because it is not bold", () => {
    const { findings } = parseRoadmap(
      "ROADMAP.md",
      "### Phase 1: A\nGoal: g\nDepends on: Phase 9\n",
    );
    expect(findings.map(({ rule }) => rule)).toContain("unknown_dependency");
  });

  test("beside a bold one of the same name it is free text", () => {
    const phase = read(
      "**Goal**: the first",
      "",
      "Goal: a word about goals",
      "**Success Criteria**:",
      "1. it adds :: npm test",
    );
    expect(phase?.goal).toBe("the first");
    expect(phase?.success_criteria).toHaveLength(1);
  });

  test("a word that only begins like one is free text", () => {
    const phase = read(
      "**Goal**: g",
      "Requirements are in another file.",
      "Goals: many",
      "**Success Criteria**:",
      "1. it adds :: npm test",
    );
    expect(phase?.requirements).toEqual([]);
  });
});
