// one-turn: whole runs of the built command line in which an agent writes one word and a check
// takes a tenth of a second, and the same work without any promise: a worktree, the agent, the
// check.

import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { repository } from "./measure.ts";

export type OneTurn = {
  readonly seconds: number;
  /** Computing time of the runner and of all it started. */
  readonly computing: number;
  /**
   * When the check was started, in milliseconds since 1970: before the work, after it, and to see
   * whether it can fail.
   */
  readonly checkStarts: readonly number[];
  readonly peakMb: number;
  readonly runDir: string;
};

const stub = join(repository, "dist/autopilot.cjs");
/** What a bare agent would do: start, write, end. */
const bareAgent = (word: string): string =>
  `require("node:fs").writeFileSync(${JSON.stringify(word)}, "word\\n")`;
const checkOf = (word: string): string => `sh check.sh && test -f ${word}`;

/** Runs beside `root`, with a home and their own cache. */
export function openRuns(room: string): {
  readonly cache: string;
  readonly run: (root: string, turns?: number) => OneTurn;
  readonly loop: (root: string) => {
    readonly seconds: number;
    readonly worktreeSeconds: number;
    readonly agentSeconds: number;
    readonly checkSeconds: number;
  };
} {
  const home = join(room, "home");
  mkdirSync(home, { recursive: true });
  const hook = join(room, "peak.cjs");
  const peak = join(room, "peak");
  writeFileSync(hook, measuring(peak));
  const env = { PATH: process.env["PATH"], HOME: home, USER: "bench", LANG: "C.UTF-8" };
  let ordinal = 0;

  return {
    cache: join(home, ".cache", "autopilot"),
    run: (root, turns = 1) => {
      const word = `WORD-${(ordinal += 1)}.md`;
      const script = join(room, `script-${ordinal}.json`);
      const idle = Array.from({ length: turns - 1 }, (_, at) => ({
        do: [{ write: { path: `STEP-${ordinal}-${at}.md`, text: "step\n" } }],
      }));

      const last = {
        do: [{ write: { path: word, text: "word\n" } }, { say: "<promise>DONE</promise>" }],
      };

      writeFileSync(script, JSON.stringify({ turns: [...idle, last] }));
      const argv = [
        "go",
        "write a word",
        "--done-criteria",
        `word :: ${checkOf(word)}`,
        "--agent",
        `scripted:${script}`,
        "--yes",
        "--json",
      ];

      const began = performance.now();
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        ["--require", hook, stub, ...argv],
        {
          cwd: root,
          env,
          encoding: "utf8",
        },
      );

      const seconds = (performance.now() - began) / 1000;
      if (status !== 0) {
        throw new Error(`the run failed: ${stdout.slice(0, 400)} ${stderr.slice(-400)}`);
      }

      const runs = join(root, ".autopilot", "runs");
      const newest = readdirSync(runs).toSorted().at(-1) ?? "";

      const { rss, computing, checkStarts } = JSON.parse(readFileSync(peak, "utf8")) as {
        readonly rss: number;
        readonly computing: number;
        readonly checkStarts: readonly number[];
      };

      return { seconds, computing, checkStarts, peakMb: rss / 1024, runDir: join(runs, newest) };
    },
    loop: (root) => {
      const word = `WORD-${(ordinal += 1)}.md`;
      const tree = join(room, `worktree-${ordinal}`);
      const git = (...args: readonly string[]): void =>
        void execFileSync("git", args, { cwd: root, env, stdio: "ignore" });
      const began = performance.now();
      git("worktree", "add", "-q", "--detach", tree);
      const worktreeSeconds = (performance.now() - began) / 1000;
      execFileSync(process.execPath, ["-e", bareAgent(word)], { cwd: tree, env });
      const agentSeconds = (performance.now() - began) / 1000 - worktreeSeconds;
      execFileSync("/bin/sh", ["-c", checkOf(word)], { cwd: tree, env });
      const seconds = (performance.now() - began) / 1000;
      const checkSeconds = seconds - worktreeSeconds - agentSeconds;
      git("worktree", "remove", "--force", tree);
      rmSync(tree, { recursive: true, force: true });

      return { seconds, worktreeSeconds, agentSeconds, checkSeconds };
    },
  };
}

