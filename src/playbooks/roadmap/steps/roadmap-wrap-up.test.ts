// The end of a roadmap's run: figures, trend and report, whatever is in their place, once or twice.

import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { afterEach, describe, expect, test } from "vitest";
import { roadmapStories } from "../../../../test/simulation/support/roadmap-stories.ts";
import { live, type Scenario } from "../../../../test/simulation/support/scenarios.ts";
import { seedMetrics, seedState } from "../../../contracts/roadmap.test-support.ts";
import {
  CompletionFile,
  MetricsFile,
  type RunMetrics,
  SelfAuditSummary,
  TrendSummary,
} from "../../../contracts/roadmap-reports.ts";
import { roadmapEventSchemas } from "../../../contracts/roadmap-events.ts";
import { buildRoadmapState } from "../views/roadmap-state.ts";
import type { Entry } from "../../../contracts/event.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput } from "../../../ports/functions.ts";
import { clearRooms, room, type Room } from "../files/roadmap-room.test-support.ts";
import { createWrapUpStep } from "./roadmap-wrap-up.ts";

afterEach(clearRooms);

const { tape } = live(roadmapStories["roadmap: everything at once"] as Scenario);
const { run } = tape;
const withOptions = (options: RunView["drafted"]["options"]): RunView => ({
  ...run,
  drafted: { ...run.drafted, options },
});
const perform = (here: Room, state: RunView = run, now = "2026-02-01T00:00:00.000Z") =>
  createWrapUpStep({
    paths: here.home,
    folder: here.folder,
    entries: () => tape.entries,
    readBlob: () => null,
    clock: { now: () => now },
  }).perform({ state } as FunctionInput<RunView, CursorView>);
const metricsIn = (here: Room): readonly RunMetrics[] =>
  v.parse(MetricsFile, JSON.parse(here.text(".autopilot/archive/metrics.json")));
const dataIn = (here: Room): CompletionFile =>
  v.parse(CompletionFile, JSON.parse(here.text(".autopilot/completion-report.json")));
const wholeIn = (here: Room): Extract<CompletionFile, { mode: "--complete" }> => {
  const data = dataIn(here);
  if (data.mode === null) throw new Error("it is no report of a whole roadmap");
  return data;
};

describe("the figures", () => {
  test("a run has one entry among those of earlier runs, and having done it twice leaves it once, with the newer figures", async () => {
    const here = room();
    here.write(".autopilot/archive/metrics.json", JSON.stringify(seedMetrics));
    await perform(here);
    await perform(here, run, "2026-02-02T00:00:00.000Z");
    const runs = metricsIn(here);
    expect(runs.map(({ run_id }) => run_id)).toEqual([
      ...seedMetrics.map(({ run_id }) => run_id),
      run.drafted.run_id,
    ]);

    expect(runs.at(-1)?.timestamp).toBe("2026-02-02T00:00:00.000Z");
  });

  test("they are those of the phases: attempted, succeeded, failed, by the judge's score", async () => {
    const here = room();
    await perform(here);
    expect(metricsIn(here)[0]).toMatchObject({
      phases_attempted: 5,
      phases_succeeded: 4,
      phases_failed: 1,
      success_rate: 0.8,
      total_debug_loops: expect.any(Number) as unknown,
    });
  });

  test("with a second run there is a trend, with the first there is none", async () => {
    const [first, second] = [room(), room()];
    await perform(first);
    second.write(".autopilot/archive/metrics.json", JSON.stringify(seedMetrics));
    await perform(second);
    expect(dataIn(first).trend_summary).toBeNull();
    expect(v.safeParse(TrendSummary, dataIn(second).trend_summary).issues).toBeUndefined();
    expect(second.text(".autopilot/completion-report.md")).toContain("Against the run before:");
  });

  const damages: readonly (readonly [string, string])[] = [
    ["torn", '[{"run_id": "run-2026'],
    ["a mapping", "{}"],
    ["full of zero bytes", "\0\0\0"],
  ];
  test.each(damages)(
    "a metrics.json that is %s is kept aside, and made up for from the archived states",
    async (_, text) => {
      const here = room();
      here.write(".autopilot/archive/metrics.json", text);
      here.write(`.autopilot/archive/${seedState._meta.run_id}.json`, JSON.stringify(seedState));
      await perform(here);
      expect(metricsIn(here).map(({ run_id }) => run_id)).toEqual([
        seedState._meta.run_id,
        run.drafted.run_id,
      ]);

      expect(existsSync(join(here.folder, "set-aside/.autopilot/archive/metrics.json"))).toBe(true);
    },
  );

  test("an entry that is none is left out, the others stay", async () => {
    const here = room();
    here.write(".autopilot/archive/metrics.json", JSON.stringify([...seedMetrics, { run_id: 3 }]));
    await perform(here);
    expect(metricsIn(here)).toHaveLength(seedMetrics.length + 1);
  });
});

