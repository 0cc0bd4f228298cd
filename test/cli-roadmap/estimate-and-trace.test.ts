// What a roadmap will probably cost, before anything runs; and the traces that are here, read as
// they are.

import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot } from "../support/autopilot.ts";
import { fingerprint } from "../support/fingerprint.ts";
import { misfits } from "../support/json-schema.ts";
import { scratch, write } from "../support/scratch-repository.ts";
import { planOf, projectOf, roadmapOf } from "./roadmaps.ts";

type Range = { readonly p50: number; readonly p90: number };
type Row = {
  readonly id: string;
  readonly tokens: Range;
  readonly minutes: Range | null;
  readonly basis: string;
  readonly warning: string | null;
  readonly planned: boolean;
};
const rowsOf = (json: { readonly [more: string]: unknown }): readonly Row[] =>
  json["phases"] as readonly Row[];

describe.concurrent("estimate", () => {
  test("goes by the plan where there is one, else by the kind of phase; nothing is written", async () => {
    const folder = scratch({
      files: {
        ".planning/ROADMAP.md": roadmapOf([{ id: "1" }, { id: "2" }, { id: "3", checked: true }]),
        ".planning/phases/1/PLAN.md": planOf("1"),
      },
    });
    const before = fingerprint(folder, { without: [".git/index"] });
    const { code, json } = await autopilot(folder, ["estimate", "--json"]);
    expect([code, json.result, json.warnings]).toEqual([0, "PASS", []]);
    expect(
      rowsOf(json).map(({ id, planned, tokens }) => [id, planned, tokens.p50, tokens.p90]),
    ).toEqual([
      ["1", true, 65_000, 78_000],
      ["2", false, 150_000, 180_000],
    ]);

    expect(rowsOf(json)[0]?.basis).toContain("cost constants");
    expect(fingerprint(folder, { without: [".git/index"] })).toBe(before);

    for (const [name, words] of [
      ["estimate", ["estimate"]],
      ["roadmap-list", ["roadmap", "list"]],
    ] as const) {
      const reported = { ...(await autopilot(folder, [...words, "--json"])).json };
      const { schema } = (await autopilot(folder, ["schema", name, "--json"])).json as unknown as {
        readonly schema: Record<string, unknown>;
      };
      expect(misfits(reported, schema)).toEqual([]);
    }

    const page = (await autopilot(folder, ["estimate", "2"])).out;
    expect(page).toMatch(/2 +Write 2 \(no plan yet\) +150,000 +180,000/);
    expect(page).toContain("Caps: 500,000 tokens a phase, 5,000,000 a run. Nothing has been run.");
  });

  test("a phase that comes near its cap is warned of, and the constants and caps are tunable", async () => {
    const folder = scratch({ files: projectOf([{ id: "1" }]) });
    write(join(dirname(folder), "home/.config/autopilot"), {
      "config.yaml": "limits:\n  cost_cap_tokens_per_phase: 90000\n  task_tokens_simple: 20000\n",
    });

    const { json } = await autopilot(folder, ["estimate", "1", "--json"]);
    expect(rowsOf(json)[0]?.tokens.p90).toBe(84_000);
    expect(json.warnings).toEqual(["Phase 1 estimated at 84000 tokens (93% of budget cap)."]);
  });

  test("what earlier phases used goes before the constants, once there are three", async () => {
    const folder = scratch({ files: { ".planning/ROADMAP.md": roadmapOf([{ id: "4" }]) } });
    const phase = (tokens: number) => ({
      phase_type: "protocol",
      status: "completed",
      started_at: "2026-02-09T14:00:00Z",
      completed_at: "2026-02-09T14:10:00Z",
      tokens_used: tokens,
    });

    const state = {
      _meta: {
        version: "1.0",
        run_id: "run-2026-02-09-140000",
        started_at: "2026-02-09T14:00:00Z",
        status: "completed",
      },
      phases: { phase_1: phase(10_000), phase_2: phase(20_000), phase_3: phase(30_000) },
    };

    write(folder, { ".autopilot/archive/run-2026-02-09-140000.json": JSON.stringify(state) });
    const { json } = await autopilot(folder, ["estimate", "--json"]);
    expect(rowsOf(json)[0]).toMatchObject({
      tokens: { p50: 20_000, p90: 60_928 },
      minutes: { p50: 10, p90: 10 },
      basis: "3 earlier protocol phases",
    });
  });

  test.each([
    [
      "a cycle",
      roadmapOf([
        { id: "1", after: "Phase 2" },
        { id: "2", after: "Phase 1" },
      ]),
      [],
      1,
      "roadmap_invalid",
    ],
    ["a stub", roadmapOf([{ id: "1", goal: "TBD" }]), [], 0, "ok"],
    ["everything done", roadmapOf([{ id: "1", checked: true }]), [], 0, "roadmap_completed"],
    ["no such phase", roadmapOf([{ id: "1" }]), ["9"], 2, "usage"],
  ])("with %s", async (_what, text, args, exit, reason) => {
    const folder = scratch({ files: { "ROADMAP.md": text } });
    const { code, json } = await autopilot(folder, ["estimate", ...args, "--json"]);
    expect([code, json.reason_code]).toEqual([exit, reason]);
  });

  test("without a roadmap it says what it looked for", async () =>
    expect((await autopilot(scratch(), ["estimate", "--json"])).json.reason_code).toBe(
      "missing_docs",
    ));
});

