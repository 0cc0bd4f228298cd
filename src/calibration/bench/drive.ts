// drive: drives a cycle from wherever its log is to its verdict: read, decide, act, record, until
// nothing is left. A lever is the one change that a cycle measures: benchmarks run without it, then
// with it, and it is kept or reverted.
//
// Invariants:
//   R1. Every fact is a line of the log before the next action depends on it.
//   R2. What a crash left between an action and its line is found by the action's own effect: a
//       branch that is at the lever, an exit code.
//   R3. The lever and its revert are commits; nothing is reset, and a branch that was moved is left
//       alone.

import { listSome } from "../../kit/list-some.ts";
import { join } from "node:path";
import type { CommandContext } from "../../project/command-context.ts";
import { findRepository, type Repository } from "../../workspace/git/repository.ts";
import { dropLandingBranch, landBranch } from "../../workspace/landing/land-branch.ts";
import { type CyclePlan, cyclesFolder, restartsMax } from "../cycle/plan.ts";
import { decide } from "../cycle/decide.ts";
import { runKeyText, type RunKey } from "../cycle/state.ts";
import type { CycleJudgement } from "../cycle/verdict.ts";
import {
  type BenchmarkOutcome,
  type BenchmarkContext,
  dropCopies,
  readRunState,
  runBenchmark,
  runFolder,
} from "./benchmark.ts";
import type { CycleLog } from "./log-file.ts";
import {
  readKeptBaseline,
  leverRef,
  preflight,
  type Blocker,
  type PreparedCycle,
} from "./preflight.ts";
import { readSpending } from "./spent.ts";
import type { Trees } from "./trees.ts";

const pathsShownMax = 5;

export type DriveResult =
  | { readonly kind: "ended"; readonly judged: CycleJudgement | null }
  | { readonly kind: "interrupted" }
  /** `preflight`: it has not begun. `stopped`: it cannot go on. */
  | { readonly kind: "preflight" | "stopped"; readonly blocker: Blocker };

export type DriveInput = {
  readonly context: CommandContext;
  readonly log: CycleLog;
  readonly trees: Trees;
  /** The cycle's disposable folder. */
  readonly folder: string;
  readonly jobs: number;
  readonly redact: (text: string) => string;
};

/**
 * Goes on until the cycle ends, is interrupted, or meets a problem that only a person can solve.
 */
export async function driveCycle(input: DriveInput): Promise<DriveResult> {
  const { log, context } = input;
  const { cycle } = log;
  const { plan } = cycle;
  if (cycle.end !== null || plan === null) return { kind: "ended", judged: null };
  const isBegun = cycle.applied !== null || cycle.runs.size > 0;
  const checkout = plan.branch === undefined ? null : await requireBranch(input);
  if (checkout !== null && "problem" in checkout) {
    return stopCycle(log, checkout, isBegun ? "stopped" : "preflight");
  }

  const ready = isBegun
    ? await findLever(input)
    : await preflight(context, { cycle, plan, trees: input.trees, folder: input.folder });
  if ("problem" in ready) return stopCycle(log, ready, isBegun ? "stopped" : "preflight");
  for (const event of ready.excluded) log.append(event);
  for (;;) {
    const next = decide(cycle);
    if (context.interrupted.aborted) return { kind: "interrupted" };
    if (next.do === "nothing") return { kind: "ended", judged: null };
    if (next.do === "end") {
      log.append(next.event);
      return { kind: "ended", judged: next.judged };
    }

    if (next.do === "run") {
      const commit =
        next.lever_state === "pre-lever" ? ready.base : (cycle.applied?.commit ?? ready.lever);
      await runAll(input, plan, next.runs, commit);
      continue;
    }

    const blocker =
      next.do === "apply"
        ? await applyLever(input, plan, ready.base, ready.lever)
        : await revertLever(input, ready.base);
    if (blocker !== null) return stopCycle(log, blocker, "stopped");
  }
}

