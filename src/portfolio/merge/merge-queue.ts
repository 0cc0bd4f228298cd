// merge-queue: proves the finished tasks of one branch together, on the merged tree, and lands them in order.
//
// Invariants:
//   M1. What lands was proved on exactly the tree that lands, in a fresh checkout.
//   M2. The proof is in the journal before the branch moves, and the landing after: whatever is killed in between is found out by the branch.
//   M3. What is innocent lands; what conflicts or fails goes back with the evidence and the names of what it met; what a red branch holds
//       up stays in the queue. Which is which, `bisect` decides.

import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { Bisection, type BisectStep } from "../planner/bisect.ts";
import type { MergeAction } from "../planner/merges.ts";
import type { PortfolioView, TaskView, VerifiedBatch } from "../planner/state.ts";
import { exchangeFor, type ProjectExchange } from "../worker/exchange-for.ts";
import type { Exchange } from "../worker/git-exchange.ts";
import { readPortfolio } from "../store/fold.ts";
import { withPortfolio } from "../store/open.ts";
import { branchGone, branchRed, heldForNow, type HeldUp } from "./held-up.ts";
import { landBatch, type QueueParts } from "./land-batch.ts";
import { oneLine } from "../../views/wording.ts";
import { whyRewound } from "./rewound.ts";
import { type CommitProof, proveCommit } from "./prove-commit.ts";
import { eraseSync } from "../../workspace/folder.ts";

const system = { actor: "system", reason_code: "ok" } as const;

/** A branch whose own checks fail at this commit, and the tasks that they hold up. */
export type RedBranch = { readonly tip: string; readonly failed: readonly string[]; readonly tasks: readonly string[] };
export type QueueEnd = {
  readonly landed: number;
  readonly rejected: number;
  readonly held: HeldUp | null;
  readonly red: RedBranch | null;
  readonly proofs: number;
};

/** `known`: how red the branch was before. */
export async function mergeBatch(parts: QueueParts, action: MergeAction, known?: RedBranch): Promise<QueueEnd> {
  const folder = mkdtempSync(join(parts.paths.own, "merge-"));
  try {
    return await mergeInFolder(parts, action, { folder, known });
  } finally {
    eraseSync(folder);
  }
}

type Merge = {
  readonly parts: QueueParts;
  readonly exchange: ProjectExchange;
  readonly action: MergeAction;
  readonly state: PortfolioView;
  readonly folder: string;
  /** The target branch; it moves with each landing. */
  tip: string;
  readonly end: { landed: number; rejected: number; proofs: number; held: HeldUp | null; red: RedBranch | null };
  /** What was proved, by the tip and the tasks. */
  readonly proofs: Map<string, CommitProof>;
  lastFailure: Pick<CommitProof, "evidence" | "failed">;
};

async function mergeInFolder(
  parts: QueueParts,
  action: MergeAction,
  { folder, known }: { readonly folder: string; readonly known: RedBranch | undefined },
): Promise<QueueEnd> {
  const { context, paths } = parts;
  const exchange = await exchangeFor(paths, await readPortfolio(paths), action.repository);
  const end: Merge["end"] = { landed: 0, rejected: 0, proofs: 0, held: null, red: null };
  const state = await readPortfolio(paths);
  const queued = action.tasks.flatMap((id) => state.tasks[id] ?? []).filter((task) => task.stage === "queued" && task.commit !== null);
  const tasks = structuredClone(queued); // as they are now: other processes go on changing the state
  const tip = await exchange.tipOf(action.target);
  if (tip === null) return { ...end, held: branchGone(state, action) };
  const rewound = await whyRewound(parts, exchange, state, { repository: action.repository, target: action.target, tip });
  if (rewound !== null) return { ...end, held: heldForNow(`${rewound}; autopilot inbox`) }; // it asks
  for (const task of tasks) await exchange.bringWork(task);
  const merge: Merge = { parts, exchange, action, state, folder, tip, end, proofs: new Map(), lastFailure: { evidence: [], failed: [] } };
  const batch = await rejectConflicting(merge, tasks);
  const isOwn = (task: TaskView, check: string): boolean => task.acceptance_criteria.some(({ command }) => command === check);
  const bisection = new Bisection(batch, { isOwn, ...(known?.tip === tip ? { red: known.failed } : {}) });
  for (let step = bisection.next(); step.do !== "end";) {
    if (context.interrupted.aborted) return end;
    if (step.do === "prove") {
      const proof = await prove(merge, step.tasks);
      if (proof.cancelled) return end;
      step = bisection.next(proof);
      continue;
    }
    if (step.do === "land") {
      const held = await landTogether(merge, step.tasks);
      if (held !== null) return { ...end, held };
    } else if (step.do === "hold") holdForRedBranch(merge, step);
    else await rejectFailing(merge, step);
    step = bisection.next();
  }
  return end;
}

