// run-rows: lists every run that was begun here, with the data of a row each.

import type { RunView } from "../../core/state.ts";
import { findInterruption } from "../../views/interruption.ts";
import type { RunRow } from "../../views/runs-page.ts";
import { findCurrentRun, type ProjectPaths, listRuns, runFolder } from "./project-paths.ts";
import type { CommandContext } from "../command-context.ts";
import { isOwnRun } from "./run-binding.ts";
import { readRunOrNull } from "./read-run.ts";
import { measureDiskBytes } from "./run-disk.ts";

/** Lists the runs, oldest first. A run whose journal cannot be read is listed as damaged. */
export async function listRunRows(
  context: Pick<CommandContext, "env">,
  paths: ProjectPaths,
): Promise<readonly RunRow[]> {
  const current = findCurrentRun(paths);
  const rows: RunRow[] = [];

  for (const run of listRuns(paths)) {
    const loaded = await readRunOrNull(paths, run);
    const common = {
      run_id: run,
      disk_bytes: await measureDiskBytes(runFolder(paths, run)),
      current: run === current,
      foreign: !isOwnRun(context, paths, run),
    };

    rows.push(
      loaded === null
        ? { ...common, ...unreadable }
        : { ...common, ...toRow(loaded.view, loaded.owner) },
    );
  }

  return rows;
}

const unreadable = {
  state: "damaged",
  live: false,
  flow: null,
  goal: null,
  verdict: null,
  tokens: 0,
  usd: 0,
  updated_at: null,
} as const;

function toRow(
  view: RunView,
  owner: { readonly pid: number } | null,
): Omit<RunRow, "run_id" | "disk_bytes" | "current" | "foreign"> {
  const { tokens, usd } = view.ledger.run;
  return {
    state: findInterruption(view, owner) === null ? view.status : "interrupted",
    live: owner !== null,
    flow: view.drafted.flow.flow,
    goal: view.drafted.objective.goal,
    verdict: view.verdict,
    tokens,
    usd,
    updated_at: view.updatedAt,
    forked_from: view.origins?.at(-1)?.run ?? null,
  };
}

/**
 * Whether nothing more will happen to it: a draft or a finished run of this user's, without a
 * process at work on it.
 */
export const isRemovable = ({ state, live, foreign }: RunRow): boolean =>
  !live && !foreign && (state === "draft" || state === "completed" || state === "stopped");
