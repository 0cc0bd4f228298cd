// Budget evaders: agents that try to go on for longer, or to cost more, than they may. Whatever
// they do, the run ends as it should, what they did past their end is not kept, and nothing of them
// is alive afterwards.

import { computeSandboxLimits } from "../../src/runner/sandbox-limits.ts";
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chooseIsolation } from "../../src/workspace/isolation/isolation.ts";
import { detachedProcessGap } from "../../src/workspace/isolation/confinement.ts";
import { tasksPerProcess } from "../../src/workspace/isolation/limits-cgroup.ts";
import { openLimits } from "../../src/workspace/isolation/limits.ts";
import { type Ended, eventsOf, goScripted, processesOf, until } from "../support/autopilot.ts";
import { scratch, scratchFolder } from "../support/scratch-repository.ts";
import { aFew, sampled } from "../support/sampled.ts";

const defaultLimits = computeSandboxLimits({});
const promise = { say: "<promise>DONE</promise>" };
const makeB = { write: { path: "src/b.txt", text: "b\n" } };
const bExists = ["--done-criteria", "b is there :: test -f src/b.txt"];
const choice = await chooseIsolation("auto", { hidden: [], runDir: scratchFolder() });
const strongest = "isolation" in choice ? [choice.isolation.level] : [];
const endsAll =
  "isolation" in choice && !choice.isolation.not_enforced.includes(detachedProcessGap);
/**
 * The weakest, if nothing but the runner's own sweep ends a process, and the strongest there is
 * here.
 */
const levels = ["clone", ...strongest];

let ordinal = 0;
/** A number of seconds nobody else sleeps, so that whoever sleeps it is known by it. */
const longTime = (): string => `31${process.pid}.${(ordinal += 1)}`;
const sleepersOf = (time: string): readonly string[] =>
  readdirSync("/proc").filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) &&
        readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(time) &&
        !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
      );
    } catch {
      return false;
    }
  });

type Evader = {
  readonly name: string;
  readonly steps: (time: string) => readonly object[];
  /** How the turn must end: kept, cut by its budget, or failed. */
  readonly ends: "kept" | "cut" | "failed";
  /**
   * How many of its sleepers must have been seen at work, so that their absence afterwards means
   * something.
   */
  readonly seen?: number;
};

/** The promised file is made only if the program is really there when the turn ends. */
const stillThere = "sleep 0.1; kill -0 $! && mkdir -p src && echo b > src/b.txt";
/** It stops at so many by itself, so that a test gone wrong costs nobody a machine. */
const bomb = (time: string, depth: number): string =>
  `f() { if [ $1 -ge ${depth} ]; then exec sleep ${time}; fi; f $(($1 + 1)) & f $(($1 + 1)) & wait; }; f 0`;

const evaders: readonly Evader[] = [
  {
    name: "ignores every signal that can be ignored",
    steps: () => [makeB, { ignore_term: true }, { hang: true }],
    ends: "cut",
  },
  {
    name: "sleeps past its deadline and then writes",
    steps: () => [makeB, { sleep: 600_000 }, { write: { path: "src/late.txt", text: "x" } }],
    ends: "cut",
  },
  {
    name: "has a command sleep past its deadline",
    steps: (time) => [makeB, { run: `trap '' TERM; sleep ${time}; echo x > src/late.txt` }],
    seen: 1,
    ends: "cut",
  },
  {
    name: "leaves a program in a session of its own",
    steps: (time) => [
      { run: `setsid nohup sleep ${time} >/dev/null 2>&1 </dev/null & ${stillThere}` },
      promise,
    ],
    ends: "kept",
  },
  {
    name: "leaves a program that holds its output open",
    steps: (time) => [
      { run: `setsid sleep ${time} > /proc/$PPID/fd/1 2> /proc/$PPID/fd/2 & ${stillThere}` },
      promise,
    ],
    ends: "kept",
  },
  {
    name: "leaves a program that refuses to go",
    steps: (time) => [
      {
        run: `setsid sh -c 'trap "" TERM HUP INT; while :; do sleep ${time}; done' >/dev/null 2>&1 & ${stillThere}`,
      },
      promise,
    ],
    ends: "kept",
  },
  { name: "floods its output", steps: () => [makeB, { flood: 60_000_000 }], ends: "failed" },
  {
    name: "floods its error output",
    steps: () => [makeB, { run: "yes | head -c 60000000 > /proc/$PPID/fd/2" }, promise],
    ends: "kept",
  },
  {
    name: "forks and forks",
    steps: (time) => [makeB, { run: bomb(time, 7) }],
    seen: 100,
    ends: "cut",
  },
];

type Played = { readonly folder: string; readonly time: string; readonly json: Ended["json"] };

/**
 * A budget that runs out before the agent is at work says nothing of the agent: on a slow machine
 * it is given more.
 */
async function played(
  { steps, ends, seen = 0 }: Evader,
  level: string,
  minutes = 0.1,
): Promise<Played> {
  const folder = scratch();
  const time = longTime();
  const briefly = ends === "cut" ? ["--max-budget", `minutes=${minutes}`] : [];

  const running = goScripted(
    folder,
    [{ do: steps(time) }, { do: [makeB, promise] }],
    [...bExists, ...briefly, "--isolation", level],
  );

  let most = 0;
  let isOver = false;
  void running.finally(() => (isOver = true)).catch(() => undefined);

  if (seen > 0) {
    await until(
      "its sleepers",
      () => (most = Math.max(most, sleepersOf(`sleep\0${time}`).length)) >= seen || isOver,
    );
  }

  const { json } = await running;
  const isAtWork =
    most >= seen && (ends !== "cut" || eventsOf(folder, "step_interrupted").length > 0);
  return isAtWork || minutes > 5
    ? { folder, time, json }
    : played({ steps, ends, seen, name: "" }, level, minutes * 4);
}

