// benchmark: one run of one benchmark: its copy of the repository, its process, and its result.
//
// Invariants:
//   B1. The list of known bugs is in no copy: a benchmark that could read the answers would measure nothing.
//   B2. A run that ended is never run again: its results are read, whichever process started it.
//   B3. What it printed is kept without secrets.

import { closeSync, cpSync, existsSync, lstatSync, mkdirSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative } from "node:path";
import { ensureFolderBelow, requireNoLink } from "../../project/own-folder.ts";
import { git } from "../../workspace/git/git.ts";
import { type Bug, parseBugs, measureRecall, type Recall } from "../cycle/bugs.ts";
import { parseMetric } from "../cycle/metric.ts";
import { type BenchmarkPlan, type CyclePlan, cyclesFolder, findingsDefault, recallTarget } from "../cycle/plan.ts";
import type { RunKey } from "../cycle/state.ts";
import { type Ended, endProcess, readExitCode, isAtWork, startProcess, stderrFile, stdoutFile, waitFor } from "./process.ts";
import { commitCopy, initCopy, type Trees } from "./trees.ts";
import { eraseSync } from "../../workspace/folder.ts";

export type BenchmarkContext = {
  readonly trees: Trees;
  readonly plan: CyclePlan;
  /** The cycle's folder for what is disposable. */
  readonly folder: string;
  readonly cycle: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly interrupted: AbortSignal;
  readonly redact: (text: string) => string;
  readonly baselineOf: (name: string) => readonly Bug[] | null;
};
export type BenchmarkOutcome =
  | { readonly kind: "measured"; readonly recalled: Recall; readonly metric: number | null }
  | { readonly kind: "failed"; readonly why: string }
  | Exclude<Ended, { readonly kind: "exited" }>;

/** For a benchmark that measures a metric and left no list of findings: no recall, since 0 would mean that a list was compared. */
const noFindingsList: Recall = { recall: null, matches: [], found: [], missed: [] };

const logBytesMax = 8 << 20;
const tailCharsMax = 300;

export const runFolder = (folder: string, { benchmark, lever_state, repeat }: RunKey): string =>
  join(folder, "runs", benchmark, `${lever_state}-${repeat}`);

export function readRunState(folder: string): "ended" | "at work" | "gone" {
  if (readExitCode(folder) !== null || hasRunEnd(folder)) return "ended"; // B2
  return isAtWork(folder) ? "at work" : "gone";
}

/** A quality run says in its own log that it is over, and how it ended. */
const hasRunEnd = (folder: string): boolean => findRunEnd(folder) !== null;

function findRunEnd(folder: string): string | null {
  for (const name of ["work", "target"]) {
    const lines = (readText(join(folder, name, "quality", "run_state.jsonl")) ?? "").split("\n");
    const last = lines.findLast((line) => /"event"\s*:\s*"run_end"/.test(line));
    if (last !== undefined) return /"status"\s*:\s*"([^"]*)"/.exec(last)?.[1] ?? "unknown";
  }
  return null;
}

export type RunRequest = {
  readonly key: RunKey;
  readonly commit: string;
  /** False: a process that an earlier runner started is waited for, or its result is read. */
  readonly isFresh: boolean;
};

