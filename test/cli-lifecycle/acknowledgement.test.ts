// The dry run before the first cycle: what was acknowledged is what runs, or nothing does.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import {
  autopilot,
  compiled,
  eventsOf,
  journal,
  program,
  type Reported,
} from "../support/autopilot.ts";
import { git, scratchCheckedOnce as scratch, write } from "../support/scratch-repository.ts";
import { done, inTwoTurns, makesOut, objective, writes } from "./stories.ts";

const brief = ({
  code,
  json,
}: {
  readonly code: number | null;
  readonly json: Reported;
}): object => ({
  code,
  result: json.result,
  reason: json.reason_code,
  state: json.state,
});
const stale = { code: 1, result: "FAIL", reason: "ack_stale", state: "draft" };
const unacknowledged = {
  code: 1,
  result: "FAIL",
  reason: "dry_run_required_before_execute",
  state: "draft",
};
const verified = { code: 0, result: "PASS", reason: "completion_verified", state: "completed" };

/**
 * A script that leaves a trace beside the repository, so that one sees whether it was ever played.
 */
const traced = (folder: string): readonly object[] => [
  { do: [{ run: `touch '${join(dirname(folder), "played")}'` }, writes("out.txt"), done] },
];
const ackOf = ({ json }: { readonly json: Reported }): string => json["ack"] as string;

test.concurrent("start writes a draft and shows everything the preview promises, with an id, and starts nothing", async () => {
  const folder = scratch({
    files: {
      "src/a.txt": "a\n",
      "docs/b.md": "b\n",
      "package.json": '{"scripts":{"test":"true"}}\n',
    },
  });

  const { code, json } = await autopilot(folder, [
    "start",
    ...objective(folder, traced(folder)),
    "--scope",
    "src/**,out.txt",
  ]);

  expect({ code, result: json.result, state: json.state }).toEqual({
    code: 0,
    result: "PASS",
    state: "draft",
  });

  const preview = json["preview"] as Record<string, unknown>;
  expect(preview["objective"]).toMatchObject({
    goal: "make out.txt",
    scope: ["src/**", "out.txt"],
  });

  expect(preview["scope"]).toEqual({ patterns: ["src/**", "out.txt"], files: 1 });
  expect(preview["roles"]).toEqual({ executor: "scripted", judge: "scripted" });
  expect((preview["phases"] as { id: string }[]).map(({ id }) => id)).toEqual([
    "baseline",
    "1",
    "land",
  ]);

  expect((preview["checks"] as { command: string }[]).map(({ command }) => command)).toEqual([
    "test -f out.txt",
    "npm run test",
  ]);

  expect(preview["limits"]).toMatchObject({ run: { tokens: 180_000, minutes: 30, calls: 180 } });
  expect(preview["isolation"]).toMatchObject({ level: "clone" });
  expect(preview["estimate"]).toMatchObject({
    tokens: { p50: expect.any(Number) as number, p90: expect.any(Number) as number },
  });

  expect(preview["inferred_defaults"]).toEqual(json["inferred_defaults"]);
  expect(json["ack"]).toMatch(/^[0-9a-f]{64}$/);

  expect(existsSync(join(dirname(folder), "played"))).toBe(false);
  expect(git(folder, "branch", "--list", "autopilot/*")).toBe("");
  expect(git(folder, "worktree", "list").split("\n")).toHaveLength(1);
  expect(git(folder, "status", "--porcelain")).toBe("");
  expect(journal(folder).map(({ event }) => event)).toEqual(["run_drafted"]);
});

test.concurrent("go on an unacknowledged draft is dry_run_required_before_execute, with preview, id and inferred defaults, and executes nothing", async () => {
  const folder = scratch();
  const fresh = await autopilot(folder, ["go", ...objective(folder, traced(folder))]);
  const again = await autopilot(folder, ["go", "--json"]);
  for (const went of [fresh, again]) {
    expect(brief(went)).toEqual(unacknowledged);
    expect(went.json["inferred_defaults"]).toContain("scope");
    expect(went.json["preview"]).toMatchObject({ objective: { goal: "make out.txt" } });
    expect(went.json.remediation.join("\n")).toMatch(
      new RegExp(`autopilot ack ${ackOf(went).slice(0, 12)}[\\s\\S]*autopilot go --yes`),
    );
  }

  expect(ackOf(again)).toBe(ackOf(fresh));
  expect(existsSync(join(dirname(folder), "played"))).toBe(false);
  expect(git(folder, "branch", "--list", "autopilot/*")).toBe("");
});

