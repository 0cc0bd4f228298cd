// Taking up a run: what resume looks at again before anything begins, and whose rules the run
// continues with.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, journal, runFolderOf } from "../support/autopilot.ts";
import { git, scratchCheckedOnce as scratch, write } from "../support/scratch-repository.ts";
import { inTwoTurns, objective } from "./stories.ts";

/** A run that was paused after its first turn, with work on its branch. */
async function paused(): Promise<string> {
  const folder = scratch();
  await autopilot(folder, ["go", ...objective(folder, inTwoTurns), "--yes", "--max-cycles", "1"]);
  expect((await autopilot(folder, ["pause", "--json"])).json.state).toBe("paused");

  return folder;
}

describe.concurrent("resume looks again", () => {
  test("at the journal: damage in it is journal_damaged, and nothing begins", async () => {
    const folder = await paused();
    const path = join(runFolderOf(folder), "journal.jsonl");
    const damaged = readFileSync(path, "utf8").replace(
      '"event":"run_started"',
      '"event":"run_startet"',
    );
    writeFileSync(path, damaged);
    const { code, json } = await autopilot(folder, ["resume", "--json"]);
    expect({ code, reason: json.reason_code }).toEqual({ code: 1, reason: "journal_damaged" });
    expect(json.remediation.length).toBeGreaterThan(0);
    expect(readFileSync(path, "utf8")).toBe(damaged);
  });

  test("at the branch: one that somebody moved is workspace_changed, and moved back the run goes on", async () => {
    const folder = await paused();
    const branch = `refs/heads/autopilot/${String((await autopilot(folder, ["status", "--json"])).json.run_id)}`;
    const tip = git(folder, "rev-parse", branch);
    git(folder, "update-ref", branch, "main");
    const { code, json } = await autopilot(folder, ["resume", "--json"]);
    expect({ code, reason: json.reason_code }).toEqual({ code: 1, reason: "workspace_changed" });
    expect(eventsOf(folder, "turn_ended")).toHaveLength(1);
    git(folder, "update-ref", branch, tip);
    expect((await autopilot(folder, ["resume", "--json"])).json.reason_code).toBe(
      "completion_verified",
    );
  });

  test("at the isolation: what cannot be had here any more is isolation_unavailable, and no agent begins", async () => {
    const folder = await paused();
    const xdg = join(dirname(folder), "xdg");
    write(xdg, { "autopilot/config.yaml": "isolation: srt\n" });
    const before = journal(folder).filter(({ event }) => event === "session_opened").length;
    const path = (process.env["PATH"] ?? "")
      .split(delimiter)
      .filter((place) => !existsSync(join(place, "srt")));

    const env = { XDG_CONFIG_HOME: xdg, PATH: path.join(delimiter) };
    expect(
      (await autopilot(folder, ["resume", "--adopt-config", "--json"], { env })).json.reason_code,
    ).toBe("isolation_unavailable");

    expect(eventsOf(folder, "session_opened")).toHaveLength(before);
  });
});

describe.concurrent("whose rules a run goes on with", () => {
  test("its own: a changed config is a warning and a fact, and only --adopt-config takes it, under the operator's name", async () => {
    const folder = await paused();
    write(folder, { ".autopilot/config.yaml": "checks: { timeout_minutes: 3 }\n" });
    const kept = await autopilot(folder, ["resume", "--max-cycles", "1", "--json"]);
    expect(kept.json.warnings.join("\n")).toMatch(/config changed.*--adopt-config/i);
    expect(eventsOf(folder, "policy_changed")).toMatchObject([
      { adopted: false, reason_code: "config_changed" },
    ]);

    const other = await paused();
    write(other, { ".autopilot/config.yaml": "checks: { timeout_minutes: 3 }\n" });
    const adopted = await autopilot(other, ["resume", "--adopt-config", "--json"]);
    expect(adopted.json).toMatchObject({ reason_code: "completion_verified" });
    expect(adopted.json.warnings.join("\n")).not.toMatch(/config changed/i);
    expect(eventsOf(other, "policy_changed")).toMatchObject([
      {
        adopted: true,
        actor: expect.stringMatching(/^operator:/) as string,
        policy: { check_minutes_max: 3 },
      },
    ]);
  });

  test("never an agent's: what it writes to config or flows is refused, though its scope is everything", async () => {
    const folder = scratch();
    mkdirSync(join(folder, ".autopilot"));
    write(folder, { ".autopilot/config.yaml": "version: 1\n" });
    git(folder, "add", "-A");
    git(folder, "commit", "-q", "-m", "config");

    const turns = [
      {
        do: [
          { write: { path: ".autopilot/config.yaml", text: "checks: { detect: false }\n" } },
          { say: "<promise>DONE</promise>" },
        ],
        repeat: 0,
      },
    ];

    const { json } = await autopilot(folder, ["go", ...objective(folder, turns), "--yes"]);
    expect(json).toMatchObject({ reason_code: "scope_violation_blocked", state: "paused" });
    expect(eventsOf(folder, "step_interrupted")[0]?.["paths"]).toEqual([".autopilot/config.yaml"]);
    expect(readFileSync(join(folder, ".autopilot/config.yaml"), "utf8")).toBe("version: 1\n");
  });
});
