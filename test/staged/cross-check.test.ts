// The folders against the state file: ahead of it, behind it, contradicting it. The folders hold,
// and both values are journaled.

import { existsSync, symlinkSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, eventsOf } from "../support/autopilot.ts";
import { fingerprint } from "../support/fingerprint.ts";
import { git, scratch, write } from "../support/scratch-repository.ts";
import {
  codeBase,
  commit,
  documented,
  draft,
  goStaged,
  greenfield,
  plan,
  problem,
  rows,
  specified,
  stateOf,
  stateText,
  tasksOf,
} from "./project.ts";

const stateFile = (
  flow: string,
  step: number | string,
  name: string,
  more = "",
): Record<string, string> => ({
  "_docs/_autopilot_state.md": `# Autopilot State\n\n## Current Step\nflow: ${flow}\nstep: ${step}\nname: ${name}\nstatus: in_progress\nsub_step: 2 — Options\nretry_count: 0\n\n## Completed Steps\n\n| Step | Name | Completed | Key Outcome |\n|------|------|-----------|-------------|\n| 1 | Problem | 2026-01-01 | Written with the owner |\n\n## Key Decisions\n- Tech stack: Node\n${more}\n## Last Session\ndate: 2026-01-03\nended_at: Step ${step} ${name}\nreason: user paused\nnotes: go on tomorrow\n\n## Retry Log\n\n## Blockers\n- none\n`,
});
const detected = async (folder: string) =>
  (await autopilot(folder, ["flow", "detect", "--json"])).json;