/** Runs a benchmark from the start, or continues an earlier runner's. */
export async function runBenchmark(room: BenchmarkContext, { key, commit, isFresh }: RunRequest): Promise<BenchmarkOutcome> {
  const folder = runFolder(room.folder, key);
  const plan = room.plan.benchmarks.find(({ name }) => name === key.benchmark);
  if (plan === undefined) return { kind: "failed", why: "is not in the plan" };
  const places = planPlaces(room, plan, folder, key.lever_state);
  const wait = { hangMs: room.plan.hang_ms, interrupted: room.interrupted };
  if (!isFresh) {
    const hasEnded = hasRunEnd(folder) && readExitCode(folder) === null;
    if (hasEnded) await endProcess(folder);
    if (hasEnded && findRunEnd(folder) !== "success") return { kind: "failed", why: `its run ended ${findRunEnd(folder)}` };
    const ended: Ended = hasEnded ? { kind: "exited", code: 0 } : await waitFor(folder, places.watchedFolders, wait);
    return measureOutcome(room, key, ended, places.findingsFolder);
  }
  requireNoLink(room.folder, relative(room.folder, dirname(folder)));
  await endProcess(folder);
  eraseSync(folder);
  ensureFolderBelow(room.folder, relative(room.folder, folder));
  await prepare(room, plan, commit, places);
  mkdirSync(places.cwd, { recursive: true }); // a folder that held nothing but the list is gone with it
  const child = startProcess({
    folder,
    cwd: places.cwd,
    command: room.plan.command ?? places.qualityCommand,
    env: {
      ...room.env,
      CALIBRATION_CYCLE: room.cycle,
      CALIBRATION_ROOT: places.work,
      CALIBRATION_BENCHMARK: key.benchmark,
      CALIBRATION_LEVER_STATE: key.lever_state,
      CALIBRATION_REPEAT: String(key.repeat),
    },
  });
  return measureOutcome(room, key, await waitFor(folder, places.watchedFolders, { ...wait, child }), places.findingsFolder);
}

type RunPlaces = {
  /** The repository with or without the lever. */
  readonly work: string;
  /** The benchmark's own code, if it is not part of the repository. */
  readonly target: string | null;
  readonly cwd: string;
  readonly findingsFolder: string;
  readonly watchedFolders: readonly string[];
  /** The command line of a quality run. */
  readonly qualityCommand: string;
};