test.concurrent("an acknowledged draft goes, and the journal says who acknowledged which preview", async () => {
  const folder = scratch();
  const started = await autopilot(folder, ["start", ...objective(folder)]);
  const wrong = await autopilot(folder, ["ack", "deadbeefdeadbeef", "--json"]);
  expect(brief(wrong)).toEqual(stale);
  expect(brief(await autopilot(folder, ["ack", ackOf(started).slice(0, 7), "--json"]))).toEqual(
    stale,
  );

  const acknowledged = await autopilot(folder, ["ack", ackOf(started).slice(0, 12), "--json"]);
  expect({ ...brief(acknowledged), ack: ackOf(acknowledged) }).toEqual({
    code: 0,
    result: "PASS",
    reason: "ack_recorded",
    state: "draft",
    ack: ackOf(started),
  });

  expect(brief(await autopilot(folder, ["go", "--json"]))).toEqual(verified);
  expect(eventsOf(folder, "preview_acknowledged")).toMatchObject([
    { ack: ackOf(started), actor: expect.stringMatching(/^operator:/) as string },
  ]);
});

test.concurrent("with --yes warnings come before the run's first line, and once", async () => {
  const folder = scratch();
  const args = objective(folder).filter((word) => word !== "--json");

  const { err, out } = await autopilot(folder, [
    "go",
    ...args,
    "--yes",
    "--scope",
    "out.txt,srcc/**",
  ]);
  const firstTurn = err.indexOf("Baseline");
  expect(firstTurn).toBeGreaterThan(0);

  for (const warning of [
    "Sandbox clone doesn't block",
    "The scope srcc/** matches no file",
    "Defaults: ",
  ]) {
    expect(`${err}${out}`.split(warning), warning).toHaveLength(2);
    expect(err.indexOf(warning), warning).toBeLessThan(firstTurn);
  }
});

test.concurrent("--yes acknowledges the preview of the very invocation", async () => {
  const folder = scratch();
  const went = await autopilot(folder, ["go", ...objective(folder), "--yes"]);
  expect(brief(went)).toEqual(verified);
  expect(went.json["inferred_defaults"]).toContain("scope");
  expect(eventsOf(folder, "preview_acknowledged")).toHaveLength(1);
});

test.concurrent("a new goal replaces the draft: the old id is ack_stale, and the old draft can neither be acknowledged nor started by name", async () => {
  const folder = scratch();
  const old = await autopilot(folder, ["start", ...objective(folder, traced(folder))]);
  const fresh = await autopilot(folder, ["start", ...objective(folder), "--risk-level", "low"]);
  expect(ackOf(fresh)).not.toBe(ackOf(old));
  const run = old.json.run_id ?? "";
  expect(run).not.toBe(fresh.json.run_id);
  expect(brief(await autopilot(folder, ["ack", ackOf(old), "--json"]))).toEqual(stale);
  expect(brief(await autopilot(folder, ["ack", ackOf(old), "--run", run, "--json"]))).toEqual(
    stale,
  );

  expect(brief(await autopilot(folder, ["go", "--yes", "--run", run, "--json"]))).toEqual(stale);
  expect((await autopilot(folder, ["status", "--json"])).json.run_id).toBe(fresh.json.run_id);
  expect(brief(await autopilot(folder, ["go", "--yes", "--json"]))).toEqual(verified);
  expect(brief(await autopilot(folder, ["go", "--yes", "--run", run, "--json"]))).toEqual(stale);
  expect(existsSync(join(dirname(folder), "played"))).toBe(false);
});

const meanwhile: readonly (readonly [what: string, act: (folder: string) => void])[] = [
  [
    "the project's config",
    (folder) => write(folder, { ".autopilot/config.yaml": "checks: { timeout_minutes: 3 }\n" }),
  ],
  [
    "the user's config",
    (folder) =>
      write(dirname(folder), {
        "home/.config/autopilot/config.yaml": "checks: { timeout_minutes: 3 }\n",
      }),
  ],
  [
    "the flow",
    (folder) =>
      write(folder, { ".autopilot/flows/small/prompts/work.md": "Do {{goal}} with care.\n" }),
  ],
  [
    "the commit it would start from",
    (folder) => git(folder, "commit", "-q", "--allow-empty", "-m", "more"),
  ],
  ["the branch it would land on", (folder) => git(folder, "switch", "-q", "-c", "other")],
];

