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

import { decide, type NextStep } from "../cycle/decide.ts";
import type { CyclePlan } from "../cycle/plan.ts";
import type { CycleJudgement } from "../cycle/verdict.ts";
import type { CycleLog } from "./log-file.ts";
import { applyLever, requireBranch, revertLever } from "./lever-on-branch.ts";
import type { DrivenCycle } from "./open-cycle.ts";
import { leverRef, preflight, type Blocker, type PreparedCycle } from "./preflight.ts";
import { runBenchmarks } from "./run-benchmarks.ts";

export type DriveResult =
  | { readonly kind: "ended"; readonly judged: CycleJudgement | null }
  | { readonly kind: "interrupted" }
  /** `preflight`: it has not begun. `stopped`: it cannot go on. */
  | { readonly kind: "preflight" | "stopped"; readonly blocker: Blocker };

/**
 * Goes on until the cycle ends, is interrupted, or meets a problem that only a person can solve.
 */
export async function driveCycle(input: DrivenCycle): Promise<DriveResult> {
  const { log, context } = input;
  const { cycle } = log;
  const { plan } = cycle;
  if (cycle.end !== null || plan === null) return { kind: "ended", judged: null };

  const isBegun = cycle.applied !== null || cycle.runs.size > 0;
  const prepared = await prepareCycle(input, plan, isBegun);
  if ("problem" in prepared) return stopCycle(log, prepared, isBegun ? "stopped" : "preflight");
  for (const event of prepared.excluded) log.append(event);

  for (;;) {
    const next = decide(cycle);
    if (context.interrupted.aborted) return { kind: "interrupted" };
    if (next.do === "nothing") return { kind: "ended", judged: null };
    if (next.do === "end") {
      log.append(next.event);
      return { kind: "ended", judged: next.judged };
    }

    const blocker = await act(input, plan, prepared, next);
    if (blocker !== null) return stopCycle(log, blocker, "stopped");
  }
}

async function prepareCycle(
  input: DrivenCycle,
  plan: CyclePlan,
  isBegun: boolean,
): Promise<PreparedCycle | Blocker> {
  const { context, log, trees, folder } = input;

  if (plan.branch !== undefined) {
    const checkout = await requireBranch(input);
    if ("problem" in checkout) return checkout;
  }

  if (isBegun) return findLever(input);
  return preflight(context, { cycle: log.cycle, plan, trees, folder });
}

/** The lever of a cycle that was started earlier, and the commit it was made on. */
async function findLever({ trees, log }: DrivenCycle): Promise<PreparedCycle | Blocker> {
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

/** Takes the step that was decided; returns what keeps it from being taken. */
async function act(
  input: DrivenCycle,
  plan: CyclePlan,
  { base, lever }: PreparedCycle,
  step: Extract<NextStep, { readonly do: "run" | "apply" | "revert" }>,
): Promise<Blocker | null> {
  if (step.do === "apply") return applyLever(input, plan, base, lever);
  if (step.do === "revert") return revertLever(input, base);

  const leverOnBranch = input.log.cycle.applied?.commit ?? lever;
  const commit = step.lever_state === "pre-lever" ? base : leverOnBranch;
  await runBenchmarks(input, plan, step.runs, commit);
  return null;
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
