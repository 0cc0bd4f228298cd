// merge-queue: the finished tasks of one branch, proved together on the merged tree and landed in order.
//
// Invariants:
//   M1. What lands was proved on exactly the tree that lands, in a fresh checkout.
//   M2. The proof is in the journal before the branch moves, and the landing after: whatever is killed in between is found out by the branch.
//   M3. What is innocent lands; what conflicts or fails goes back with the evidence and the names of what it met; what a red branch holds
//       up stays in the queue. Which is which, `bisect` decides.

import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Criterion } from "../../contracts/portfolio-journal.ts";
import { bisect } from "../planner/bisect.ts";
import type { Action } from "../planner/plan.ts";
import type { TaskView, VerifiedBatch } from "../planner/state.ts";
import { exchangeFor, type ProjectExchange } from "../worker/exchange-for.ts";
import type { Exchange } from "../worker/git-exchange.ts";
import { readPortfolio } from "../store/fold.ts";
import { withPortfolio } from "../store/open.ts";
import { branchGone, branchRed, type HeldUp, passing } from "./held-up.ts";
import { landBatch, type QueueParts } from "./land-batch.ts";
import { oneLine } from "../../views/wording.ts";
import { whyRewound } from "./rewound.ts";
import { proveCommit } from "./prove-commit.ts";
import { eraseSync } from "../../workspace/folder.ts";

type MergeAction = Extract<Action, { readonly do: "merge" }>;
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
  const { context, paths } = parts;
  const exchange = await exchangeFor(paths, await readPortfolio(paths), action.repository);
  const folder = mkdtempSync(join(paths.own, "merge-"));
  const end = { landed: 0, rejected: 0, proofs: 0, held: null as HeldUp | null, red: null as RedBranch | null };
  try {
    const state = await readPortfolio(paths);
    const { tasks: all } = state;
    const queued = action.tasks.flatMap((id) => all[id] ?? []).filter((task) => task.stage === "queued" && task.commit !== null);
    const tasks = structuredClone(queued); // as they are now: the fold goes on
    let tip = await exchange.tipOf(action.target);
    if (tip === null) return { ...end, held: branchGone(state, action) };
    const rewound = await whyRewound(parts, exchange, state, { repository: action.repository, target: action.target, tip });
    if (rewound !== null) return { ...end, held: passing(`${rewound}; autopilot inbox`) }; // it asks
    for (const task of tasks) await exchange.bringWork(task);
    const batch = await withoutConflicts(parts, exchange, tip, tasks, end);
    const isOwn = (task: TaskView, check: string): boolean => task.acceptance_criteria.some(({ command }) => command === check);
    const search = bisect(batch, { isOwn, ...(known?.tip === tip ? { red: known.failed } : {}) });
    const proofs = new Map<string, Awaited<ReturnType<typeof proveCommit>>>();
    const prove = (commit: string, criteria: readonly Criterion[]) =>
      proveCommit(context, exchange.repository, {
        commit,
        criteria,
        folder: mkdtempSync(join(folder, "prove-")),
        isolation: parts.isolation,
      });
    let step = search.next();
    let last: { readonly evidence: readonly string[]; readonly failed: readonly string[] } = { evidence: [], failed: [] };
    while (step.do !== "end") {
      if (context.interrupted.aborted) return end;
      if (step.do === "prove") {
        const merged = await mergedOnto(exchange, tip, step.tasks);
        if (step.tasks.length > 0) end.proofs += 1;
        const proved =
          "conflict" in merged
            ? { passed: false, cancelled: false, failed: [], evidence: [`conflict in ${merged.conflict.join(", ")}`] }
            : await prove(
                merged.commit,
                step.tasks.flatMap((task) => task.acceptance_criteria),
              );
        if (proved.cancelled) return end;
        proofs.set(keyOf(tip, step.tasks), proved);
        if (!proved.passed && step.tasks.length > 0)
          last = { ...proved, evidence: proved.evidence.filter((line) => !line.startsWith("passed:")) };
        step = search.next(proved);
      } else if (step.do === "land") {
        const landed = await landTogether(parts, exchange, action, tip, step.tasks, proofs.get(keyOf(tip, step.tasks))?.evidence ?? []);
        if ("why" in landed) return { ...end, held: landed };
        end.landed += step.tasks.length;
        [end.held, end.red] = [null, null]; // it is green with these
        tip = landed.tip;
        step = search.next();
      } else if (step.do === "hold") {
        const tasks: readonly string[] = [...(end.red?.tasks ?? []), ...step.tasks.map(({ task_id }) => task_id)];
        end.red = { tip, failed: step.failed, tasks };
        end.held = branchRed(state, action, failedChecks(step.failed), step.failed[0] ?? "");
        step = search.next();
      } else {
        const since = await landedSince(parts, step.task);
        const others = [...new Set([...step.beside.map(({ task_id }) => task_id), ...since])];
        const where = others.length === 0 ? "on the merged tree" : "together with what has landed";
        await reject(parts, step.task, "checks", others, `${failedChecks(last.failed)} ${where}`, last.evidence);
        end.rejected += 1;
        step = search.next();
      }
    }
    return end;
  } finally {
    eraseSync(folder);
  }
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

