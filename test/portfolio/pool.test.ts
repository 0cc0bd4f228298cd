// Whole portfolios with the embedded agent: dispatched, proved, merged, killed and taken up again.

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { autopilot, begin, type Reported, until } from "../support/autopilot.ts";
import { checkedOnce, git, scratch, scratchFolder, write } from "../support/scratch-repository.ts";
import { taskResult } from "../support/task-result.ts";
import { longTest } from "../support/sampled.ts";

type Row = { readonly id: string; readonly status: string; readonly landed: string | null };

const done = { say: "finished <promise>DONE</promise>" };
// As often as it is asked: a turn that a kill cut off may be asked for under another number.
const handsIn = { when: { step: "report" }, repeat: 0, returns: taskResult };
const file = (path: string, text = "made\n"): object => ({ write: { path, text } });

/** A portfolio beside its repositories. */
async function portfolio(projects: Readonly<Record<string, string>>) {
  const folder = join(scratchFolder(), "portfolio");
  write(checkedOnce(folder), { "README.md": "" });
  const run = async (...args: readonly string[]): Promise<Reported> =>
    (await autopilot(folder, ["portfolio", ...args, "--json"])).json;
  await run("init");

  for (const [name, repo] of Object.entries(projects)) {
    await run("add", "project", name, "--repo", repo, "--slots", "4", "--objective", "work");
  }

  let scripts = 0;
  const add = async (
    project: string,
    name: string,
    turns: readonly object[],
    ...args: readonly string[]
  ): Promise<string> => {
    const script = join(folder, `agent-${++scripts}.yaml`);
    const isReporting = JSON.stringify(turns).includes('"report"');
    writeFileSync(script, JSON.stringify({ turns: isReporting ? turns : [handsIn, ...turns] }));

    const reported = await run(
      "add",
      "task",
      project,
      name,
      "--agent",
      `scripted:${script}`,
      "--isolation",
      "clone",
      ...args,
    );
    expect(reported.result).toBe("PASS");
    return String(reported["id"]);
  };

  const pool = (...args: readonly string[]): Promise<Reported> =>
    run("run", "--until-idle", "--isolation", "clone", ...args);
  const tasks = async (): Promise<ReadonlyMap<string, Row>> =>
    new Map(((await run("status"))["tasks"] as readonly Row[]).map((row) => [row.id, row]));
  const words = ["portfolio", "run", "--until-idle", "--isolation", "clone", "--json"];
  const begun = (...args: readonly string[]) => begin(folder, [...words, ...args]);
  /** A pool that nobody interrupts, with all that it shows. */
  const undisturbed = (...args: readonly string[]) => autopilot(folder, [...words, ...args]);

  return { folder, home: join(dirname(folder), "home"), run, add, pool, begun, undisturbed, tasks };
}

