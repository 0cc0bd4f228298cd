// What commands answer: for programs one object with every promised field, for people text that
// nothing in it can steer.

import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { autopilot, begin, goScripted, type Reported, until } from "../support/autopilot.ts";
import { misfits } from "../support/json-schema.ts";
import { scratchCheckedOnce as scratch, scratchFolder } from "../support/scratch-repository.ts";
import { criterion, inTwoTurns, makesOut, objective } from "./stories.ts";

/** A run in each state that status and report speak about. */
const folders = {
  draft: scratch(),
  running: scratch(),
  paused: scratch(),
  stopped: scratch(),
  completed: scratch(),
};
type State = keyof typeof folders;
const states = Object.keys(folders) as State[];

beforeAll(async () => {
  await Promise.all(
    states.map(async (state) => {
      const folder = folders[state];
      await autopilot(folder, [
        "start",
        ...objective(folder, state === "completed" ? makesOut : inTwoTurns),
      ]);

      if (state !== "draft") {
        await autopilot(folder, ["go", "--yes", "--json", "--max-cycles", "1"]);
      }

      if (state === "paused" || state === "stopped") {
        await autopilot(folder, [state === "paused" ? "pause" : "stop", "--json"]);
      }
    }),
  );
});

const common = ["result", "reason_code", "run_id", "state", "warnings", "remediation"];
const fieldsOf = (json: Reported): readonly string[] => Object.keys({ ...json });
const schemaOf = async (name: string): Promise<Record<string, unknown>> =>
  (await autopilot(folders.draft, ["schema", name, "--json"])).json["schema"] as Record<
    string,
    unknown
  >;

/** Each field as the contract names it; the leaves by their path. */
const statusFields = [
  "objective.goal",
  "objective.scope",
  "objective.done_criteria",
  "objective.max_budget",
  "budget.limits",
  "budget.counters",
  "budget.ratios",
  "budget.warnings",
  "progress.completed_steps",
  "progress.pending_steps",
  "progress.blockers",
  "isolation.level",
  "isolation.mechanism",
  "isolation.enforced",
  "verdict",
  "next_actions",
];
const reportFields = [
  "summary",
  "decisions",
  "blockers",
  "recommendations",
  "evidence",
  "changes.files",
  "changes.insertions",
  "changes.deletions",
  "changes.commits",
  "cost.tokens",
  "cost.usd",
  "cost.minutes",
  "cost.calls",
  "verdict",
];
const has = (value: unknown, path: readonly string[]): boolean => {
  const [first = "", ...rest] = path;
  if (typeof value !== "object" || value === null || !(first in value)) return false;
  return rest.length === 0 || has((value as Record<string, unknown>)[first], rest);
};
const missing = (json: Reported, fields: readonly string[]): readonly string[] =>
  [...common, ...fields].filter((field) => !has({ ...json }, field.split(".")));

describe("status and report", () => {
  test.each(states)(
    "status --json of a %s run has every promised field and fits its own schema",
    async (state) => {
      const { json, code } = await autopilot(folders[state], ["status", "--json"]);
      expect({ code, state: json.state, missing: missing(json, statusFields) }).toEqual({
        code: 0,
        state,
        missing: [],
      });

      expect(misfits({ ...json }, await schemaOf("status"))).toEqual([]);
      const { limits, counters, ratios } = json["budget"] as Record<string, object>;
      expect(Object.keys(counters ?? {})).toEqual(["tokens", "minutes", "calls", "usd"]);
      expect(Object.keys(ratios ?? {})).toEqual(Object.keys(limits ?? {}));
      expect((json["next_actions"] as string[]).length).toBeGreaterThan(0);
    },
  );

  test.each(states)(
    "report --json of a %s run has every promised field and fits its own schema",
    async (state) => {
      const { json, code } = await autopilot(folders[state], ["report", "--json"]);
      expect({ code, state: json.state, missing: missing(json, reportFields) }).toEqual({
        code: 0,
        state,
        missing: [],
      });

      expect(misfits({ ...json }, await schemaOf("report"))).toEqual([]);
      if (state !== "completed") return;
      expect(json["changes"]).toMatchObject({
        files: 1,
        insertions: 1,
        deletions: 0,
        commits: [{ subject: expect.any(String) as string }],
      });

      expect(json["evidence"]).toMatchObject([
        { command: "test -f out.txt", before: "failed", status: "passed" },
      ]);

      expect(json["verdict"]).toBe("verified");
    },
  );

  test("status where there is no run fits the schema of status too", async () => {
    expect(
      misfits(
        { ...(await autopilot(scratch(), ["status", "--json"])).json },
        await schemaOf("status"),
      ),
    ).toEqual([]);
  });

  test("the schema check of these tests finds what does not fit", async () => {
    const { json } = await autopilot(folders.completed, ["status", "--json"]);
    const schema = await schemaOf("status");
    expect(misfits({ ...json, state: "asleep" }, schema)).not.toEqual([]);
    expect(misfits({ ...json, progress: { completed_steps: [] } }, schema)).not.toEqual([]);
  });

  test("report for a person tells what was asked, what was done, the proof, and what to do next", async () => {
    const { out } = await autopilot(folders.completed, ["report"]);
    expect(out).toMatch(/Goal[\s\S]*Changed[\s\S]*Proof[\s\S]*→ autopilot/);
  });
});