/** Merges these tasks onto the branch and runs the checks; without tasks, the branch's own checks. */
async function prove(merge: Merge, tasks: readonly TaskView[]): Promise<CommitProof> {
  const { parts, exchange, tip } = merge;
  const merged = await mergeOnto(exchange, tip, tasks);
  if (tasks.length > 0) merge.end.proofs += 1;
  const proof =
    "conflict" in merged
      ? { passed: false, cancelled: false, failed: [], evidence: [`conflict in ${merged.conflict.join(", ")}`] }
      : await proveCommit(parts.context, exchange.repository, {
          commit: merged.commit,
          criteria: tasks.flatMap((task) => task.acceptance_criteria),
          folder: mkdtempSync(join(merge.folder, "prove-")),
          isolation: parts.isolation,
        });
  if (proof.cancelled) return proof;
  merge.proofs.set(proofKey(tip, tasks), proof);
  if (!proof.passed && tasks.length > 0)
    merge.lastFailure = { failed: proof.failed, evidence: proof.evidence.filter((line) => !line.startsWith("passed:")) };
  return proof;
}

/** The branch itself is red, so these tasks stay in the queue. M3 */
function holdForRedBranch({ end, tip, state, action }: Merge, step: Extract<BisectStep<TaskView>, { readonly do: "hold" }>): void {
  end.red = { tip, failed: step.failed, tasks: [...(end.red?.tasks ?? []), ...step.tasks.map(({ task_id }) => task_id)] };
  end.held = branchRed(state, action, failedChecks(step.failed), step.failed[0] ?? "");
}

async function rejectFailing(merge: Merge, { task, beside }: Extract<BisectStep<TaskView>, { readonly do: "reject" }>): Promise<void> {
  const others = await namesWithLanded(merge, task, beside);
  const where = others.length === 0 ? "on the merged tree" : "together with what has landed";
  const { failed, evidence } = merge.lastFailure;
  await reject(merge, task, { kind: "checks", others, because: `${failedChecks(failed)} ${where}`, evidence });
}

/** The checks by name, as far as one line has room for them. */
function failedChecks(failed: readonly string[]): string {
  if (failed.length === 0) return "its checks fail";
  const shownChecks = failed.slice(0, checksNamedMax).map((name) => oneLine(name, checkCharactersMax));
  const more = failed.length - shownChecks.length;
  return `${shownChecks.join(", ")}${more === 0 ? "" : ` and ${more} more`} ${failed.length === 1 ? "fails" : "fail"}`;
}
const checksNamedMax = 3;
const checkCharactersMax = 80;

const proofKey = (tip: string, tasks: readonly TaskView[]): string => [tip, ...tasks.map(({ task_id }) => task_id)].join(" ");
const mergeMessage = (task: TaskView): string =>
  `Merge ${task.task_id}\n\n${task.objective.slice(0, 2000)}\n\nAutopilot-Task: ${task.task_id}\nAutopilot-Run: ${task.run_id ?? ""}\n`;