function planPlaces(
  { plan: { command, agent }, trees }: BenchmarkContext,
  plan: BenchmarkPlan,
  folder: string,
  leverState: string,
): RunPlaces {
  const work = join(folder, "work");
  const target = plan.kind === "folder" ? null : join(folder, "target");
  const subfolder = plan.kind === "folder" ? relative(trees.repository.root, join(trees.repository.root, plan.at)) : "";
  const cwd = target ?? (command === null ? work : join(work, subfolder));
  const argv = [
    process.execPath,
    process.argv[1] ?? "autopilot",
    "quality",
    "--yes",
    "--json",
    "--benchmark",
    plan.name,
    "--lever-state",
    leverState,
  ];
  if (subfolder !== "") argv.push("--target-path", subfolder);
  if (agent !== undefined) argv.push("--agent", agent);
  const watchedFolders = target === null ? [work] : [work, target];
  return { work, target, cwd, findingsFolder: cwd, watchedFolders, qualityCommand: argv.map(quoted).join(" ") };
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

async function prepare(room: BenchmarkContext, plan: BenchmarkPlan, commit: string, { work, target, cwd }: RunPlaces): Promise<void> {
  const { trees } = room;
  await trees.makeCopy(work, commit, [
    cyclesFolder,
    ...room.plan.benchmarks.flatMap((benchmark) => answerPaths(trees.repository.root, benchmark)),
  ]); // B1
  const config = join(trees.repository.root, ".autopilot", "config.yaml");
  if (existsSync(config) && !existsSync(join(work, ".autopilot", "config.yaml"))) copyInto(config, join(work, ".autopilot"), "config.yaml");
  if (plan.kind === "ref") await trees.makeCopy(target ?? "", plan.commit ?? plan.at, ["quality", ...findingsDefault]);
  if (plan.kind === "outside") await copyOutside(plan, target ?? "", trees.repository.format);
  for (const name of target === null ? [] : ["config.yaml", "flows"]) {
    const from = join(work, ".autopilot", name);
    if (existsSync(from)) copyInto(from, join(target ?? "", ".autopilot"), name);
  }
  // An existing list is not what this run found.
  for (const path of ["quality", ...findingsDefault, room.plan.findings]) if (path !== null) eraseSync(join(cwd, path));
}

/** Paths in the repository that hold a benchmark's known bugs. */
function answerPaths(root: string, { kind, baseline, at }: BenchmarkPlan): readonly string[] {
  const defaults = kind === "folder" ? [join(at, "BUGS.md"), join(at, "quality", "BUGS.md")] : [];
  if (baseline === null || kind === "ref") return defaults;
  const path = relative(root, isAbsolute(baseline) ? baseline : join(root, baseline));
  const isOutside = path.startsWith("..") || isAbsolute(path);
  return isOutside ? defaults : [...defaults, path];
}

/** Copies a file or folder into a copy's folder. A link at the folder's path is removed: nothing is written through it. */
function copyInto(from: string, folder: string, name: string): void {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) rmSync(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  cpSync(from, join(folder, name), { recursive: true, verbatimSymlinks: true });
}

async function copyOutside({ at, baseline }: BenchmarkPlan, target: string, format: string): Promise<void> {
  const isLeftOut = (path: string): boolean =>
    path === join(at, ".git") || path === baseline || path === join(at, "quality") || path === join(at, "BUGS.md");
  cpSync(at, target, { recursive: true, verbatimSymlinks: true, filter: (from) => !isLeftOut(from) });
  const copy = await initCopy(target, format, null);
  await git({ ...copy, args: ["add", "-A"] });
  await commitCopy(copy);
}

function measureOutcome(room: BenchmarkContext, key: RunKey, ended: Ended, findingsFolder: string): BenchmarkOutcome {
  const folder = runFolder(room.folder, key);
  for (const name of [stdoutFile, stderrFile]) redactFile(join(folder, name), room.redact); // B3
  if (ended.kind !== "exited") return ended;
  if (ended.code !== 0) return { kind: "failed", why: `ended with code ${ended.code}${lastLine(folder)}` };
  const { metric: name } = room.plan.target;
  const parsed = name === recallTarget ? null : parseMetric(readText(join(folder, stdoutFile)) ?? "", name);
  if (parsed !== null && "problem" in parsed) return { kind: "failed", why: parsed.problem };
  const metric = parsed === null ? null : parsed.value;
  const baseline = room.baselineOf(key.benchmark);
  if (baseline === null) return { kind: "measured", recalled: noFindingsList, metric };
  const candidates = room.plan.findings === null ? findingsDefault : [room.plan.findings];
  // A blank list was never written: a run without findings says so explicitly.
  const findings = candidates.map((path) => readText(join(findingsFolder, path))).find((text) => text !== null && text.trim() !== "");
  if (findings === undefined || findings === null)
    return metric === null
      ? { kind: "failed", why: `left no findings: expected ${candidates.join(" or ")} in the benchmark's folder, with at least a heading` }
      : { kind: "measured", recalled: noFindingsList, metric };
  writeFileSync(join(folder, "findings.md"), room.redact(findings), { mode: 0o600 });
  return { kind: "measured", recalled: measureRecall(baseline, parseBugs(findings)), metric };
}

/** The copies take room and are made again when they are needed; logs and findings stay. */
export function dropCopies(folder: string): void {
  for (const name of ["work", "target"]) eraseSync(join(folder, name));
}

/** Rewrites a log without secrets; of one that is too long only the end is kept. */
function redactFile(path: string, redact: (text: string) => string): void {
  const size = lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const text = size > logBytesMax ? readTail(path, size) : readText(path);
  const clean = text === null ? null : redact(text);
  if (clean !== null && (clean !== text || size > logBytesMax)) writeFileSync(path, clean, { mode: 0o600 });
}

function readTail(path: string, size: number): string {
  const bytes = Buffer.alloc(logBytesMax);
  const fd = openSync(path, "r");
  try {
    const read = bytes.subarray(0, readSync(fd, bytes, 0, logBytesMax, size - logBytesMax));
    return read.subarray(read.indexOf(10) + 1).toString("utf8"); // half a line could hold half a secret
  } finally {
    closeSync(fd);
  }
}

/** The last line that a run printed, after a colon; empty if it printed nothing. */
function lastLine(folder: string): string {
  const lines = `${readText(join(folder, stdoutFile)) ?? ""}\n${readText(join(folder, stderrFile)) ?? ""}`.trim().split("\n");
  const last = lines.findLast((line) => line.trim() !== "") ?? "";
  return last === "" ? "" : `: ${last.trim().slice(0, tailCharsMax)}`;
}

/** A regular file's text, if it is not too long; null otherwise. */
function readText(path: string): string | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.size <= logBytesMax ? readFileSync(path, "utf8") : null;
}
