// Every file the roadmap promises, after a run through the built command line with the embedded
// agent.

import { beforeAll, describe, expect, test } from "vitest";
import * as v from "valibot";
import { seedState } from "../../src/contracts/roadmap.test-support.ts";
import {
  CompletionFile,
  MetricsFile,
  TraceSpan,
  TriageFile,
} from "../../src/contracts/roadmap-reports.ts";
import { RoadmapState } from "../../src/contracts/roadmap-state.ts";
import { autopilot, begin, type Ended, journal, runFolderOf, until } from "../support/autopilot.ts";
import { git } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";
import {
  artifact,
  audit,
  has,
  json,
  names,
  ownChecks,
  planned,
  project,
  quiet,
  read,
  turnsOf,
  goArgs,
} from "./project.ts";

const phases = [
  { id: "1", name: "First | part" },
  { id: "2.10", name: "Second part", after: ["1"] },
];
const secret = "tk-4f9c2b7e8a1d6035c9e7b2f4a8d1c6e0";
const pages = ["EXECUTION-LOG.md", "TRACE.jsonl", "TRIAGE.json", "VERIFICATION.md"];
const spansIn = (folder: string, path: string): readonly TraceSpan[] =>
  read(folder, path)
    .trimEnd()
    .split("\n")
    .map((line) => v.parse(TraceSpan, JSON.parse(line)));

