// merge-queue: proves the finished tasks of one branch together, on the merged tree, and lands them
// in order.
//
// Invariants:
//   M1. What lands was proved on exactly the tree that lands, in a fresh checkout.
//   M2. The proof is journaled before the branch moves, and the landing after (land-batch.ts): if a
//       process is killed in between, the branch itself shows whether it moved.
//   M3. Tasks that pass land; those that conflict or fail go back with the evidence and the names
//       of the tasks they met; those that fail only because the branch itself is red stay in the
//       queue. Which is which, `bisect` decides.

import { listSome } from "../../kit/list-some.ts";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { Bisection, type BisectStep } from "../planner/bisect.ts";
import type { MergeAction } from "../planner/list-merges.ts";
import type { PortfolioView, TaskView, VerifiedBatch } from "../planner/state.ts";
import { openProjectExchange, type ProjectExchange } from "../worker/exchange-for.ts";
import type { Exchange } from "../worker/git-exchange.ts";
import { readPortfolio } from "../store/fold.ts";
import { withPortfolio } from "../store/open.ts";
import {
  branchGoneObstacle,
  redBranchObstacle,
  passingObstacle,
  type LandingObstacle,
} from "./landing-obstacles.ts";
import { landBatch, type QueueParts } from "./land-batch.ts";
import { oneLine } from "../../views/wording.ts";
import { whyRewound } from "./rewound.ts";
import { type CommitProof, proveCommit } from "./prove-commit.ts";
import { eraseSync } from "../../workspace/folder.ts";

const checksNamedMax = 3;
const checkCharsMax = 80;
const conflictsShownMax = 5;
const objectiveCharsMax = 2_000;
const systemFields = { actor: "system", reason_code: "ok" } as const;

/** A branch whose own checks fail at this commit, and the tasks that they hold up. */
export type RedBranch = {
  readonly tip: string;
  readonly failed: readonly string[];
  readonly tasks: readonly string[];
};
export type MergeResult = {
  readonly landed: number;
  readonly rejected: number;
  readonly obstacle: LandingObstacle | null;
  readonly red: RedBranch | null;
  readonly proofs: number;
};

/** `knownRed`: the checks that failed on the branch itself when it was last inspected. */
export async function mergeBatch(
  parts: QueueParts,
  action: MergeAction,
  knownRed?: RedBranch,
): Promise<MergeResult> {
  const folder = mkdtempSync(join(parts.paths.ownFolder, "merge-"));
  try {
    return await mergeInFolder(parts, action, { folder, knownRed });
  } finally {
    eraseSync(folder);
  }
}

type MergeInProgress = {
  readonly parts: QueueParts;
  readonly exchange: ProjectExchange;
  readonly action: MergeAction;
  readonly state: PortfolioView;
  readonly folder: string;
  /** The target branch; it moves with each landing. */
  tip: string;
  readonly result: {
    landed: number;
    rejected: number;
    proofs: number;
    obstacle: LandingObstacle | null;
    red: RedBranch | null;
  };
  /** The proofs so far, by `toProofKey`. */
  readonly proofs: Map<string, CommitProof>;
  lastFailure: Pick<CommitProof, "evidence" | "failed">;
};

