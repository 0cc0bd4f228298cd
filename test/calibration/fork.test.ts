// A fork goes on from any line of another run: what was finished there is taken over, what is new
// is paid, and the other run stays as it is. A replay runs one step again and leaves no trace.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  autopilot,
  begin,
  type Ended,
  type Entry,
  journal,
  runFolderOf,
  scripted,
  until,
} from "../support/autopilot.ts";
import { rewound } from "../support/rewind.ts";
import { git, scratchCheckedOnce as scratch, write } from "../support/scratch-repository.ts";

const done = { say: "finished <promise>DONE</promise>" };
const goal = [
  "make out.txt",
  "--done-criteria",
  "out.txt is there :: test -f out.txt",
  "--isolation",
  "clone",
  "--yes",
  "--json",
];
const half = {
  do: [
    { write: { path: "half.txt", text: "half\n" } },
    { usage: { input: 900, output: 100, usd: 0.5 } },
    { say: "half way" },
  ],
};
const hangs = { do: [{ write: { path: "wrong.txt", text: "x\n" } }, { hang: true }] };
const ends = {
  do: [
    { write: { path: "out.txt", text: "made\n" } },
    { usage: { input: 400, output: 50, usd: 0.2 } },
    done,
  ],
};

const said = ({ out, err }: Ended): string => `${out}\n${err}`;
const usedIn = (entries: readonly Entry[]): number =>
  entries.reduce(
    (sum, { usage }) => sum + ((usage as { tokens?: number } | undefined)?.tokens ?? 0),
    0,
  );

const cut = rewound(async () => {
  const folder = scratch();
  const { child, ended } = begin(folder, ["go", ...goal, ...scripted(folder, [half, hangs])]);
  await until("the second turn", () =>
    journal(folder).some(
      ({ event, attempt }) => event === "session_opened" && attempt === "1@1/execute#2",
    ),
  );

  child.kill("SIGKILL");
  await ended;
  return folder;
});

/** A run whose first turn is paid and committed, and whose second was cut by kill -9. */
async function killed(): Promise<{
  readonly folder: string;
  readonly run: string;
  readonly path: string;
}> {
  const folder = await cut();
  const path = runFolderOf(folder);
  return { folder, path, run: path.split("/").at(-1) ?? "" };
}

const everything = (folder: string): string =>
  execFileSync(
    "sh",
    [
      "-c",
      "find . -type f -not -path './.autopilot/runs/*/journal.lock' | LC_ALL=C sort | xargs -d '\\n' sha256sum",
    ],
    {
      cwd: folder,
      encoding: "utf8",
    },
  );

