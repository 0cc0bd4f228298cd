// prove-and-land: proves the finished tasks of one branch together, on the merged tree, and lands
// them in order.
//
// Invariants:
//   M1. What lands was proved on exactly the tree that lands, in a fresh checkout.
//   M2. The proof is journaled before the branch moves, and the landing after (land-batch.ts): if a
//       process is killed in between, the branch itself shows whether it moved.
//   M3. Tasks that pass land; those that conflict or fail go back with the evidence and the names
//       of the tasks they met; those that fail only because the branch itself is red stay in the
//       queue. Which is which, `bisect` decides.

import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { PortfolioChange } from "../../contracts/portfolio/portfolio-journal.ts";
import { listSome } from "../../kit/list-some.ts";
import { Bisection, type BisectStep } from "../planner/bisect.ts";
import type { MergeAction } from "../planner/merge-order.ts";
import type { PortfolioView, TaskView, VerifiedBatch } from "../planner/state.ts";
import { openProjectExchange, type ProjectExchange } from "../worker/exchange-for.ts";
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
import { mergeOnto, mergeTask } from "./merge-in-order.ts";
import { whyRewound } from "./rewound.ts";
import { type CommitProof, proveCommit } from "./prove-commit.ts";
import { eraseSync } from "../../workspace/folder.ts";

const checksNamedMax = 3;
const checkCharsMax = 80;
const conflictsShownMax = 5;
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
export async function proveAndLandBatch(
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
  const { paths } = parts;
  const { repository, target } = action;
  const exchange = await openProjectExchange(paths, await readPortfolio(paths), repository);

  const state = await readPortfolio(paths);
  const tasks = structuredClone(listQueuedTasks(state, action)); // as they are now: other processes go on changing the state
  const result: MergeInProgress["result"] = {
    landed: 0,
    rejected: 0,
    proofs: 0,
    obstacle: null,
    red: null,
  };
  const tip = await exchange.readTip(target);
  if (tip === null) return { ...result, obstacle: branchGoneObstacle(state, action) };

  const rewound = await whyRewound(parts, exchange, state, { repository, target, tip });
  if (rewound !== null) {
    return { ...result, obstacle: passingObstacle(`${rewound}; autopilot inbox`) }; // it asks
  }

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
  return bisectBatch(merge, batch, knownRed?.tip === tip ? knownRed.failed : []);
}

const listQueuedTasks = (state: PortfolioView, { tasks }: MergeAction): readonly TaskView[] =>
  tasks
    .flatMap((id) => state.tasks[id] ?? [])
    .filter(({ stage, commit }) => stage === "queued" && commit !== null);

/** Does what the bisection says, step by step, until every task of the batch is decided on (M3). */
async function bisectBatch(
  merge: MergeInProgress,
  batch: readonly TaskView[],
  failingOnBranch: readonly string[],
): Promise<MergeResult> {
  const { parts, result } = merge;
  const bisection = new Bisection(batch, { isOwnCriterion, failingOnBranch });
  let step = bisection.next();

  while (step.do !== "end") {
    if (parts.context.interrupted.aborted) return result;

    if (step.do === "prove") {
      const proof = await prove(merge, step.tasks);
      if (proof.cancelled) return result;
      step = bisection.next(proof);
      continue;
    }

    const obstacle = await settleStep(merge, step);
    if (obstacle !== null) return { ...result, obstacle };
    step = bisection.next();
  }

  return result;
}

const isOwnCriterion = (task: TaskView, check: string): boolean =>
  task.acceptance_criteria.some(({ command }) => command === check);

type SettledStep = Extract<BisectStep<TaskView>, { readonly do: "land" | "hold" | "reject" }>;

/** Returns the obstacle that keeps proved tasks from landing; null if there is none. */
async function settleStep(
  merge: MergeInProgress,
  step: SettledStep,
): Promise<LandingObstacle | null> {
  if (step.do === "land") return landTogether(merge, step.tasks);

  if (step.do === "hold") holdForRedBranch(merge, step);
  else await rejectFailing(merge, step);
  return null;
}

/**
 * Merges these tasks onto the branch and runs the checks; without tasks, the branch's own checks.
 */
async function prove(merge: MergeInProgress, tasks: readonly TaskView[]): Promise<CommitProof> {
  const { exchange, tip } = merge;
  const merged = await mergeOnto(exchange, tip, tasks);
  if (tasks.length > 0) merge.result.proofs += 1;

  const proof =
    "conflict" in merged
      ? describeConflict(merged.conflict)
      : await proveMerged(merge, merged.commit, tasks);
  if (proof.cancelled) return proof;
  merge.proofs.set(toProofKey(tip, tasks), proof);

  if (!proof.passed && tasks.length > 0) {
    const evidence = proof.evidence.filter((line) => !line.startsWith("passed:"));
    merge.lastFailure = { failed: proof.failed, evidence };
  }

  return proof;
}

