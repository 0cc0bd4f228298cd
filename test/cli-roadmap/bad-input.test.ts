// What is wrong with a roadmap and all that belongs to it is reported at once, with lines, before
// anything runs and before anything is written.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, scripted } from "../support/autopilot.ts";
import { git, scratch, write } from "../support/scratch-repository.ts";
import { aFew } from "../support/sampled.ts";
import { planOf, problemsOf, projectOf, roadmapOf } from "./roadmaps.ts";

const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, "../fixtures/roadmap", name), "utf8");
const one = { id: "1" };
const roadmap = (text: string) => ({ "README.md": "# r\n", ".planning/ROADMAP.md": text });

/** Refused with 1, nothing drafted, no file of ours but what every command may make. */
async function refused(files: Readonly<Record<string, string>>, args: readonly string[] = ["all"]) {
  const folder = scratch({ files });
  const ended = await autopilot(folder, [
    "roadmap",
    ...args,
    "--yes",
    "--json",
    "--isolation",
    "clone",
    ...scripted(folder, []),
  ]);

  expect(existsSync(join(folder, ".autopilot/runs"))).toBe(false);
  return ended;
}

describe.concurrent("a roadmap that cannot be run", () => {
  aFew(4).each([
    [
      "a cycle",
      roadmapOf([
        { id: "1", after: "Phase 2" },
        { id: "2", after: "Phase 1" },
      ]),
      "dependency_cycle",
    ],
    ["an unknown dependency", roadmapOf([{ id: "1", after: "Phase 9" }]), "unknown_dependency"],
    ["an id that is there twice", `${roadmapOf([one])}${roadmapOf([one])}`, "duplicate_id"],
    ["no phase at all", "# Roadmap\n\nSome day.\n", "no_phases"],
    ["nothing", "", "no_phases"],
    ["ten megabytes", `${roadmapOf([one])}${"x".repeat(10_000_000)}`, "too_large"],
    ["a goal that is a stub", roadmapOf([{ id: "1", goal: "[To be planned]" }]), "stub_goal"],
    ["no section for a phase", "- [ ] **Phase 1: Alone**\n", "missing_section"],
  ])("%s is refused with its line, and nothing is drafted", async (_what, text, rule) => {
    const ended = await refused(roadmap(text));
    expect([ended.code, ended.json.result, ended.json.reason_code]).toEqual([
      1,
      "FAIL",
      "roadmap_invalid",
    ]);

    expect(problemsOf(ended).some((problem) => problem.endsWith(` ${rule}`))).toBe(true);
    expect(ended.json.remediation).not.toEqual([]);
  });

  test("the ids of a cycle are named in order", async () => {
    const text = roadmapOf([
      { id: "1", after: "Phase 3" },
      { id: "2", after: "Phase 1" },
      { id: "3", after: "Phase 2" },
    ]);
    expect(JSON.stringify((await refused(roadmap(text))).json)).toContain("1 -> 3 -> 2 -> 1");
  });

  test("everything that is wrong with all of it is told at once: roadmap, config, plans", async () => {
    const ended = await refused({
      ".planning/ROADMAP.md": fixture("broken.md"),
      ".planning/config.json": fixture("config-broken.json"),
      ".planning/phases/1/PLAN.md": fixture("PLAN-broken.md"),
    });
    const problems = problemsOf(ended);
    expect(new Set(problems.map((problem) => problem.split(":")[0]))).toEqual(
      new Set([".planning/ROADMAP.md", ".planning/config.json", ".planning/phases/1/PLAN.md"]),
    );

    expect(problems.length).toBeGreaterThan(10);
  });

  test("a plan that is there is held to its rules: two tasks of one id, a task without files, a criterion without a command", async () => {
    const files = {
      ...projectOf([{ id: "6" }]),
      ".planning/phases/6/PLAN.md": fixture("PLAN-broken.md"),
    };
    const problems = problemsOf(await refused(files));

    for (const rule of ["19 duplicate_task", "19 missing_files", "13 criterion_without_command"]) {
      expect(problems).toContain(`.planning/phases/6/PLAN.md:${rule}`);
    }
  });

  test("a config with wrong types is refused by its line", async () => {
    const config =
      '{\n  "project": { "spec_paths": "REQUIREMENTS.md" },\n  "circuit_breaker_config": { "cooldown_minutes": "five" }\n}\n';
    const ended = await refused({ ...projectOf([one]), ".planning/config.json": config });
    expect(problemsOf(ended)).toEqual([
      ".planning/config.json:2 wrong_type",
      ".planning/config.json:3 wrong_type",
    ]);
  });

  test("people see the same problems, and what to do", async () => {
    const folder = scratch({ files: roadmap(roadmapOf([{ id: "1", after: "Phase 9" }])) });
    const { code, out, err } = await autopilot(folder, ["roadmap", "all"]);
    expect(code).toBe(1);
    expect(out).toMatch(
      /✗ \.planning\/ROADMAP\.md:\d+:\d+: error: phase_1\.depends_on: found a dependency of phase 1 on 9/,
    );

    expect(err).toContain("Nothing was started.");
  });
});