describe.concurrent("trace", () => {
  const span = (phase: string, more: object = {}) => ({
    timestamp: "2026-02-09T14:32:15Z",
    phase_id: phase,
    step: "execute",
    action: "file_write",
    input_summary: `write ${phase}`,
    output_summary: "written",
    duration_ms: 450,
    status: "success",
    ...more,
  });

  const lines = (...spans: readonly object[]): string =>
    spans.map((item) => `${JSON.stringify(item)}\n`).join("");

  test("shows the spans of every phase, or of one, in the order they lie", async () => {
    const folder = scratch({ files: { "README.md": "x\n" } });
    write(folder, {
      ".planning/phases/10/TRACE.jsonl": lines(span("10")),
      ".planning/phases/2/TRACE.jsonl": lines(
        span("2"),
        span("2", { status: "failure", input_summary: "\u001b[2Jclear" }),
      ),
    });

    const { json } = await autopilot(folder, ["trace", "--json"]);
    expect(json["phases"]).toEqual(["2", "10"]);
    expect((json["spans"] as readonly unknown[]).length).toBe(3);
    const page = (await autopilot(folder, ["trace", "--phase", "02"])).out;
    expect(page).toContain("Phase 2: 2 spans, 1 failed");
    expect(page).not.toContain("Phase 10");
    expect(page).not.toContain("\u001b");
  });

  test("a line that is no span is told with its number, one cut in two is passed over, a link is not followed", async () => {
    const folder = scratch({ files: { "README.md": "x\n" } });
    write(folder, {
      ".planning/phases/1/TRACE.jsonl": `${lines(span("1"), { odd: true })}{"timestamp":"20`,
      "elsewhere.jsonl": lines(span("7")),
    });

    mkdirSync(join(folder, ".planning/phases/7"));
    symlinkSync(join(folder, "elsewhere.jsonl"), join(folder, ".planning/phases/7/TRACE.jsonl"));
    const { code, json } = await autopilot(folder, ["trace", "--json"]);
    expect([code, (json["spans"] as readonly unknown[]).length]).toEqual([0, 1]);
    expect(json.warnings).toEqual([
      ".planning/phases/1/TRACE.jsonl:2 is no trace span and was left out.",
    ]);

    write(folder, {
      ".planning/phases/1/TRACE.jsonl": lines(...Array.from({ length: 12 }, () => ({ odd: true }))),
      ".planning/phases/2/TRACE.jsonl": "",
    });

    const { warnings } = (await autopilot(folder, ["trace", "--json"])).json;
    expect(warnings).toHaveLength(11);
    expect(warnings.at(-1)).toBe(
      ".planning/phases/1/TRACE.jsonl: 2 more lines are no trace spans.",
    );
  });

  test("where there is none it says where it looked; a run that is not there is told", async () => {
    const folder = scratch();
    expect((await autopilot(folder, ["trace", "--json"])).json.reason_code).toBe("missing_docs");
    writeFileSync(join(folder, "x"), "");
    expect(
      (await autopilot(folder, ["trace", "run-2026-01-01-000000", "--json"])).json.reason_code,
    ).toBe("run_missing");
  });
});
