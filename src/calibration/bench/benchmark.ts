// benchmark: runs one benchmark once: makes its copy of the repository, starts its process, and
// measures the result.
//
// Invariants:
//   B1. The list of known bugs is in no copy: a benchmark that could read the answers would measure
//       nothing.
//   B2. A run that ended is never run again: its results are read, whichever process started it.
//   B3. What it printed is kept without secrets.

import {
  closeSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, isAbsolute, join, relative } from "node:path";
import { shellWord } from "../../kit/shell-word.ts";
import { ensureFolderBelow, requireNoLink } from "../../project/own-folder.ts";
import { git } from "../../workspace/git/git.ts";
import { type Bug, parseBugs, measureRecall, type Recall } from "../cycle/bugs.ts";
import { parseMetric } from "../cycle/metric.ts";
import {
  type BenchmarkPlan,
  type CyclePlan,
  cyclesFolder,
  findingsDefault,
  recallTarget,
} from "../cycle/plan.ts";
import type { RunKey } from "../cycle/state.ts";
import {
  type ProcessEnd,
  endProcess,
  readExitCode,
  isAtWork,
  startProcess,
  stderrFile,
  stdoutFile,
  waitForProcess,
} from "./process.ts";
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
  | Exclude<ProcessEnd, { readonly kind: "exited" }>;

/**
 * For a benchmark that measures a metric and has no list of known bugs or of findings: no recall,
 * since 0 would mean that two were compared.
 */
const noFindingsList: Recall = { recall: null, matches: [], foundIds: [], missedIds: [] };

const logBytesMax = 8 << 20;
const tailCharsMax = 300;
const newline = 0x0a;

/** The folder of one run, below the cycle's. */
export const runFolder = (folder: string, { benchmark, lever_state, repeat }: RunKey): string =>
  join(folder, "runs", benchmark, `${lever_state}-${repeat}`);

/** What became of a run that was started: `gone` if its process has died without a result. */
export function readRunState(folder: string): "ended" | "at work" | "gone" {
  if (readExitCode(folder) !== null || findRunEnd(folder) !== null) return "ended"; // B2
  return isAtWork(folder) ? "at work" : "gone";
}

/**
 * The status in the last `run_end` of the log that a quality run writes itself; null if it has
 * none.
 */
function findRunEnd(folder: string): string | null {
  for (const name of ["work", "target"]) {
    const lines = (readText(join(folder, name, "quality", "run_state.jsonl")) ?? "").split("\n");
    const endLine = lines.findLast((line) => /"event"\s*:\s*"run_end"/.test(line));
    if (endLine !== undefined) return /"status"\s*:\s*"([^"]*)"/.exec(endLine)?.[1] ?? "unknown";
  }

  return null;
}

export type BenchmarkRunRequest = {
  readonly key: RunKey;
  readonly commit: string;
  /** False: a process that an earlier runner started is waited for, or its result is read. */
  readonly isFresh: boolean;
};

/** Runs a benchmark from the start, or continues an earlier runner's. */
export async function runBenchmark(
  context: BenchmarkContext,
  { key, commit, isFresh }: BenchmarkRunRequest,
): Promise<BenchmarkOutcome> {
  const folder = runFolder(context.folder, key);
  const plan = context.plan.benchmarks.find(({ name }) => name === key.benchmark);
  if (plan === undefined) return { kind: "failed", why: "is not in the plan" };

  const places = planPlaces(context, plan, folder, key.lever_state);
  if (!isFresh) return continueRun(context, key, folder, places);

  requireNoLink(context.folder, relative(context.folder, dirname(folder)));
  await endProcess(folder);
  eraseSync(folder);
  ensureFolderBelow(context.folder, relative(context.folder, folder));
  await prepareCopies(context, plan, commit, places);
  mkdirSync(places.cwd, { recursive: true }); // a folder that held nothing but the list is gone with it

  const child = startProcess({
    folder,
    cwd: places.cwd,
    command: context.plan.command ?? places.qualityCommand,
    env: {
      ...context.env,
      CALIBRATION_CYCLE: context.cycle,
      CALIBRATION_ROOT: places.work,
      CALIBRATION_BENCHMARK: key.benchmark,
      CALIBRATION_LEVER_STATE: key.lever_state,
      CALIBRATION_REPEAT: String(key.repeat),
    },
  });

  const wait = { hangMs: context.plan.hang_ms, interrupted: context.interrupted, child };
  const ended = await waitForProcess(folder, places.watchedFolders, wait);
  return measureOutcome(context, key, ended, places.findingsFolder);
}