describe.concurrent("what is no fault of what was asked for", () => {
  const wild = [one, { id: "2", goal: "TBD" }, { id: "3", after: "Phase 1" }];

  test("a stub among phases that nobody asked for stops nothing; asked for, it is named with the way round it", async () => {
    const folder = scratch({ files: roadmap(roadmapOf(wild)) });
    const fine = await autopilot(folder, [
      "roadmap",
      "1",
      "--json",
      "--isolation",
      "clone",
      ...scripted(folder, []),
    ]);
    expect(fine.json.reason_code).toBe("dry_run_required_before_execute");
    const asked = await refused(roadmap(roadmapOf(wild)));
    expect(problemsOf(asked)).toHaveLength(1);
    expect(asked.json.remediation.join("\n")).toContain("autopilot roadmap 1,3");
  });

  test("a stub with a plan is fine: its plan says what it is about", async () => {
    const folder = scratch({
      files: {
        ...roadmap(roadmapOf([{ id: "1", goal: "TBD" }])),
        ".planning/phases/1/PLAN.md": planOf("1"),
      },
    });

    const { json } = await autopilot(folder, [
      "roadmap",
      "1",
      "--json",
      "--isolation",
      "clone",
      ...scripted(folder, []),
    ]);
    expect(json.reason_code).toBe("dry_run_required_before_execute");
  });

  test("a broken plan of a phase that nobody asked for is told and stops nothing", async () => {
    const folder = scratch({
      files: {
        ...projectOf([one, { id: "2" }]),
        ".planning/phases/2/PLAN.md": "no task in here\n",
      },
    });

    const { json } = await autopilot(folder, [
      "roadmap",
      "1",
      "--json",
      "--isolation",
      "clone",
      ...scripted(folder, []),
    ]);
    expect(json.reason_code).toBe("dry_run_required_before_execute");
    expect(json.warnings.join("\n")).toContain("autopilot roadmap list");
  });

  aFew(2).each([
    ["CRLF", (text: string) => text.replaceAll("\n", "\r\n")],
    ["a byte order mark", (text: string) => `\ufeff${text}`],
    ["tabs", (text: string) => text.replaceAll("\n1. ", "\n\t1.\t")],
    ["a non-Latin name", (text: string) => text.replaceAll("Write 1", "潮位を学習する")],
  ])("%s is no fault", async (_what, changed) => {
    const folder = scratch({ files: roadmap(changed(roadmapOf([one]))) });
    const { json } = await autopilot(folder, [
      "roadmap",
      "--json",
      "--isolation",
      "clone",
      ...scripted(folder, []),
    ]);
    expect(json.reason_code).toBe("dry_run_required_before_execute");
    const preview = json["preview"] as { readonly wanted: readonly string[] };
    expect(preview.wanted[0]).toContain("1 of 1 criteria have a command");
  });
});

