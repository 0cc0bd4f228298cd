// A roadmap of 500 phases: how long it takes to read, order and lint it, cold, and what `status`
// costs over Node while it is run.

import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Draft, Entry } from "../src/contracts/event.ts";
import { openFold } from "../src/core/fold.ts";
import type { Run } from "../src/core/state.ts";
import { lintPlan } from "../src/playbooks/roadmap/documents/plan-lint.ts";
import { parsePlan } from "../src/playbooks/roadmap/documents/plan.ts";
import { selectPhases } from "../src/playbooks/roadmap/documents/order.ts";
import { parseRoadmap } from "../src/playbooks/roadmap/documents/roadmap.ts";
import type { Batch } from "../src/journal/batch.ts";
import { journalFile, type Position } from "../src/journal/journal.ts";
import { addLine, genesis } from "../src/journal/line.ts";
import { openStatusCache } from "../src/runner/write-status-cache.ts";
import { readJournal } from "../src/journal/read.ts";
import { drafted, phaseDrafts } from "./roadmap-run.ts";
import {
  interleave,
  isQuick,
  plainEnv,
  quantile,
  report,
  repository,
  withFolder,
} from "./measure.ts";

const phasesCount = 500;
const plansEvery = 10;
const rounds = isQuick ? 5 : 15;
const self = fileURLToPath(import.meta.url);
const stub = join(repository, "dist/autopilot.cjs");
const run = "run-2026-01-01-000000";

if (process.argv[2] === "parse") process.stdout.write(JSON.stringify(parsed()));
else await measure();

async function measure(): Promise<void> {
  const found = Array.from({ length: rounds }, () => {
    const { stdout } = spawnSync(process.execPath, [self, "parse"], {
      env: plainEnv,
      encoding: "utf8",
    });
    return JSON.parse(stdout) as { ms: number; bytes: number };
  });
  const bytes = found[0]?.bytes ?? 0;
  // A neighbour only ever slows it, so the quick tenth tells more than the middle.
  report(
    "roadmap_500",
    quantile(
      found.map(({ ms }) => ms),
      0.1,
    ),
    `${Math.round(bytes / 1024)} KB, a plan for every tenth phase; the first time in a new process`,
  );

  if (!existsSync(join(repository, "dist/status.cjs"))) return;
  await withFolder(async (folder) => {
    const { events, position } = writeRun(folder);
    const half = `half of them walked, ${events.toLocaleString("en")} events`;
    await statusOver(
      folder,
      "status_500_folded",
      `${half}, as a crash leaves it: all of them folded`,
    );

    await layOut(folder, position);
    await statusOver(folder, "status_500", `${half}, as its runner lays it out`);
  });
}

/** Reading, ordering and linting, with nothing warm. */
function parsed(): { readonly ms: number; readonly bytes: number } {
  const roadmap = roadmapText();
  const plan = planText();
  const began = performance.now();
  const { phases, findings } = parseRoadmap("ROADMAP.md", roadmap);
  const selected = selectPhases("all", phases, new Set());
  let wrong = findings.length;

  for (let at = 0; at < phasesCount; at += plansEvery) {
    const read = parsePlan("PLAN.md", plan);
    wrong +=
      read.findings.length + lintPlan("PLAN.md", read.plan, { requirements: ["R-1"] }).length;
  }

  const ms = performance.now() - began;
  if (!("ids" in selected) || selected.ids.length !== phasesCount || wrong > 0) {
    throw new Error(`${phases.length} phases, ${wrong} findings`);
  }

  return { ms, bytes: Buffer.byteLength(roadmap) };
}

