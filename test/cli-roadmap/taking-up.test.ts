// With no goal and no open run, what is here is found and taken up: a roadmap nobody has begun, or
// a run that another tool began.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, scripted } from "../support/autopilot.ts";
import { scratch } from "../support/scratch-repository.ts";
import { env, projectOf, roadmapOf, turnsFor } from "./roadmaps.ts";

type Found = {
  readonly flow: string;
  readonly files: readonly string[];
  readonly standing: string;
  readonly begun: boolean;
};
const foundIn = (json: { readonly [more: string]: unknown }): readonly Found[] =>
  (json["found"] ?? []) as readonly Found[];
const clone = ["--isolation", "clone"];
/** The first turn ends what is begun: how a phase goes on is told elsewhere. */
const limit = {
  do: [{ error: { code: 429, message: "rate limit reached, try later" } }],
  repeat: 0,
};

describe.concurrent("documents that nobody has begun with", () => {
  test("status says what lies here, and how to take it up", async () => {
    const folder = scratch({
      files: { "ROADMAP.md": roadmapOf([{ id: "1", checked: true }, { id: "2" }]) },
    });

    const { code, json } = await autopilot(folder, ["status", "--json"]);
    expect([code, json.reason_code, json.state]).toEqual([0, "run_idle", "idle"]);
    expect(foundIn(json)).toMatchObject([{ flow: "roadmap", files: ["ROADMAP.md"], begun: false }]);
    expect(foundIn(json)[0]?.standing).toContain("the next is phase 2");
    expect(json["next_actions"]).toEqual(["autopilot go", 'autopilot "what you want done"']);
    expect((await autopilot(folder, ["status"])).out).toContain(
      "Found a roadmap of 2 phases, 1 of them completed",
    );
  });

  test("`autopilot` alone drafts the next phase, and needs the acknowledgement that everything needs", async () => {
    const folder = scratch({ files: projectOf([{ id: "1" }, { id: "2" }]) });
    const asked = await autopilot(folder, ["--json", ...clone, ...scripted(folder, [limit])], {
      env,
    });
    expect([asked.code, asked.json.reason_code]).toEqual([1, "dry_run_required_before_execute"]);
    expect(asked.json.warnings.join("\n")).toContain("Found a roadmap of 2 phases");
    expect(eventsOf(folder, "run_drafted")[0]).toMatchObject({
      flow: { flow: "roadmap" },
      options: { phases: "next" },
    });

    const begun = await autopilot(folder, ["go", "--yes", "--json"], { env });
    expect([begun.json.run_id, begun.json.reason_code]).toEqual([
      asked.json.run_id,
      "provider_limit_reached",
    ]);

    expect(eventsOf(folder, "phase_started").map(({ walk }) => walk)).toContain("1");
  });

  test("a roadmap in prose, or one with nothing left to do, is none: a goal is asked for", async () => {
    for (const text of [
      "# Where we are going\n\nFar.\n",
      roadmapOf([{ id: "1", checked: true }]),
    ]) {
      const folder = scratch({ files: { "ROADMAP.md": text } });
      const { json } = await autopilot(folder, ["--json"]);
      expect([json.reason_code, json["missing_fields"], foundIn(json)]).toEqual([
        "objective_schema_invalid",
        ["goal"],
        [],
      ]);
    }
  });

  test("`start` without a goal begins nothing, and names what lies here", async () => {
    const folder = scratch({ files: projectOf([{ id: "1" }]) });
    const { code, json } = await autopilot(folder, ["start", "--json"]);
    expect([code, json.reason_code]).toEqual([1, "objective_schema_invalid"]);
    expect(foundIn(json)).toMatchObject([{ flow: "roadmap" }]);
    expect(existsSync(join(folder, ".autopilot/runs"))).toBe(false);
  });

  test("`resume` begins nothing of its own", async () => {
    const folder = scratch({ files: projectOf([{ id: "1" }]) });
    expect((await autopilot(folder, ["resume", "--json"])).json.reason_code).toBe("run_missing");
  });

  test("several things to take up are told apart, and none is guessed", async () => {
    const folder = scratch({
      files: projectOf([{ id: "1" }], {
        files: { "_docs/00_problem/problem.md": "# The problem\n\nA tide nobody knows.\n" },
      }),
    });
    const status = await autopilot(folder, ["status", "--json"]);
    const flows = foundIn(status.json).map(({ flow }) => flow);
    expect(flows).toContain("roadmap");
    expect(flows.length).toBeGreaterThan(1);

    const { code, json } = await autopilot(folder, [
      "--yes",
      "--json",
      ...clone,
      ...scripted(folder, []),
    ]);
    expect([code, json.reason_code]).toEqual([1, "objective_schema_invalid"]);

    for (const flow of flows) {
      expect(json.remediation.join("\n")).toContain(`autopilot go --flow ${flow}`);
    }

    expect(existsSync(join(folder, ".autopilot/runs"))).toBe(false);
  });
});

