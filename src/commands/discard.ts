// discard: removes finished runs or drafts with their branches; asks before unmerged work is lost.

import type { CommandResponse } from "../contracts/command-response.ts";
import { plural } from "../views/wording.ts";
import { readRunBranches, type RunBranch } from "../workspace/git/run-branches.ts";
import {
  findProject,
  type ProjectPaths,
  listRuns,
  resolveRun,
} from "../project/runs/project-paths.ts";
import { isRemovable, listRunRows } from "../project/runs/run-rows.ts";
import type { Repository } from "../workspace/git/repository.ts";
import { requireRepository } from "../project/runs/require-repository.ts";
import type { CommandContext } from "../project/command-context.ts";
import { finishRemovals, removeRun } from "../project/runs/remove-run.ts";
import { catchRefusals, refuse, respond } from "../project/respond.ts";
import { refuseIfForeign } from "../project/runs/require-own-run.ts";

type Input = { readonly runs: readonly string[]; readonly yes: boolean };
type RunToRemove = { readonly run: string; readonly branches: readonly RunBranch[] };

/**
 * Removes finished runs, or drafts, with their branches. Unmerged work is deleted only after
 * confirmation.
 */
export function discard(context: CommandContext, input: Input): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = findProject(context.cwd);
    if (paths === null) return refuse("run_missing", { state: "idle", message: "No run here." });
    const repository = await requireRepository(paths.root);
    await finishRemovals(context, paths, repository);
    const toRemove = await listRunsToRemove(context, paths, repository, input.runs);
    if (toRemove.length === 0) {
      return respond("ok", {
        message: "No drafts here.",
        page: ["No drafts here."],
        data: { removed: [] },
      });
    }

    const risks = [...describeRisks(toRemove)];
    if (input.runs.length === 0) risks.unshift(describeDrafts(toRemove));
    const consent = risks.length === 0 || input.yes ? "y" : await askToRemove(context, risks);
    if (consent === "n") {
      return respond("ok", { message: "Nothing was removed.", data: { removed: [] } });
    }

    if (consent !== "y") return refuseUnconfirmed(toRemove, risks);

    for (const { run, branches } of toRemove) {
      const isRemoved = await removeRun(context, paths, repository, { run, branches });
      if (!isRemoved) {
        refuse("run_locked", { run_id: run, message: `Somebody works on ${run} now.` });
      }
    }

    const removed = toRemove.map(({ run }) => run);
    const branches = toRemove.flatMap((item) => item.branches);
    const keptBranches = branches.filter(({ isCheckedOut }) => isCheckedOut);
    const keptNames = keptBranches.map(({ name }) => name);
    return respond("ok", {
      message: `Removed ${removed.join(", ")}.`,
      page: removed.map((run) => `✓ Removed ${run}`),
      warnings: keptNames.map((name) => `${name} is checked out, so the branch stays.`),
      data: { removed, branches_kept: keptNames },
    });
  });
}

async function listRunsToRemove(
  context: CommandContext,
  paths: ProjectPaths,
  repository: Repository,
  names: readonly string[],
): Promise<readonly RunToRemove[]> {
  const allRuns = listRuns(paths);
  const toRemove: RunToRemove[] = [];
  for (const run of await chooseRuns(context, paths, names)) {
    const branches = await readRunBranches(repository, run, allRuns);
    toRemove.push({ run, branches });
  }

  return toRemove;
}

function refuseUnconfirmed(toRemove: readonly RunToRemove[], risks: readonly string[]): never {
  const runs = toRemove.map(({ run }) => run);
  return refuse("confirmation_needed", {
    message: `Nothing was removed. ${risks.join(" ")}`,
    remediation: [`autopilot discard ${runs.join(" ")} --yes`, ...toRemove.flatMap(waysToKeep)],
    data: { would_remove: runs },
  });
}

/** The named runs, each a draft, finished or damaged; without names every draft. */
async function chooseRuns(
  context: CommandContext,
  paths: ProjectPaths,
  names: readonly string[],
): Promise<readonly string[]> {
  for (const run of names) {
    resolveRun(paths, run);
    refuseIfForeign(context, paths, run);
  }

  const rows = await listRunRows(context, paths);
  if (names.length === 0) {
    const drafts = rows.filter((row) => isRemovable(row) && row.state === "draft");
    return drafts.map(({ run_id }) => run_id);
  }

  for (const row of rows) {
    if (!names.includes(row.run_id) || isRemovable(row) || row.state === "damaged") continue;
    const state = row.live ? "being worked on" : row.state;
    refuse("invalid_state_transition", {
      run_id: row.run_id,
      message: `${row.run_id} is ${state}; only drafts and runs that are over can be discarded.`,
      remediation: [`autopilot stop --run ${row.run_id}`],
      data: { allowed_from: ["draft", "completed", "stopped"] },
    });
  }

  return [...new Set(names)];
}

/** Without names all drafts are removed, so the question lists them. */
const describeDrafts = (toRemove: readonly RunToRemove[]): string =>
  `This removes ${plural(toRemove.length, "draft")}: ${toRemove.map(({ run }) => run).join(", ")}.`;

const describeRisks = (toRemove: readonly RunToRemove[]): readonly string[] =>
  toRemove.flatMap(listUnmerged).map(({ name }) => `${name} has work that is on no other branch.`);

const waysToKeep = (runToRemove: RunToRemove): readonly string[] =>
  listUnmerged(runToRemove).map(({ name }) => `git merge ${name}`);

const listUnmerged = ({ branches }: RunToRemove): readonly RunBranch[] =>
  branches.filter(({ isMerged }) => !isMerged);

/** Null if there is no terminal to confirm on. */
function askToRemove(context: CommandContext, risks: readonly string[]): Promise<string | null> {
  for (const risk of risks) context.show(`! ${risk}`);
  return context.ask("Remove?", ["y", "n"]);
}