/** The lever of a cycle that was started earlier, and the commit it was made on. */
async function findLever({ trees, log }: DriveInput): Promise<PreparedCycle | Blocker> {
  const lever = (await trees.findKept(leverRef)) ?? log.cycle.applied?.commit ?? null;
  const base = lever === null ? null : await trees.resolveCommit(`${lever}^`);
  if (lever === null || base === null) {
    return {
      problem: "The commit that the lever was made of is gone from this repository.",
      remedy: "begin a new cycle",
    };
  }

  return { lever, base, excluded: [] };
}

/** Records why the cycle cannot go on. */
function stopCycle(log: CycleLog, blocker: Blocker, kind: "preflight" | "stopped"): DriveResult {
  log.append({
    event: "error",
    message: `${blocker.problem} ${blocker.remedy}.`,
    recoverable: false,
  });

  return { kind, blocker };
}

/** Runs benchmarks, as many at once as there are jobs. */
async function runAll(
  input: DriveInput,
  plan: CyclePlan,
  runs: readonly RunKey[],
  commit: string,
): Promise<void> {
  const waitingRuns = [...runs];
  const worker = async (): Promise<void> => {
    for (
      let key = waitingRuns.shift();
      key !== undefined && !input.context.interrupted.aborted;
      key = waitingRuns.shift()
    ) {
      await runOne(input, plan, key, commit);
    }
  };

  await Promise.all(Array.from({ length: Math.max(1, Math.min(input.jobs, runs.length)) }, worker));
}

/** Runs one benchmark until it is measured, has failed, or was started again too often. */
async function runOne(
  input: DriveInput,
  plan: CyclePlan,
  key: RunKey,
  commit: string,
): Promise<void> {
  const { context, log, trees, folder, redact } = input;
  const { benchmark, lever_state, repeat } = key;
  const runFields = { benchmark, lever_state, repeat };
  const repeatText = plan.repeat > 1 ? `, run ${repeat} of ${plan.repeat}` : "";
  const runText = `${benchmark}, ${lever_state}${repeatText}`;

  const benchmarkContext: BenchmarkContext = {
    trees,
    plan,
    folder,
    cycle: log.cycle.name,
    env: context.env,
    interrupted: context.interrupted,
    redact,
    baselineOf: (name) => readKeptBaseline(folder, name),
  };

  const runRoot = runFolder(folder, key);
  let isFresh = beginRun(input, key, runText, runRoot);

  for (;;) {
    const outcome = await runBenchmark(benchmarkContext, { key, commit, isFresh });
    if (outcome.kind === "interrupted") return;
    if (outcome.kind === "measured" || outcome.kind === "failed") {
      return recordOutcome({ log, context, plan, key, runText, runRoot }, outcome);
    }

    const restarts = log.cycle.runs.get(runKeyText(key))?.restarts ?? 0;
    const hangSeconds = Math.round(plan.hang_ms / 1000);
    const why =
      outcome.kind === "hung"
        ? `gave no sign of life for ${hangSeconds} s and was ended`
        : "was killed from outside, or could not start";

    if (restarts >= restartsMax) {
      return recordOutcome(
        { log, context, plan, key, runText, runRoot },
        { kind: "failed", why: `${why}, ${restartsMax + 1} times` },
      );
    }

    logRunError(log, `${runText}: ${why}; it is cleaned and started again`, {
      ...runFields,
      kind: "hung",
    });

    context.show(`! ${runText}: ${why}; started again`);
    isFresh = true;
  }
}

/**
 * Records that a run begins, or looks what a crash left of it. True if the run must start afresh.
 */