describe("--json", () => {
  const verbs = [
    ["status"],
    ["report"],
    ["log"],
    ["inbox"],
    ["budget"],
    ["budget", "raise", "tokens=+1k"],
    ["pause"],
    ["resume"],
    ["stop"],
    ["ack", "0123456789ab"],
    ["approve"],
    ["answer", "A"],
    ["verify"],
    ["verify", "--chain-only"],
    ["watch"],
    ["doctor"],
    ["agents"],
    ["config"],
    ["init"],
    ["skills", "list"],
    ["schema"],
    ["schema", "journal"],
    ["flow"],
    ["flow", "list"],
    ["flow", "show", "objective"],
    ["flow", "lint", "objective"],
    ["flow", "detect"],
    ["validate", "README.md"],
    ["completions", "bash"],
    ["help"],
    ["help", "go"],
    ["start"],
    ["go"],
    ["--help"],
    ["--version"],
  ];
  test.each(verbs.map((args) => [args.join(" "), args] as const))(
    "%s prints exactly one JSON object on stdout, with the common fields, a remediation unless it passes, and the exit code of its result",
    async (_name, args) => {
      const { out, json, code } = await autopilot(folders.completed, [...args, "--json"]);
      expect(out.endsWith("\n") && out.trimEnd().split("\n").length === 1).toBe(true);
      expect(common.filter((field) => !fieldsOf(json).includes(field))).toEqual([]);
      expect(["PASS", "WARN", "FAIL"]).toContain(json.result);
      if (json.result !== "PASS") expect(json.remediation.length).toBeGreaterThan(0);
      expect(code).toBe(json.reason_code === "usage" ? 2 : json.result === "FAIL" ? 1 : 0);
    },
  );

  test("go --json keeps its progress on stderr", async () => {
    const folder = scratch();
    const went = await goScripted(folder, makesOut, criterion);
    expect(went.json.reason_code).toBe("completion_verified");
    expect(went.err).toContain("✓ Checks    1 of 1 pass");
  });

  test("demo --json prints one object, and leaves the folder it was started in alone", async () => {
    const folder = scratch();
    const before = readdirSync(folder);
    const { json, code } = await autopilot(folder, ["demo", "--json"]);
    expect({ code, result: json.result }).toEqual({ code: 0, result: "PASS" });
    expect(readdirSync(folder)).toEqual(before);
  });

  test("an interrupted demo ends, says so, and leaves nothing of its repository", async () => {
    const [folder, temporary] = [scratch(), scratchFolder()];
    const demoIn = (): string =>
      readdirSync(temporary).find((name) => name.startsWith("autopilot-demo-")) ?? "";
    const { child, ended } = begin(folder, ["demo", "--json"], { env: { TMPDIR: temporary } });
    await until(
      "its run to work",
      () => readdirSync(join(temporary, demoIn(), "shop/.autopilot/runs")).length > 0,
    );

    child.kill("SIGINT");
    const { code, json } = await ended;
    expect({ code, reason: json.reason_code, left: demoIn() }).toEqual({
      code: 1,
      reason: "command_interrupted",
      left: "",
    });
  });
});