async function mergeInFolder(
  parts: QueueParts,
  action: MergeAction,
  { folder, knownRed }: { readonly folder: string; readonly knownRed: RedBranch | undefined },
): Promise<MergeResult> {
  const { context, paths } = parts;
  const exchange = await openProjectExchange(paths, await readPortfolio(paths), action.repository);

  const result: MergeInProgress["result"] = {
    landed: 0,
    rejected: 0,
    proofs: 0,
    obstacle: null,
    red: null,
  };

  const state = await readPortfolio(paths);
  const queuedTasks = action.tasks
    .flatMap((id) => state.tasks[id] ?? [])
    .filter((task) => task.stage === "queued" && task.commit !== null);
  const tasks = structuredClone(queuedTasks); // as they are now: other processes go on changing the state
  const tip = await exchange.readTip(action.target);
  if (tip === null) return { ...result, obstacle: branchGoneObstacle(state, action) };

  const rewound = await whyRewound(parts, exchange, state, {
    repository: action.repository,
    target: action.target,
    tip,
  });
  if (rewound !== null) {
    return { ...result, obstacle: passingObstacle(`${rewound}; autopilot inbox`) };
  } // it asks

  for (const task of tasks) await exchange.bringWork(task);
  const merge: MergeInProgress = {
    parts,
    exchange,
    action,
    state,
    folder,
    tip,
    result,
    proofs: new Map(),
    lastFailure: { evidence: [], failed: [] },
  };
  const batch = await rejectConflicting(merge, tasks);
  const isOwnCriterion = (task: TaskView, check: string): boolean =>
    task.acceptance_criteria.some(({ command }) => command === check);
  const knownFailures = knownRed?.tip === tip ? { failingOnBranch: knownRed.failed } : {};
  const bisection = new Bisection(batch, { isOwnCriterion, ...knownFailures });
  for (let step = bisection.next(); step.do !== "end";) {
    if (context.interrupted.aborted) return result;
    if (step.do === "prove") {
      const proof = await prove(merge, step.tasks);
      if (proof.cancelled) return result;
      step = bisection.next(proof);
      continue;
    }

    if (step.do === "land") {
      const obstacle = await landTogether(merge, step.tasks);
      if (obstacle !== null) return { ...result, obstacle };
    } else if (step.do === "hold") {
      holdForRedBranch(merge, step);
    } else {
      await rejectFailing(merge, step);
    }

    step = bisection.next();
  }

  return result;
}

/**
 * Merges these tasks onto the branch and runs the checks; without tasks, the branch's own checks.
 */
async function prove(merge: MergeInProgress, tasks: readonly TaskView[]): Promise<CommitProof> {
  const { parts, exchange, tip } = merge;
  const merged = await mergeOnto(exchange, tip, tasks);
  if (tasks.length > 0) merge.result.proofs += 1;

  const proof =
    "conflict" in merged
      ? {
          passed: false,
          cancelled: false,
          failed: [],
          evidence: [`conflict in ${merged.conflict.join(", ")}`],
        }
      : await proveCommit(parts.context, exchange.repository, {
          commit: merged.commit,
          criteria: tasks.flatMap((task) => task.acceptance_criteria),
          folder: mkdtempSync(join(merge.folder, "prove-")),
          isolation: parts.isolation,
        });
  if (proof.cancelled) return proof;
  merge.proofs.set(toProofKey(tip, tasks), proof);

  if (!proof.passed && tasks.length > 0) {
    merge.lastFailure = {
      failed: proof.failed,
      evidence: proof.evidence.filter((line) => !line.startsWith("passed:")),
    };
  }

  return proof;
}

/** Keeps tasks in the queue because the branch itself is red (M3). */
function holdForRedBranch(
  { result, tip, state, action }: MergeInProgress,
  step: Extract<BisectStep<TaskView>, { readonly do: "hold" }>,
): void {
  result.red = {
    tip,
    failed: step.failed,
    tasks: [...(result.red?.tasks ?? []), ...step.tasks.map(({ task_id }) => task_id)],
  };

  result.obstacle = redBranchObstacle(
    state,
    action,
    describeFailedChecks(step.failed),
    step.failed[0] ?? "",
  );
}

async function rejectFailing(
  merge: MergeInProgress,
  { task, beside }: Extract<BisectStep<TaskView>, { readonly do: "reject" }>,
): Promise<void> {
  const others = await listMetTasks(merge, task, beside);
  const condition = others.length === 0 ? "on the merged tree" : "together with what has landed";
  const { failed, evidence } = merge.lastFailure;
  await reject(merge, task, {
    kind: "checks",
    others,
    because: `${describeFailedChecks(failed)} ${condition}`,
    evidence,
  });
}

/** The checks by name, as far as one line has room for them. */
function describeFailedChecks(failed: readonly string[]): string {
  if (failed.length === 0) return "its checks fail";
  const names = failed.map((name) => oneLine(name, checkCharsMax));
  return `${listSome(names, checksNamedMax)} ${failed.length === 1 ? "fails" : "fail"}`;
}

const toProofKey = (tip: string, tasks: readonly TaskView[]): string =>
  [tip, ...tasks.map(({ task_id }) => task_id)].join(" ");
const composeMergeMessage = (task: TaskView): string =>
  `Merge ${task.task_id}\n\n${task.objective.slice(0, objectiveCharsMax)}\n\nAutopilot-Task: ${task.task_id}\nAutopilot-Run: ${task.run_id ?? ""}\n`;