async function mergeOnto(
  exchange: Exchange,
  tip: string,
  tasks: readonly TaskView[],
): Promise<{ readonly commit: string } | { readonly conflict: readonly string[] }> {
  let commit = tip;
  for (const task of tasks) {
    const merged = await exchange.merge({ onto: commit, commit: task.commit ?? "", message: mergeMessage(task), tip: task.tip });
    if ("conflicts" in merged) return { conflict: merged.conflicts };
    commit = merged.commit;
  }
  return { commit };
}

/** The tasks that can be merged one after the other; the others go back to their agents. M3 */
async function rejectConflicting(merge: Merge, tasks: readonly TaskView[]): Promise<readonly TaskView[]> {
  const batch: TaskView[] = [];
  let commit = merge.tip;
  for (const task of tasks) {
    const merged = await merge.exchange.merge({ onto: commit, commit: task.commit ?? "", message: mergeMessage(task), tip: task.tip });
    if ("conflicts" in merged) {
      await reject(merge, task, {
        kind: "conflict",
        others: await namesWithLanded(merge, task, batch),
        because: `it conflicts with what has landed in ${merged.conflicts.slice(0, 5).join(", ")}`,
        evidence: merged.conflicts.map((path) => `conflict: ${path}`),
      });
      continue;
    }
    commit = merged.commit;
    batch.push(task);
  }
  return batch;
}

/** The tasks that a task met: those merged before it, and those that landed in its repository since it was dispatched. */
async function namesWithLanded({ parts }: Merge, task: TaskView, merged: readonly TaskView[]): Promise<readonly string[]> {
  const state = await readPortfolio(parts.paths);
  const repository = state.projects[task.project_id]?.repository;
  const landed = Object.values(state.tasks).filter(
    (other) =>
      other.landed !== null && other.changed_at >= (task.started_at ?? "") && state.projects[other.project_id]?.repository === repository,
  );
  return [...new Set([...merged, ...landed].map(({ task_id }) => task_id))];
}

type Rejection = {
  readonly kind: "conflict" | "checks";
  readonly others: readonly string[];
  readonly because: string;
  readonly evidence: readonly string[];
};

async function reject({ parts: { context, paths }, end }: Merge, { task_id }: TaskView, rejection: Rejection): Promise<void> {
  const { kind, others, because, evidence } = rejection;
  context.show(`✗ ${task_id}: ${because}`);
  await withPortfolio(context, paths, async ({ state, write }) => {
    if (state.tasks[task_id]?.stage !== "queued") return;
    await write({ ...system, event: "merge_rejected", task_id, kind, with: [...others], because, evidence: [...evidence] });
  });
  end.rejected += 1;
}

/** Lands tasks that were proved together; returns what holds them up, null if they landed. M1, M2 */
async function landTogether(merge: Merge, tasks: readonly TaskView[]): Promise<HeldUp | null> {
  const { parts, exchange, action, tip } = merge;
  const merged = await mergeOnto(exchange, tip, tasks);
  if ("conflict" in merged) return heldForNow(`the merge of ${tasks.length} tasks conflicts now`);
  const batch: VerifiedBatch = {
    repository: action.repository,
    tasks: tasks.map(({ task_id }) => task_id),
    from: tip,
    commit: merged.commit,
  };
  const evidence = merge.proofs.get(proofKey(tip, tasks))?.evidence ?? [];
  const canceled = await withPortfolio(parts.context, parts.paths, async ({ state, write }) => {
    const missing = batch.tasks.find((id) => state.tasks[id]?.stage !== "queued");
    if (missing === undefined) await write({ ...system, event: "merge_verified", ...batch, evidence: [...evidence] });
    return missing;
  });
  if (canceled !== undefined) return heldForNow(`${canceled} was taken out of the batch; the rest is proved without it`);
  const held = await landBatch(parts, exchange, batch, action.target);
  if (held !== null) return held;
  merge.end.landed += tasks.length;
  [merge.end.held, merge.end.red] = [null, null]; // the branch is green with these
  merge.tip = merged.commit;
  return null;
}