function roadmapText(): string {
  const ids = Array.from({ length: phasesCount }, (_, at) => at + 1);
  const prose =
    "It is told at some length, as people do, what this phase is about and what it is not about. ".repeat(
      8,
    );

  const sections = ids.map((id) => {
    const after = [id - 1, id - 7, id - 31].filter((one) => one > 0);
    const criteria = [1, 2, 3, 4].map(
      (n) =>
        `${n}. part ${n} of phase ${id} works -- verified by: \`npm test -- part-${id}-${n}\` (returns at least 1)`,
    );

    return [
      `### Phase ${id}: Part ${id} of the whole`,
      `**Goal**: Part ${id} is there and holds. ${prose}`,
      `**Depends on**: ${after.length === 0 ? "Nothing (first phase)" : after.map((one) => `Phase ${one} (what it leaves)`).join(", ")}`,
      `**Requirements**: R-${id}, R-${id}-b`,
      "**Success Criteria** (what must be true):",
      ...criteria.map((line) => `  ${line}`),
      "",
    ].join("\n");
  });

  return [
    "# Roadmap",
    "",
    ...ids.map((id) => `- [ ] **Phase ${id}: Part ${id} of the whole** - in a few words`),
    "",
    ...sections,
  ].join("\n");
}

function planText(): string {
  const tasks = [1, 2, 3, 4].map(
    (n) =>
      `<task id="01-0${n}" type="auto" complexity="simple">\n### Task 01-0${n}: Do it\n**Files:** src/part-${n}.ts\n**Action:** Do what is to be done.\n**Verify:**\n- it is done :: npm test -- part-${n}\n**Done:** It is done.\n</task>\n`,
  );
  return ["| Requirement | Task(s) |", "|---|---|", "| R-1 | 01-01, 01-02 |", "", ...tasks].join(
    "\n",
  );
}

/** A run in the middle of it, written straight to the file. */
function writeRun(root: string): { readonly events: number; readonly position: Position } {
  mkdirSync(join(root, ".git"), { recursive: true });
  const folder = join(root, ".autopilot", "runs", run);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fd = openSync(join(folder, journalFile), "wx", 0o600);
  const batch: Batch = { bytes: Buffer.allocUnsafeSlow(32 * 1024 * 1024), used: 0 };
  const at: Position = { ...genesis };

  const add = (draft: Draft): void => {
    const stamp = {
      epoch: 1,
      ts: new Date(1_767_225_600_000 + at.seq * 100).toISOString(),
      activeMs: at.seq * 100,
    };
    addLine(batch, at, stamp, { actor: "system", reason_code: "ok", ...draft });
  };
  for (const draft of drafted(run, phasesCount)) add(draft);
  for (let id = 1; id <= phasesCount / 2; id += 1) {
    for (const draft of phaseDrafts(String(id))) add(draft);
  }

  writeSync(fd, batch.bytes, 0, batch.used);
  closeSync(fd);
  return { events: at.seq, position: at };
}

async function layOut(root: string, position: Position): Promise<void> {
  const folder = join(root, ".autopilot", "runs", run);
  const fold = openFold();
  readJournal(folder, { startAt: "start", onEntry: (entry: Entry) => fold.apply(entry) });

  const statusCache = openStatusCache({
    folder,
    view: () => fold.state as Run,
    position: () => position,
  });
  statusCache.onEntry();
  await statusCache.close();
}

async function statusOver(folder: string, figure: string, note: string): Promise<void> {
  const start = (argv: readonly string[]): number => {
    const began = performance.now();
    const { status } = spawnSync(process.execPath, argv, {
      cwd: folder,
      env: plainEnv,
      stdio: "ignore",
    });
    if (status !== 0) throw new Error(`${argv.join(" ")} ended with ${status}`);

    return performance.now() - began;
  };

  const slices = await interleave(
    [
      { name: "bare", slice: () => start(["-e", "0"]) },
      { name: "status", slice: () => start([stub, "status", "--json"]) },
    ],
    isQuick ? 11 : 41,
  );
  const quick = (name: string): number => quantile(slices[name] ?? [], 0.1); // as in start-up: a neighbour only ever slows a start
  report(figure, quick("status") - quick("bare"), note);
}
