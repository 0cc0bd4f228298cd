// A roadmap walked from the command line by the embedded agent, and what status, report, inbox,
// watch and trace say of it.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, journal, scripted } from "../support/autopilot.ts";
import { misfits } from "../support/json-schema.ts";
import { once, rewound } from "../support/rewind.ts";
import { git, scratch } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";
import { commandOf, env, projectOf, turnsFor, walk } from "./roadmaps.ts";

type Row = {
  readonly id: string;
  readonly status: string;
  readonly score: number | null;
  readonly tokens: number;
  readonly because: string | null;
};
const rowsOf = (json: { readonly [more: string]: unknown }): readonly Row[] =>
  json["phases"] as readonly Row[];
const standing = (json: { readonly [more: string]: unknown }): readonly string[] =>
  rowsOf(json).map(({ id, status }) => `${id} ${status}`);

describe.concurrent("a roadmap is run", () => {
  test("one phase passes, one fails, what depends on it is skipped: status, report and trace tell it", async () => {
    const phases = [{ id: "1" }, { id: "2", after: "Phase 1" }, { id: "3" }];
    const folder = scratch({ files: projectOf(phases) });

    const briefly = [
      "--option",
      "max_debug_attempts_per_phase=0",
      "--option",
      "max_replan_attempts_per_phase=0",
    ];
    const ended = await walk(
      folder,
      ["--complete", ...briefly],
      turnsFor(["1", "2", "3"], { wrong: ["1"] }),
    );
    expect([ended.code, ended.json.result]).toEqual([1, "FAIL"]);

    const status = await autopilot(folder, ["status", "--json"]);
    expect(standing(status.json)).toEqual(["1 failed", "2 skipped", "3 completed"]);
    expect(rowsOf(status.json).map(({ score }) => score)).toEqual([null, null, 9]);
    expect(rowsOf(status.json)[1]?.because).toBe("blocked_by_phase_1");
    expect(rowsOf(status.json).every(({ id, tokens }) => id === "2" || tokens > 0)).toBe(true);
    expect(status.json["breaker"]).toMatchObject({ state: "closed" });

    const page = (await autopilot(folder, ["status"])).out;
    expect(page).toMatch(/phase +name +status +score +time +tokens/);
    expect(page).toMatch(/✗ +1 +Write 1 +failed/);
    expect((await autopilot(folder, ["status", "-v"])).out).toMatch(/Breaker +closed/);

    const report = await autopilot(folder, ["report", "--json"]);
    const phasesReported = report.json["phases"] as readonly (Row & {
      readonly proof: readonly { readonly command: string; readonly status: string }[];
      readonly commits: readonly unknown[];
      readonly post_mortem: { readonly category: string } | null;
      readonly false_claims: readonly unknown[];
    })[];
    expect(phasesReported[2]?.proof).toContainEqual(
      expect.objectContaining({ command: commandOf("3"), status: "passed" }),
    );

    expect(phasesReported[2]?.commits.length).toBeGreaterThan(0);
    expect(phasesReported[0]?.post_mortem?.category).toMatch(/^executor_|^acceptance_/);
    expect(phasesReported[0]?.false_claims.length).toBeGreaterThan(0);
    expect((await autopilot(folder, ["report"])).out).toMatch(
      /! Phase 2 Write 2: skipped \(blocked by phase 1\)/,
    );

    for (const [name, reported] of [
      ["status", status.json],
      ["report", report.json],
    ] as const) {
      const { schema } = (await autopilot(folder, ["schema", name, "--json"])).json as unknown as {
        readonly schema: Record<string, unknown>;
      };

      expect(misfits({ ...reported }, schema)).toEqual([]);
    }

    const trace = await autopilot(folder, ["trace", "--phase", "3", "--json"]);
    const spans = trace.json["spans"] as readonly {
      readonly phase_id: string;
      readonly action: string;
      readonly input_summary: string;
    }[];
    expect(new Set(spans.map(({ phase_id }) => phase_id))).toEqual(new Set(["3"]));
    expect(spans).toContainEqual(
      expect.objectContaining({ action: "command_run", input_summary: commandOf("3") }),
    );

    expect((await autopilot(folder, ["trace"])).out).toMatch(/Phase 1: \d+ spans/);
    expect((await autopilot(folder, ["trace", "--phase", "9"])).json).toBeDefined();
  });

  longTest(
    "phases that do not hold together: nothing is audited, and the report is written and says so",
    "src/playbooks/roadmap/steps/roadmap-wrap-up.test.ts › an audit that failed is no audit without gaps, and phases that do not hold together are no completed run",
    async () => {
      const folder = scratch({ files: projectOf([{ id: "1" }, { id: "2" }]) });
      const spoil = { write: { path: "1.txt", text: "spoiled\n" } };

      const turns = (
        turnsFor(["1", "2"]) as readonly {
          readonly when: Record<string, string>;
          readonly do: readonly object[];
        }[]
      ).map((turn) =>
        turn.when["role"] === "executor" && turn.when["phase"] === "2"
          ? { ...turn, do: [...turn.do, spoil] }
          : turn,
      );
      const ended = await walk(folder, ["--complete"], turns);
      expect([ended.code, ended.json.reason_code]).toEqual([1, "phase_failed"]);
      const report = JSON.parse(
        readFileSync(join(folder, ".autopilot/completion-report.json"), "utf8"),
      ) as object;
      expect(report).toMatchObject({
        status: "failed",
        self_audit: null,
        warnings: [{ code: "integration_failed" }],
      });

      const reported = (await autopilot(folder, ["report", "--json"])).json;
      expect(reported["judgement"]).toMatchObject({ verdict: "refuted" });
      expect(reported["afterwards"]).toMatchObject([
        { name: "Integration check", status: "failed" },
        { name: "Self-audit", status: "skipped" },
        { name: "Report", status: "completed" },
      ]);
    },
  );

  test("bare `roadmap` takes up what is open, else begins with the next phase; what is done is not done again", async () => {
    const phases = [{ id: "1" }, { id: "2", after: "Phase 1" }, { id: "3", after: "Phase 2" }];
    const folder = scratch({ files: projectOf(phases, { files: { "1.txt": "number 1\n" } }) });
    const first = await walk(folder, ["1-2", "--checkpoint-every", "1"], turnsFor(["1", "2"]));
    expect([first.code, first.json.result, first.json.reason_code]).toEqual([
      0,
      "WARN",
      "checkpoint_reached",
    ]);

    const second = await autopilot(folder, ["roadmap", "--json"], { env });
    expect([second.json.run_id, second.json.state]).toEqual([first.json.run_id, "completed"]);
    expect(eventsOf(folder, "phase_started").filter(({ walk: at }) => at === "1")).toHaveLength(1);
    expect(git(folder, "show", "HEAD:2.txt")).toBe("number 2");

    const third = await autopilot(folder, [
      "roadmap",
      "--json",
      "--isolation",
      "clone",
      ...scripted(folder, []),
    ]);
    expect([third.code, third.json.reason_code]).toEqual([1, "dry_run_required_before_execute"]);
    const { wanted } = third.json["preview"] as { readonly wanted: readonly string[] };
    expect(wanted.map((line) => line.split(/\s+/)[0])).toEqual(["3"]);
    expect((await walk(folder, ["1"], [])).json).toMatchObject({
      reason_code: "roadmap_completed",
    });
  });

  longTest(
    "limits of the config reach the flow: no debugging where none is allowed",
    "src/core/thresholds.test.ts › %s holds as it is set",
    async () => {
      const folder = scratch({
        files: {
          ...projectOf([{ id: "1" }]),
          ".autopilot/config.yaml":
            "limits:\n  max_debug_attempts_per_phase: 0\n  max_replan_attempts_per_phase: 0\n  no_progres_threshold: 2\n",
        },
      });
      const config = join(folder, ".autopilot/config.yaml");
      const refused = await walk(folder, ["1"], turnsFor(["1"], { wrong: ["1"] }));
      expect(refused.json).toMatchObject({ reason_code: "config_invalid" });
      expect(refused.json.message).toContain("Did you mean no_progress_threshold?");
      writeFileSync(
        config,
        readFileSync(config, "utf8").replace("no_progres_threshold", "no_progress_threshold"),
      );

      await walk(folder, ["1"], turnsFor(["1"], { wrong: ["1"] }));
      expect(eventsOf(folder, "run_drafted")[0]).toMatchObject({
        options: { max_debug_attempts_per_phase: 0, max_replan_attempts_per_phase: 0 },
      });

      expect(
        journal(folder).filter(({ event, step }) => event === "step_started" && step === "debug"),
      ).toEqual([]);

      expect(standing((await autopilot(folder, ["status", "--json"])).json)).toEqual(["1 failed"]);
    },
  );

  test("the project's planning config tightens, names its checks, and raises nothing", async () => {
    const config = {
      workflow: { research: false, verifier: false },
      project: { commands: { test: "test -f README.md", lint: null } },
      circuit_breaker_config: {
        max_debug_attempts_per_phase: 1,
        cost_cap_tokens_total: 9_000_000,
        output_degradation_pct: 80,
      },
    };

    const folder = scratch({
      files: projectOf([{ id: "1" }], {
        files: { ".planning/config.json": JSON.stringify(config) },
      }),
    });

    const { json } = await autopilot(folder, [
      "roadmap",
      "1",
      "--json",
      "--isolation",
      "clone",
      ...scripted(folder, []),
    ]);
    const said = json.warnings.join("\n");
    expect(said).toContain(
      "circuit_breaker_config.cost_cap_tokens_total in .planning/config.json is ignored: it would raise a cap",
    );

    expect(said).toContain("workflow.verifier: false in .planning/config.json is not followed");
    const [drafted] = eventsOf(folder, "run_drafted");
    expect(drafted).toMatchObject({
      options: { research: false, max_debug_attempts_per_phase: 1, alignment_min: 8 },
      limits: {
        run: { tokens: expect.toSatisfy((tokens: number) => tokens <= 5_000_000) as number },
      },
      documents: [
        { path: ".planning/ROADMAP.md" },
        { path: ".planning/config.json" },
        { path: ".planning/REQUIREMENTS.md" },
      ],
    });

    expect(JSON.stringify(drafted?.["checks"])).toContain("test -f README.md");
  });
});

