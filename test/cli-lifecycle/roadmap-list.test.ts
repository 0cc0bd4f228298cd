// `autopilot roadmap list`: what was read from a roadmap, and every problem with its line. Nothing
// runs and nothing changes.

import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, scripted } from "../support/autopilot.ts";
import { fingerprint } from "../support/fingerprint.ts";
import { scratch, write } from "../support/scratch-repository.ts";

const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, "../fixtures/roadmap", name), "utf8");
type Problem = {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly rule: string;
  readonly severity: string;
};
const problemsOf = (json: { readonly [more: string]: unknown }): readonly string[] =>
  (json["problems"] as readonly Problem[]).map(({ file, line, rule }) => `${file}:${line} ${rule}`);

describe.concurrent("roadmap list", () => {
  test("gives every phase in execution order with all its fields, and leaves everything as it was", async () => {
    const folder = scratch({
      files: { ".planning/ROADMAP.md": fixture("traps.md"), "ROADMAP.md": "not this one\n" },
    });
    const before = fingerprint(folder, { without: [".git/index"] });
    const { code, json } = await autopilot(folder, ["roadmap", "list", "--json"]);
    expect(code).toBe(1); // two of its phases are not written yet
    expect([json.result, json.reason_code, json["roadmap"]]).toEqual([
      "FAIL",
      "roadmap_invalid",
      ".planning/ROADMAP.md",
    ]);

    expect(json.remediation.join("\n")).toContain("autopilot roadmap 2.9,2.10,3,4,7");
    const phases = json["phases"] as readonly Readonly<Record<string, unknown>>[];
    expect(phases.map(({ id }) => id)).toEqual([
      "1",
      "2",
      "2.9",
      "2.10",
      "3",
      "5",
      "4",
      "6",
      "7",
      "8",
    ]);

    for (const phase of phases) {
      expect(Object.keys(phase).toSorted()).toEqual(
        "checked depends_on goal id inserted line name requirements stub success_criteria".split(
          " ",
        ),
      );
    }

    expect(phases.find(({ id }) => id === "2.9")).toEqual({
      id: "2.9",
      name: "Shed old readings",
      goal: "Nothing older than thirty days is kept",
      depends_on: ["2"],
      requirements: [],
      success_criteria: [],
      checked: false,
      inserted: true,
      stub: false,
      line: 81,
    });

    expect(problemsOf(json)).toEqual([
      ".planning/ROADMAP.md:16 name_differs",
      ".planning/ROADMAP.md:17 missing_section",
      ".planning/ROADMAP.md:77 no_criteria",
      ".planning/ROADMAP.md:81 no_criteria",
      ".planning/ROADMAP.md:85 no_criteria",
      ".planning/ROADMAP.md:94 stub_goal",
      ".planning/ROADMAP.md:97 missing_checklist_line",
      ".planning/ROADMAP.md:97 no_criteria",
    ]);

    expect(fingerprint(folder, { without: [".git/index"] })).toBe(before);
  });

  test("for people it is a table and the problems below it, from any folder of the project", async () => {
    const folder = scratch({
      files: { "ROADMAP.md": fixture("traps.md"), "src/deep/a.txt": "a\n" },
    });

    const { code, out } = await autopilot(folder, ["-C", "src/deep", "roadmap", "list"]);
    expect(code).toBe(1);
    expect(out.split("\n").slice(0, 10)).toEqual([
      "10 phases in ROADMAP.md, in execution order",
      "       phase  name                          after      criteria with a command",
      "  [x]  1      Read the gauge                -          -",
      "  [x]  2      Keep readings                 1          -",
      "  [ ]  2.9    Shed old readings (inserted)  2          -",
      "  [ ]  2.10   Compact the store (inserted)  2, 2.9     -",
      "  [ ]  3      Draw the curve                1, 2, 2.9  -",
      "  [x]  5      潮位を学習する                2, 1       -",
      "  [ ]  4      Predict                       5, 2       6 of 7",
      "  [ ]  6      Sound the alarm (stub)        4          -",
    ]);

    expect(out).toMatch(/Problems\n {2}! ROADMAP\.md:16:3: warning: .*\(name_differs\)/);
  });

  test("an invalid one exits with 1 and roadmap_invalid, and tells every problem at once", async () => {
    const folder = scratch({ files: { "ROADMAP.md": fixture("broken.md") } });
    const { code, json } = await autopilot(folder, ["roadmap", "list", "--json"]);
    expect(code).toBe(1);
    expect([json.result, json.reason_code]).toEqual(["FAIL", "roadmap_invalid"]);
    expect(json.remediation).not.toEqual([]);
    expect(json["problems"]).toHaveLength(21);
    expect(JSON.stringify(json["problems"])).toContain("1 -> 3 -> 2 -> 1");
    const people = await autopilot(folder, ["roadmap", "list"]);
    expect(people.code).toBe(1);
    expect(people.out).toContain(
      "✗ ROADMAP.md:15:17: error: phase_2.depends_on: found a dependency of phase 2 on 42",
    );
  });

  test("the config and the plans of open phases are looked at too; a phase with a plan is not blamed for its stub", async () => {
    const folder = scratch({
      files: {
        ".planning/ROADMAP.md": fixture("traps.md"),
        ".planning/config.json": fixture("config-broken.json"),
        ".planning/phases/06-sound-the-alarm/PLAN.md": fixture("PLAN-broken.md"),
        ".planning/phases/1/PLAN.md": "a plan of a phase that is done is history\n",
      },
    });

    const { code, json } = await autopilot(folder, ["roadmap", "list", "--json"]);
    expect(code).toBe(1);
    const problems = problemsOf(json);
    expect(problems).toContain(".planning/config.json:5 wrong_type");
    expect(problems).toContain(".planning/phases/06-sound-the-alarm/PLAN.md:19 duplicate_task");
    expect(problems).toContain(".planning/phases/06-sound-the-alarm/PLAN.md:19 missing_files");
    expect(problems).toContain(
      ".planning/phases/06-sound-the-alarm/PLAN.md:13 criterion_without_command",
    );

    expect(problems.filter((problem) => /stub_goal|phases\/1\//.test(problem))).toEqual([]);
  });

  test.each([
    ["no roadmap at all", {}, "missing_docs"],
    ["an empty one", { "ROADMAP.md": "" }, "roadmap_invalid"],
    ["one of ten megabytes", { "ROADMAP.md": "x".repeat(10_000_000) }, "roadmap_invalid"],
    ["one that is no text", { "ROADMAP.md": "### Phase 1: A\n\0" }, "roadmap_invalid"],
  ])("%s is refused in words, with a line", async (_what, files, reason) => {
    const folder = scratch({ files: { "README.md": "# r\n", ...files } });
    const { code, json } = await autopilot(folder, ["roadmap", "list", "--json"]);
    expect([code, json.result, json.reason_code]).toEqual([1, "FAIL", reason]);

    if (reason === "roadmap_invalid") {
      expect((json["problems"] as readonly Problem[])[0]?.line).toBeGreaterThan(0);
    } else {
      expect(json.message).toContain(".planning/ROADMAP.md");
    }
  });

  test("fails where roadmap all would be refused, with the same reason, and passes where it would begin", async () => {
    const phase = (id: string, goal: string, more = "") =>
      `- [ ] **Phase ${id}: P${id}**\n\n### Phase ${id}: P${id}\n**Goal**: ${goal}\n${more}\n`;
    const criteria = "**Success Criteria**:\n1. it is there :: test -f a.txt\n";
    const plan =
      '# Plan\n\n<task id="1-01" type="auto" complexity="simple">\n### Task 1-01: Write it\n**Files:** a.txt\n**Action:** Write it.\n**Verify:**\n- it is there :: test -f a.txt\n**Done:** It is there.\n</task>\n';

    const cases: readonly (readonly [
      string,
      Readonly<Record<string, string>>,
      Readonly<Record<string, string>>,
    ])[] = [
      ["draft", { "ROADMAP.md": phase("1", "g", criteria) }, {}],
      ["draft", { "ROADMAP.md": phase("1", "g") }, {}], // only warned of
      ["roadmap_invalid", { "ROADMAP.md": phase("1", "TBD", criteria) }, {}],
      ["roadmap_invalid", { "ROADMAP.md": phase("1", "g", criteria.replace(" :: ", "::")) }, {}],
      [
        "workspace_unusable",
        { "ROADMAP.md": phase("1", "g", criteria), ".gitignore": ".planning/\n" },
        {},
      ],
      [
        "workspace_unusable",
        { "ROADMAP.md": phase("1", "g", criteria) },
        { ".planning/phases/1/PLAN.md": plan },
      ],
    ];
    for (const [reason, files, loose] of cases) {
      const folder = scratch({ files });
      write(folder, loose);
      const list = await autopilot(folder, ["roadmap", "list", "--json"]);
      const run = await autopilot(folder, ["roadmap", "all", "--json", ...scripted(folder, [])]);
      const isRefused = reason !== "draft";
      expect([reason, list.code, isRefused ? list.json.reason_code : "ok"]).toEqual([
        reason,
        isRefused ? 1 : 0,
        isRefused ? run.json.reason_code : "ok",
      ]);

      expect([reason, run.json.state]).toEqual([reason, isRefused ? null : "draft"]);
    }
  });

  test("a link is not followed", async () => {
    const folder = scratch({ files: { "real.md": fixture("traps.md") } });
    symlinkSync("real.md", join(folder, "ROADMAP.md"));
    const { code, json } = await autopilot(folder, ["roadmap", "list", "--json"]);
    expect(code).toBe(1);
    expect(problemsOf(json)).toEqual(["ROADMAP.md:1 not_a_file"]);
  });

  test("what state.json knows better than a box is said beside it", async () => {
    const folder = scratch({ files: { "ROADMAP.md": fixture("traps.md") } });
    write(folder, {
      ".autopilot/state.json": JSON.stringify({
        phases: { phase_3: { status: "completed" }, phase_1: { status: "failed" } },
      }),
    });

    const { json, out: _out } = await autopilot(folder, ["roadmap", "list", "--json"]);
    expect(json["completed"]).toEqual(["2", "3", "5"]);
    const page = (await autopilot(folder, ["roadmap", "list"])).out;
    expect(page).toMatch(/\[x\] +3 +Draw the curve \(completed, not ticked in the file\)/);
    expect(page).toMatch(/\[x\] +1 +Read the gauge \(not completed\)/);
  });
});

test("validate knows a roadmap, a plan and the planning config by what is in them", async () => {
  const folder = scratch();
  write(folder, {
    "odd.txt": fixture("traps.md"),
    "odder.txt": fixture("PLAN.md"),
    "bad.md": fixture("broken.md"),
    "bad-plan.md": fixture("PLAN-broken.md"),
    ".planning/config.json": fixture("config-broken.json"),
  });

  const { code, json } = await autopilot(folder, [
    "validate",
    "odd.txt",
    "odder.txt",
    "bad.md",
    "bad-plan.md",
    ".planning/config.json",
    "--json",
  ]);
  expect(code).toBe(1);
  type File = {
    readonly format: string;
    readonly valid: boolean;
    readonly violations: readonly { readonly line: number; readonly rule: string }[];
  };

  const files = json["files"] as readonly File[];
  expect(files.map(({ format, valid }) => `${format} ${valid}`)).toEqual([
    "roadmap true",
    "plan true",
    "roadmap false",
    "plan false",
    "planning config false",
  ]);

  expect(files[2]?.violations).toContainEqual(
    expect.objectContaining({ line: 15, rule: "unknown_dependency" }),
  );

  expect(files[3]?.violations).toContainEqual(
    expect.objectContaining({ line: 19, rule: "duplicate_task" }),
  );
});
