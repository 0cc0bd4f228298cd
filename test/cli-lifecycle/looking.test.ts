// The commands that look and decide: log, watch, validate, config, and a person's answers.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { autopilot, type Entry, eventsOf, journal, runFolderOf } from "../support/autopilot.ts";
import { fingerprint } from "../support/fingerprint.ts";
import { misfits } from "../support/json-schema.ts";
import { git, scratchCheckedOnce as scratch, write } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";
import { inTwoTurns, makesOut, objective } from "./stories.ts";

const folder = scratch();
beforeAll(async () => {
  await autopilot(folder, ["go", ...objective(folder, makesOut), "--yes"]);
});

describe("log and watch", () => {
  test("log --jsonl streams the events as they lie in the journal, one a line, and --since begins later", async () => {
    const { out, code } = await autopilot(folder, ["log", "--jsonl"]);
    expect(code).toBe(0);
    const events = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Entry);
    expect(events).toEqual(journal(folder));
    const later = (await autopilot(folder, ["log", "--jsonl", "--since", "20"])).out
      .trimEnd()
      .split("\n");
    expect(later).toHaveLength(events.length - 19);
    expect(
      (await autopilot(folder, ["log", "--json", "--since", "20"])).json["events"],
    ).toHaveLength(events.length - 19);
  });

  test("log shows what came of things; with -v it has one line a fact, with number and time", async () => {
    const short = (await autopilot(folder, ["log"])).out.trimEnd().split("\n");
    expect(short.at(-1)).toMatch(/^\d+ of \d+ events; all: autopilot log -v$/);
    expect(short[0]).toMatch(/^\d{2}:\d{2}:\d{2} {2}Created /);
    const { out } = await autopilot(folder, ["log", "-v"]);
    const lines = out.trimEnd().split("\n");
    expect(lines).toHaveLength(journal(folder).length);

    for (const line of lines) {
      expect(line).toMatch(/^\s*\d+ {2}\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} {2}\S/);
    }
  });

  test("every line of a journal fits the schema of the journal", async () => {
    const schema = (await autopilot(folder, ["schema", "journal", "--json"])).json[
      "schema"
    ] as Record<string, unknown>;
    const kinds = schema["anyOf"] as { properties: { event: { const: string } } }[];

    for (const entry of journal(folder)) {
      const own = kinds.find(({ properties }) => properties.event.const === entry.event);
      expect(
        own === undefined ? ["no schema"] : misfits(entry, own, "$", schema),
        entry.event,
      ).toEqual([]);
    }
  });

  test("watch on a finished run shows what happened and ends", async () => {
    const { code, err, out } = await autopilot(folder, ["watch"]);
    expect(code).toBe(0);
    expect(err).toContain("✓ Checks    1 of 1 pass");
    expect(out).toContain("is completed. Every required check was proved");
  });
});

describe("validate", () => {
  test("recognises journal, run folder, flow, config and script by what is in them", async () => {
    const here = scratch();
    const beside = dirname(here);
    write(here, {
      ".autopilot/config.yaml": "version: 1\n",
      "odd-name": "turns:\n  - do: [{ say: hello }]\n",
      "plain.txt": "just words\n",
      ".autopilot/flows/mine/flow.yaml": readFileSync(
        join(import.meta.dirname, "../../src/flows/catalog/objective/flow.yaml"),
        "utf8",
      ).replace("flow: objective", "flow: mine"),
    });

    for (const name of readdirSync(
      join(import.meta.dirname, "../../src/flows/catalog/objective/prompts"),
    )) {
      write(here, {
        [`.autopilot/flows/mine/prompts/${name}`]: readFileSync(
          join(import.meta.dirname, "../../src/flows/catalog/objective/prompts", name),
          "utf8",
        ),
      });
    }

    writeFileSync(join(beside, "script.json"), JSON.stringify({ turns: [] }));
    const before = fingerprint(here, { without: [".git/index"] });
    const run = runFolderOf(folder);

    const { json } = await autopilot(here, [
      "validate",
      join(run, "journal.jsonl"),
      run,
      ".autopilot/flows/mine/flow.yaml",
      ".autopilot/config.yaml",
      "odd-name",
      "../script.json",
      "plain.txt",
      "nowhere",
      "--json",
    ]);
    expect(
      (json["files"] as { format: string; valid: boolean }[]).map(
        ({ format, valid }) => `${format} ${valid}`,
      ),
    ).toEqual([
      "journal true",
      "journal true",
      "flow true",
      "config true",
      "script true",
      "script true",
      "unknown false",
      "missing false",
    ]);

    expect(fingerprint(here, { without: [".git/index"] })).toBe(before);
  });
});