describe.concurrent("the folders", () => {
  test("ahead of the state file: it says Plan and the plan is there, so the step after it is next and the file is corrected", async () => {
    const folder = scratch();
    commit(folder, { ...problem, ...draft, ...plan, ...stateFile("greenfield", 3, "Plan") });
    expect(await detected(folder)).toMatchObject({
      flow: "greenfield",
      step: "4",
      because: expect.stringMatching(/says greenfield step 3 Plan.*otherwise/) as string,
    });

    const { json, err } = await goStaged(folder, "greenfield", greenfield);
    expect(json).toMatchObject({ reason_code: "session_boundary" });
    expect(json.warnings.join("\n")).toMatch(
      /says step 3 Plan; the folders say step 4 UI Design \(.*FINAL_report\.md is there\), and they hold/,
    );

    expect(err).toContain("Last session: 2026-01-03"); // the summary comes first
    expect(eventsOf(folder, "document_differed")).toMatchObject([
      {
        path: "_docs/_autopilot_state.md",
        field: "Current Step",
        found: expect.stringMatching(/^greenfield step 3 Plan, in_progress/) as string,
        kept: "greenfield step 4 UI Design",
        because: expect.stringMatching(/FINAL_report\.md is there/) as string,
      },
    ]);

    const { completed, decisions, current } = stateOf(folder);
    expect(current).toMatchObject({ step: 6, status: "not_started" });
    expect(completed[0]).toMatchObject({ step: 1, key_outcome: "Written with the owner" }); // theirs is kept
    expect(completed.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5]);
    expect(decisions).toContain("Tech stack: Node");
    expect(eventsOf(folder, "turn_ended")).toHaveLength(1);
  });

  test("behind the state file: it says Implement, the problem was never written, so the project begins there", async () => {
    const folder = scratch();
    commit(folder, {
      ...draft,
      ...plan,
      ...tasksOf(rows),
      ...stateFile("greenfield", 6, "Implement"),
    });

    expect(await detected(folder)).toMatchObject({
      flow: "greenfield",
      step: "1",
      name: "Problem",
    });

    const { json } = await goStaged(folder, "greenfield", greenfield);
    expect(eventsOf(folder, "document_differed")).toMatchObject([
      {
        found: expect.stringMatching(/step 6 Implement/) as string,
        kept: "greenfield step 1 Problem",
        because: expect.stringMatching(/acceptance_criteria\.md is not there/) as string,
      },
    ]);

    expect(eventsOf(folder, "turn_ended")[0]).toMatchObject({ attempt: "1@1/do#1" });
    expect(json.state).toBe("paused");
  });

  test("contradicting it: it says greenfield, there is code and its documents and no problem, so it is existing-code", async () => {
    const folder = scratch({ files: codeBase });
    commit(folder, { ...documented, ...stateFile("greenfield", 3, "Plan") });
    expect(await detected(folder)).toMatchObject({
      flow: "existing-code",
      step: "2",
      name: "Test Spec",
    });

    const shown = await autopilot(folder, ["status", "--json"]);
    expect(shown.json["found"]).toMatchObject([
      { flow: "existing-code", standing: expect.stringContaining("step 2 Test Spec") as string },
    ]);
  });

  test("and a state file that cannot be read: the folders decide, and what it holds besides is kept", async () => {
    const folder = scratch();
    commit(folder, {
      ...problem,
      ...draft,
      "_docs/_autopilot_state.md":
        "# Autopilot State\n\n## Current Step\nflow: greenfield\nstep: two\n\n## Key Decisions\n- Never deploy on Fridays\n\n## Mine\nkeep this\n",
    });

    expect(await detected(folder)).toMatchObject({ flow: "greenfield", step: "2" });
    const { json } = await goStaged(folder, "greenfield", greenfield);
    expect(json.warnings.join("\n")).toMatch(
      /_autopilot_state\.md:5:1: error: found "two" as step/,
    );

    expect(stateOf(folder).decisions).toContain("Never deploy on Fridays");
    expect(stateText(folder)).toContain("## Mine\nkeep this");
  });

  test("count only with regular files in them that have content and are reached without a link", async () => {
    const folder = scratch();
    write(folder, { ...problem });
    expect(await detected(folder)).toMatchObject({ step: "2" });
    write(folder, { "_docs/00_problem/problem.md": "" });
    expect(await detected(folder)).toMatchObject({
      step: "1",
      because: expect.stringMatching(/problem\.md: 0 bytes/) as string,
    });

    rmSync(join(folder, "_docs/00_problem/problem.md"));
    mkdirSync(join(folder, "_docs/00_problem/problem.md"));
    expect(await detected(folder)).toMatchObject({
      step: "1",
      because: expect.stringMatching(/problem\.md: a folder/) as string,
    });

    rmSync(join(folder, "_docs/00_problem/problem.md"), { recursive: true });
    write(folder, { "elsewhere.md": "# Problem\n" });
    symlinkSync(join(folder, "elsewhere.md"), join(folder, "_docs/00_problem/problem.md"));
    expect(await detected(folder)).toMatchObject({
      step: "1",
      because: expect.stringMatching(/a symbolic link/) as string,
    });

    rmSync(join(folder, "_docs/00_problem/problem.md"));
    write(folder, { "_docs/00_problem/problem.md": "# Problem\n" });
    renameSync(join(folder, "_docs"), join(folder, "real"));
    symlinkSync(join(folder, "real"), join(folder, "_docs"));
    expect(await detected(folder)).toMatchObject({ step: "1" });
  });
});