describe("the report", () => {
  test("is written with every run, as a page and as data; the part about the whole roadmap only with --complete", async () => {
    const [whole, some] = [room(), room()];
    const facts = [await perform(whole), await perform(some, withOptions({}))].map(
      (result) => result.facts,
    );

    expect(wholeIn(whole).total_phases_in_roadmap).toBe(8);
    expect(dataIn(some).mode).toBeNull();
    expect(whole.text(".autopilot/completion-report.md")).toContain("## Dependency gaps");
    expect(some.text(".autopilot/completion-report.md")).not.toContain("## Dependency gaps");
    expect(facts[0]).toMatchObject({
      report_path: ".autopilot/completion-report.md",
      phases_skipped: 3,
    });

    expect(facts[1]).not.toHaveProperty("completion_percentage");
  });

  test("percentages count what earlier runs did, dependents of a failed phase are skipped with the reason and the phase", async () => {
    const here = room();
    await perform(here);
    const report = wholeIn(here);
    expect(report).toMatchObject({
      total_phases_in_roadmap: 8,
      completed_phases_total: 5,
      completion_percentage: 62.5,
    });

    expect(report.phases_skipped.map(({ phase_id, reason }) => [phase_id, reason])).toEqual([
      ["0", "already_completed"],
      ["4", "blocked_by_phase_3"],
      ["4.1", "blocked_by_phase_3"],
    ]);

    expect(report.dependency_gaps).toMatchObject([
      { failed_phase_id: "3", blocked_phases: [{ phase_id: "4" }, { phase_id: "4.1" }] },
    ]);
  });

  test("a phase that an earlier run completed is told with when", async () => {
    const here = room();
    const earlier = {
      ...seedState,
      phases: {
        phase_0: { ...seedState.phases["phase_6.1"], completed_at: "2026-01-09T10:00:00Z" },
      },
    };

    here.write(`.autopilot/archive/${seedState._meta.run_id}.json`, JSON.stringify(earlier));
    await perform(here);
    expect(wholeIn(here).phases_skipped[0]).toMatchObject({
      phase_id: "0",
      original_run_timestamp: "2026-01-09T10:00:00Z",
    });
  });

  test("says how the self-audit went", async () => {
    const here = room();
    await perform(here);
    expect(v.safeParse(SelfAuditSummary, dataIn(here).self_audit).issues).toBeUndefined();
    expect(dataIn(here).self_audit).toMatchObject({
      gaps_found: 1,
      gaps_fixed: 1,
      gaps_remaining: 0,
    });

    expect(dataIn(here).self_audit?.fix_commits).toHaveLength(1);
  });

  test("an audit that failed is no audit without gaps, and phases that do not hold together are no completed run", async () => {
    const failedIn = (phase: string, step: string, detail: string): RunView => {
      const cursor = {
        ...run.cursors[phase],
        last: { [step]: { kind: "failed", facts: {}, reason: "x", detail } },
      } as unknown as CursorView;

      const completed = run.phases.map((item) =>
        item.status === "failed" ? { ...item, status: "completed" as const } : item,
      );

      return { ...run, phases: completed, cursors: { ...run.cursors, [phase]: cursor } };
    };

    const [unaudited, broken] = [room(), room()];
    const judged = { verdict: "verified" as const, gaps: [] };
    const { facts } = await perform(unaudited, {
      ...failedIn("after.self_audit", "audit", "R-1 was not looked at; nor R-2"),
      judged,
    });
    expect(facts).toMatchObject({
      verdict: "verified_with_gaps",
      gaps: expect.stringMatching(
        /^The self-audit did not come to its end: R-1 was not looked at, nor R-2[^;]*$/,
      ) as string,
    });

    expect((await perform(room(), { ...run, judged })).facts).not.toHaveProperty("verdict"); // nothing was left open
    const reported = {
      code: "audit_failed",
      message: expect.stringContaining("R-1 was not looked at") as string,
    };

    expect(dataIn(unaudited)).toMatchObject({
      warnings: expect.arrayContaining([reported]) as unknown,
    });

    expect(unaudited.text(".autopilot/completion-report.md")).toMatch(
      /## Self-audit\n\nThe self-audit did not come to its end/,
    );

    await perform(broken, failedIn("after.integration", "check", "sum adds: failed"));
    const held = expect.objectContaining({ code: "integration_failed" }) as unknown;
    expect(dataIn(broken)).toMatchObject({
      status: "failed",
      warnings: expect.arrayContaining([held]) as unknown,
    });
  });

  test("its first sentence says that phases failed or were held up, and that phases do not hold together, never that all was proved", async () => {
    const judged = { verdict: "verified" as const, gaps: [] };
    const said = async (state: RunView): Promise<string> => {
      const here = room();
      await perform(here, state);
      return here.text(".autopilot/completion-report.md").split("\n")[2] ?? "";
    };
    const failed = await said({ ...run, judged });
    expect(failed).toContain(
      "The run is failed. Not everything asked for is done: 3 phases aren't completed (3, 4, 4.1).",
    );

    expect(failed).not.toContain("proved");
    const phases = run.phases.map((phase) =>
      phase.group === "phases" ? { ...phase, status: "completed" as const } : phase,
    );

    expect(await said({ ...run, judged, phases })).toContain(
      "The run is completed. Every required check was proved.",
    );

    const broken = {
      ...run.cursors["after.integration"],
      last: { check: { kind: "failed", facts: {}, reason: "x", detail: "sum" } },
    };

    const apart = await said({
      ...run,
      judged,
      phases,
      cursors: { ...run.cursors, "after.integration": broken as unknown as CursorView },
    });
    expect(apart).toContain(
      "The run is failed. A check shows that it isn't done: The phases do not hold together: sum",
    );
  });

  test("what it found makes the log's event of a whole roadmap", async () => {
    const { facts } = await perform(room());
    const reported = {
      event: "step_completed",
      attempt: "after.wrap_up@1/report#1",
      facts,
      actor: "system",
      reason_code: "ok",
    };

    const entry = {
      ...reported,
      seq: 999,
      epoch: 0,
      ts: "2026-02-01T00:00:00.000Z",
      active_ms: 0,
      prev: "",
      crc: "",
    } as unknown as Entry;
    const log = buildRoadmapState(run, [...tape.entries, entry]).event_log;
    const report = log.find(({ event }) => event === "batch_completion_report");
    expect(v.safeParse(roadmapEventSchemas.batch_completion_report, report).issues).toBeUndefined();
    expect(report?.details).toMatchObject({
      phases_attempted: 5,
      phases_skipped: 3,
      completion_percentage: 62.5,
    });
  });

  test("one that cannot be written is told and fails nothing", async () => {
    const here = room();
    mkdirSync(join(here.root, ".autopilot/completion-report.md"), { recursive: true });
    const result = await perform(here);
    expect(result).toMatchObject({ ok: true });
    expect(result.detail).toContain("completion-report.md is a folder");
    expect(result.facts).not.toHaveProperty("report_path");
    expect(here.has(".autopilot/archive/metrics.json")).toBe(true);
  });

  test("nothing is written through a link", async () => {
    const here = room();
    here.write("mine.md", "mine");
    symlinkSync("../mine.md", join(here.root, ".autopilot/completion-report.md"));
    await perform(here);
    expect(here.text("mine.md")).toBe("mine");
  });
});