describe.concurrent("config", () => {
  test("shows every value with where it came from, file and line; flags over environment over project over user over defaults", async () => {
    const here = scratch();
    const xdg = join(dirname(here), "xdg");
    write(xdg, {
      "autopilot/config.yaml":
        "version: 1\nagent: from-user\nrisk_level: high\nhandoff_mode: auto\n",
    });

    write(here, {
      ".autopilot/config.yaml": "# ours\nagent: from-project\nhandoff_mode: manual\n",
    });

    const { code, json } = await autopilot(here, ["config", "--json"], {
      env: { XDG_CONFIG_HOME: xdg, AUTOPILOT_HANDOFF_MODE: "auto" },
    });
    expect(code).toBe(0);

    const settings = Object.fromEntries(
      (
        json["settings"] as {
          key: string;
          value: unknown;
          from: string;
          file?: string;
          line?: number;
        }[]
      ).map(({ key, ...rest }) => [key, rest]),
    );
    expect(settings["agent"]).toEqual({
      value: "from-project",
      from: "project",
      file: join(here, ".autopilot/config.yaml"),
      line: 2,
    });

    expect(settings["risk_level"]).toEqual({
      value: "high",
      from: "user",
      file: join(xdg, "autopilot/config.yaml"),
      line: 3,
    });

    expect(settings["handoff_mode"]).toEqual({ value: "auto", from: "environment" });
    expect(settings["isolation"]).toEqual({ value: "auto", from: "default" });
  });

  test.each([
    "dry_run: auto",
    "isolation: none",
    "isolation: clone",
    "max_budget: extended",
    "limits: { cost_cap_tokens_total: 50000000 }",
    "risk_level: low",
    "network: { checks: true }",
  ])(
    "%s in the project's file loosens nothing and is told as ignored; in the user's it counts",
    async (line) => {
      const here = scratch();
      write(here, { ".autopilot/config.yaml": `${line}\n` });
      const project = await autopilot(here, ["config", "--json"]);
      expect(project.json.warnings.join("\n")).toMatch(/config\.yaml:1 is ignored/);
      const xdg = join(dirname(here), "xdg");
      write(xdg, { "autopilot/config.yaml": `${line}\n` });
      const user = await autopilot(scratch(), ["config", "--json"], {
        env: { XDG_CONFIG_HOME: xdg },
      });
      expect(user.json.warnings).toEqual([]);
      expect(
        (user.json["settings"] as { from: string }[]).filter(({ from }) => from === "user"),
      ).toHaveLength(1);
    },
  );

  longTest(
    "a config that changed while a run is open is told at resume, and the run goes on with its recorded copy",
    "test/cli-lifecycle/taking-up.test.ts › its own: a changed config is a warning and a fact, and only --adopt-config takes it, under the operator's name",
    async () => {
      const here = scratch();
      await autopilot(here, ["go", ...objective(here, inTwoTurns), "--yes", "--max-cycles", "1"]);
      write(here, { ".autopilot/config.yaml": "checks: { timeout_minutes: 3 }\n" });
      const { json } = await autopilot(here, ["resume", "--json"]);
      expect(json.state).toBe("completed");
      expect(json.warnings.join("\n")).toMatch(/config.*changed/i);
    },
  );
});

