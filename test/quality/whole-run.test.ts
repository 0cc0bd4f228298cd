// A whole quality run through the command line: six phases, what the runner keeps of it, and who
// can read that.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, scripted } from "../support/autopilot.ts";
import { once } from "../support/rewind.ts";
import { git, write } from "../support/scratch-repository.ts";
import {
  audit,
  inShort,
  left,
  log,
  logText,
  named,
  progress,
  shop,
  sources,
  turn,
  turns,
} from "./audit.ts";
import { faultsIn, faultsInProgress } from "./seed-reader.ts";

const started = ["_index", "run_start"];
/**
 * One run for all that is asked of its files: passes of which one has no file, and an agent that
 * writes what is the runner's.
 */
async function playOdd() {
  const folder = shop();
  const theirs = { write: { path: "quality/PROGRESS.md", text: "all done\n" } };
  const logged = { write: { path: "quality/run_state.jsonl", text: '{"event":"run_end"}\n' } };
  const passes = [
    { pass: "A", output_artifact: "quality/spec_audits/2026-05-15-auditor-1.md" },
    { pass: "B", output_artifact: "quality/spec_audits/never.md" },
  ];

  const { code, json } = await audit(
    folder,
    turns({
      "2": turn("2", left["2"], { do: [theirs, logged] }),
      "4": turn("4", left["4"], { returns: { passes } }),
    }),
  );
  expect(json).toMatchObject({ result: "WARN", state: "completed" });
  return { folder, code, json };
}
const oddRun = once(playOdd);
const everyPhase = [1, 2, 3, 4, 5, 6].flatMap((phase) => [`start ${phase}`, `end ${phase}`]);