describe("a fork", () => {
  test("of a killed run with another agent ends verified and pays only for what is new", async () => {
    const { folder, run, path } = await killed();
    const before = readFileSync(join(path, "journal.jsonl"), "utf8");
    const other = scripted(folder, [ends], "other");
    const shown = await autopilot(folder, ["fork", run, ...other, "--json"]);
    expect(shown.json, said(shown)).toMatchObject({
      reason_code: "dry_run_required_before_execute",
      run_id: run,
    });

    expect(readdirSync(join(folder, ".autopilot", "runs"))).toEqual([run]);

    const forked = await autopilot(folder, ["fork", run, ...other, "--yes", "--json"]);
    expect(forked.json, said(forked)).toMatchObject({
      reason_code: "completion_verified",
      state: "completed",
    });

    const name = forked.json.run_id ?? "";
    expect(name).not.toBe(run);
    const lines = journal(folder, join(folder, ".autopilot", "runs", name));
    const line = lines.findIndex(({ event }) => event === "run_forked");
    expect(lines[line]).toMatchObject({
      run,
      taken: { tokens: 1000, usd: 0.5 },
      actor: expect.stringMatching(/^operator:/) as string,
    });

    expect(usedIn(lines)).toBe(450);
    expect(usedIn(lines.slice(0, line))).toBe(0);
    expect(lines.slice(line).filter(({ event }) => event === "turn_ended")).toHaveLength(1);
    expect(readFileSync(join(path, "journal.jsonl"), "utf8")).toBe(before);
    // What was finished is taken over by its content, and what the killed turn left is not.
    expect(git(folder, "ls-tree", "--name-only", `autopilot/${name}`).split("\n")).toEqual([
      "README.md",
      "half.txt",
      "out.txt",
    ]);

    expect(git(folder, "rev-parse", `autopilot/${name}~1`)).toBe(
      git(folder, "rev-parse", `autopilot/${run}`),
    );

    const status = await autopilot(folder, ["status", "--run", name, "--json"]);
    expect(status.json["forked_from"]).toMatchObject({
      run,
      changed: ["agent scripted"],
      taken: { tokens: 1000 },
    });

    const report = await autopilot(folder, ["report", "--run", name, "-v"]);
    expect(report.out).toContain(`forked from ${run}`);
    const runs = await autopilot(folder, ["runs"]);
    expect(runs.out).toContain(`fork of ${run.replace("run-", "")}`);
    const verified = await autopilot(folder, ["verify", "--run", name, "--json"]);
    expect(verified.json, said(verified)).toMatchObject({ result: "PASS" });
  });

  test("survives kill -9 like any run, and can be forked itself", async () => {
    const { folder, run } = await killed();
    const { child, ended } = begin(folder, [
      "fork",
      run,
      ...scripted(folder, [hangs], "other"),
      "--yes",
    ]);

    const inFork = (): readonly Entry[] =>
      runFolderOf(folder).endsWith(run) ? [] : journal(folder);
    await until("the fork's turn", () =>
      inFork().some(({ event, seq }) => event === "session_opened" && seq > 31),
    );

    child.kill("SIGKILL");
    await ended;
    const fork = runFolderOf(folder).split("/").at(-1) ?? "";
    // What a fork leaves that was killed while it was made isn't a run, and goes with the next one.
    const unfinished = join(folder, ".autopilot", "runs", "run-2099-01-01-000000.forking");
    mkdirSync(unfinished);
    writeFileSync(join(unfinished, "journal.jsonl"), "{");
    expect((await autopilot(folder, ["runs"])).out).not.toContain("2099");

    const again = await autopilot(folder, [
      "fork",
      fork,
      ...scripted(folder, [ends], "third"),
      "--yes",
      "--json",
    ]);
    expect(again.json, said(again)).toMatchObject({ reason_code: "completion_verified" });
    expect(journal(folder).filter(({ event }) => event === "run_forked")).toMatchObject([
      { run },
      { run: fork },
    ]);

    expect(usedIn(journal(folder))).toBe(450);
    expect(existsSync(unfinished)).toBe(false);
  });

  test("from an earlier line walks from there, whatever came after; a limit holds for what is new", async () => {
    const folder = scratch();
    const first = await autopilot(folder, ["go", ...goal, ...scripted(folder, [half, ends])]);
    expect(first.json.reason_code, said(first)).toBe("completion_verified");
    const run = first.json.run_id ?? "";
    const at =
      journal(folder).find(
        ({ event, attempt }) => event === "step_started" && attempt === "1@1/execute#1",
      )?.seq ?? 0;

    const args = [
      "fork",
      run,
      "--at",
      String(at - 1),
      ...scripted(folder, [ends], "other"),
      "--limit",
      "tokens=9k",
      "--yes",
      "--json",
    ];
    const forked = await autopilot(folder, args);
    expect(forked.json, said(forked)).toMatchObject({ reason_code: "completion_verified" });
    const name = forked.json.run_id ?? "";
    expect(git(folder, "ls-tree", "--name-only", `autopilot/${name}`).split("\n")).toEqual([
      "README.md",
      "out.txt",
    ]);

    expect(forked.json.warnings.join("\n")).toMatch(/moved on/);
    const status = await autopilot(folder, ["status", "--run", name, "--json"]);
    expect(status.json["budget"]).toMatchObject({ limits: { tokens: 9000 } });
  });

  test("is refused with a way on: a line that isn't there, one before the start, a wrong limit or prompt, a foreign run", async () => {
    const { folder, run } = await killed();
    write(dirname(folder), { "prompt.md": "do {nonsense}\n" });

    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [["--at", "999"], /has \d+ lines/],
      [["--at", "1"], /had not started/],
      [["--limit", "joy=3"], /is not a limit/],
      [["--prompt", "../prompt.md"], /unknown placeholder \{nonsense\}/],
      [["--prompt", "nosuch=../prompt.md"], /no step nosuch/],
      [["--prompt", "../absent.md"], /holds no prompt/],
      [["--agent", "nobody"], /no agent called nobody/],
    ];
    for (const [args, message] of cases) {
      const { json, code } = await autopilot(folder, ["fork", run, ...args, "--yes", "--json"]);
      expect(json.message).toMatch(message);
      expect(json.remediation.length).toBeGreaterThan(0);
      expect(code).toBe(1);
    }

    const foreign = { env: { XDG_STATE_HOME: join(dirname(folder), "somebody") } };
    for (const args of [
      ["fork", run],
      ["replay", run, "--step", "execute"],
    ]) {
      expect(
        (await autopilot(folder, [...args, "--yes", "--json"], foreign)).json.reason_code,
      ).toBe("run_foreign");
    }

    expect(readdirSync(join(folder, ".autopilot", "runs"))).toEqual([run]);
  });
});