describe.concurrent("a person's decisions", () => {
  const asking = (here: string, policy: string): readonly string[] => [
    "go",
    ...objective(here, makesOut),
    "--yes",
    "--approval-policy",
    policy,
  ];

  test("approval before execution: it pauses before the agent works, inbox shows the question, approve and resume go on", async () => {
    const here = scratch();
    const went = await autopilot(here, asking(here, "required-before-execute"));
    expect({
      code: went.code,
      result: went.json.result,
      reason: went.json.reason_code,
      state: went.json.state,
    }).toEqual({
      code: 0,
      result: "WARN",
      reason: "approval_required",
      state: "paused",
    });

    expect(eventsOf(here, "session_opened")).toEqual([]);
    const inbox = await autopilot(here, ["inbox", "--json"]);
    expect(inbox.json["blocks"]).toMatchObject([
      { question: "Execute this objective?", options: { A: "execute", B: "stop" }, recommend: "A" },
    ]);

    const wrong = await autopilot(here, ["answer", "Z", "--json"]);
    expect({ code: wrong.code, result: wrong.json.result }).toEqual({ code: 1, result: "FAIL" });
    const approved = await autopilot(here, ["approve", "--json"]);
    expect({
      code: approved.code,
      reason: approved.json.reason_code,
      answer: approved.json["answer"],
    }).toEqual({
      code: 0,
      reason: "block_answered",
      answer: "A",
    });

    expect(eventsOf(here, "block_answered")[0]?.actor).toMatch(/^operator:/);
    expect((await autopilot(here, ["inbox", "--json"])).json["blocks"]).toEqual([]);
    expect((await autopilot(here, ["approve", "--json"])).json.reason_code).toBe(
      "invalid_state_transition",
    );

    expect((await autopilot(here, ["resume", "--json"])).json.reason_code).toBe(
      "completion_verified",
    );
  });

  longTest(
    "an answer that declines execution stops the run, and nothing was done",
    "test/cli-runs/confidence-and-approval.test.ts › required-before-execute refused: the run is stopped and nothing was executed",
    async () => {
      const here = scratch();
      await autopilot(here, asking(here, "required-before-execute"));
      await autopilot(here, ["answer", "b", "--json"]);
      const { json, code } = await autopilot(here, ["resume", "--json"]);
      expect({ code, state: json.state, reason: json.reason_code }).toEqual({
        code: 1,
        state: "stopped",
        reason: "operator_stopped",
      });

      expect(eventsOf(here, "session_opened")).toEqual([]);
    },
  );

  longTest(
    "approval before merge: the work is done and proved but lands only after approval",
    "test/cli-runs/confidence-and-approval.test.ts › %s: verified work waits for approval and lands only then",
    async () => {
      const here = scratch();
      const head = git(here, "rev-parse", "HEAD");
      expect((await autopilot(here, asking(here, "required-before-merge"))).json.reason_code).toBe(
        "approval_required",
      );

      expect({
        head: git(here, "rev-parse", "HEAD"),
        isThere: existsSync(join(here, "out.txt")),
      }).toEqual({ head, isThere: false });

      await autopilot(here, ["approve", "--json"]);
      expect((await autopilot(here, ["resume", "--json"])).json.reason_code).toBe(
        "completion_verified",
      );

      expect(existsSync(join(here, "out.txt"))).toBe(true);
    },
  );

  test("budget shows limits and use; raise adds or sets, is journaled with actor and reason, and never lowers", async () => {
    const here = scratch();
    await autopilot(here, ["go", ...objective(here, inTwoTurns), "--yes", "--max-cycles", "1"]);
    await autopilot(here, ["pause", "--json"]);
    expect((await autopilot(here, ["budget", "--json"])).json["budget"]).toMatchObject({
      limits: { tokens: 180_000, calls: 180 },
    });

    const raised = await autopilot(here, [
      "budget",
      "raise",
      "tokens=+100k",
      "calls=200",
      "--reason",
      "a large one",
      "--json",
    ]);

    expect({ code: raised.code, reason: raised.json.reason_code }).toEqual({
      code: 0,
      reason: "limit_raised",
    });

    expect(raised.json["budget"]).toMatchObject({
      limits: { tokens: 280_000, calls: 200, minutes: 30 },
    });

    expect(
      eventsOf(here, "limit_raised").map((entry) => [
        entry["dimension"],
        entry["to"],
        entry["detail"],
        entry.actor.startsWith("operator:"),
      ]),
    ).toEqual([
      ["tokens", 280_000, "a large one", true],
      ["calls", 200, "a large one", true],
    ]);

    for (const bad of ["tokens=1k", "tokens=+0", "hours=+1", "tokens"]) {
      const refused = await autopilot(here, ["budget", "raise", bad, "--json"]);
      expect({ bad, code: refused.code, reason: refused.json.reason_code }).toEqual({
        bad,
        code: 1,
        reason: "objective_schema_invalid",
      });
    }

    expect(eventsOf(here, "limit_raised")).toHaveLength(2);
  });
});
