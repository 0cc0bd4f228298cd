// The plug is pulled while an agent is silent: what the waiting runner weighed, and how long until
// a new one has the step in hand again.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Entry } from "../src/contracts/event.ts";
import { isQuick, median, plainEnv, quantile, report, repository, withFolder } from "./measure.ts";

const rounds = isQuick ? 3 : 9;
const waitMsMax = 20_000;
const settleMs = 1500;
/**
 * One runner waits longer than the others, as runners do: what looking after an agent costs shows
 * only then.
 */
const idleMs = isQuick ? 4_000 : 20_000;
const lookEveryMs = 500;
const stub = join(repository, "dist/autopilot.cjs");
const start = [
  "go",
  "--yes",
  "--goal",
  "measure",
  "--done-criteria",
  "never :: false",
  "--agent",
  "scripted:script.yaml",
  "--isolation",
  "clone",
  "--json",
];

const gaps: number[] = [];
const weights: number[] = [];
const idle = await withFolder(waitLong);
for (let round = 0; round < rounds; round++) await withFolder(pullThePlug);
// A neighbour only ever slows a recovery, so the quick tenth tells what the runner itself needs;
// the middle is reported beside it.
report(
  "kill_to_step",
  quantile(gaps, 0.1),
  `from kill -9 to the line that takes the step up again; a new Node process is part of it; median ${median(gaps)} ms`,
);
if (idle !== null) {
  report(
    "idle_memory",
    Math.max(median(weights), ...idle.weights),
    `the highest of ${idle.weights.length} looks while it waited`,
  );

  report("idle_cpu", idle.cpuShare * 100);
}

/**
 * What a runner whose agent is silent weighs over time, and its share of a core; null if the system
 * does not tell.
 */
async function waitLong(
  folder: string,
): Promise<{ readonly weights: readonly number[]; readonly cpuShare: number } | null> {
  prepare(folder);
  const runner = run(folder, start);
  await until(folder, runner, (entries) => entries.some(({ event }) => event === "session_opened"));
  await sleep(settleMs);
  const seen: number[] = [];
  const cpuBefore = cpuMsOf(runner);
  const began = performance.now();
  while (performance.now() - began < idleMs) {
    seen.push(...weightOf(runner));
    await sleep(lookEveryMs);
  }

  const cpuAfter = cpuMsOf(runner);
  const ms = performance.now() - began;
  spawnSync(process.execPath, [stub, "stop", "--json"], {
    cwd: folder,
    env: plainEnv,
    stdio: "ignore",
  });

  return cpuBefore === null || cpuAfter === null
    ? null
    : { weights: seen, cpuShare: (cpuAfter - cpuBefore) / ms };
}

async function pullThePlug(folder: string): Promise<void> {
  prepare(folder);
  const first = run(folder, start);
  await until(folder, first, (entries) => entries.some(({ event }) => event === "session_opened"));
  await sleep(settleMs);
  weights.push(...weightOf(first));
  const seen = entriesIn(folder).length;
  first.child.kill("SIGKILL");
  const killed = Date.now();
  const second = run(folder, ["resume", "--json"]);
  const isNewStep = ({ event }: Entry): boolean =>
    event === "attempt_settled" || event === "step_started";
  const after = await until(folder, second, (entries) => entries.slice(seen).some(isNewStep));
  const taken = after.slice(seen).find(isNewStep);
  if (taken !== undefined) gaps.push(Date.parse(taken.ts) - killed);
  spawnSync(process.execPath, [stub, "stop", "--json"], {
    cwd: folder,
    env: plainEnv,
    stdio: "ignore",
  });

  second.child.kill("SIGKILL");
}

function prepare(folder: string): void {
  const git = (...args: string[]): void =>
    void spawnSync("git", ["-c", "user.name=bench", "-c", "user.email=bench@localhost", ...args], {
      cwd: folder,
      env: plainEnv,
      stdio: "ignore",
    });
  rmSync(join(folder, ".git"), { recursive: true, force: true });
  git("init", "-q");
  writeFileSync(join(folder, "a.txt"), "a\n");
  writeFileSync(join(folder, "script.yaml"), "turns:\n  - { do: [{ hang: true }], repeat: 0 }\n");
  git("add", "-A");
  git("commit", "-qm", "start");
}

type Started = { readonly child: ChildProcess; readonly said: () => string };

function run(folder: string, argv: readonly string[]): Started {
  const child = spawn(process.execPath, [stub, ...argv], {
    cwd: folder,
    env: plainEnv,
    stdio: ["ignore", "pipe", "pipe"],
  });

  let said = "";
  const hear = (chunk: Buffer): void => void (said = (said + chunk.toString()).slice(-2000));
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);

  return { child, said: () => said };
}

async function until(
  folder: string,
  { child, said }: Started,
  holds: (entries: readonly Entry[]) => boolean,
): Promise<readonly Entry[]> {
  const end = Date.now() + waitMsMax;
  while (Date.now() < end) {
    const entries = entriesIn(folder);
    if (holds(entries)) return entries;
    if (child.exitCode !== null) {
      throw new Error(`Error: the runner ended early: ${said().trim().slice(0, 300)}`);
    }

    await sleep(5);
  }

  child.kill("SIGKILL");
  throw new Error(`Error: nothing happened for ${waitMsMax} ms: ${said().trim().slice(0, 300)}`);
}

/** The whole lines of the one journal there is; a line under way is left out. */
function entriesIn(folder: string): Entry[] {
  const runs = join(folder, ".autopilot/runs");
  const path = join(
    runs,
    existsSync(runs) ? (readdirSync(runs)[0] ?? "none") : "none",
    "journal.jsonl",
  );
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n");

  return lines.slice(0, -1).map((line) => JSON.parse(line) as Entry);
}

/** Resident megabytes, where the system tells. */
function weightOf({ child }: Started): number[] {
  const path = `/proc/${child.pid}/status`;
  const kilobytes = existsSync(path)
    ? /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(path, "utf8"))?.[1]
    : undefined;
  return kilobytes === undefined ? [] : [Number(kilobytes) / 1024];
}

/** Computing time so far; the system counts it in hundredths of a second. */
function cpuMsOf({ child }: Started): number | null {
  const path = `/proc/${child.pid}/stat`;
  if (!existsSync(path)) return null;
  const stat = readFileSync(path, "utf8");
  const [user = "0", system = "0"] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13);

  return (Number(user) + Number(system)) * 10;
}