/** Waits for the process that an earlier runner started, or reads what it left. */
async function continueRun(
  context: BenchmarkContext,
  key: RunKey,
  folder: string,
  { watchedFolders, findingsFolder }: RunPlaces,
): Promise<BenchmarkOutcome> {
  const endStatus = readExitCode(folder) === null ? findRunEnd(folder) : null;
  if (endStatus === null) {
    const wait = { hangMs: context.plan.hang_ms, interrupted: context.interrupted };
    const ended = await waitForProcess(folder, watchedFolders, wait);
    return measureOutcome(context, key, ended, findingsFolder);
  }

  // The run says that it is over, and its process has not ended: a server that it started may
  // still be there.
  await endProcess(folder);
  if (endStatus !== "success") {
    redactLogs(folder, context.redact); // B3
    return { kind: "failed", why: `its run ended ${endStatus}` };
  }

  return measureOutcome(context, key, { kind: "exited", code: 0 }, findingsFolder);
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
  const subfolder =
    plan.kind === "folder"
      ? relative(trees.repository.root, join(trees.repository.root, plan.at))
      : "";
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

  return {
    work,
    target,
    cwd,
    findingsFolder: cwd,
    watchedFolders,
    qualityCommand: argv.map(shellWord).join(" "),
  };
}

/** Makes the copies of the repository and of the benchmark's code, without any list of bugs. */
async function prepareCopies(
  context: BenchmarkContext,
  plan: BenchmarkPlan,
  commit: string,
  { work, target, cwd }: RunPlaces,
): Promise<void> {
  const { trees } = context;
  const { root, format } = trees.repository;
  const answers = context.plan.benchmarks.flatMap((benchmark) => answerPaths(root, benchmark));
  await trees.makeCopy(work, commit, [cyclesFolder, ...answers]); // B1

  const config = join(root, ".autopilot", "config.yaml");
  if (existsSync(config) && !existsSync(join(work, ".autopilot", "config.yaml"))) {
    copyInto(config, join(work, ".autopilot"), "config.yaml");
  }

  if (plan.kind === "ref") {
    const without = ["quality", ...findingsDefault, ...answers]; // B1
    await trees.makeCopy(target ?? "", plan.commit ?? plan.at, without);
  }

  if (plan.kind === "outside") await copyOutside(plan, target ?? "", format);
  if (target !== null) copySettings(work, target);

  // An existing list is not what this run found.
  for (const path of ["quality", ...findingsDefault, context.plan.findings]) {
    if (path !== null) eraseSync(join(cwd, path));
  }
}

/** A benchmark's own code is worked on with the repository's config and flows. */
function copySettings(work: string, target: string): void {
  for (const name of ["config.yaml", "flows"]) {
    const source = join(work, ".autopilot", name);
    if (existsSync(source)) copyInto(source, join(target, ".autopilot"), name);
  }
}

/** Paths in the repository, now or at a benchmark's commit, that hold its known bugs. */
function answerPaths(root: string, { kind, baseline, at }: BenchmarkPlan): readonly string[] {
  const defaults = kind === "folder" ? [join(at, "BUGS.md"), join(at, "quality", "BUGS.md")] : [];
  if (baseline === null) return defaults;

  const isInRef = kind === "ref" && baseline.startsWith(`${at}:`); // `v1.2:docs/BUGS.md`
  if (isInRef) return [...defaults, baseline.slice(at.length + 1)];

  const path = relative(root, isAbsolute(baseline) ? baseline : join(root, baseline));
  const isOutside = path.startsWith("..") || isAbsolute(path);
  return isOutside ? defaults : [...defaults, path];
}

/**
 * Copies a file or folder into a copy's folder. A link at the folder's path is removed: nothing is
 * written through it.
 */
function copyInto(source: string, folder: string, name: string): void {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) rmSync(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  cpSync(source, join(folder, name), { recursive: true, verbatimSymlinks: true });
}