describe("a roadmap that goes well", () => {
  let folder = "";
  let ended: Ended;
  let drawn: readonly string[] = [];
  beforeAll(async () => {
    const [first = { id: "", name: "" }, second = first] = phases;
    folder = project(phases, { ...ownChecks, ...planned([second]) });
    const [research] = turnsOf(first);
    const tells = { run: `echo ${"x".repeat(180)} ${secret} ${secret}` };
    const told = { ...research, do: [...((research?.["do"] ?? []) as readonly object[]), tells] };
    const turns = [...turnsOf(first, { research: told }), ...turnsOf(second), audit(phases)];
    const running = begin(folder, goArgs(folder, turns, ["--complete"]), {
      env: { ...quiet.env, SERVICE_TOKEN: secret },
    });

    const seen = new Set<string>();
    const look = setInterval(() => {
      if (has(folder, ".autopilot/state.json")) seen.add(read(folder, ".autopilot/state.json"));
    }, 40);

    ended = await running.ended;
    clearInterval(look);
    drawn = [...seen];
  });

  const run = (): string => ended.json.run_id ?? "";
  const archived = (): RoadmapState =>
    v.parse(RoadmapState, json(folder, `.autopilot/archive/${run()}.json`));

  test("ends verified", () =>
    expect([ended.code, ended.json.reason_code]).toEqual([0, "completion_verified"]));
  test("state.json was whole and valid whenever somebody looked, and went through the phases", () => {
    expect(drawn.length).toBeGreaterThan(3);
    const states = drawn.map((text) => v.parse(RoadmapState, JSON.parse(text)));
    expect(new Set(states.map(({ _meta }) => _meta.status))).toEqual(new Set(["running"]));
    expect([...new Set(states.map(({ _meta }) => _meta.current_phase))]).toEqual(
      expect.arrayContaining(["1", "2.10"]),
    );
  });

  test("the finished state is in the archive under the run's name, and nothing is left in its place", () => {
    const state = archived();
    expect(state._meta).toMatchObject({
      status: "completed",
      run_id: run(),
      total_phases: 2,
      orchestrator_context_pct: 0,
    });

    expect(Object.keys(state.phases)).toEqual(["phase_1", "phase_2.10"]);
    expect(has(folder, ".autopilot/state.json")).toBe(false);
    expect(has(folder, ".autopilot/state.json.backup")).toBe(false);
  });

  test("a phase's record tells every step as the seed names it", () => {
    const { steps, ...phase } = archived().phases["phase_1"] ?? { steps: undefined };
    expect(phase).toMatchObject({
      status: "completed",
      phase_type: "protocol",
      debug_attempts: 0,
      replan_attempts: 0,
      human_verdict: null,
    });

    expect(steps).toMatchObject({
      preflight: { status: "pass" },
      research: { status: "completed", output: ".planning/phases/1/RESEARCH.md" },
      plan: { status: "completed", output: ".planning/phases/1/PLAN.md", validation_rounds: 1 },
      plan_check: { status: "pass", confidence: 9 },
      execute: { status: "completed", tasks: { "task_1-01": { status: "completed", retries: 0 } } },
      verify: {
        status: "pass",
        automated: { compile: true, tests: true, lint: true, build: true },
        alignment_score: 8,
        scope_creep: [],
      },
      judge: { alignment: 8, recommendation: "proceed" },
    });

    const sum = git(folder, "show", "HEAD:.planning/phases/1/PLAN.md");
    expect(sum).toContain("# Plan: Phase 1");
    expect(steps?.plan?.hash).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(git(folder, "cat-file", "-t", steps?.execute?.tasks["task_1-01"]?.commit ?? "")).toBe(
      "commit",
    );
  });

  test("a reader that knows nothing but the published format's own example finds every field of it, of the type it has there", () => {
    const ours = JSON.parse(read(folder, `.autopilot/archive/${run()}.json`)) as Record<
      string,
      unknown
    >;

    const { circuit_breaker_config: _ours, ...seed } = seedState as Record<string, unknown>;
    expect(missing(seed, ours)).toEqual([]);
  });

  test.each(["1", "2.10"])("phase %s has its pages, the agents' beside the runner's", (id) => {
    const there = names(folder, `.planning/phases/${id}`);
    const isPlanned = id === "2.10"; // nobody researched and planned it in this run
    const steps = [...(isPlanned ? [] : ["research", "plan"]), "execute", "verify"];
    expect(there).toEqual(
      expect.arrayContaining([
        ...pages,
        "JUDGE-REPORT.md",
        "PLAN.md",
        ...(isPlanned ? [] : ["RESEARCH.md"]),
      ]),
    );

    expect(there).toEqual(expect.arrayContaining(steps.map((step) => `${step}-trace.jsonl`)));
    v.parse(TriageFile, json(folder, `.planning/phases/${id}/TRIAGE.json`));
    expect(read(folder, `.planning/phases/${id}/EXECUTION-LOG.md`)).toContain(
      `### Task ${id}-01: Write the part -- COMPLETED`,
    );

    expect(read(folder, `.planning/phases/${id}/VERIFICATION.md`)).toContain("status: pass");
  });

  test("the agents' pages land with the work, the runner's are one commit behind it and never on the run's branch", () => {
    const branch = `autopilot/${run()}`;
    const landed = git(folder, "ls-tree", "-r", "--name-only", branch).split("\n");
    expect(landed).toEqual(
      expect.arrayContaining([
        artifact("1"),
        ".planning/phases/1/PLAN.md",
        ".planning/phases/1/JUDGE-REPORT.md",
      ]),
    );

    const before = git(folder, "log", branch, "--format=", "--name-only");
    for (const page of [...pages, "-trace.jsonl"]) expect(before).not.toContain(page);
    expect(git(folder, "log", "-1", "--format=%s %P")).toBe(
      `autopilot: pages of phases 1, 2.10 ${git(folder, "rev-parse", branch)}`,
    );

    const drawn = phases.flatMap(({ id }) =>
      names(folder, `.planning/phases/${id}`).map((name) => `.planning/phases/${id}/${name}`),
    );

    const committed = git(folder, "diff-tree", "-r", "--name-only", "HEAD~1", "HEAD").split("\n");
    expect(committed).toEqual(drawn.filter((path) => !landed.includes(path)).toSorted());
    expect(git(folder, "status", "--porcelain")).toBe("");
  });

  test("cut off before that commit, it is made when the run is next opened, and only once", async () => {
    const [commit, tree] = git(folder, "rev-parse", "HEAD~1", "HEAD^{tree}").split("\n");
    git(folder, "reset", "-q", String(commit)); // as a crash leaves it
    expect(git(folder, "status", "--porcelain")).toContain("?? .planning/phases/1/TRACE.jsonl");

    for (let opening = 0; opening < 2; opening++) {
      await autopilot(folder, ["resume", "--json"], quiet);
      expect(git(folder, "rev-parse", "HEAD~1", "HEAD^{tree}").split("\n")).toEqual([commit, tree]);
    }
  });

  test("traces tell what really happened: the agent's own tool calls by their paths, the runner's commands, the commits", () => {
    const spans = spansIn(folder, ".planning/phases/1/execute-trace.jsonl");
    expect(spans).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          action: "file_write",
          input_summary: artifact("1"),
          output_summary: "completed",
        }),
        expect.objectContaining({
          action: "file_write",
          input_summary: artifact("1"),
          output_summary: expect.stringContaining("commit ") as unknown,
        }),
        expect.objectContaining({
          action: "command_run",
          input_summary: expect.stringContaining("grep -c") as unknown,
          status: "success",
        }),
      ]),
    );

    const verify = spansIn(folder, ".planning/phases/1/verify-trace.jsonl");
    expect(verify.filter(({ action }) => action === "command_run").length).toBeGreaterThanOrEqual(
      2,
    );

    const all = spansIn(folder, ".planning/phases/1/TRACE.jsonl");
    expect(all.filter(({ action }) => action === "agent_spawn")).toHaveLength(7);
    expect(JSON.stringify(all)).not.toContain(folder);
  });

  test("after the first run the published format's ignore lines are there, our files are no changes, and no secret is in any of them", () => {
    expect(read(folder, ".planning/phases/1/research-trace.jsonl")).toContain(
      `echo ${"x".repeat(180)}`,
    );

    const drawn = git(folder, "ls-files", "--cached", "--others", "-z")
      .split("\0")
      .filter((path) => path !== "" && !path.endsWith("/")); // a repository of an agent's own is reported as a folder
    expect(drawn.length).toBeGreaterThan(10);

    for (const path of drawn) {
      expect(read(folder, path).includes(secret.slice(0, 8)), path).toBe(false);
    }

    const lines = read(folder, ".git/info/exclude").split("\n");
    expect(lines).toEqual(
      expect.arrayContaining([
        ".autopilot/state.json",
        ".autopilot/archive/",
        ".autopilot/diagnostics/",
      ]),
    );

    expect(git(folder, "status", "--porcelain", "--", ".autopilot")).toBe("");
  });

  test("metrics and the completion report are there, as page and data, with the whole roadmap's part", () => {
    const [metrics] = v.parse(MetricsFile, json(folder, ".autopilot/archive/metrics.json"));
    expect(metrics).toMatchObject({
      run_id: run(),
      phases_attempted: 2,
      phases_succeeded: 2,
      success_rate: 1,
      avg_alignment_score: 8,
    });

    expect(
      v.parse(CompletionFile, json(folder, ".autopilot/completion-report.json")),
    ).toMatchObject({
      mode: "--complete",
      completion_percentage: 100,
      total_phases_in_roadmap: 2,
      status: "completed",
      self_audit: { total_requirements_checked: 2, gaps_found: 0 },
    });

    expect(read(folder, ".autopilot/completion-report.md")).toContain(
      "2 of 2 phases are completed: **100.0 %**",
    );
  });

  test("the archived state is what the journal yields, entry by entry", () => {
    const entries = journal(folder);
    const last = archived().event_log.at(-1);
    expect(last).toMatchObject({
      event: "run_completed",
      timestamp: entries.at(-1)?.["ts"] as string,
    });

    expect(
      archived().event_log.filter(({ event }) => event === "batch_completion_report"),
    ).toHaveLength(1);
  });

  test("validate knows every one of these files, and finds nothing wrong", async () => {
    const reported = names(folder, ".autopilot/archive").map(
      (name) => `.autopilot/archive/${name}`,
    );

    const inPhase = [...pages, "execute-trace.jsonl"]
      .filter((name) => !name.endsWith(".md"))
      .map((name) => `.planning/phases/1/${name}`);

    const { code, json: answer } = await autopilot(folder, [
      "validate",
      "--json",
      ...reported,
      ".autopilot/completion-report.json",
      ...inPhase,
    ]);
    const files = answer["files"] as readonly {
      path: string;
      format: string | null;
      valid: boolean;
      violations: readonly object[];
    }[];
    expect(files.map(({ valid, violations }) => [valid, violations])).toEqual(
      files.map(() => [true, []]),
    );

    expect([code, files.length]).toEqual([0, 6]);
  });

  test("a second run knows what the first completed, and says when", async () => {
    const again = await autopilot(folder, ["roadmap", "list", "--json"]);
    expect(again.code).toBe(0);
    const nothing = await autopilot(folder, goArgs(folder, [], ["--complete"]), quiet);
    expect(nothing.json.reason_code).toBe("roadmap_completed");
  });
});