function beginRun(
  { context, log }: DriveInput,
  key: RunKey,
  runText: string,
  runRoot: string,
): boolean {
  const { benchmark, lever_state, repeat } = key;
  const runFields = { benchmark, lever_state, repeat };

  if (log.cycle.runs.get(runKeyText(key))?.status !== "started") {
    log.append({ event: "benchmark_start", ...runFields }); // R1
    context.show(`${runText}: started`);
    return true;
  }

  const state = readRunState(runRoot); // R2
  if (state === "gone") {
    logRunError(log, `${runText}: was interrupted; it is cleaned and started again`, {
      ...runFields,
      kind: "interrupted",
    });
  } else {
    context.show(
      `${runText}: ${state === "ended" ? "had ended, its result is taken" : "is still at work"}`,
    );
  }

  return state === "gone";
}

type FinishedRun = Pick<DriveInput, "log" | "context"> & {
  readonly plan: CyclePlan;
  readonly key: RunKey;
  /** The run in words: `parser, post-lever, run 2 of 3`. */
  readonly runText: string;
  readonly runRoot: string;
};

/** Records what a run measured, or that it failed. */
function recordOutcome(
  { log, context, plan, key, runText, runRoot }: FinishedRun,
  outcome: Extract<BenchmarkOutcome, { readonly kind: "measured" | "failed" }>,
): void {
  const { benchmark, lever_state, repeat } = key;
  const runFields = { benchmark, lever_state, repeat };
  const spending = readSpending(runRoot);
  const spentField = spending === null ? {} : { spent: spending };

  if (outcome.kind === "failed") {
    logRunError(log, `${runText}: ${outcome.why}; it is n/a`, {
      ...runFields,
      kind: "given_up",
      ...spentField,
    });

    context.show(`! ${runText}: ${outcome.why}`);
    return;
  }

  const { recalled, metric } = outcome;
  log.append({
    event: "benchmark_end",
    ...runFields,
    recall: recalled.recall,
    bugs_found: recalled.foundIds,
    bugs_missed: recalled.missedIds,
    historical_baseline_path:
      plan.benchmarks.find(({ name }) => name === benchmark)?.baseline ?? "",
    matches: recalled.matches,
    ...(metric === null ? {} : { metric: plan.target.metric, metric_value: metric }),
    ...spentField,
  });

  const figures = [
    recalled.recall === null ? null : `recall ${recalled.recall.toFixed(2)}`,
    metric === null ? null : `${plan.target.metric} ${metric}`,
  ];

  context.show(`✓ ${runText}: ${figures.filter((figure) => figure !== null).join(", ")}`);
  dropCopies(runRoot);
}

/** Records a fault of one benchmark's run; the cycle goes on. */
const logRunError = (
  log: CycleLog,
  message: string,
  detail: Readonly<Record<string, unknown>>,
): void => log.append({ event: "error", message, recoverable: true, ...detail });

const toBlocker = ({
  because,
  detail,
}: {
  readonly because: "moved" | "held";
  readonly detail: string;
}): Blocker => ({
  problem: `The lever's commit cannot be put on the branch: ${detail.replace(/\.$/, "")}.`,
  remedy:
    because === "moved"
      ? "bring the branch back to where the cycle began, or begin a new cycle"
      : "commit, stash or move away what is in the way",
});

/** Moves the branch to the lever's commit. */
async function applyLever(
  input: DriveInput,
  plan: CyclePlan,
  base: string,
  lever: string,
): Promise<Blocker | null> {
  const blocker = await moveBranch(input, { from: base, to: lever, name: "lever" });
  if (blocker !== null) return blocker;
  input.log.append({
    event: "lever_change_applied",
    lever_id: input.log.cycle.lever,
    files_changed: [...(await input.trees.listChangedFiles(base, lever))],
    commit_sha: lever,
    description: plan.description,
  });

  input.context.show(`✓ lever ${input.log.cycle.lever} committed as ${lever.slice(0, 12)}`);
  return null;
}