type Line = {
  readonly event_type: string;
  readonly task_id: string | null;
  readonly summary: string;
  readonly run_id?: string | null;
  readonly parent_task_id?: string | null;
};
const events = (folder: string): readonly Line[] =>
  readFileSync(join(folder, ".openclaw-autopilot/events/events.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);

test("two projects with dependencies and questions: each task lands once and the checkouts stay clean", async () => {
  const [shop, site] = [scratch(), scratch()];
  const { add, pool, undisturbed, tasks, run } = await portfolio({ Shop: shop, Site: site });

  const apples = await add(
    "Shop",
    "sell apples",
    [{ do: [file("apples.txt"), done] }],
    "--accept",
    "apples :: test -f apples.txt",
    "--touches",
    "apples.txt",
  );

  const pears = await add(
    "Shop",
    "sell pears",
    [{ do: [file("pears.txt"), done] }],
    "--accept",
    "both :: test -f pears.txt && test -f apples.txt",
    "--after",
    apples,
    "--touches",
    "pears.txt",
  );

  const asks = await add(
    "Site",
    "choose a colour",
    [{ do: [{ ask: "Which colour?" }] }, { do: [file("colour.txt", "blue\n"), done] }],
    "--accept",
    "colour :: test -f colour.txt",
  );

  const taste = await add(
    "Site",
    "look nice",
    [{ do: [file("style.css"), done] }],
    "--accept",
    "it looks nice",
    "--touches",
    "style.css",
  );

  const shown = (await undisturbed("--jobs", "3")).err.split("\n");
  expect(shown.filter((line) => line.includes("Sandbox clone doesn't block"))).toHaveLength(1); // not by every task

  const inbox = (await run("inbox"))["blocks"] as readonly {
    readonly block: string;
    readonly task: string;
    readonly question: string;
  }[];
  const about = new Map(inbox.map((row) => [row.task, row]));
  expect(about.get(asks)?.question).toContain("Which colour?");
  expect(about.get(taste)?.question).toContain("it looks nice");
  expect((await run("answer", "blue")).reason_code).toBe("block_ambiguous");
  expect((await run("answer", "--block", about.get(asks)?.block ?? "", "blue")).result).toBe(
    "PASS",
  );

  expect((await run("answer", "--block", about.get(taste)?.block ?? "", "A")).result).toBe("PASS");
  await pool("--jobs", "3");
  const rows = await tasks();
  expect([apples, pears, asks, taste].map((id) => rows.get(id)?.status)).toEqual([
    "done",
    "done",
    "done",
    "done",
  ]);

  expect(readFileSync(join(site, "colour.txt"), "utf8")).toBe("blue\n");
  for (const [repo, ids] of [
    [shop, [apples, pears]],
    [site, [asks, taste]],
  ] as const) {
    for (const id of ids) {
      expect(
        git(repo, "log", "--format=%H", "--grep", `Autopilot-Task: ${id}`).split("\n"),
      ).toHaveLength(1);
    }

    expect(git(repo, "status", "--porcelain")).toBe("");
  }

  expect((await run("rebuild"))["different"]).toEqual([]);
});

test("a task's checks have the packages installed in the project's checkout, and nothing is written to them", async () => {
  const repo = scratch({
    files: {
      ".gitignore": "node_modules/\n",
      "package.json": JSON.stringify({ scripts: { test: "node test.js" } }),
      "package-lock.json": "{}\n",
      "test.js": 'require("node:assert").equal(require("left"), 1)\n',
    },
  });
  write(repo, { "node_modules/left/index.js": "module.exports = 1;\n" });
  const { add, pool, tasks, folder } = await portfolio({ Shop: repo });
  const spoils = { run: "echo 'module.exports = 2' > node_modules/left/index.js" };

  const id = await add(
    "Shop",
    "write a",
    [{ do: [file("a.txt"), spoils, done] }],
    "--accept",
    "a :: test -f a.txt",
    "--touches",
    "a.txt",
  );

  await pool();
  expect((await tasks()).get(id)?.status).toBe("done");
  const copy = join(folder, ".autopilot/portfolio/copies", `${id}.1`);
  expect((await autopilot(copy, ["status", "--json"])).json).toMatchObject({
    state: "completed",
    verdict: "verified",
  });

  expect(events(folder).find(({ event_type }) => event_type === "merge_verified")).toMatchObject({
    evidence: expect.arrayContaining(["passed: npm run test"]) as unknown,
  });

  expect(readFileSync(join(repo, "node_modules/left/index.js"), "utf8")).toBe(
    "module.exports = 1;\n",
  );
});

test("in the portfolio's folder a task's run is read by its id, by the task and by the task's name; no two tasks' runs have one id", async () => {
  const repo = scratch();
  const { add, pool, run, folder } = await portfolio({ Shop: repo });

  const task = (name: string): Promise<string> =>
    add(
      "Shop",
      name,
      [{ do: [file(`${name}.txt`), done] }],
      "--accept",
      `${name} :: test -f ${name}.txt`,
      "--touches",
      `${name}.txt`,
    );
  const [apples, pears] = [await task("apples"), await task("pears")];

  const later = await add(
    "Shop",
    "later",
    [{ do: [done] }],
    "--accept",
    "x :: true",
    "--after",
    apples,
    "--touches",
    "later.txt",
  );

  const read = async (command: string, ...args: readonly string[]): Promise<Reported> =>
    (await autopilot(folder, [command, ...args, "--json"])).json;
  expect((await read("report", "--run", later)).message).toBe(`${later} has no run yet.`);
  await pool("--jobs", "2");
  const rows = (await run("status"))["tasks"] as readonly {
    readonly id: string;
    readonly run_id: string;
  }[];
  const ids = new Map(rows.map(({ id, run_id }) => [id, run_id]));
  expect(new Set(ids.values()).size).toBe(3);

  for (const [id, name] of [
    [apples, "apples"],
    [pears, "pears"],
  ] as const) {
    const run_id = ids.get(id) ?? "";
    for (const named of id === apples ? [run_id, id, name] : [name]) {
      const shown = await read("diff", "--run", named);
      expect(shown).toMatchObject({ result: "PASS", run_id });
      expect(JSON.stringify(shown["files"])).toContain(`${name}.txt`);
    }
  }

  for (const command of ["report", "log", "transcript", "status", "trace"]) {
    expect(await read(command, "--run", apples)).toMatchObject({
      result: "PASS",
      run_id: ids.get(apples),
    });
  }

  expect(await read("diff", apples)).toMatchObject({ result: "PASS", run_id: ids.get(apples) });
  expect(await read("report", "--run", apples, "--html", "apples.html")).toMatchObject({
    result: "PASS",
  });

  expect(existsSync(join(folder, "apples.html"))).toBe(true);
  expect((await read("diff"))["remediation"]).toEqual([
    "autopilot diff --run TASK",
    "autopilot portfolio status",
  ]);

  expect(await read("report", "--run", "plums")).toMatchObject({
    result: "FAIL",
    reason_code: "run_missing",
  });

  expect((await read("pause", "--run", apples)).reason_code).toBe("run_missing"); // only what reads is led there
});

longTest(
  "finished work waits while its project's branch is red by itself: it is told once, no agent is asked again, and it lands with what mends the branch",
  "src/portfolio/planner/deciding.test.ts › on a branch that is red by itself nothing is held against a task but what it breaks; it waits, and what mends the branch lands",
  async () => {
    const repo = scratch({
      files: { "package.json": JSON.stringify({ scripts: { test: "test -f mended.txt" } }) },
    });

    const { add, pool, folder, run, tasks } = await portfolio({ Shop: repo });
    const names = ["a", "b"];
    for (const name of names) {
      await add(
        "Shop",
        `write ${name}`,
        [{ do: [file(`${name}.txt`), done] }],
        "--accept",
        `${name} :: test -f ${name}.txt`,
        "--touches",
        `${name}.txt`,
      );
    }

    const counts = (): readonly number[] =>
      ["task_dispatched", "merge_rejected", "landing_held", "merge_landed"].map(
        (type) => events(folder).filter(({ event_type }) => event_type === type).length,
      );

    await pool("--jobs", "2");
    expect(counts()).toEqual([2, 0, 1, 0]);
    const [waits, ...more] = (await run("inbox"))["tasks"] as readonly {
      readonly why: string;
      readonly commands: readonly string[];
    }[];
    expect(more).toEqual([]);
    expect(waits?.why).toMatch(
      /main of .* is red: npm run test fails there without any task; .*\(1 more waits behind it\)/,
    );

    expect(waits?.commands).toEqual([
      `autopilot portfolio add task proj-shop "mend main" --accept 'it passes :: npm run test'`,
    ]);

    await pool();
    expect(counts()).toEqual([2, 0, 1, 0]);
    const mends = ["--accept", "it passes :: npm run test", "--touches", "mended.txt"];
    await add("Shop", "mend main", [{ do: [file("mended.txt"), done] }], ...mends);
    await pool("--jobs", "2");
    expect([...(await tasks()).values()].map(({ status }) => status)).toEqual([
      "done",
      "done",
      "done",
    ]);

    expect(counts()).toEqual([3, 0, 1, 3]);
    expect((await run("inbox"))["tasks"]).toEqual([]);
  },
);

longTest(
  "two tasks that pass alone and fail together: one lands, the other comes back with the evidence and lands after its adjustment",
  "test/portfolio/campaign.test.ts › every task ends where it should, each effect is in git once, and every landing is green",
  async () => {
    const check = "#!/bin/sh\n! { test -f a.txt && test -f b.txt; } || ls peace-*.txt\n";
    const repo = scratch({ files: { "README.md": "# x\n", "check.sh": check } });
    const { add, pool, tasks, folder } = await portfolio({ Shop: repo });

    const writes = (name: string, other: string): readonly object[] => [
      {
        do: [
          file(`${name}.txt`),
          { run: `test ! -f ${other}.txt || echo made > peace-${name}.txt` },
          done,
        ],
      },
    ];

    const accept = (name: string): readonly string[] => [
      "--accept",
      `${name} :: test -f ${name}.txt && sh check.sh`,
      "--touches",
      `${name}.txt`,
      "--touches",
      `peace-${name}.txt`,
    ];
    const one = await add("Shop", "write a", writes("a", "b"), ...accept("a"));
    const other = await add("Shop", "write b", writes("b", "a"), ...accept("b"));
    await pool("--jobs", "2");
    const returned = readFileSync(join(folder, ".openclaw-autopilot/events/events.jsonl"), "utf8")
      .split("\n")
      .filter((line) => line.includes('"merge_rejected"'));
    expect(returned.length).toBeGreaterThan(0);

    const reported = JSON.parse(returned[0] ?? "") as {
      readonly task_id: string;
      readonly summary: string;
      readonly evidence: readonly string[];
      readonly meta: { readonly with: readonly string[] };
    };
    expect(reported.evidence.join()).toContain("failed: test -f");
    expect(reported.summary).toMatch(
      /test -f [ab]\.txt && sh check\.sh fails together with what has landed/,
    );

    const winner = reported.task_id === one ? other : one;
    expect(reported.meta.with).toContain(winner);
    const rows = await tasks();
    expect([one, other].map((id) => rows.get(id)?.status)).toEqual(["done", "done"]);
    expect(winner).not.toBe(reported.task_id);
    expect(git(repo, "show", "--stat", "--format=", "HEAD^2")).toContain("peace-");
  },
);

longTest(
  "a pool that is killed at any moment is taken up again, and every task lands once",
  "test/portfolio/campaign.test.ts › every task ends where it should, each effect is in git once, and every landing is green",
  async () => {
    const repo = scratch();
    const { add, pool, tasks, folder, run } = await portfolio({ Shop: repo });
    const ids: string[] = [];

    for (const name of ["one", "two", "three"]) {
      ids.push(
        await add(
          "Shop",
          `write ${name}`,
          [{ do: [{ sleep: 300 }, file(`${name}.txt`), done] }],
          "--accept",
          `${name} :: test -f ${name}.txt`,
          "--touches",
          `${name}.txt`,
        ),
      );
    }

    for (const ms of [1500, 3000, 4500]) {
      const { child, ended } = begin(folder, [
        "portfolio",
        "run",
        "--until-idle",
        "--isolation",
        "clone",
        "--jobs",
        "2",
      ]);
      await Promise.race([wait(ms), ended]);
      child.kill("SIGKILL");
      await ended;
    }

    await pool("--jobs", "2");
    const rows = await tasks();
    expect(ids.map((id) => rows.get(id)?.status)).toEqual(["done", "done", "done"]);

    for (const id of ids) {
      expect(
        git(repo, "log", "--format=%H", "--grep", `Autopilot-Task: ${id}`).split("\n"),
      ).toHaveLength(1);
    }

    expect(git(repo, "status", "--porcelain")).toBe("");
    expect((await run("rebuild"))["different"]).toEqual([]);
  },
);

test("a task at its provider's limit gives its slot to another and is tried again at the reset, in the same run", async () => {
  const repo = scratch();
  const { add, begun, folder } = await portfolio({ Shop: repo });
  const limit = {
    do: [{ error: { code: 429, message: "usage limit reached, try again in 10 seconds" } }],
  };

  const limited = await add(
    "Shop",
    "write limited",
    [limit],
    "--accept",
    "limited :: test -f limited.txt",
    "--touches",
    "limited.txt",
  );

  const turns = [{ do: [file("other.txt"), done] }];
  const other = await add(
    "Shop",
    "write other",
    turns,
    "--accept",
    "other :: test -f other.txt",
    "--touches",
    "other.txt",
  );

  const { child, ended } = begun("--jobs", "1");
  const steps = (): readonly string[] =>
    events(folder).map(
      ({ event_type, task_id }) =>
        `${event_type} ${task_id === limited ? "limited" : task_id === other ? "other" : ""}`,
    );
  await until("the other to land", () => steps().includes("merge_landed other"));
  expect(steps().indexOf("worker_rested limited")).toBeGreaterThan(0);
  expect(steps().indexOf("task_dispatched other")).toBeGreaterThan(
    steps().indexOf("worker_rested limited"),
  );

  const dispatches = (): readonly Line[] =>
    events(folder).filter(
      ({ event_type, task_id }) => event_type === "task_dispatched" && task_id === limited,
    );
  await until("the limited one to be tried again", () => dispatches().length === 2);
  expect(new Set(dispatches().map(({ run_id }) => run_id)).size).toBe(1);
  child.kill("SIGINT");
  await ended;
});

test("an agent works on as many tasks at once as its settings allow", async () => {
  const repo = scratch();
  const { add, pool, folder, home } = await portfolio({ Shop: repo });
  write(join(home, ".config/autopilot"), {
    "config.yaml": "agents: { scripted: { max_parallel: 1 } }\n",
  });

  const ids: string[] = [];
  for (const name of ["one", "two", "three"]) {
    ids.push(
      await add(
        "Shop",
        `write ${name}`,
        [{ do: [file(`${name}.txt`), done] }],
        "--accept",
        `${name} :: test -f ${name}.txt`,
        "--touches",
        `${name}.txt`,
      ),
    );
  }

  await pool("--jobs", "3");
  let working = 0;
  let most = 0;

  for (const { event_type } of events(folder)) {
    if (event_type === "task_dispatched") most = Math.max(most, ++working);
    if (event_type === "worker_result_ingested") working -= 1;
  }

  expect(most).toBe(1);
  expect(events(folder).filter(({ event_type }) => event_type === "merge_landed")).toHaveLength(3);
});

test("a canceled task's worker is stopped, and a repository that is gone stops its own tasks only", async () => {
  const [shop, site] = [scratch(), scratch()];
  const { add, begun, tasks, folder, run } = await portfolio({ Shop: shop, Site: site });

  const endless = await add(
    "Shop",
    "never end",
    [{ do: [{ sleep: 600_000 }, done] }],
    "--accept",
    "x :: test -f x.txt",
  );

  const lost = await add(
    "Site",
    "in a lost place",
    [{ do: [file("a.txt"), done] }],
    "--accept",
    "a :: test -f a.txt",
  );

  rmSync(site, { recursive: true, force: true });
  const pool = begun("--jobs", "2");
  const isDispatched = (): boolean =>
    events(folder).some(
      ({ event_type, task_id }) => event_type === "task_dispatched" && task_id === endless,
    );
  await until("its worker to begin", isDispatched);
  expect((await run("cancel", endless)).result).toBe("PASS");
  const reported = (await pool.ended).json;
  expect(reported["left"]).toBe(1);
  const rows = await tasks();
  expect([endless, lost].map((id) => rows.get(id)?.status)).toEqual(["canceled", "blocked_human"]);
});

test("work that was given back lands when it passes on the merged tree, though its second run changed nothing", async () => {
  const repo = scratch();
  const { add, pool, tasks, folder } = await portfolio({ Shop: repo });
  const flag = join(folder, "adjusted");
  const turns = (name: string, ...first: readonly object[]): readonly object[] => [
    { do: [...first, { run: `test ! -f b.txt || touch ${flag}` }, file(`${name}.txt`), done] },
  ];

  const b = await add(
    "Shop",
    "write b",
    turns("b"),
    "--accept",
    "b :: test -f b.txt",
    "--touches",
    "b.txt",
  );

  const command = `test -f a.txt && { test ! -f b.txt || test -f ${flag}; }`;
  const a = await add(
    "Shop",
    "write a",
    turns("a", {
      run: `until git -C '${repo}' cat-file -e main:b.txt 2>/dev/null; do sleep 0.2; done`,
    }),
    "--accept",
    `a :: ${command}`,
    "--touches",
    "a.txt",
  );

  await pool("--jobs", "2");
  const rows = await tasks();
  expect([a, b].map((id) => rows.get(id)?.status)).toEqual(["done", "done"]);
  expect(
    events(folder).filter(
      ({ event_type, task_id }) => event_type === "merge_rejected" && task_id === a,
    ),
  ).toHaveLength(1);

  expect(git(repo, "show", "main:a.txt")).toBe("made");
});

longTest(
  "a worker's result is asked for again where a field is missing; its suggestions are proposed, and without one a person decides",
  "src/portfolio/planner/deciding.test.ts › a worker's result that lacks a field, or is for another task or dispatch, is none; what it says itself is heard",
  async () => {
    const repo = scratch();
    const { add, pool, folder, run } = await portfolio({ Shop: repo });
    const { verification: _missing, ...partial } = taskResult;
    const suggests = {
      ...taskResult,
      next_suggestions: ["weigh the apples", { title: "sell pears" }, "weigh the apples"],
    };

    const asked = { step: "report" };
    const corrected = await add(
      "Shop",
      "write a",
      [
        { when: { ...asked, ask: 1 }, returns: partial },
        { when: asked, returns: suggests },
        { do: [file("a.txt"), done] },
      ],
      "--accept",
      "a :: test -f a.txt",
      "--touches",
      "a.txt",
    );

    const never = await add(
      "Shop",
      "write b",
      [
        { when: asked, returns: { ...taskResult, event_nonce: "older" } },
        { do: [file("b.txt"), done] },
      ],
      "--accept",
      "b :: test -f b.txt",
      "--touches",
      "b.txt",
    );

    const partly = await add(
      "Shop",
      "write c",
      [{ when: asked, returns: partial }, { do: [file("c.txt"), done] }],
      "--accept",
      "c :: test -f c.txt",
      "--touches",
      "c.txt",
    );

    await pool("--jobs", "2");
    const state = (await run("status"))["tasks"] as readonly Row[];
    const statusOf = (id: string): string | undefined => state.find((row) => row.id === id)?.status;
    expect([statusOf(corrected), statusOf(never), statusOf(partly)]).toEqual([
      "done",
      "needs_adjustment",
      "needs_adjustment",
    ]);

    // One correction, and no further attempt.
    const runs = join(folder, ".autopilot/portfolio/copies", `${partly}.1`, ".autopilot/runs");
    const [runId = ""] = readdirSync(runs);
    const lines = readFileSync(join(runs, runId, "journal.jsonl"), "utf8");
    expect([
      lines.split('"event":"return_asked_again"').length - 1,
      lines.split('/report#2"').length - 1,
    ]).toEqual([1, 0]);

    const page = readFileSync(join(folder, ".openclaw-autopilot/tasks", `${corrected}.md`), "utf8");
    expect(page).toContain("the worker claims: done, confidence high");
    const proposed = events(folder).filter(
      ({ event_type }) => event_type === "followup_task_created",
    );
    expect(proposed.map(({ summary, parent_task_id }) => [summary, parent_task_id])).toEqual([
      ["weigh the apples", corrected],
      ["sell pears", corrected],
    ]);

    expect(proposed.map(({ task_id }) => statusOf(task_id ?? ""))).toEqual([
      "proposed",
      "proposed",
    ]);

    expect(git(repo, "ls-tree", "--name-only", "main")).not.toContain("b.txt");
  },
);

longTest(
  "a textual conflict goes back to the agent in the merged files, and lands once its marks are gone",
  "test/portfolio/campaign.test.ts › every task ends where it should, each effect is in git once, and every landing is green",
  async () => {
    const repo = scratch({ files: { "shared.txt": "base\n" } });
    const { add, begun, tasks, folder } = await portfolio({ Shop: repo });
    git(repo, "checkout", "-q", "-b", "elsewhere");
    const started = join(folder, "started");
    const resolves =
      "if grep -q '<<<<<<<' shared.txt; then printf 'theirs and mine\\n' > shared.txt; else printf 'mine\\n' > shared.txt; fi";
    const turns = [{ do: [{ run: `touch ${started}` }, { run: resolves }, { sleep: 4000 }, done] }];

    const id = await add(
      "Shop",
      "write mine",
      turns,
      "--accept",
      "mine :: grep -q mine shared.txt",
      "--touches",
      "shared.txt",
    );

    const pool = begun();
    await until("the worker to begin", () => existsSync(started));
    git(repo, "checkout", "-q", "main");
    write(repo, { "shared.txt": "theirs\n" });
    git(repo, "commit", "-qam", "theirs");
    git(repo, "checkout", "-q", "elsewhere");
    await pool.ended;
    expect((await tasks()).get(id)?.status).toBe("done");
    expect(events(folder).filter(({ event_type }) => event_type === "merge_rejected")).toHaveLength(
      1,
    );

    expect(git(repo, "show", "main:shared.txt")).toBe("theirs and mine");
    expect(git(repo, "log", "--format=%s", "main")).toContain("theirs");
  },
);

longTest(
  "at its provider's limit the next agent of a task's list goes on with what is finished",
  "src/portfolio/planner/plan.test.ts › at an agent's limit the next of the list goes on, nothing starts with one at its limit, and it is first again after the reset",
  async () => {
    const repo = scratch();
    const { folder, run, pool } = await portfolio({ Shop: repo });
    const reset = new Date(Date.now() + 3_600_000).toISOString();
    const first = [
      { do: [file("first.txt"), { say: "half of it is there" }] },
      { do: [{ error: { code: 429, message: `usage limit reached, resets at ${reset}` } }] },
    ];
    for (const [name, turns] of [
      ["first", first],
      ["second", [handsIn, { do: [{ run: "test -f first.txt && echo made > second.txt" }, done] }]],
    ] as const) {
      writeFileSync(join(folder, `${name}.yaml`), JSON.stringify({ turns }));
    }

    const agents = ["first", "second"]
      .map((name) => `scripted:${join(folder, `${name}.yaml`)}`)
      .join(",");

    const accept = ["--accept", "both :: test -f first.txt && test -f second.txt"];
    const reported = await run(
      "add",
      "task",
      "Shop",
      "write both",
      "--agent",
      agents,
      "--isolation",
      "clone",
      ...accept,
    );

    expect((await pool("--jobs", "1"))["left"]).toBe(0);
    const steps = events(folder).filter(({ task_id }) => task_id === reported["id"]);
    expect(
      steps
        .map(({ event_type }) => event_type)
        .filter((type) => /dispatched|rested|landed/.test(type)),
    ).toEqual(["task_dispatched", "worker_rested", "task_dispatched", "merge_landed"]);

    expect(git(repo, "ls-tree", "--name-only", "main").split("\n")).toEqual(
      expect.arrayContaining(["first.txt", "second.txt"]),
    );
  },
);

longTest(
  "approved work that conflicts goes back to its agent with the evidence, and is asked about again before it lands",
  "src/portfolio/planner/questions.test.ts › approved work that the merge queue gives back is not approved any more",
  async () => {
    const repo = scratch({ files: { "shared.txt": "base\n" } });
    const { add, pool, run, tasks, folder } = await portfolio({ Shop: repo });
    const writes =
      "if grep -q '<<<<<<<' shared.txt; then printf 'theirs and mine\\n' > shared.txt; else printf 'mine\\n' > shared.txt; fi";

    const id = await add(
      "Shop",
      "write mine",
      [{ do: [{ run: writes }, done] }],
      "--accept",
      "it reads well",
      "--touches",
      "shared.txt",
    );

    const approve = async (): Promise<string> => {
      const [row] = (await run("inbox"))["blocks"] as readonly {
        readonly block: string;
        readonly content: string;
      }[];
      expect(
        await run("answer", "--block", row?.block ?? "", "--content", row?.content ?? "", "A"),
      ).toMatchObject({ result: "PASS" });

      return row?.content ?? "";
    };

    await pool();
    const first = await approve();
    write(repo, { "shared.txt": "theirs\n" });
    git(repo, "commit", "-qam", "theirs");
    await pool();
    const steps = events(folder).map(({ event_type }) => event_type);
    expect(steps.filter((type) => type === "merge_rejected")).toHaveLength(1);
    expect((await tasks()).get(id)?.status).toBe("blocked_human");
    const [again] = (await run("inbox"))["blocks"] as readonly {
      readonly expected_action: string;
    }[];
    expect(again?.expected_action).toContain("the merge queue gave it back");
    const [, copy = "", from = "", to = ""] =
      /git -C (\S+) diff (\w+) (\w+)/.exec(again?.expected_action ?? "") ?? [];
    const shown = git(copy, "diff", from, to);
    expect([
      shown.includes("+theirs and mine"),
      shown.includes("-theirs"),
      shown.includes("<<<<"),
    ]).toEqual([true, true, false]);

    expect(await approve()).not.toBe(first);
    await pool();
    expect((await tasks()).get(id)?.status).toBe("done");
    expect(git(repo, "show", "main:shared.txt")).toBe("theirs and mine");
  },
);

longTest(
  "an agent's question whose task is changed is asked again under another id; the answer reaches the new run, and both runs are charged",
  "src/portfolio/planner/questions.test.ts › an agent's question is asked again when its task is changed: the run that asked doesn't go on",
  async () => {
    const repo = scratch();
    const { add, pool, run, tasks, folder } = await portfolio({ Shop: repo });
    const spends = { usage: { input: 4000, output: 1000 } };

    const id = await add(
      "Shop",
      "choose a colour",
      [{ do: [spends, { ask: "Which colour?" }] }],
      "--accept",
      "colour :: test -f colour.txt",
    );

    const open = async () =>
      (
        (await run("inbox"))["blocks"] as readonly {
          readonly block: string;
          readonly expected_action: string;
        }[]
      )[0];

    const spent = async () =>
      ((await run("status"))["spent"] as { readonly tokens: number }).tokens;
    await pool();
    const [first, before] = [await open(), await spent()];
    expect(before).toBe(5000);
    await run("edit", id, "--objective", "choose a colour for the door");
    expect(await run("answer", "--block", first?.block ?? "", "blue")).toMatchObject({
      result: "FAIL",
      reason_code: "block_changed",
    });

    const now = await open();
    expect(now?.expected_action).toContain(
      "a new run begins and is told the question and your answer",
    );

    expect(await run("answer", "--block", now?.block ?? "", "blue")).toMatchObject({
      result: "PASS",
    });

    const works = [handsIn, { do: [spends, file("colour.txt", "blue\n"), done] }];
    writeFileSync(join(folder, "agent-1.yaml"), JSON.stringify({ turns: works }));
    await pool();
    expect((await tasks()).get(id)?.status).toBe("done");
    expect(await spent()).toBeGreaterThanOrEqual(before + 5000);
    const { run_id } =
      events(folder).findLast(({ event_type }) => event_type === "task_dispatched") ?? {};

    const journal = join(
      folder,
      ".autopilot/portfolio/copies",
      `${id}.2`,
      ".autopilot/runs",
      run_id ?? "",
      "journal.jsonl",
    );
    expect(readFileSync(journal, "utf8")).toContain(String.raw`Which colour?\nAnswer: blue`);
  },
);

longTest(
  "what a run uses is charged while it works, and stays charged when its task is canceled",
  "src/commands/portfolio/questions.test.ts › what a run used is charged once, whenever it is counted, and stays charged when another run takes its place",
  async () => {
    const { add, pool, run, folder } = await portfolio({ Shop: scratch() });
    const began = join(folder, "second-turn");
    const half = [{ usage: { input: 4000, output: 1000 } }, { say: "half of it is there" }];
    const turns = [{ do: half }, { do: [{ run: `touch ${began}` }, { hang: true }] }];
    const id = await add("Shop", "take long", turns, "--accept", "done :: test -f done.txt");
    const working = pool();
    await until("the second turn", () => existsSync(began));
    const spent = async (): Promise<number> =>
      ((await run("status"))["spent"] as { readonly tokens: number }).tokens;
    for (let n = 0; n < 60 && (await spent()) < 5000; n++) await wait(500);
    expect(await spent()).toBeGreaterThanOrEqual(5000); // while it works
    await run("edit", "portfolio", "--day-budget", "tokens=5000");
    expect(JSON.stringify(await run("tick", "--dry-run"))).toContain("working");
    expect(await run("cancel", id)).toMatchObject({ result: "PASS" });
    await working;
    expect(await spent()).toBeGreaterThanOrEqual(5000);
  },
);

test("a run that rests at its task's budget is told in the inbox with what is done, and goes on once the budget is raised: no step twice, charged once", async () => {
  const { add, pool, run, tasks, folder } = await portfolio({ Shop: scratch() });
  const counted = join(folder, "turns");
  const turn = (name: string, ...acts: readonly object[]): object => ({
    do: [{ run: `echo ${name} >> ${counted}` }, ...acts],
  });

  const turns = [
    turn(
      "first",
      file("one.txt"),
      { usage: { input: 4000, output: 1000 } },
      { say: "half of it is there" },
    ),
    turn("second", file("two.txt"), { usage: { input: 1500, output: 500 } }, done),
  ];
  const id = await add(
    "Shop",
    "write two",
    turns,
    "--accept",
    "two :: test -f two.txt && test -f one.txt",
    "--budget",
    "tokens=6000",
  );

  await pool();
  expect((await tasks()).get(id)).toMatchObject({ status: "ready" });

  const rows = (await run("inbox"))["tasks"] as readonly {
    readonly task: string;
    readonly why: string;
    readonly commands: readonly string[];
  }[];
  expect(rows.map(({ task }) => task)).toEqual([id]);
  expect(rows[0]?.why).toMatch(
    /budget of 6,000 tokens .*its run has used 5,\d+ tokens.*done so far/,
  );

  const [command = ""] = rows[0]?.commands ?? [];
  expect(command).toMatch(/^autopilot portfolio edit task-\S+ --budget tokens=\d+k$/);
  await pool(); // nothing was raised, so nothing is bought
  expect(readFileSync(counted, "utf8")).toBe("first\n");
  expect((await run(...command.split(" ").slice(2))).result).toBe("PASS");
  await pool();
  expect((await tasks()).get(id)).toMatchObject({ status: "done" });
  expect(readFileSync(counted, "utf8")).toBe("first\nsecond\n");
  const dispatches = events(folder).filter(({ event_type }) => event_type === "task_dispatched");
  expect(new Set(dispatches.map(({ run_id }) => run_id)).size).toBe(1);
  const log = (await autopilot(folder, ["log", "--run", id, "--json"])).json["events"] as readonly {
    readonly event: string;
  }[];
  expect(log.filter(({ event }) => event === "limit_raised")).toMatchObject([
    { dimension: "tokens", from: 6000, to: 20_000 },
  ]);

  const spent = (await run("status"))["spent"] as { readonly tokens: number };
  const budget = (await autopilot(folder, ["budget", "--run", id, "--json"])).json;
  expect(
    (budget["budget"] as { readonly counters: { readonly tokens: number } }).counters.tokens,
  ).toBe(spent.tokens);
});
