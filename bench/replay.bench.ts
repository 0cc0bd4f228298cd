// How quickly a journal becomes a state: replayed from its first line, and opened from its
// snapshot. Each in its own process.

import { spawnSync } from "node:child_process";
import { copyFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Entry } from "../src/contracts/event.ts";
import { openFold } from "../src/core/fold.ts";
import type { Run } from "../src/core/state.ts";
import { openJournal } from "../src/journal/file-journal.ts";
import { journalFile } from "../src/journal/journal.ts";
import { readJournal } from "../src/journal/read.ts";
import { writeLongJournal } from "./long-journal.ts";
import {
  isQuick,
  median,
  parseLines,
  plainEnv,
  report,
  repository,
  withFolder,
} from "./measure.ts";

const events = isQuick ? 200_000 : 1_000_000;
const rounds = 5;

const [, self = "", task, where = ""] = process.argv;
if (task === undefined) await measure();
else if (task === "replay") reportLine(replay(where));
else if (task === "bare") reportLine(bare(where));
else reportLine(await open(where, task));

type Reported = { readonly ms: number; readonly rssMb: number };

async function measure(): Promise<void> {
  // As it is shipped: the second thread's program is beside the bundle.
  copyFileSync(join(repository, "dist/chain-worker.cjs"), join(dirname(self), "chain-worker.cjs"));
  await withFolder(async (folder) => {
    const run = join(folder, "run");
    const written = writeLongJournal(run, events);
    const bare = median(Array.from({ length: rounds }, () => ask("bare", run).ms));
    const note = `${written.events.toLocaleString("en")} events, ${written.attempts.toLocaleString("en")} attempts ended; parsing the lines alone takes ${Math.round(bare)} ms`;
    const replays = Array.from({ length: rounds }, () => ask("replay", run));
    report("replay_speed", (written.events * 1000) / median(replays.map(({ ms }) => ms)), note);
    report("replay_memory", Math.max(...replays.map(({ rssMb }) => rssMb)));
    ask("snapshot", run);
    const openings = Array.from({ length: rounds }, () => ask("open", run));
    report(
      "open_million",
      median(openings.map(({ ms }) => ms)),
      isQuick ? `with ${note}, not a million` : note,
    );

    rmSync(run, { recursive: true, force: true });
  });
}

function ask(what: string, run: string): Reported {
  const { stdout, stderr, status } = spawnSync(process.execPath, [self, what, run], {
    env: plainEnv,
    encoding: "utf8",
  });
  if (status !== 0) {
    throw new Error(
      `${what}: ${
        stderr
          .trim()
          .split("\n")
          .find((line) => line.includes("Error")) ?? stderr.slice(-300)
      }`,
    );
  }

  return JSON.parse(stdout) as Reported;
}

function reportLine(ms: number): void {
  process.stdout.write(
    JSON.stringify({ ms, rssMb: process.resourceUsage().maxRSS / 1024 } satisfies Reported),
  );
}

function replay(run: string): number {
  const began = performance.now();
  const fold = openFold();
  readJournal(run, { startAt: "start", onEntry: (entry: Entry) => fold.apply(entry) });

  return performance.now() - began;
}

function bare(run: string): number {
  const began = performance.now();
  parseLines(join(run, journalFile));
  return performance.now() - began;
}

/**
 * As the host takes a run in hand: lock, snapshot, the lines after it. For the first time it leaves
 * the snapshot behind.
 */
async function open(run: string, what: string): Promise<number> {
  const began = performance.now();
  let fold = openFold();

  const { journal } = await openJournal(run, {
    commit: "sync",
    now: () => new Date().toISOString(),
    activeMs: () => performance.now(),
    onSnapshot: (state) => {
      fold = openFold(state as Run);
      return true;
    },
    onEntry: (entry) => fold.apply(entry),
  });

  const ms = performance.now() - began;
  const { state } = fold;
  if (state.status === "unborn") throw new Error("the journal is empty");
  if (what === "snapshot") await journal.snapshot(state);
  await journal.close();

  return ms;
}