/** A state.json as another tool left it: one phase done, the next under way. */
function foreignState(
  folder: string,
  { hash = null as string | null, status = "running", more = {} } = {},
): void {
  const times = { started_at: "2026-02-09T14:31:00Z", completed_at: null };
  const state = {
    _meta: {
      version: "1.0",
      run_id: "run-2026-02-09-143052",
      started_at: "2026-02-09T14:30:52Z",
      last_checkpoint: "2026-02-09T16:45:12Z",
      status,
      total_phases: 2,
      current_phase: "2",
      current_step: "execute",
      orchestrator_context_pct: 35,
      human_deferred_count: 0,
      total_phases_processed: 1,
    },
    spec: { path: ".planning/REQUIREMENTS.md", hash, locked_at: "2026-02-09T14:30:52Z" },
    roadmap_path: ".planning/ROADMAP.md",
    phases: {
      phase_1: { status: "completed", ...times, completed_at: "2026-02-09T15:12:45Z" },
      phase_2: { status: "in_progress", ...times },
    },
    ...more,
  };

  mkdirSync(join(folder, ".autopilot"), { recursive: true });
  writeFileSync(join(folder, ".autopilot/state.json"), JSON.stringify(state, null, 2));
}

describe.concurrent("a run that another tool began", () => {
  const files = projectOf([{ id: "1" }, { id: "2", after: "Phase 1" }]);

  test("status tells it, resume drafts a run of ours and goes on where it was", async () => {
    const folder = scratch({ files });
    foreignState(folder);
    const status = await autopilot(folder, ["status", "--json"]);
    expect(foundIn(status.json)).toMatchObject([
      { flow: "roadmap", files: [".autopilot/state.json"], begun: true },
    ]);

    expect(status.json["next_actions"]).toContain("autopilot resume");

    const asked = await autopilot(folder, [
      "resume",
      "--json",
      ...clone,
      ...scripted(folder, turnsFor(["2"])),
    ]);
    expect(asked.json.reason_code).toBe("dry_run_required_before_execute");

    const gone = await autopilot(
      folder,
      ["resume", "--yes", "--json", ...clone, ...scripted(folder, turnsFor(["2"]))],
      { env },
    );
    expect(gone.json.warnings.join("\n")).toContain("a roadmap's run of another tool");
    const rows = (await autopilot(folder, ["status", "--json"])).json["phases"] as readonly {
      readonly id: string;
      readonly status: string;
    }[];
    expect(rows.find(({ id }) => id === "2")?.status).toBe("completed");
    expect(
      rows.filter(
        ({ id, status: stands }) => id === "1" && stands !== "skipped" && stands !== "completed",
      ),
    ).toEqual([]);

    expect(eventsOf(folder, "phase_started").map(({ walk }) => walk)).not.toContain("1");
  });

  test("`go` alone takes it up as well", async () => {
    const folder = scratch({ files });
    foreignState(folder, { status: "paused" });
    const { json } = await autopilot(folder, ["go", "--json", ...clone, ...scripted(folder, [])]);
    expect(json.reason_code).toBe("dry_run_required_before_execute");
    expect(eventsOf(folder, "run_drafted")[0]).toMatchObject({ options: { phases: "2" } });
  });

  test("its breaker is judged by the thresholds of the run that goes on, not by the defaults", async () => {
    const config = JSON.stringify({ circuit_breaker_config: { no_progress_threshold: 2 } });
    const folder = scratch({ files: { ...files, ".planning/config.json": config } });

    const counts = {
      state: "closed",
      consecutive_no_progress: 2,
      consecutive_same_error: 0,
      last_error: null,
      cooldown_until: null,
    };

    foreignState(folder, { status: "paused", more: { circuit_breaker: counts } });
    await autopilot(folder, ["go", "--json", ...clone, ...scripted(folder, [])]);
    expect(eventsOf(folder, "run_drafted")[0]).toMatchObject({
      resumes: { breaker: { is_open: true } },
    });
  });

  test("locked to another specification it is refused with both hashes, until that is accepted", async () => {
    const folder = scratch({ files });
    const hash = `sha256:${"a".repeat(64)}`;
    foreignState(folder, { hash });
    const args = ["resume", "--json", ...clone, ...scripted(folder, [])];
    const refused = await autopilot(folder, args);
    expect([refused.code, refused.json.reason_code, refused.json["recorded"]]).toEqual([
      1,
      "spec_hash_mismatch",
      hash,
    ]);

    const accepted = await autopilot(folder, [...args, "--accept-spec-change"]);
    expect(accepted.json.reason_code).toBe("dry_run_required_before_execute");
    expect(accepted.json.warnings.join("\n")).toContain(`the run was locked to ${hash}`);
  });

  test("one that cannot be read is refused with what is wrong with it", async () => {
    const folder = scratch({ files });
    mkdirSync(join(folder, ".autopilot"));
    writeFileSync(join(folder, ".autopilot/state.json"), '{ "_meta": ');
    const { code, json } = await autopilot(folder, ["resume", "--yes", "--json"]);
    expect([code, json.reason_code]).toEqual([1, "file_invalid"]);
    expect(JSON.stringify(json["problems"])).toContain(".autopilot/state.json");
  });
});