describe("a phase that only a person can judge", () => {
  // The second and the third are there already, and only verified and judged.
  const there = { "2.txt": "number 2\n", "3.txt": "number 3\n" };
  const files = projectOf([{ id: "1" }, { id: "2", after: "Phase 1" }, { id: "3" }, { id: "4" }], {
    human: ["1"],
    files: there,
  });

  /** Ends the run where its debugger would begin. */
  const limit = {
    when: { role: "debugger" },
    do: [{ error: { code: 429, message: "rate limit reached, try later" } }],
    repeat: 0,
  };

  const deferred = rewound(async () => {
    const folder = scratch({ files });
    const ended = await walk(folder, ["1-3"], [limit, ...turnsFor(["1", "2", "3"])]);
    expect([ended.code, ended.json.result, ended.json.reason_code]).toEqual([
      0,
      "WARN",
      "human_block_open",
    ]);

    return folder;
  });

  const verdict = (folder: string, ...args: readonly string[]) =>
    autopilot(folder, ["verdict", ...args, "--json"]);

  test("waits, lets the others go on, and is listed with the command that answers it", async () => {
    const folder = await deferred();
    expect(standing((await autopilot(folder, ["status", "--json"])).json)).toEqual([
      "1 needs_human_verification",
      "2 not_started",
      "3 completed",
    ]);

    const { json, out: _out } = await autopilot(folder, ["inbox", "--json"]);
    expect(json["blocks"]).toMatchObject([
      {
        phase: "1",
        tasks: ["01-02"],
        command: expect.stringContaining("autopilot verdict 1 ") as string,
      },
    ]);

    expect((await autopilot(folder, ["inbox"])).out).toContain(
      "Phase 1 (Write 1) needs your verdict",
    );
  });

  const change = (folder: string, path: string): void =>
    writeFileSync(join(folder, path), "# Something else\n");
  /**
   * It passed while the specification and the roadmap were changed: refused, then accepted and run
   * to its end.
   */
  const passed = once(async () => {
    const folder = await deferred();
    const given = await verdict(folder, "01", "pass");
    const answered = eventsOf(folder, "block_answered");
    change(folder, ".planning/REQUIREMENTS.md");
    change(folder, ".planning/ROADMAP.md");
    git(folder, "commit", "-qam", "another specification, another roadmap");
    const resume = (...words: readonly string[]) =>
      autopilot(folder, ["resume", ...words, "--json"], { env });
    const refused = await resume();
    const others = [
      await autopilot(folder, ["go", "--json"], { env }),
      await autopilot(folder, ["roadmap", "--json"], { env }),
    ];

    const before = eventsOf(folder, "policy_changed");
    const accepted = await resume("--accept-spec-change");
    const { json } = await autopilot(folder, ["status", "--json"]);

    return {
      given,
      answered,
      refused,
      others,
      before,
      accepted,
      after: eventsOf(folder, "policy_changed"),
      phases: standing(json),
    };
  });

  test("pass completes it, and what waited for it goes on", async () => {
    const { given, answered, phases } = await passed();
    expect([given.code, given.json["phase"], given.json["verdict"]]).toEqual([0, "1", "pass"]);
    expect(answered).toMatchObject([
      { answer: "pass", actor: expect.stringMatching(/^operator:/) as string },
    ]);

    expect(phases).toEqual(["1 completed", "2 completed", "3 completed"]);
  });

  test("fail fails it, and what depends on it is blocked", async () => {
    const folder = await deferred();
    await verdict(folder, "1", "fail", "--issue", "it reads badly");
    await autopilot(folder, ["resume", "--json"], { env });
    expect(standing((await autopilot(folder, ["status", "--json"])).json)).toEqual([
      "1 failed",
      "2 skipped",
      "3 completed",
    ]);
  });

  test("issues_found sends the issues to the debugger", async () => {
    const folder = await deferred();
    await verdict(
      folder,
      "1",
      "issues_found",
      "--issue",
      "the colour is wrong",
      "--issue",
      "and the size",
    );

    expect(eventsOf(folder, "block_answered")).toMatchObject([
      { answer: "issues_found", issues: ["the colour is wrong", "and the size"] },
    ]);

    await autopilot(folder, ["resume", "--json"], { env });
    expect(
      journal(folder).some(
        ({ event, step, walk: at }) => event === "step_started" && step === "debug" && at === "1",
      ),
    ).toBe(true);
  });

  test("what is no verdict, no phase that waits, or says nothing is refused with what is open", async () => {
    const folder = await deferred();
    expect((await verdict(folder, "1", "maybe")).code).toBe(2);
    expect((await verdict(folder, "1")).code).toBe(2);
    const none = await verdict(folder, "3", "pass");
    expect([none.code, none.json.reason_code, none.json["waiting"]]).toEqual([
      1,
      "invalid_state_transition",
      ["1"],
    ]);

    expect((await verdict(folder, "7", "pass")).json.message).toContain("There is no phase 7");
    expect((await verdict(folder, "1", "issues_found")).json.remediation.join("\n")).toContain(
      "--issue",
    );

    expect((await verdict(folder, "1", "pass", "--issue", "but")).code).toBe(2);
    expect(eventsOf(folder, "block_answered")).toEqual([]);
  });

  test("a second run beside an open one is refused, --new or not: they would share their files", async () => {
    const folder = await deferred();
    for (const words of [
      ["roadmap", "4"],
      ["go", "--flow", "roadmap", "--new"],
    ]) {
      const { code, json } = await autopilot(folder, [
        ...words,
        "--json",
        "--isolation",
        "clone",
        ...scripted(folder, []),
      ]);
      expect([code, json.reason_code]).toEqual([1, "run_open"]);
      expect(json.remediation.join("\n")).not.toContain("--new");
    }
  });

  test("changed between stop and resume is refused with both hashes; accepted, it goes on and says so", async () => {
    const { refused, others, before, accepted, after, phases } = await passed();
    expect([refused.code, refused.json.reason_code]).toEqual([1, "spec_hash_mismatch"]);
    const [recorded, found] = [
      refused.json["recorded"],
      refused.json["found"],
    ] as readonly string[];
    for (const hash of [recorded, found]) {
      expect(hash).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(refused.json.message).toContain(hash);
    }

    expect(others.map(({ json }) => json.reason_code)).toEqual([
      "spec_hash_mismatch",
      "spec_hash_mismatch",
    ]);

    expect(before).toEqual([]);

    expect(accepted.json.warnings.join("\n")).toContain(`is locked to ${found ?? ""} now`);
    expect(after).toMatchObject([
      {
        adopted: true,
        reason_code: "spec_change_accepted",
        path: ".planning/REQUIREMENTS.md",
        found: found?.slice(7),
        options: { spec_hash: found },
      },
    ]);

    expect(phases).toEqual(["1 completed", "2 completed", "3 completed"]);
  });

  test("taken away it cannot be accepted, and must come back", async () => {
    const folder = await deferred();
    git(folder, "rm", "-q", ".planning/REQUIREMENTS.md");
    const { code, json } = await autopilot(folder, ["resume", "--accept-spec-change", "--json"], {
      env,
    });
    expect([code, json.reason_code, json["found"]]).toEqual([1, "spec_hash_mismatch", null]);
  });

  test("a roadmap that changed meanwhile is a warning: the recorded copy goes on", async () => {
    const { accepted, phases } = await passed();
    expect(accepted.json.warnings).toContain(
      ".planning/ROADMAP.md changed since the run began; it goes on with its recorded copy.",
    );

    expect(phases).toEqual(["1 completed", "2 completed", "3 completed"]);
  });
});

describe("a run that stopped at a checkpoint", () => {
  const stopped = rewound(async () => {
    const folder = scratch({ files: projectOf([{ id: "1" }, { id: "2" }]) });
    const first = await walk(folder, ["all", "--checkpoint-every", "1"], turnsFor(["1", "2"]));
    expect([first.code, first.json.result, first.json.reason_code]).toEqual([
      0,
      "WARN",
      "checkpoint_reached",
    ]);

    return folder;
  });

  longTest(
    "--checkpoint-every pauses after each so many phases, and bare `roadmap` goes on",
    "test/cli-roadmap/walking.test.ts › bare `roadmap` takes up what is open, else begins with the next phase; what is done is not done again",
    async () => {
      const folder = await stopped();
      const [first] = eventsOf(folder, "run_drafted");
      expect(standing((await autopilot(folder, ["status", "--json"])).json)).toEqual([
        "1 completed",
        "2 not_started",
      ]);

      const on = await autopilot(folder, ["roadmap", "--json"], { env });
      expect(on.json.run_id).toBe(first?.["run_id"]);
      expect(standing((await autopilot(folder, ["status", "--json"])).json)).toEqual([
        "1 completed",
        "2 completed",
      ]);
    },
  );
});