const describeConflict = (paths: readonly string[]): CommitProof => ({
  passed: false,
  cancelled: false,
  failed: [],
  evidence: [`conflict in ${paths.join(", ")}`],
});

const proveMerged = (
  { parts, exchange, folder }: MergeInProgress,
  commit: string,
  tasks: readonly TaskView[],
): Promise<CommitProof> =>
  proveCommit(parts.context, exchange.repository, {
    commit,
    criteria: tasks.flatMap((task) => task.acceptance_criteria),
    folder: mkdtempSync(join(folder, "prove-")),
    isolation: parts.isolation,
  });

/** Keeps tasks in the queue because the branch itself is red (M3). */
function holdForRedBranch(
  { result, tip, state, action }: MergeInProgress,
  { tasks, failed }: Extract<BisectStep<TaskView>, { readonly do: "hold" }>,
): void {
  const heldBefore = result.red?.tasks ?? [];
  const heldNow = tasks.map(({ task_id }) => task_id);
  result.red = { tip, failed, tasks: [...heldBefore, ...heldNow] };

  const [check = ""] = failed;
  result.obstacle = redBranchObstacle(state, action, describeFailedChecks(failed), check);
}

async function rejectFailing(
  merge: MergeInProgress,
  { task, beside }: Extract<BisectStep<TaskView>, { readonly do: "reject" }>,
): Promise<void> {
  const others = await listMetTasks(merge, task, beside);
  const { failed, evidence } = merge.lastFailure;
  const condition = others.length === 0 ? "on the merged tree" : "together with what has landed";
  const because = `${describeFailedChecks(failed)} ${condition}`;

  await reject(merge, task, { kind: "checks", others, because, evidence });
}

/** The checks by name, as far as one line has room for them. */
function describeFailedChecks(failed: readonly string[]): string {
  if (failed.length === 0) return "its checks fail";
  const names = failed.map((name) => oneLine(name, checkCharsMax));
  return `${listSome(names, checksNamedMax)} ${failed.length === 1 ? "fails" : "fail"}`;
}

const toProofKey = (tip: string, tasks: readonly TaskView[]): string =>
  [tip, ...tasks.map(({ task_id }) => task_id)].join(" ");

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
    const merged = await mergeTask(merge.exchange, commit, task);

    if ("conflicts" in merged) {
      const others = await listMetTasks(merge, task, batch);
      await reject(merge, task, toConflictRejection(merged.conflicts, others));
    } else {
      commit = merged.commit;
      batch.push(task);
    }
  }

  return batch;
}

const toConflictRejection = (paths: readonly string[], others: readonly string[]): Rejection => ({
  kind: "conflict",
  others,
  because: `it conflicts with what has landed in ${listSome(paths, conflictsShownMax)}`,
  evidence: paths.map((path) => `conflict: ${path}`),
});

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
  { kind, others, because, evidence }: Rejection,
): Promise<void> {
  context.show(`✗ ${task_id}: ${because}`);

  const rejected: PortfolioChange = {
    ...systemFields,
    event: "merge_rejected",
    task_id,
    kind,
    with: [...others],
    because,
    evidence: [...evidence],
  };
  await withPortfolio(context, paths, async ({ state, write }) => {
    if (state.tasks[task_id]?.stage === "queued") await write(rejected);
  });

  result.rejected += 1;
}

/** Lands tasks that were proved together (M1, M2); returns the obstacle, null if they landed. */
async function landTogether(
  merge: MergeInProgress,
  tasks: readonly TaskView[],
): Promise<LandingObstacle | null> {
  const { parts, exchange, action, tip, result } = merge;
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
  const removedTask = await journalProof(parts, batch, evidence);
  if (removedTask !== null) {
    return passingObstacle(
      `${removedTask} was taken out of the batch; the rest is proved without it`,
    );
  }

  const obstacle = await landBatch(parts, exchange, batch, action.target);
  if (obstacle !== null) return obstacle;

  result.landed += tasks.length;
  result.obstacle = null; // with these tasks the branch is green
  result.red = null;
  merge.tip = merged.commit;
  return null;
}

/** Journals that a batch was proved; not if one of its tasks was taken out, which is returned. */
function journalProof(
  { context, paths }: QueueParts,
  batch: VerifiedBatch,
  evidence: readonly string[],
): Promise<string | null> {
  return withPortfolio(context, paths, async ({ state, write }) => {
    const missing = batch.tasks.find((id) => state.tasks[id]?.stage !== "queued");
    if (missing !== undefined) return missing;

    await write({ ...systemFields, event: "merge_verified", ...batch, evidence: [...evidence] });
    return null;
  });
}