describe("reason codes", () => {
  const named =
    "dry_run_required_before_execute budget_threshold_reached scope_violation_blocked confidence_drop_requires_handoff objective_schema_invalid invalid_state_transition run_missing run_open run_locked ack_stale operator_paused operator_stopped cycle_progressed cycle_cap_reached completion_verified completion_unverified completion_promise_missing completion_gates_blocked continuation_pending agent_unavailable agent_failed agent_timeout provider_limit_reached return_invalid breaker_open approval_required human_block_open boundary_reached checkpoint_reached retry_limit_reached phase_failed isolation_unavailable workspace_changed workspace_unusable disk_full journal_damaged spec_hash_mismatch config_invalid flow_invalid roadmap_invalid missing_docs oracle_changed check_flaky invalid_status_transition".split(
      " ",
    );

  type Table = Readonly<
    Record<string, { readonly meaning: string; readonly result: string; readonly hint: string }>
  >;

  let table: Table = {};
  beforeAll(async () => {
    table = (await schemaOf("reason-codes")) as Table;
  });

  test("schema reason-codes lists every code of the contract with meaning, result and hint", () => {
    expect(named.filter((code) => !Object.hasOwn(table, code))).toEqual([]);
    for (const [code, { meaning, result, hint }] of Object.entries(table)) {
      expect(meaning, code).toMatch(/\.$/);
      expect(["PASS", "WARN", "FAIL"], code).toContain(result);
      if (result !== "PASS") expect(hint, code).not.toBe("");
    }
  });

  test("only completions with gaps, caps, the operator's pause, boundaries, approval and questions are warnings among the ways to rest; every other pause fails", () => {
    const resultOf = (codes: string): readonly (string | undefined)[] =>
      codes.split(" ").map((code) => `${code} ${table[code]?.result}`);
    expect(
      resultOf(
        "completion_unverified completion_with_gaps cycle_cap_reached operator_paused boundary_reached approval_required human_block_open checkpoint_reached",
      ).filter((line) => !line?.endsWith(" WARN")),
    ).toEqual([]);

    expect(
      resultOf(
        "budget_threshold_reached scope_violation_blocked confidence_drop_requires_handoff breaker_open provider_limit_reached retry_limit_reached phase_failed agent_failed agent_timeout return_invalid disk_full operator_stopped",
      ).filter((line) => !line?.endsWith(" FAIL")),
    ).toEqual([]);
  });

  test("every reason code that the source or a built-in flow names is in the table", () => {
    const source = resolve(import.meta.dirname, "../../src");
    const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
      (name) =>
        /\.(ts|yaml)$/.test(name) &&
        !/\.test(-support)?\.ts$/.test(name) &&
        !/embedded|explore/.test(name),
    ); // a copy of the flows, and a walk through all paths that no journal sees;

    const found = files.flatMap((name) => {
      const text = readFileSync(join(source, name), "utf8");
      const patterns = name.endsWith(".yaml")
        ? [/\b(?:pause|stop|rest|code): ([a-z]+(?:_[a-z]+)+)/g]
        : [
            /(?:reason_code: |\b(?:paused|stopped)\(run, )"([a-z_]+)"/g,
            ...(/^(?:commands|runner|project|playbooks)\//.test(name) &&
            !/\/(?:config-file\.ts$|documents\/)/.test(name)
              ? [/\b(?:reply|refuse)\("([a-z_]+)"/g]
              : []),
          ];
      const codes = patterns.flatMap((pattern) => [...text.matchAll(pattern)]);

      return codes.map(([, code = ""]) => ({ name, code }));
    });
    expect(found.length).toBeGreaterThan(60);
    expect(found.filter(({ code }) => !Object.hasOwn(table, code))).toEqual([]);
  });
});

describe("the journal's reasons", () => {
  test.each(states)("every event of a %s run bears a reason code of the table", async (state) => {
    const table = await schemaOf("reason-codes");
    const { json } = await autopilot(folders[state], ["log", "--json"]);
    const codes = (json["events"] as { reason_code: string }[]).map(
      ({ reason_code }) => reason_code,
    );
    expect(codes.length).toBeGreaterThan(0);
    expect(codes.filter((code) => !Object.hasOwn(table, code))).toEqual([]);
  });
});

describe("text for people", () => {
  const hostile =
    "\u001b[31mred\u001b[0m \u001b]52;c;ZXZpbA==\u0007 \u202Eback\u2066 \u009b2J \u200bnone\rover";
  // oxlint-disable-next-line no-control-regex
  const steering =
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069]/;

  test("a hostile goal, criterion and agent are shown escaped everywhere, and stay what they are in JSON", async () => {
    const folder = scratch();
    const args = [
      hostile,
      "--done-criteria",
      `${hostile} :: test -f out.txt`,
      ...objective(folder, [
        {
          do: [
            { write: { path: "out.txt", text: "x" } },
            { say: `${hostile} <promise>DONE</promise>` },
          ],
        },
      ]).slice(3),
    ].filter((word) => word !== "--json");

    const texts = [
      await autopilot(folder, ["start", ...args]),
      await autopilot(folder, ["go"]),
      await autopilot(folder, ["go", "--yes"]),
    ];

    for (const verb of ["status", "report", "log", "watch", "budget", "inbox"]) {
      texts.push(await autopilot(folder, [verb]));
    }

    for (const { out, err } of texts) {
      expect(steering.exec(out.replaceAll("\n", "") + err.replaceAll("\n", "")), out).toBeNull();
    }

    expect(texts[0]?.out).toContain("\\x1b[31mred");
    const { json } = await autopilot(folder, ["status", "--json"]);
    expect(json["objective"]).toMatchObject({ goal: hostile.trim() });
    expect(json.state).toBe("completed");
  });

  test("no colour where the output is no terminal, nor with NO_COLOR or --no-color", async () => {
    for (const [words, env] of [
      [["status"], {}],
      [["help"], { NO_COLOR: "1" }],
      [["report", "--no-color"], {}],
      [["pause"], {}],
      [["nosuchflag", "--bad"], {}],
    ] as const) {
      const { out, err } = await autopilot(folders.completed, words, { env });
      expect(out + err).not.toContain("\u001b");
    }
  });

  test("a failure says what happened and what to do next on stderr, and nothing on stdout", async () => {
    const { code, out, err } = await autopilot(folders.completed, ["pause"]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(
      /^✗ run-.* is completed; pause is possible only from running\.\nNext: autopilot/,
    );
  });
});