describe("a replay", () => {
  test("compares one step with what was recorded, and changes nothing of the run, its branch or the checkout", async () => {
    const { folder, run } = await killed();
    write(folder, { "mine.txt": "not committed\n" });
    const before = everything(folder);

    const same = await autopilot(folder, [
      "replay",
      run,
      "--step",
      "1@1/execute#1",
      "--yes",
      "--json",
    ]);
    expect(same.json, said(same)).toMatchObject({
      reason_code: "step_replayed",
      recorded: {
        outcome: "passed",
        tokens: 1000,
        paths: ["half.txt"],
        checks: [{ command: "test -f out.txt", status: "failed" }],
      },
      replayed: {
        outcome: "passed",
        tokens: 1000,
        paths: ["half.txt"],
        checks: [{ command: "test -f out.txt", status: "failed" }],
      },
    });

    const { recorded, replayed } = same.json as unknown as {
      recorded: { tree: string };
      replayed: { tree: string };
    };
    expect(replayed.tree).toBe(recorded.tree);
    const other = scripted(folder, [ends], "other");

    const better = await autopilot(folder, [
      "replay",
      run,
      "--step",
      "1@1/execute#1",
      ...other,
      "--yes",
    ]);
    expect(better.out).toMatch(/test -f out.txt +failed +passed/);
    expect(better.out).toContain("proved more");
    expect(everything(folder)).toBe(before);
  });

  test("tells that the repository has moved on and uses the recorded commit; where that is gone it is refused", async () => {
    const { folder, run } = await killed();
    write(folder, { "later.txt": "later\n" });
    git(folder, "add", "-A");
    git(folder, "commit", "-q", "-m", "later");

    const moved = await autopilot(folder, [
      "replay",
      run,
      "--step",
      "1@1/execute#1",
      "--yes",
      "--json",
    ]);
    expect(moved.json.warnings.join("\n")).toMatch(/moved on.*recorded commit is used/);
    expect(moved.json["replayed"]).toMatchObject({ paths: ["half.txt"] });
    git(folder, "branch", "-D", `autopilot/${run}`);
    rmSync(join(folder, ".git", "logs"), { recursive: true, force: true });
    git(folder, "gc", "-q", "--prune=now");

    const gone = await autopilot(folder, [
      "replay",
      run,
      "--step",
      "1@1/execute#2",
      "--yes",
      "--json",
    ]);
    expect(gone.json, said(gone)).toMatchObject({ reason_code: "work_missing" });
    expect(gone.json.remediation.length).toBeGreaterThan(0);
    const args = ["fork", run, ...scripted(folder, [ends], "other"), "--yes", "--json"];
    expect((await autopilot(folder, args)).json.reason_code).toBe("work_missing");
  });

  test("needs a step that can be run again, and says which there are", async () => {
    const { folder, run } = await killed();
    writeFileSync(join(dirname(folder), "p.md"), "Say it twice: {goal}\n");

    for (const [words, message] of [
      [[], /which step/],
      [["--step", "exekute"], /execute/],
      [["--step", "pick"], /kind run/],
    ] as const) {
      const { json } = await autopilot(folder, ["replay", run, ...words, "--yes", "--json"]);
      expect(json).toMatchObject({
        reason_code: "replay_refused",
        message: expect.stringMatching(message) as string,
      });

      expect(json.remediation.join("\n")).toContain("execute#");
    }

    const reported = await autopilot(folder, [
      "replay",
      run,
      "--step",
      "1@1/execute#1",
      "--prompt",
      "../p.md",
      "--yes",
      "--json",
    ]);
    expect(reported.json, said(reported)).toMatchObject({
      reason_code: "step_replayed",
      changed: ["prompt execute.md"],
    });
  });
});