const keyOf = (tip: string, tasks: readonly TaskView[]): string => [tip, ...tasks.map(({ task_id }) => task_id)].join(" ");
const messageOf = (task: TaskView): string =>
  `Merge ${task.task_id}\n\n${task.objective.slice(0, 2000)}\n\nAutopilot-Task: ${task.task_id}\nAutopilot-Run: ${task.run_id ?? ""}\n`;

async function mergedOnto(
  exchange: Exchange,
  tip: string,
  tasks: readonly TaskView[],
): Promise<{ readonly commit: string } | { readonly conflict: readonly string[] }> {
  let commit = tip;
  for (const task of tasks) {
    const merged = await exchange.merge({ onto: commit, commit: task.commit ?? "", message: messageOf(task), tip: task.tip });
    if ("conflicts" in merged) return { conflict: merged.conflicts };
    commit = merged.commit;
  }
  return { commit };
}

/** Those that can be merged one after the other; the others go back. M3 */
async function withoutConflicts(
  parts: QueueParts,
  exchange: Exchange,
  tip: string,
  tasks: readonly TaskView[],
  end: { rejected: number },
): Promise<readonly TaskView[]> {
  const batch: TaskView[] = [];
  let commit = tip;
  for (const task of tasks) {
    const merged = await exchange.merge({ onto: commit, commit: task.commit ?? "", message: messageOf(task), tip: task.tip });
    if ("conflicts" in merged) {
      const others = [...new Set([...batch.map(({ task_id }) => task_id), ...(await landedSince(parts, task))])];
      await reject(
        parts,
        task,
        "conflict",
        others,
        `it conflicts with what has landed in ${merged.conflicts.slice(0, 5).join(", ")}`,
        merged.conflicts.map((path) => `conflict: ${path}`),
      );
      end.rejected += 1;
    } else {
      commit = merged.commit;
      batch.push(task);
    }
  }
  return batch;
}

/** What landed in the same repository since a task was dispatched. */
async function landedSince({ paths }: QueueParts, task: TaskView): Promise<readonly string[]> {
  const state = await readPortfolio(paths);
  const repository = state.projects[task.project_id]?.repository;
  const isAfter = (one: TaskView): boolean =>
    one.landed !== null && one.changed_at >= (task.started_at ?? "") && state.projects[one.project_id]?.repository === repository;
  return Object.values(state.tasks)
    .filter(isAfter)
    .map(({ task_id }) => task_id);
}

async function reject(
  { context, paths }: QueueParts,
  task: TaskView,
  kind: "conflict" | "checks",
  others: readonly string[],
  because: string,
  evidence: readonly string[],
): Promise<void> {
  context.show(`✗ ${task.task_id}: ${because}`);
  await withPortfolio(context, paths, async ({ state, write }) => {
    if (state.tasks[task.task_id]?.stage !== "queued") return;
    await write({ ...system, event: "merge_rejected", task_id: task.task_id, kind, with: [...others], because, evidence: [...evidence] });
  });
}

/** M1, M2. */
async function landTogether(
  parts: QueueParts,
  exchange: ProjectExchange,
  action: MergeAction,
  tip: string,
  tasks: readonly TaskView[],
  evidence: readonly string[],
): Promise<{ readonly tip: string } | HeldUp> {
  const merged = await mergedOnto(exchange, tip, tasks);
  if ("conflict" in merged) return passing(`the merge of ${tasks.length} tasks conflicts now`);
  const batch: VerifiedBatch = {
    repository: action.repository,
    tasks: tasks.map(({ task_id }) => task_id),
    from: tip,
    commit: merged.commit,
  };
  const canceled = await withPortfolio(parts.context, parts.paths, async ({ state, write }) => {
    const gone = batch.tasks.find((id) => state.tasks[id]?.stage !== "queued");
    if (gone === undefined) await write({ ...system, event: "merge_verified", ...batch, evidence: [...evidence] });
    return gone;
  });
  if (canceled !== undefined) return passing(`${canceled} was taken out of the batch; the rest is proved without it`);
  const result = await landBatch(parts, exchange, batch, action.target);
  return result ?? { tip: merged.commit };
}