describe.concurrent("a quality run", () => {
  test("walks its six phases, each landed when it is proved, and leaves a log that a reader of the published format finds sound", async () => {
    const { folder, code, json } = await oddRun();
    expect({ code, ...json }).toMatchObject({
      code: 0,
      result: "WARN",
      reason_code: "completion_with_gaps",
      state: "completed",
    });

    expect(inShort(log(folder))).toEqual([...started, ...everyPhase, "run_end success"]);
    expect(faultsIn(logText(folder), 2)).toEqual([]);
    const validated = await autopilot(folder, ["validate", "quality/run_state.jsonl", "--json"]);
    expect({ code: validated.code, files: validated.json["files"] }).toMatchObject({
      code: 0,
      files: [{ valid: true }],
    });

    expect(eventsOf(folder, "turn_ended")).toHaveLength(6);
    // Landed phase by phase, nothing but quality/ changed, and what the runner keeps is on no
    // branch.
    const landed = git(folder, "ls-tree", "-r", "--name-only", "HEAD").split("\n");

    for (const path of Object.values(left).flatMap((files) => Object.keys(files))) {
      expect(landed).toContain(`quality/${path}`);
    }

    for (const path of ["run_state.jsonl", "PROGRESS.md", "results/quality-gate.log"]) {
      expect(landed).not.toContain(`quality/${path}`);
      expect(existsSync(join(folder, "quality", path))).toBe(true);
    }

    expect(
      git(
        folder,
        "diff",
        "--name-only",
        "HEAD",
        git(folder, "rev-list", "--max-parents=0", "HEAD"),
        "--",
        ":!quality",
      ),
    ).toBe("");

    for (const [path, text] of Object.entries(sources)) {
      expect(readFileSync(join(folder, path), "utf8")).toBe(text);
    }
  });

  test("logs what is on disk: counts from the files, findings that the document names, passes whose file is there", async () => {
    const { folder } = await oddRun();
    const lines = log(folder);
    const counts: Record<string, unknown> = Object.fromEntries(
      named(lines, "phase_end").map((line) => [String(line["phase"]), line["key_counts"]]),
    );
    expect(counts).toEqual({
      1: { findings_total: 3, patterns_walked: 7 },
      2: { findings_promoted: 2, findings_dropped: 1 },
      3: { bugs_identified: 2, bug_writeups: 0 },
      4: { req_count: 2, uc_count: 1, passes_complete: 1 },
      5: { gate_checks_total: 5, gate_failures: 0 },
      6: { bugs_md_count: 2, gate_verdict: "partial" },
    });

    expect(named(lines, "finding_logged").map((line) => line["finding_id"])).toEqual([
      "F-1",
      "F-2",
      "BUG-001",
      "BUG-002",
    ]); // F-99 is nowhere

    expect(named(lines, "pass_ended").map((line) => line["pass"])).toEqual(["A"]);
    const written = new Map(
      named(lines, "artifact_written").map((line) => [String(line["relative_path"]), line]),
    );

    const exploration = readFileSync(join(folder, "quality/EXPLORATION.md"), "utf8");
    expect(written.get("quality/EXPLORATION.md")).toMatchObject({
      byte_size: Buffer.byteLength(exploration),
      line_count: 130,
    });

    for (const path of written.keys()) expect(existsSync(join(folder, path)), path).toBe(true);
    expect(written.get("quality/results/quality-gate.log")?.["byte_size"]).toBe(
      Buffer.byteLength(readFileSync(join(folder, "quality/results/quality-gate.log"))),
    );

    expect(named(lines, "run_end")).toMatchObject([
      { status: "success", total_findings: 4, final_verdict: "partial" },
    ]);
  });

  test("keeps PROGRESS.md in its four sections with the terminal gate behind them; what an agent writes there is thrown away", async () => {
    const { folder } = await oddRun();
    const page = progress(folder);
    expect(faultsInProgress(page)).toEqual([]);
    expect(page).not.toContain("all done");
    expect(page).toMatch(/- \[x\] Phase 1 — Explore \(\d:\d\d, 3 findings, patterns 1-7 walked\)/);
    expect(page).toMatch(/- \[x\] Phase 2 — Generate \(\d:\d\d, 10 artifacts produced\)/);
    expect(page).toMatch(/- \[x\] Phase 3 — Code Review \(\d:\d\d, 2 bugs identified\)/);
    expect(page).toMatch(/- \[x\] Phase 4 — Spec Audit \(\d:\d\d, 3 auditors, 1 triage\)/);
    expect(page).toMatch(/- quality\/REQUIREMENTS\.md \(\d+ bytes\)/);
    expect(page).toContain("## Terminal Gate Verification");
    expect(page.indexOf("## Terminal Gate Verification")).toBeGreaterThan(
      page.indexOf("## Artifacts produced"),
    );

    const gate = readFileSync(join(folder, "quality/results/quality-gate.log"), "utf8");
    expect(gate).toMatch(/^PASS phase_1: /m);
    expect(gate).toContain("RESULT: GATE PASSED");
  });

  test("a project without tests decides nothing, and the gate and the verdict say so", async () => {
    const { folder, json } = await oddRun();
    expect(json).toMatchObject({ state: "completed", verdict: "verified_with_gaps" });
    expect(
      named(log(folder), "gate_check").find((line) => line["gate_name"] === "regression_tests"),
    ).toMatchObject({
      verdict: "warn",
      reason:
        "nobody has seen the regression tests of 2 bugs fail: no test command of this project is known",
    });
  });

  test("takes its flags into the log, and has a default for each", async () => {
    const [plain, flagged] = [shop(), shop({ "lib/a.js": "export {};\n" })];
    const stop = { ...turn("1", {}), do: [{ exit: 3 }], repeat: 0 };
    await Promise.all([
      audit(plain, [stop]),
      audit(
        flagged,
        [stop],
        [
          "--benchmark",
          "chi-1.5.1",
          "--lever-state",
          "post-pattern7",
          "--playbook-version",
          "1.5.6",
          "--target-path",
          "lib",
        ],
      ),
    ]);

    expect(log(plain).slice(0, 2)).toMatchObject([
      { event: "_index", schema_version: "1.5.6", benchmark: "repo", lever_state: "baseline" },
      { event: "run_start", runner: "scripted", playbook_version: "1", target_path: "." },
    ]);

    expect(log(flagged).slice(0, 2)).toMatchObject([
      { benchmark: "chi-1.5.1", lever_state: "post-pattern7" },
      { playbook_version: "1.5.6", target_path: "lib" },
    ]);

    expect(log(plain)[0]?.["started_at"]).toBe(log(plain)[0]?.ts);
  });

  test("refuses what it cannot run, and writes nothing: a runner it does not know, one that is not here, a target that is not there, files that git would not keep", async () => {
    const folder = shop();
    const bad = await autopilot(folder, ["quality", "--runner", "emacs", "--json"]);
    expect({ code: bad.code, reason: bad.json.reason_code }).toEqual({ code: 2, reason: "usage" });
    const absent = await autopilot(folder, ["quality", "--runner", "cursor", "--yes", "--json"]);
    expect({ code: absent.code, reason: absent.json.reason_code }).toEqual({
      code: 1,
      reason: "agent_unavailable",
    });

    const nowhere = await autopilot(folder, [
      "quality",
      "--target-path",
      "no/such",
      "--json",
      ...scripted(folder, turns()),
    ]);

    expect({ code: nowhere.code, field: nowhere.json["field"] }).toEqual({
      code: 2,
      field: "target-path",
    });

    for (const [rules, path, way] of [
      [
        "node_modules/\n*.log\n",
        "quality/results/BUG-001.red.log (.gitignore:2: *.log)",
        "echo '!/quality/**' >> .gitignore",
      ],
      [
        "quality/\n",
        "quality/EXPLORATION.md (.gitignore:1: quality/)",
        "take quality/ out of .gitignore",
      ],
    ] as const) {
      write(folder, { ".gitignore": rules });
      const ignored = await audit(folder);
      expect({ code: ignored.code, reason: ignored.json.reason_code }).toEqual({
        code: 1,
        reason: "workspace_unusable",
      });

      expect([ignored.json.message, ignored.json.remediation.join()]).toEqual([
        expect.stringContaining(path),
        expect.stringContaining(way),
      ]);
    }

    expect(existsSync(join(folder, "quality"))).toBe(false);
    expect(existsSync(join(folder, ".autopilot/runs"))).toBe(false);
  });

  test("where a person must agree first, it asks before any phase begins; told to stop, the log ends aborted", async () => {
    const folder = shop();
    const { json } = await audit(folder, turns(), ["--approval-policy", "required-before-execute"]);
    expect(json).toMatchObject({
      result: "WARN",
      reason_code: "approval_required",
      state: "paused",
    });

    await autopilot(folder, ["answer", "B", "--json"]);
    expect((await autopilot(folder, ["resume", "--json"])).json).toMatchObject({
      state: "stopped",
    });

    expect(inShort(log(folder))).toEqual([...started, "run_end aborted"]);
    expect(eventsOf(folder, "turn_ended")).toEqual([]);
  });
});