/** Copies a benchmark that is not part of the repository into a repository of its own. */
async function copyOutside(
  { at: folder, baseline }: BenchmarkPlan,
  target: string,
  format: string,
): Promise<void> {
  const leftOutPaths = [
    join(folder, ".git"),
    join(folder, "quality"),
    join(folder, "BUGS.md"),
    baseline,
  ];

  cpSync(folder, target, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !leftOutPaths.includes(path),
  });

  const copy = await initCopy(target, format, null);
  await git({ ...copy, args: ["add", "-A"] });
  await commitCopy(copy);
}

/** Reads the metric and the findings of a run that ended. */
function measureOutcome(
  context: BenchmarkContext,
  key: RunKey,
  ended: ProcessEnd,
  findingsFolder: string,
): BenchmarkOutcome {
  const folder = runFolder(context.folder, key);
  redactLogs(folder, context.redact); // B3
  if (ended.kind !== "exited") return ended;
  if (ended.code !== 0) {
    return { kind: "failed", why: `ended with code ${ended.code}${describeLastLine(folder)}` };
  }

  const { metric: metricName } = context.plan.target;
  const parsed =
    metricName === recallTarget
      ? null
      : parseMetric(readText(join(folder, stdoutFile)) ?? "", metricName);
  if (parsed !== null && "problem" in parsed) return { kind: "failed", why: parsed.problem };
  const metric = parsed === null ? null : parsed.value;
  const baseline = context.baselineOf(key.benchmark);
  if (baseline === null) return { kind: "measured", recalled: noFindingsList, metric };
  const candidates = context.plan.findings === null ? findingsDefault : [context.plan.findings];
  // A blank list was never written: a run without findings says so explicitly.
  const findings = candidates
    .map((path) => readText(join(findingsFolder, path)))
    .find((text) => text !== null && text.trim() !== "");
  if (findings === undefined || findings === null) {
    return metric === null
      ? {
          kind: "failed",
          why: `left no findings: expected ${candidates.join(" or ")} in the benchmark's folder, with at least a heading`,
        }
      : { kind: "measured", recalled: noFindingsList, metric };
  }

  writeFileSync(join(folder, "findings.md"), context.redact(findings), { mode: 0o600 });
  return { kind: "measured", recalled: measureRecall(baseline, parseBugs(findings)), metric };
}

/** The copies take room and are made again when they are needed; logs and findings stay. */
export function dropCopies(folder: string): void {
  for (const name of ["work", "target"]) eraseSync(join(folder, name));
}

function redactLogs(folder: string, redact: (text: string) => string): void {
  for (const name of [stdoutFile, stderrFile]) redactFile(join(folder, name), redact);
}

/** Rewrites a log without secrets; of one that is too long only the end is kept. */
function redactFile(path: string, redact: (text: string) => string): void {
  const size = lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const text = size > logBytesMax ? readTail(path, size) : readText(path);
  const redactedText = text === null ? null : redact(text);
  if (redactedText !== null && (redactedText !== text || size > logBytesMax)) {
    writeFileSync(path, redactedText, { mode: 0o600 });
  }
}

/** The last lines of a long file. */
function readTail(path: string, size: number): string {
  const bytes = Buffer.alloc(logBytesMax);
  const fd = openSync(path, "r");

  try {
    const tail = bytes.subarray(0, readSync(fd, bytes, 0, logBytesMax, size - logBytesMax));
    return tail.subarray(tail.indexOf(newline) + 1).toString("utf8"); // half a line could hold half a secret
  } finally {
    closeSync(fd);
  }
}

/** The last line that a run printed, after a colon; empty if it printed nothing. */
function describeLastLine(folder: string): string {
  const lines = [stdoutFile, stderrFile].flatMap((name) =>
    (readText(join(folder, name)) ?? "").split("\n"),
  );
  const lastLine = lines.findLast((line) => line.trim() !== "") ?? "";
  return lastLine === "" ? "" : `: ${lastLine.trim().slice(0, tailCharsMax)}`;
}

/** A regular file's text, if it is not too long; null otherwise. */
function readText(path: string): string | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.size <= logBytesMax ? readFileSync(path, "utf8") : null;
}
