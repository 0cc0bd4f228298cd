// begin-draft: drafts the run that a dispatch named, in the task's copy of its repository.
// Invariants K1 and on: portfolio/worker/prepare-task.ts.

import type { Draft } from "../../contracts/event.ts";
import type { RunView } from "../../core/state.ts";
import { findStoreAddress } from "../../fleet/address.ts";
import { markShared, readSharedMark, runKey } from "../../fleet/shared-mark.ts";
import type { GoInput } from "../../playbooks/contract/go-input.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { isBegun, type ProjectPaths, runFolder } from "../../project/runs/project-paths.ts";
import { readRunOrNull } from "../../project/runs/read-run.ts";
import { bindRun, findBinding } from "../../project/runs/run-binding.ts";
import { makeDraft } from "../../runner/draft/make-draft.ts";
import { withRun } from "../../runner/open-run.ts";
import type { TaskView } from "../planner/state.ts";
import { pathsOfCopy } from "./task-runs.ts";

type DraftRequest = {
  readonly copy: string;
  readonly nonce: string;
  readonly input: GoInput & { readonly newId: string };
};

/** Drafts the run that a dispatch named, or continues a draft that was interrupted (K5). */
export async function beginDraft(
  context: CommandContext,
  task: TaskView,
  { copy, nonce, input }: DraftRequest,
): Promise<void> {
  const copyContext = { ...context, cwd: copy };
  const paths = pathsOfCopy(copy);
  const { newId: run } = input;

  markForStore(context, paths, { run, nonce });
  let begunRun = await readBegunRun(paths, run);
  if (begunRun === null) {
    await makeDraft(copyContext, paths, input);
    begunRun = await readBegunRun(paths, run);
  }
  if (begunRun === null) return;

  const { view } = begunRun;
  bindToDraft(context, paths, run, view);
  if (view.status !== "draft" || view.outside !== undefined) return;

  const evidence = quoteIssue(task);
  if (evidence === null) return;
  await withRun(copyContext, paths, run, (openRun) => openRun.append(evidence));
}

/** A run that a portfolio in a store begins is kept in that store, too. */
function markForStore(
  { env }: CommandContext,
  paths: ProjectPaths,
  { run, nonce }: { readonly run: string; readonly nonce: string },
): void {
  if (findStoreAddress(env) === null || isBegun(paths, run)) return;

  const folder = runFolder(paths, run);
  if (readSharedMark(folder) === null) markShared(folder, runKey(run, nonce));
}

const readBegunRun = (paths: ProjectPaths, run: string) =>
  isBegun(paths, run) ? readRunOrNull(paths, run) : Promise.resolve(null);

/**
 * A pool that has lost the portfolio since may have drafted the same run in the store first: then
 * that draft counts.
 */
function bindToDraft(
  { env }: CommandContext,
  paths: ProjectPaths,
  run: string,
  { drafted }: RunView,
): void {
  const folder = runFolder(paths, run);
  if (readSharedMark(folder) === null) return;

  const binding = findBinding(env, paths, folder, run);
  if (binding.kind !== "ours" || binding.record.ack === drafted.ack) return;

  const { isolation } = binding.record;
  bindRun(env, paths, folder, { run, ack: drafted.ack, isolation });
}

/** What the task's issue says, as evidence: others' words are never part of the goal. */
function quoteIssue({ link, quoted }: TaskView): Draft | null {
  if (link === undefined || quoted === undefined || quoted === "") return null;

  return {
    event: "evidence_received",
    source: link,
    items: [{ key: link.slice(0, 300), kind: "issue", by: "the issue", text: quoted }],
    reason_code: "ok",
  };
}