/** Merges the tasks onto the tip in order, without moving any branch. */
async function mergeOnto(
  exchange: Exchange,
  tip: string,
  tasks: readonly TaskView[],
): Promise<{ readonly commit: string } | { readonly conflict: readonly string[] }> {
  let commit = tip;
  for (const task of tasks) {
    const merged = await exchange.merge({
      onto: commit,
      commit: task.commit ?? "",
      message: composeMergeMessage(task),
      tip: task.tip,
    });
    if ("conflicts" in merged) return { conflict: merged.conflicts };
    commit = merged.commit;
  }

  return { commit };
}

/**
 * Returns the tasks that can be merged one after the other; the others go back to their agents
 * (M3).
 */
async function rejectConflicting(
  merge: MergeInProgress,
  tasks: readonly TaskView[],
): Promise<readonly TaskView[]> {
  const batch: TaskView[] = [];
  let commit = merge.tip;

  for (const task of tasks) {
    const merged = await merge.exchange.merge({
      onto: commit,
      commit: task.commit ?? "",
      message: composeMergeMessage(task),
      tip: task.tip,
    });
    if ("conflicts" in merged) {
      await reject(merge, task, {
        kind: "conflict",
        others: await listMetTasks(merge, task, batch),
        because: `it conflicts with what has landed in ${listSome(merged.conflicts, conflictsShownMax)}`,
        evidence: merged.conflicts.map((path) => `conflict: ${path}`),
      });

      continue;
    }

    commit = merged.commit;
    batch.push(task);
  }

  return batch;
}

/**
 * The tasks that a task met: those merged before it in this batch, and those that landed in its
 * repository since it was dispatched.
 */
async function listMetTasks(
  { parts }: MergeInProgress,
  task: TaskView,
  merged: readonly TaskView[],
): Promise<readonly string[]> {
  const state = await readPortfolio(parts.paths);
  const repository = state.projects[task.project_id]?.repository;

  const landed = Object.values(state.tasks).filter(
    (other) =>
      other.landed !== null &&
      other.changed_at >= (task.started_at ?? "") &&
      state.projects[other.project_id]?.repository === repository,
  );
  return [...new Set([...merged, ...landed].map(({ task_id }) => task_id))];
}

type Rejection = {
  readonly kind: "conflict" | "checks";
  readonly others: readonly string[];
  readonly because: string;
  readonly evidence: readonly string[];
};

async function reject(
  { parts: { context, paths }, result }: MergeInProgress,
  { task_id }: TaskView,
  rejection: Rejection,
): Promise<void> {
  const { kind, others, because, evidence } = rejection;
  context.show(`✗ ${task_id}: ${because}`);
  await withPortfolio(context, paths, async ({ state, write }) => {
    if (state.tasks[task_id]?.stage !== "queued") return;
    await write({
      ...systemFields,
      event: "merge_rejected",
      task_id,
      kind,
      with: [...others],
      because,
      evidence: [...evidence],
    });
  });

  result.rejected += 1;
}

/** Lands tasks that were proved together (M1, M2); returns the obstacle, null if they landed. */
async function landTogether(
  merge: MergeInProgress,
  tasks: readonly TaskView[],
): Promise<LandingObstacle | null> {
  const { parts, exchange, action, tip } = merge;
  const merged = await mergeOnto(exchange, tip, tasks);
  if ("conflict" in merged) {
    return passingObstacle(`the merge of ${tasks.length} tasks conflicts now`);
  }

  const batch: VerifiedBatch = {
    repository: action.repository,
    tasks: tasks.map(({ task_id }) => task_id),
    from: tip,
    commit: merged.commit,
  };

  const evidence = merge.proofs.get(toProofKey(tip, tasks))?.evidence ?? [];
  const removedTask = await withPortfolio(parts.context, parts.paths, async ({ state, write }) => {
    const missing = batch.tasks.find((id) => state.tasks[id]?.stage !== "queued");
    if (missing === undefined) {
      await write({ ...systemFields, event: "merge_verified", ...batch, evidence: [...evidence] });
    }

    return missing;
  });
  if (removedTask !== undefined) {
    return passingObstacle(
      `${removedTask} was taken out of the batch; the rest is proved without it`,
    );
  }

  const obstacle = await landBatch(parts, exchange, batch, action.target);
  if (obstacle !== null) return obstacle;
  merge.result.landed += tasks.length;
  [merge.result.obstacle, merge.result.red] = [null, null]; // with these tasks the branch is green
  merge.tip = merged.commit;

  return null;
}