const small = {
  ".autopilot/flows/small/flow.yaml":
    'flow: small\nversion: 1\nlands_nothing: true\nphases:\n  - id: "1"\n    steps:\n      - { id: work, agent: worker, prompt: work.md, otherwise: [{ pause: phase_failed, again: true }] }\n      - { id: prove, check: [criteria], otherwise: [{ pause: phase_failed, again: true }] }\n',
  ".autopilot/flows/small/prompts/work.md": "Do {{goal}}.\n",
};

test.concurrent.each(meanwhile)(
  "while it is a draft, a change of %s makes ack and go ack_stale, and a new start gives a new draft",
  async (what, act) => {
    const folder = scratch({ files: { "a.txt": "a\n", ...small } });
    const args = [
      "start",
      ...objective(folder),
      "--flow",
      what === "the flow" ? "small" : "objective",
    ];
    const started = await autopilot(folder, args);
    expect(started.json.reason_code, started.json.message).toBe("run_drafted");
    act(folder);
    const acknowledged = await autopilot(folder, ["ack", ackOf(started), "--json"]);
    expect(brief(acknowledged), acknowledged.json.message).toEqual(stale);
    expect(brief(await autopilot(folder, ["go", "--json"]))).toEqual(stale);
    expect(brief(await autopilot(folder, ["go", "--yes", "--json"]))).toEqual(stale);
    const again = await autopilot(folder, args);
    expect((await autopilot(folder, ["ack", ackOf(again), "--json"])).code).toBe(0);
  },
);

test.concurrent("an acknowledgement given before the config changed does not count afterwards", async () => {
  const folder = scratch();
  const started = await autopilot(folder, ["start", ...objective(folder, traced(folder))]);
  expect((await autopilot(folder, ["ack", ackOf(started), "--json"])).code).toBe(0);
  write(folder, { ".autopilot/config.yaml": "checks: { timeout_minutes: 3 }\n" });
  expect(brief(await autopilot(folder, ["go", "--json"]))).toEqual(stale);
  expect(existsSync(join(dirname(folder), "played"))).toBe(false);
});

test.concurrent("dry_run auto counts from the user's own config", async () => {
  const folder = scratch();
  const config = join(dirname(folder), "xdg");
  write(config, { "autopilot/config.yaml": "dry_run: auto\n" });
  expect(
    brief(
      await autopilot(folder, ["go", ...objective(folder)], { env: { XDG_CONFIG_HOME: config } }),
    ),
  ).toEqual(verified);
});

test.concurrent("dry_run auto in the project's config is ignored, with a warning that names file and line", async () => {
  const folder = scratch();
  write(folder, { ".autopilot/config.yaml": "version: 1\ndry_run: auto\n" });
  const went = await autopilot(folder, ["go", ...objective(folder, traced(folder))]);
  expect(brief(went)).toEqual(unacknowledged);
  expect(went.json.warnings.join("\n")).toMatch(/dry_run in .*config\.yaml:2 is ignored/);
  expect(existsSync(join(dirname(folder), "played"))).toBe(false);
});

test.concurrent("flags that describe an objective are refused on a draft without its goal, rather than passed over", async () => {
  const folder = scratch();
  await autopilot(folder, ["start", ...objective(folder, traced(folder))]);

  const { code, json } = await autopilot(folder, [
    "go",
    "--yes",
    "--max-budget",
    "conservative",
    "--json",
  ]);

  expect({ code, reason: json.reason_code, missing: json["missing_fields"] }).toEqual({
    code: 1,
    reason: "objective_schema_invalid",
    missing: ["goal"],
  });

  expect(existsSync(join(dirname(folder), "played"))).toBe(false);
});

test.concurrent("while a run is open a new goal is run_open, naming it and the three ways on; --new begins a second one beside it", async () => {
  const folder = scratch();
  const first = await autopilot(folder, [
    "go",
    ...objective(folder, inTwoTurns),
    "--yes",
    "--max-cycles",
    "1",
  ]);

  for (const verb of ["start", "go"]) {
    const { code, json } = await autopilot(folder, [verb, ...objective(folder)]);
    expect({
      code,
      result: json.result,
      reason: json.reason_code,
      run: json.run_id,
      state: json.state,
    }).toEqual({
      code: 1,
      result: "FAIL",
      reason: "run_open",
      run: first.json.run_id,
      state: "running",
    });

    expect(json.remediation.join("\n")).toMatch(/resume[\s\S]*stop[\s\S]*--new/);
  }

  expect(readdirSync(join(folder, ".autopilot", "runs"))).toHaveLength(1);
  const second = await autopilot(folder, ["go", ...objective(folder), "--yes", "--new"]);
  expect(brief(second)).toEqual(verified);
  expect((await autopilot(folder, ["status", "--json"])).json.run_id).toBe(second.json.run_id);
  expect(
    (await autopilot(folder, ["status", "--json", "--run", first.json.run_id ?? ""])).json.state,
  ).toBe("running");
});