longTest(
  "a run that rests leaves its state in place, with the one before it as a backup",
  "test/roadmap-files/files.test.ts › state.json was whole and valid whenever somebody looked, and went through the phases",
  async () => {
    const folder = project([{ id: "1", name: "One" }]);
    const running = begin(
      folder,
      goArgs(folder, turnsOf({ id: "1", name: "One" }, { plan: { do: [{ hang: true }] } }), ["1"]),
      quiet,
    );

    await until("the plan is under way", () =>
      journal(folder).some(
        (entry) => entry.event === "session_opened" && String(entry["attempt"]).includes("/plan#"),
      ),
    );

    expect((await autopilot(folder, ["pause", "--now", "--json"])).code).toBe(0);
    await running.ended;
    const state = v.parse(RoadmapState, json(folder, ".autopilot/state.json"));
    expect(state._meta).toMatchObject({
      status: "paused",
      current_phase: "1",
      current_step: "plan",
    });

    const backup = v.parse(RoadmapState, json(folder, ".autopilot/state.json.backup"));
    expect(backup.event_log.length).toBeLessThanOrEqual(state.event_log.length);
    expect(runFolderOf(folder)).toContain(state._meta.run_id);
  },
);

/**
 * Fields of an example that a value lacks, or has with another kind of value; null stands for any.
 */
function missing(example: unknown, value: unknown, path = ""): readonly string[] {
  if (example === null || value === null || path.endsWith("details")) return [];
  if (Array.isArray(example)) {
    if (!Array.isArray(value)) return [path];
    return value.length === 0 ? [] : missing(example[0], value[0], `${path}[0]`);
  }

  if (!isTree(example)) return typeof example === typeof value ? [] : [path];
  if (!isTree(value)) return [path];
  if (/phases$|tasks$/.test(path)) {
    const [[, ours] = ["", null]] = Object.entries(value);
    const [[, theirs] = ["", null]] = Object.entries(example);
    return missing(theirs, ours, `${path}.*`);
  }

  return Object.entries(example).flatMap(([name, part]) => {
    // An event of the whole run has neither phase nor step.
    if (!(name in value)) {
      return path.endsWith("event_log[0]") && (name === "phase" || name === "step")
        ? []
        : [`${path}.${name}`];
    }

    return missing(part, value[name], `${path}.${name}`);
  });
}

const isTree = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