describe.concurrent("which flow", () => {
  test("source and no documents is existing-code 1; source with 02_document and no problem goes on there; everything else is greenfield", async () => {
    const code = scratch({ files: codeBase });
    const before = fingerprint(code);
    expect(await detected(code)).toEqual(
      expect.objectContaining({ flow: "existing-code", step: "1", name: "Document" }) as object,
    );

    expect(fingerprint(code)).toBe(before); // nothing was written
    write(code, documented);
    expect(await detected(code)).toMatchObject({ flow: "existing-code", step: "2" });
    write(code, specified);
    expect(await detected(code)).toMatchObject({
      flow: "existing-code",
      step: "3",
      because: expect.stringMatching(/_dependencies_table\.md/) as string,
    });

    write(code, problem);
    expect(await detected(code)).toMatchObject({ flow: "greenfield", step: "2" });
    expect(await detected(scratch())).toMatchObject({
      flow: "greenfield",
      step: "1",
      because: expect.stringMatching(/no source/) as string,
    });
  });

  test("an optional step counts as passed where it is proved, recorded as skipped, or a later one is proved", async () => {
    const folder = scratch();
    write(folder, { ...problem, ...draft, ...plan });
    expect(await detected(folder)).toMatchObject({ step: "4" });
    write(folder, stateFile("greenfield", 5, "Decompose", "- UI Design: skipped, there is none\n"));
    expect(await detected(folder)).toMatchObject({
      step: "5",
      because: expect.stringMatching(/the folders agree/) as string,
    });

    rmSync(join(folder, "_docs/_autopilot_state.md"));
    write(folder, tasksOf(rows));
    expect(await detected(folder)).toMatchObject({ step: "6" });
  });

  test("the research decision is taken where it is recorded, and asked for where it is not", async () => {
    const folder = scratch();
    commit(folder, { ...problem, ...draft });
    expect(await detected(folder)).toMatchObject({
      step: "2",
      because: expect.stringMatching(/no decision/) as string,
    });

    const first = await goStaged(folder, "greenfield", greenfield);
    expect(first.json).toMatchObject({ reason_code: "human_block_open" });
    expect(eventsOf(folder, "turn_ended")).toEqual([]); // the draft that is there needs no first round
    await autopilot(folder, ["stop", "--json"]);
    const text = readFileSync(join(folder, "_docs/_autopilot_state.md"), "utf8");
    write(folder, {
      "_docs/_autopilot_state.md": text.replace(
        "## Key Decisions\n",
        "## Key Decisions\n- Research decision: proceed to planning\n",
      ),
    });

    expect(await detected(folder)).toMatchObject({ step: "3" });
  });

  test("an open run is asked first: what it made lies on its branch", async () => {
    const folder = scratch();
    write(folder, { "dirt.txt": "x\n" });
    git(folder, "add", "dirt.txt"); // so nothing lands
    await goStaged(folder, "greenfield", greenfield);
    expect(existsSync(join(folder, "_docs/00_problem"))).toBe(false);
    expect(await detected(folder)).toMatchObject({
      flow: "greenfield",
      step: "2",
      name: "Research",
      because: expect.stringMatching(/^run-.* is paused there$/) as string,
    });
  });

  test("--flow overrides, and that is a decision on record", async () => {
    const folder = scratch({ files: codeBase });
    await goStaged(folder, "greenfield", greenfield);
    expect(stateOf(folder).decisions[0]).toMatch(
      /^Flow: greenfield, chosen with --flow \(the folders say existing-code step 1/,
    );
  });

  test("documents that are in no commit, or that git ignores, are refused before a run would miss them", async () => {
    const loose = scratch();
    write(loose, problem);
    expect((await goStaged(loose, "greenfield", [])).json).toMatchObject({
      result: "FAIL",
      reason_code: "workspace_unusable",
      message: expect.stringContaining("_docs/00_problem/acceptance_criteria.md") as string,
    });

    const ignored = scratch({ files: { ".gitignore": "_docs/\n" } });
    expect((await goStaged(ignored, "greenfield", [])).json).toMatchObject({
      reason_code: "workspace_unusable",
      message: expect.stringContaining("ignores _docs/") as string,
    });

    // Not every document is ignored, and the one that is would be missed only after all the steps
    // before it were paid for.
    const partly = scratch({ files: { ".gitignore": "*_report.md\n" } });
    expect((await goStaged(partly, "greenfield", [])).json).toMatchObject({
      reason_code: "workspace_unusable",
      message: expect.stringContaining(
        "ignores _docs/02_document/FINAL_report.md (.gitignore:1: *_report.md)",
      ) as string,
      remediation: [expect.stringContaining("echo '!/_docs/**' >> .gitignore") as string],
    });

    expect((await goStaged(scratch(), "greenfield", [], ["--scope", "src/**"])).json).toMatchObject(
      {
        reason_code: "objective_schema_invalid",
      },
    );
  });
});