test.concurrent("bare autopilot takes up what is there: a draft, an open run though another one is current, and else asks for a goal", async () => {
  const folder = scratch();
  const nothing = await autopilot(folder, ["--json"]);
  expect({
    code: nothing.code,
    reason: nothing.json.reason_code,
    missing: nothing.json["missing_fields"],
    state: nothing.json.state,
  }).toEqual({ code: 1, reason: "objective_schema_invalid", missing: ["goal"], state: "idle" });

  const first = await autopilot(folder, ["start", ...objective(folder, inTwoTurns)]);
  expect(brief(await autopilot(folder, ["--json"]))).toEqual(unacknowledged);
  await autopilot(folder, ["--yes", "--json", "--max-cycles", "1"]);

  const beside = await autopilot(folder, [
    "go",
    "something else",
    "--new",
    "--yes",
    ...objective(folder, [{ do: [writes("else.txt"), writes("out.txt"), done] }]).slice(1),
  ]);
  expect(beside.json.state).toBe("completed");
  const taken = await autopilot(folder, ["$ARGUMENTS", "--json"]);
  expect({ ...brief(taken), run: taken.json.run_id }).toMatchObject({
    run: first.json.run_id,
    state: "completed",
  });

  expect((await autopilot(folder, ["--json"])).json.reason_code).toBe("objective_schema_invalid");
});

test.concurrent("with no goal and several things to take up, each is named with a command for it, and none is guessed", async () => {
  const roadmap = "- [ ] **Phase 1: A**\n\n### Phase 1: A\n**Goal**: a is there\n";
  const folder = scratch({
    files: { "ROADMAP.md": roadmap, "_docs/00_problem/problem.md": "a\n" },
  });

  const { code, json } = await autopilot(folder, ["--yes", "--json"]);
  expect([code, json.reason_code, json["missing_fields"]]).toEqual([
    1,
    "objective_schema_invalid",
    ["goal"],
  ]);

  expect(json.remediation.join("\n")).toMatch(/autopilot go --flow roadmap +\(ROADMAP\.md\)/);
  expect(json.remediation.join("\n")).toContain("_docs/");
});

const hasPython = spawnSync("python3", ["--version"]).status === 0;

/**
 * A command on its own terminal, with these keys typed; what the terminal showed, and the exit
 * code.
 */
function onTerminal(
  folder: string,
  args: readonly string[],
  keys: string,
): { readonly shown: string; readonly code: number } {
  const driver = join(dirname(folder), "terminal.py");
  writeFileSync(
    driver,
    `import os, pty, sys, json
pid, fd = pty.fork()
if pid == 0:
    os.chdir(sys.argv[1]); os.execvp(sys.argv[2], sys.argv[2:-1])
shown = b""; asked = False
while True:
    try: data = os.read(fd, 65536)
    except OSError: break
    if not data: break
    shown += data
    if not asked and b"Start this run?" in shown: asked = True; os.write(fd, sys.argv[-1].encode())
print(json.dumps({"shown": shown.decode("utf8", "replace"), "code": os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}))`,
  );

  const env = {
    PATH: process.env["PATH"],
    HOME: join(dirname(folder), "home"),
    TERM: "xterm",
    ...compiled,
  };

  const { stdout } = spawnSync(
    "python3",
    [driver, folder, process.execPath, program, ...args, keys],
    { encoding: "utf8", env },
  );
  return JSON.parse(stdout) as { shown: string; code: number };
}

test.skipIf(!hasPython)(
  "on a terminal go shows the preview and asks: y starts the run, anything else leaves the draft (skipped without Python, which makes the terminal)",
  async () => {
    const folder = scratch();
    const args = objective(folder, makesOut).filter((word) => word !== "--json");
    const no = onTerminal(folder, ["go", ...args], "n\n");
    expect(no.shown).toMatch(/Preview: nothing has run[\s\S]*Start this run\?/);
    expect(no.code).toBe(1);
    expect(journal(folder).map(({ event }) => event)).toEqual(["run_drafted"]);
    expect(onTerminal(folder, ["go"], "y\n").code).toBe(0);
    expect((await autopilot(folder, ["status", "--json"])).json.state).toBe("completed");
  },
);
