// What a portfolio's pool costs beside its agents: memory with 64 workers, how many more steps they
// make than one, and the runner's share of a task whose agent does nothing. Whole pools of the
// built command line with the embedded agent, which thinks as long as it is reported.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { isQuick, report, repository, withFolder } from "./measure.ts";
import { taskResult } from "../test/support/task-result.ts";

const workers = isQuick ? 16 : 64;
const thinkMs = isQuick ? 4_000 : 10_000;
const stub = join(repository, "dist/autopilot.cjs");

type Pool = {
  readonly seconds: number;
  readonly peakMb: number;
  /** Computing of the pool and of all it started: git, agents, checks. */
  readonly cpuSeconds: number;
  readonly steps: number;
  readonly othersMs: number;
};

/** One pool over as many tasks, from its start to the last landing. */
function play(room: string, name: string, tasks: number, jobs: number, think: number): Pool {
  const folder = join(room, name);
  const [repo, home, portfolio] = [
    join(folder, "repo"),
    join(folder, "home"),
    join(folder, "portfolio"),
  ];
  for (const one of [repo, join(home, ".config/autopilot"), portfolio]) {
    mkdirSync(one, { recursive: true });
  }

  const env = { PATH: process.env["PATH"], HOME: home, USER: "bench", LANG: "C.UTF-8" };
  writeFileSync(join(home, ".config/autopilot/config.yaml"), "isolation: clone\n");
  writeFileSync(join(repo, "README.md"), "# bench\n");

  for (const args of [
    ["init", "-q", "-b", "main"],
    ["add", "-A"],
    ["commit", "-q", "-m", "start"],
  ]) {
    execFileSync("git", ["-c", "user.name=B", "-c", "user.email=b@example.invalid", ...args], {
      cwd: repo,
      env,
    });
  }

  const peak = join(folder, "peak");
  const hook = join(folder, "peak.cjs");
  writeFileSync(
    hook,
    // Fields 14 to 17 of a process' line: its own ticks and those of the children it has waited
    // for.
    `process.on("exit", () => {
  const fs = require("node:fs");
  const ticks = fs.readFileSync("/proc/self/stat", "latin1").split(") ").at(-1).split(" ").slice(11, 15).reduce((sum, one) => sum + Number(one), 0);
  fs.writeFileSync(${JSON.stringify(peak)}, JSON.stringify([process.resourceUsage().maxRSS, ticks / 100]));
});\n`,
  );

  const autopilot = (...args: readonly string[]): void => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["--require", hook, stub, "portfolio", ...args, "--json"],
      {
        cwd: portfolio,
        env,
        encoding: "utf8",
        maxBuffer: 64 * 1024 * 1024,
      },
    );
    if (status !== 0) {
      throw new Error(
        `portfolio ${args[0] ?? ""} failed: ${stdout.slice(0, 400)} ${stderr.slice(-400)}`,
      );
    }
  };

  const rows = Array.from({ length: tasks }, (_, n) => {
    const script = join(folder, `agent-${n}.json`);
    const pause = think === 0 ? [] : [{ sleep: think }];

    const turns = [
      { when: { step: "report" }, do: pause, returns: taskResult },
      {
        do: [
          ...pause,
          { write: { path: `word-${n}.txt`, text: "word\n" } },
          { say: "<promise>DONE</promise>" },
        ],
      },
    ];

    writeFileSync(script, JSON.stringify({ turns }));
    const touches = [`word-${n}.txt`];
    return {
      project: "Bench",
      objective: `word ${n}`,
      accept: [`word :: test -f word-${n}.txt`],
      touches,
      agent: `scripted:${script}`,
    };
  });

  autopilot("init");
  writeFileSync(
    join(portfolio, "list.json"),
    JSON.stringify({ projects: [{ name: "Bench", repo, slots: jobs }], tasks: rows }),
  );

  autopilot("import", "list.json");
  const began = performance.now();
  autopilot("run", "--until-idle", "--jobs", String(jobs));
  const seconds = (performance.now() - began) / 1000;
  const [rss = 0, cpuSeconds = 0] = JSON.parse(readFileSync(peak, "utf8")) as readonly number[];

  return {
    seconds,
    peakMb: rss / 1024,
    cpuSeconds,
    ...whatRunsSay(join(portfolio, ".autopilot/portfolio/copies")),
  };
}

/** Steps that were completed, and milliseconds that agents and checks took by themselves. */
function whatRunsSay(copies: string): { readonly steps: number; readonly othersMs: number } {
  let [steps, othersMs] = [0, 0];
  for (const copy of readdirSync(copies)) {
    for (const run of readdirSync(join(copies, copy, ".autopilot/runs"))) {
      for (const line of readFileSync(
        join(copies, copy, ".autopilot/runs", run, "journal.jsonl"),
        "utf8",
      )
        .trim()
        .split("\n")) {
        const entry = JSON.parse(line) as {
          readonly event: string;
          readonly usage?: { readonly minutes?: number };
          readonly checks?: readonly { readonly duration_ms: number }[];
        };
        if (entry.event === "turn_ended") othersMs += (entry.usage?.minutes ?? 0) * 60_000;
        if (entry.event !== "step_completed") continue;
        steps += 1;
        othersMs += (entry.checks ?? []).reduce((sum, { duration_ms }) => sum + duration_ms, 0);
      }
    }
  }

  return { steps, othersMs };
}

await withFolder(async (room) => {
  const pool = play(room, "one", 2, 1, thinkMs);
  const many = play(room, "many", workers, workers, thinkMs);
  const note = `${workers} tasks, ${workers} workers, agents that think ${thinkMs / 1000} s a turn: ${many.seconds.toFixed(0)} s`;
  report("pool_memory", many.peakMb, note);
  report(
    "pool_steps",
    many.steps / many.seconds / (pool.steps / pool.seconds),
    `${note}; one worker: ${pool.seconds.toFixed(0)} s for 2 tasks`,
  );

  const tasks = isQuick ? 3 : 8;
  const idle = play(room, "idle", tasks, 1, 0);
  const ownMs = idle.seconds * 1000 - idle.othersMs;
  report(
    "pool_overhead",
    (100 * ownMs) / (idle.seconds * 1000),
    `${(ownMs / tasks / 1000).toFixed(2)} s of ${(idle.seconds / tasks).toFixed(2)} s a task: draft, copy, journal, proof, merge, landing; beside an agent of ten minutes ${((100 * ownMs) / tasks / (600_000 + ownMs / tasks)).toFixed(1)} %`,
  );

  // One worker takes its turns and its computing one after the other; many take their turns at once
  // and share the cores.
  const [perTask, alone, turns, cores] = [
    many.cpuSeconds / workers,
    idle.seconds / tasks,
    2,
    availableParallelism(),
  ];

  const bound = (think: number): string =>
    `${((workers * (turns * think + alone)) / (turns * think + (workers * perTask) / cores)).toFixed(0)} x where a turn takes ${think} s`;
  report(
    "pool_cpu",
    perTask,
    `so ${workers} workers on ${cores} cores make at most ${[1, 10, 60, 600].map(bound).join(", ")}`,
  );
});