/**
 * Seconds of what a run must ask of git about a whole repository: two looks at the checkout, one
 * list of the tree, one landing.
 */
export function wholeTreeGitSeconds(root: string): number {
  const git = (...args: readonly string[]): string =>
    execFileSync("git", args, {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: 1 << 28,
    });
  const [tip, before] = [git("rev-parse", "HEAD").trim(), git("rev-parse", "HEAD~1").trim()];
  git("read-tree", "-m", "-u", tip, before);
  const began = performance.now();
  git("status", "--porcelain", "-z", "--untracked-files=no", "--no-renames");
  git("ls-tree", "-r", "-z", "--full-tree", tip);
  git("status", "--porcelain", "-z", "--untracked-files=no", "--no-renames");
  git("read-tree", "-m", "-u", before, tip);

  return (performance.now() - began) / 1000;
}

/** Loaded into the runner: writes down at its end what it took, and when it started the check. */
const measuring = (into: string): string => `
const { readFileSync, writeFileSync } = require("node:fs");
const children = require("node:child_process");
const { spawn } = children;
const checkStarts = [];
children.spawn = function (program, args) {
  if (Array.isArray(args) && args.includes("autopilot-limits") && args.at(-1).includes("check.sh")) checkStarts.push(Date.now());
  return spawn.apply(this, arguments);
};
process.on("exit", () => {
  const { maxRSS: rss, userCPUTime, systemCPUTime } = process.resourceUsage();
  // Of children the kernel tells in hundredths of a second.
  const [user, system] = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1).split(" ").slice(13, 15).map(Number);
  writeFileSync(${JSON.stringify(into)}, JSON.stringify({ rss, checkStarts, computing: (userCPUTime + systemCPUTime) / 1e6 + (user + system) / 100 }));
});
`;

/**
 * Milliseconds of the runner's own in the last turn: from its first line to its proof's last, less
 * the agent's, less the checks' own, and less a bare check for each time that the check was run
 * once more with something broken.
 */
export function lastTurnOwnMs({ runDir, checkStarts }: OneTurn, bareCheckMs: number): number {
  const lines = readFileSync(join(runDir, "journal.jsonl"), "utf8").trim().split("\n");
  type Line = {
    readonly event: string;
    readonly active_ms: number;
    readonly ts: string;
    readonly attempt?: string;
    readonly usage?: { readonly minutes: number };
  };

  const entries = lines.map(
    (line) =>
      JSON.parse(line) as Line & { readonly checks?: readonly { readonly duration_ms: number }[] },
  );
  const [began, turned] = ["step_started", "turn_ended"].map((event) =>
    entries.findLastIndex(
      (entry) => entry.event === event && entry.attempt?.includes("/execute#") === true,
    ),
  );

  const proved = entries.findLastIndex(
    ({ event, attempt }) => event === "step_completed" && attempt?.includes("/prove#") === true,
  );
  const checks = entries[proved]?.checks ?? [];
  const checksMs = checks.reduce((sum, { duration_ms }) => sum + duration_ms, 0);
  const beganAt = Date.parse(entries[began ?? -1]?.ts ?? "");
  const experiments = checkStarts.filter((at) => at >= beganAt).length - checks.length;
  const agentMs = (entries[turned ?? -1]?.usage?.minutes ?? 0) * 60_000;

  return (
    (entries[proved]?.active_ms ?? 0) -
    (entries[began ?? -1]?.active_ms ?? 0) -
    agentMs -
    checksMs -
    experiments * bareCheckMs
  );
}

/**
 * Bytes of all files below a folder as they are on the disk; a file with several names counts once.
 */
export function bytesBelow(folder: string): number {
  const seen = new Set<number>();
  const walk = (at: string): number => {
    const stat = lstatSync(at);
    if (!stat.isDirectory()) {
      if (seen.has(stat.ino)) return 0;
      seen.add(stat.ino);
      return stat.blocks * 512;
    }

    return readdirSync(at).reduce((sum, name) => sum + walk(join(at, name)), 0);
  };
  return existsSync(folder) && statSync(folder).isDirectory() ? walk(folder) : 0;
}