describe.concurrent.each(levels)("at level %s", (level) => {
  test.each(sampled(level === "clone" ? 3 : 2, evaders))(
    "an agent that $name is ended, and nothing of it is left",
    async (evader) => {
      const { ends } = evader;
      const { folder, time, json } = await played(evader, level);
      const interrupted = eventsOf(folder, "step_interrupted");
      const applied = eventsOf(folder, "changes_applied");

      if (ends === "cut") {
        expect(json).toMatchObject({
          result: "FAIL",
          reason_code: "budget_threshold_reached",
          state: "paused",
        });

        expect(interrupted).toMatchObject([{ by: "budget" }]);
        expect(applied).toEqual([]);
      } else {
        expect(applied.flatMap(({ paths }) => paths)).toEqual(["src/b.txt"]);
      }

      if (ends === "failed") {
        expect(eventsOf(folder, "step_failed")[0]).toMatchObject({
          reason_code: "agent_failed",
          detail: expect.stringContaining("flooded") as string,
        });
      }

      await nothingLeft(json, folder, time);
    },
  );
});

/** By its mark and by its name. The kernel may take a moment to clear away what was killed. */
async function nothingLeft({ run_id }: Ended["json"], folder: string, time: string): Promise<void> {
  await until(
    "the end of everything with the run's mark",
    () => processesOf(run_id ?? "", folder).length === 0,
  );

  await until("the end of everything that sleeps so long", () => sleepersOf(time).length === 0);
  expect(sleepersOf(join(folder, "src"))).toEqual([]);
}

test.skipIf(!endsAll)(
  "in a box, what threw its environment away goes too (skipped where no box can be had)",
  async () => {
    const folder = scratch();
    const time = longTime();
    const bare = {
      run: `(setsid env -i sh -c '(sleep ${time}) &' &) >/dev/null 2>&1 </dev/null; sleep 0.2`,
    };

    const { json } = await goScripted(
      folder,
      [{ do: [makeB, bare, promise] }],
      [...bExists, "--isolation", strongest[0] ?? "auto"],
    );
    expect(json).toMatchObject({ state: "completed" });
    await nothingLeft(json, folder, time);
  },
);

const limits = await openLimits(scratchFolder());
const holdsProcesses = limits.inForce.some((text) => text.startsWith("number of processes"));

test.skipIf(!holdsProcesses)(
  "a fork bomb under limits never has more than it may (skipped where no limit on processes can be had)",
  async () => {
    const time = longTime();
    const bound = { ...defaultLimits, processesMax: 20 };

    const play = async (argv: readonly string[], withinMs?: number): Promise<number> => {
      const child = spawn(argv[0] ?? "", argv.slice(1), { stdio: "ignore", detached: true });
      let most = 0;
      await until(
        "all it can have",
        () => (most = Math.max(most, sleepersOf(`sleep\0${time}`).length)) >= 128,
        withinMs,
      ).catch(() => null);

      process.kill(-(child.pid ?? 0), "SIGKILL");
      return most;
    };

    const before = performance.now();
    const free = await play(["/bin/sh", "-c", bomb(time, 7)]);
    const freeMs = performance.now() - before; // what is bound has as long, and twice that again
    await until("the end of the free one", () => sleepersOf(`sleep\0${time}`).length === 0);
    const held = await play(
      limits.wrap(["/bin/sh", "-c", bomb(time, 7)], bound, "bomb"),
      Math.max(1_000, 3 * freeMs),
    );

    await limits.release("bomb");
    expect(held).toBeGreaterThan(0);
    expect(held).toBeLessThanOrEqual(bound.processesMax * tasksPerProcess);
    expect(free).toBe(128);
  },
);

describe.concurrent("usage that is made up", () => {
  const busy = (...steps: readonly object[]) => ({
    do: [{ run: "date +%N >> src/notes.txt" }, ...steps],
    repeat: 0,
  });

  aFew(1).each([
    ["says nothing", []],
    ["says zero", [{ usage: { input: 0, output: 0 } }]],
    ["says less than nothing", [{ usage: { input: -90_000, output: 5 } }]],
    ["says more than there is", [{ usage: { input: 1e300, output: 1 } }]],
    ["pays back what it used", [{ usage: { input: 20_000 } }, { usage: { input: -20_000 } }]],
  ])("an agent that %s is charged the estimate, and stops at its limit", async (_what, steps) => {
    const folder = scratch();
    const { json } = await goScripted(
      folder,
      [busy(...steps)],
      [...bExists, "--max-budget", "tokens=70k"],
    );
    expect(json).toMatchObject({
      result: "FAIL",
      reason_code: "budget_threshold_reached",
      state: "paused",
    });

    const charged = eventsOf(folder, "turn_ended").map(
      ({ usage }) => usage as { tokens: number; source: string },
    );
    expect(charged).toMatchObject([
      { tokens: 30_000, source: "estimated" },
      { tokens: 30_000, source: "estimated" },
    ]);
  });
});