/** Commits a revert of the lever, even if other commits are on top of it. */
async function revertLever(input: DriveInput, base: string): Promise<Blocker | null> {
  const { trees, log } = input;
  const lever = log.cycle.applied?.commit ?? "";
  const checkout = await requireBranch(input);
  if ("problem" in checkout) return checkout;
  const tip = (await trees.resolveCommit(`refs/heads/${checkout.branch}`)) ?? lever;
  const earlierRevert = await trees.findKept("revert");
  // A revert that was made before a crash counts if it is on the branch, or still fits on it; else
  // the branch has gone on without it.
  const isUsable =
    earlierRevert !== null &&
    ((await trees.isAncestor(earlierRevert, tip)) ||
      (await trees.resolveCommit(`${earlierRevert}^`)) === tip);
  const commit = isUsable ? earlierRevert : await commitRevert(input, { base, lever, tip });
  if (typeof commit !== "string") return commit;
  await trees.keepCommit("revert", commit);
  const parent = (await trees.resolveCommit(`${commit}^`)) ?? tip;
  const blocker = await moveBranch(input, { from: parent, to: commit, name: "revert" });
  if (blocker !== null) return blocker;
  log.append({
    event: "lever_change_reverted",
    files_changed: [...(await trees.listChangedFiles(parent, commit))],
    commit_sha: commit,
  });

  input.context.show(`✓ lever ${log.cycle.lever} reverted by ${commit.slice(0, 12)}`);
  return null;
}

async function commitRevert(
  { trees, log }: DriveInput,
  { base, lever, tip }: { readonly base: string; readonly lever: string; readonly tip: string },
): Promise<string | Blocker> {
  // The changes from the lever back to its base, applied to the branch's tip.
  const merged = await trees.mergeTrees(lever, tip, base);
  if ("conflicts" in merged) {
    return {
      problem: `The lever cannot be taken back: ${listSome(merged.conflicts, pathsShownMax)} changed since.`,
      remedy: `git revert ${lever.slice(0, 12)} by hand, then autopilot calibrate resume`,
    };
  }

  const subject = `Revert "calibrate: ${log.cycle.lever}"`;
  return trees.commit(
    merged.tree,
    tip,
    `${subject}\n\nThis reverts commit ${lever}.\n\nCalibration-Cycle: ${log.cycle.name}\n`,
  );
}

/**
 * The branch that the cycle began on, if it is checked out: the lever is committed there and
 * nowhere else. R3
 */
async function requireBranch({
  trees,
  log,
}: DriveInput): Promise<{ readonly repository: Repository; readonly branch: string } | Blocker> {
  const lookup = await findRepository(trees.repository.root);
  if ("failure" in lookup) return { problem: lookup.failure.detail, remedy: "fix the repository" };
  const { repository } = lookup;
  const { branch } = repository;
  const expectedBranch = log.cycle.plan?.branch ?? branch;
  if (branch !== null && branch === expectedBranch) return { repository, branch };
  const expectedText = expectedBranch === null ? "" : `, and the cycle began on ${expectedBranch}`;

  return {
    problem: `The checkout is on ${branch ?? "no branch"}${expectedText}.`,
    remedy: `git switch ${expectedBranch ?? "to the branch the cycle began on"}`,
  };
}

/**
 * Moves the branch from one commit to the next. R2: a branch that has it already is not moved
 * again.
 */
async function moveBranch(
  input: DriveInput,
  { from, to, name }: { readonly from: string; readonly to: string; readonly name: string },
): Promise<Blocker | null> {
  const { trees, log, folder } = input;
  const checkout = await requireBranch(input);
  if ("problem" in checkout) return checkout;
  const { branch, repository } = checkout;
  const landingName = `calibrate-${log.cycle.name}-${name}`;

  if (await trees.isAncestor(to, `refs/heads/${branch}`)) {
    await dropLandingBranch(repository, landingName);
    return null;
  }

  const landing = await landBranch(repository, {
    branch,
    from,
    to,
    folder: join(folder, name),
    message: `calibrate: ${log.cycle.lever}`,
    name: landingName,
    ownedPaths: [`${cyclesFolder}/**`],
  });
  return landing.landed ? null : toBlocker(landing); // R3
}