describe.concurrent("which phases", () => {
  aFew(2).each([["xyz"], ["3-"], ["1..2"], ["1-2-3"], ["nexT"]])(
    "%s is usage, and nothing is looked for",
    async (word) => {
      const { code, err } = await autopilot(scratch({ files: roadmap(roadmapOf([one])) }), [
        "roadmap",
        word,
      ]);
      expect(code).toBe(2);
      expect(err).toContain("Usage: autopilot roadmap");
    },
  );

  test("--complete takes no phases; a bad number of phases between checkpoints is usage", async () => {
    const folder = scratch({ files: roadmap(roadmapOf([one])) });
    expect((await autopilot(folder, ["roadmap", "1", "--complete"])).code).toBe(2);
    expect((await autopilot(folder, ["roadmap", "--checkpoint-every", "0"])).code).toBe(2);
    expect((await autopilot(folder, ["roadmap", "--checkpoint-every", "few"])).code).toBe(2);
  });

  test("an id that is not there is refused with those that are; a range backwards with the right way round", async () => {
    const ended = await refused(roadmap(roadmapOf([one, { id: "2" }])), ["7"]);
    expect([ended.code, ended.json.reason_code, ended.json["field"]]).toEqual([
      2,
      "objective_schema_invalid",
      "phases",
    ]);

    expect(ended.json.message).toContain("1, 2");
    expect((await refused(roadmap(roadmapOf([one, { id: "2" }])), ["2-1"])).json.message).toContain(
      "1-2",
    );
  });

  aFew(3).each([
    ["2-3", ["2", "2.1", "3"]],
    ["3,1", ["1", "3"]],
    ["2.1", ["2.1"]],
    ["next", ["1"]],
    ["all", ["1", "2", "2.1", "3"]],
    ["1, 3", ["1", "3"]],
  ])("%s means %j, in the order they are run", async (word, ids) => {
    const folder = scratch({
      files: roadmap(roadmapOf([one, { id: "2" }, { id: "2.1" }, { id: "3" }])),
    });

    const { json } = await autopilot(folder, [
      "roadmap",
      ...word.split(" "),
      "--json",
      "--isolation",
      "clone",
      ...scripted(folder, []),
    ]);

    const { wanted } = json["preview"] as { readonly wanted: readonly string[] };
    expect(wanted.map((line) => line.split(/\s+/)[0])).toEqual(ids);
  });

  test("where everything is completed there is nothing to do, and that is no failure", async () => {
    const ended = await refused(roadmap(roadmapOf([{ id: "1", checked: true }])), []);
    expect([ended.code, ended.json.result, ended.json.reason_code]).toEqual([
      0,
      "PASS",
      "roadmap_completed",
    ]);
  });

  test("a plan that is in no commit, and documents that git ignores, are refused before a run would miss them", async () => {
    const files = roadmap(roadmapOf([{ id: "1", goal: "TBD" }]));
    const folder = scratch({ files });
    write(folder, { ".planning/phases/1/PLAN.md": planOf("1") });

    const asked = () =>
      autopilot(folder, [
        "roadmap",
        "1",
        "--json",
        "--isolation",
        "clone",
        ...scripted(folder, []),
      ]);
    const loose = await asked();
    expect([loose.code, loose.json.reason_code]).toEqual([1, "workspace_unusable"]);
    expect(loose.json.message).toContain("Not committed yet: .planning/phases/1/PLAN.md");
    git(folder, "add", "-A");
    git(folder, "commit", "-q", "-m", "plan");
    expect((await asked()).json.state).toBe("draft");

    const ignored = await refused({
      ...files,
      ".gitignore": "/.planning/\n",
      ".planning/ROADMAP.md": roadmapOf([one]),
    });
    expect(ignored.json).toMatchObject({
      reason_code: "workspace_unusable",
      message: expect.stringContaining(
        ".planning/phases/1/RESEARCH.md (.gitignore:1: /.planning/)",
      ) as string,
    });
  });

  test("ids are what is remembered: a completed one under another name is told, and work that is on another branch is not built upon", async () => {
    const folder = scratch({ files: roadmap(roadmapOf([one, { id: "2", after: "Phase 1" }])) });
    const run = "run-2026-01-01-000000";

    const state = {
      _meta: { run_id: run },
      phases: { phase_1: { status: "completed" } },
      event_log: [{ event: "phase_completed", phase: "1", details: { name: "Something else" } }],
    };

    write(folder, { [`.autopilot/archive/${run}.json`]: JSON.stringify(state) });
    const asked = (id: string) =>
      autopilot(folder, ["roadmap", id, "--json", "--isolation", "clone", ...scripted(folder, [])]);
    const done = await asked("1");
    expect(done.json.reason_code).toBe("roadmap_completed");
    expect(done.json.warnings.join("\n")).toContain(
      'phase 1 was completed as "Something else" and is called',
    );

    expect((await asked("2")).json.warnings.join("\n")).toContain("phase_renamed");
    git(folder, "checkout", "-q", "-b", `autopilot/${run}`);
    git(
      folder,
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      `x\n\nAutopilot-Run: ${run}\nAutopilot-Attempt: 1@1/debug#1`,
    );

    git(folder, "rm", "-q", "README.md");
    git(folder, "commit", "-q", "-m", "more");
    git(folder, "checkout", "-q", "main");
    const refusal = await asked("2");
    expect([refusal.code, refusal.json.reason_code, refusal.json.remediation[0]]).toEqual([
      1,
      "dependencies_unmet",
      `git merge autopilot/${run}`,
    ]);

    expect(refusal.json.message).toContain(`phase 1 (on autopilot/${run})`);
  });

  test("a dependency that is neither completed nor asked for is told beforehand", async () => {
    const folder = scratch({ files: roadmap(roadmapOf([one, { id: "2", after: "Phase 1" }])) });
    const { json } = await autopilot(folder, [
      "roadmap",
      "2",
      "--json",
      "--isolation",
      "clone",
      ...scripted(folder, []),
    ]);
    expect(json).toMatchObject({
      reason_code: "dependencies_unmet",
      remediation: expect.arrayContaining(["autopilot roadmap 1,2"]) as string[],
    });

    expect(json.message).toContain(
      "Phase 2 depends on 1, which is neither completed nor asked for",
    );
  });
});
