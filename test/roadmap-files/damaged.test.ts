// Damaged and foreign state files, at the command line: torn ones are drawn again from the journal,
// another tool's run is resumed.

import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { beforeAll, describe, expect, test } from "vitest";
import { seedState } from "../../src/contracts/roadmap.test-support.ts";
import { RoadmapState } from "../../src/contracts/roadmap-state.ts";
import { autopilot, eventsOf, runFolderOf } from "../support/autopilot.ts";
import { git, write } from "../support/scratch-repository.ts";
import { aFew, longTest } from "../support/sampled.ts";
import {
  artifact,
  audit,
  has,
  json,
  names,
  type PhaseOf,
  planned,
  project,
  quiet,
  read,
  turnsOf,
  goArgs,
} from "./project.ts";

const phases: readonly PhaseOf[] = [
  { id: "1", name: "One" },
  { id: "2", name: "Two" },
];
const stateIn = (folder: string): RoadmapState =>
  v.parse(RoadmapState, json(folder, ".autopilot/state.json"));

describe("a state.json of ours that was damaged while the run rested", () => {
  const at = (folder: string): string => join(folder, ".autopilot/state.json");
  const damages: readonly (readonly [string, (folder: string) => void])[] = [
    ["torn", (folder) => truncateSync(at(folder), 200)],
    ["of a gigabyte", (folder) => truncateSync(at(folder), 1_073_741_824)],
    [
      "gone, and its backup too",
      (folder) => [at(folder), `${at(folder)}.backup`].forEach((path) => rmSync(path)),
    ],
    [
      "a link to somewhere else",
      (folder) => {
        rmSync(at(folder));
        write(folder, { "mine.json": "mine\n" });
        symlinkSync("../mine.json", at(folder));
      },
    ],
    [
      "a folder",
      (folder) => {
        rmSync(at(folder));
        mkdirSync(at(folder));
      },
    ],
  ];

  let folder = "";
  /**
   * The run as it rests until a person has looked. A run knows its place, so each case finds it
   * there anew.
   */
  const rested = (): string => `${folder}.rested`;
  beforeAll(async () => {
    const [only = { id: "1", name: "One", human: true }] = phases.map((phase) => ({
      ...phase,
      human: true,
    }));
    folder = project([only], planned([only]));

    const first = await autopilot(
      folder,
      goArgs(folder, [...turnsOf(only), audit([only])], ["--complete"]),
      quiet,
    );
    expect([first.json.state, first.json.reason_code]).toEqual(["paused", "human_block_open"]);
    expect(stateIn(folder)._meta).toMatchObject({ status: "paused", total_phases: 1 });
    cpSync(folder, rested(), { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  });

  aFew(1).each(damages)("%s: the run goes on from its journal to its end", async (what, damage) => {
    rmSync(folder, { recursive: true });
    cpSync(rested(), folder, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    expect((await autopilot(folder, ["adopt", "--yes", "--json"])).json.reason_code).toBe(
      "run_adopted",
    ); // a copy is another run

    damage(folder);
    const shown = await autopilot(folder, ["status", "--json"]);
    expect(shown.json.state).toBe("paused");
    await autopilot(folder, ["verdict", "1", "pass", "--json"]);
    const second = await autopilot(folder, ["resume", "--json"], quiet);
    expect([second.code, second.json.state], second.out + second.err).toEqual([0, "completed"]);
    const [archived] = names(folder, ".autopilot/archive").filter((name) =>
      name.startsWith("run-"),
    );

    expect(v.parse(RoadmapState, json(folder, `.autopilot/archive/${archived}`))._meta.status).toBe(
      "completed",
    );

    expect(existsSync(at(folder))).toBe(what === "a folder");
    if (what.startsWith("a link")) expect(read(folder, "mine.json")).toBe("mine\n");
    if (what === "a folder") expect(second.err).toContain("state.json is a folder");
  });
});

/** A state.json as another tool leaves it: phase 1 done, phase 2 under way. */
const theirs = (changes: { readonly status?: string; readonly hash?: string } = {}): string => {
  const done = { ...seedState.phases["phase_6.1"], completed_at: "2026-02-09T15:12:45Z" };
  return JSON.stringify({
    ...seedState,
    _meta: {
      ...seedState._meta,
      status: changes.status ?? "running",
      current_phase: "2",
      current_step: "plan",
      total_phases: 2,
    },
    spec: { ...seedState.spec, hash: changes.hash ?? null },
    phases: {
      phase_1: done,
      phase_2: { ...done, status: "in_progress", completed_at: null, debug_attempts: 1, steps: {} },
    },
    circuit_breaker: {
      ...seedState.circuit_breaker,
      state: changes.status === "failed" ? "open" : "closed",
    },
  });
};

describe("a run of another tool", () => {
  const there = (text: string): string => {
    const folder = project(phases, { [artifact("1")]: "ready 1\n" });
    write(folder, { ".autopilot/state.json": text });
    return folder;
  };

  const args = (folder: string): readonly string[] => {
    const turns = [...phases.flatMap((phase) => turnsOf(phase)), audit(phases.slice(1))];
    return [
      "resume",
      "--yes",
      "--json",
      "--isolation",
      "clone",
      ...goArgs(folder, turns, []).slice(-2),
    ];
  };

  test("is shown by status with where it stands", async () => {
    const folder = there(theirs());
    const { json: reported } = await autopilot(folder, ["status", "--json"]);
    expect(JSON.stringify(reported)).toContain(
      "a roadmap's run of another tool, cut short in phase 2, step plan; 1 of 2 phases completed",
    );
  });

  aFew(1).each(["running", "failed"])(
    "that says %s is taken up by resume: what it completed is not run again",
    async (status) => {
      const folder = there(theirs({ status }));
      const ended = await autopilot(folder, args(folder), quiet);
      expect([ended.code, ended.json.state], ended.out + ended.err).toEqual([0, "completed"]);
      expect(eventsOf(folder, "phase_started").map(({ walk }) => walk)).not.toContain("1");
      expect(eventsOf(folder, "phase_completed").map(({ walk }) => walk)).toContain("2");
      expect(has(folder, `.autopilot/archive/${seedState._meta.run_id}.json`)).toBe(true);
      expect(read(folder, `.autopilot/archive/${seedState._meta.run_id}.json`)).toBe(
        theirs({ status }),
      );

      expect(read(folder, artifact("2"))).toBe("ready 2\n");
      // It goes on where the other one stood, with all that one had counted, and both are one run
      // to whoever reads the state.
      const [first] = eventsOf(folder, "step_started").filter(({ walk }) => walk === "2");
      expect(first).toMatchObject({ step: "plan", attempt: "2@1/plan#1" });
      const archived = names(folder, ".autopilot/archive").filter(
        (name) => name.startsWith("run-") && !name.startsWith(seedState._meta.run_id),
      );

      const state = v.parse(RoadmapState, json(folder, `.autopilot/archive/${archived[0]}`));
      expect(state._meta.started_at).toBe(seedState._meta.started_at);
      expect(state.event_log.slice(0, 2)).toMatchObject([
        seedState.event_log[0],
        {
          event: "run_resumed",
          details: { reason: "foreign_run", from: seedState._meta.run_id, was: status },
        },
      ]);

      expect(state.event_log.some(({ event }) => event === "run_started")).toBe(false);
      expect(state.event_log.some(({ event }) => event === "circuit_breaker_closed")).toBe(
        status === "failed",
      ); // it was half open first

      expect(state.phases["phase_1"]).toMatchObject({
        status: "completed",
        tokens_used: 85_000,
        steps: { judge: { alignment: 8 } },
      });

      expect(state.phases["phase_2"]).toMatchObject({
        status: "completed",
        debug_attempts: 1,
        started_at: "2026-02-09T14:31:00Z",
      });

      expect(state.phases["phase_2"]?.tokens_used).toBeGreaterThan(85_000);
      expect(state.metrics.total_tokens_used).toBeGreaterThan(seedState.metrics.total_tokens_used);
      expect(state.metrics.phases_completed).toBe(2);
    },
  );

  longTest(
    "that is completed is archived when a run of ours begins, and what it completed stays completed",
    "test/roadmap-files/damaged.test.ts › is shown by status with where it stands",
    async () => {
      const folder = there(theirs({ status: "completed" }));
      const turns = [...turnsOf(phases[1] ?? { id: "", name: "" }), audit(phases.slice(1))];
      const ended = await autopilot(folder, goArgs(folder, turns, ["--complete"]), quiet);
      expect([ended.code, ended.json.state], ended.out + ended.err).toEqual([0, "completed"]);
      expect(has(folder, `.autopilot/archive/${seedState._meta.run_id}.json`)).toBe(true);
      const report = json(folder, ".autopilot/completion-report.json") as {
        phases_skipped: readonly object[];
      };
      const [skipped] = report.phases_skipped;
      expect(skipped).toEqual({
        phase_id: "1",
        phase_name: "One",
        reason: "already_completed",
        original_run_timestamp: "2026-02-09T15:12:45Z",
      });
    },
  );

  longTest(
    "whose state is torn is taken up from its backup, and told so",
    "test/roadmap-files/damaged.test.ts › that says %s is taken up by resume: what it completed is not run again",
    async () => {
      const folder = there("{ torn");
      write(folder, { ".autopilot/state.json.backup": theirs() });
      const ended = await autopilot(folder, args(folder), quiet);
      expect([ended.code, ended.json.state], ended.out + ended.err).toEqual([0, "completed"]);
      expect(ended.json.warnings.join("\n")).toContain("its backup is taken");
      expect(existsSync(join(runFolderOf(folder), "set-aside/.autopilot/state.json"))).toBe(true);
    },
  );

  test("of which nothing can be read is refused with the file and what is wrong, and nothing is begun", async () => {
    const folder = there("{ torn");
    const ended = await autopilot(folder, args(folder), quiet);
    expect([ended.code, ended.json.reason_code]).toEqual([1, "file_invalid"]);
    expect(JSON.stringify(ended.json)).toContain(".autopilot/state.json");
    expect(git(folder, "status", "--porcelain")).toBe("?? .autopilot/");
  });

  test("whose spec.path is not the one found first is held to its own", async () => {
    const folder = there(theirs());
    write(folder, { ".planning/REQUIREMENTS.md": "# What\n" });
    git(folder, "add", ".planning");
    git(folder, "commit", "-q", "-m", "requirements");
    const spec = `sha256:${createHash("sha256").update(read(folder, ".planning/ROADMAP.md")).digest("hex")}`;
    write(folder, { ".autopilot/state.json": theirs({ hash: spec }) });

    const drafted = await autopilot(
      folder,
      args(folder).filter((word) => word !== "--yes"),
      quiet,
    );
    expect(drafted.json.reason_code, drafted.out + drafted.err).toBe(
      "dry_run_required_before_execute",
    );

    expect(eventsOf(folder, "run_drafted")[0]?.["options"]).toMatchObject({
      spec_path: ".planning/ROADMAP.md",
      spec_hash: spec,
    });
  });

  test("that was locked to another specification is refused with both hashes", async () => {
    const folder = there(theirs({ hash: `sha256:${"e".repeat(64)}` }));
    const ended = await autopilot(folder, args(folder), quiet);
    expect([ended.code, ended.json.reason_code], ended.out).toEqual([1, "spec_hash_mismatch"]);
    expect(ended.out).toContain("e".repeat(64));
  });
});
