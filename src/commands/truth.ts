// truth: reports how often agents' claims were true across the runs of this repository.

import type { CommandResponse } from "../contracts/command-response.ts";
import { sumTruth, type RunTruth, openRunTruth, truthPage } from "../views/truth.ts";
import { JournalFailure } from "../journal/journal-failure.ts";
import { readJournal } from "../journal/read.ts";
import {
  findProject,
  listRuns,
  type ProjectPaths,
  runFolder,
} from "../project/runs/project-paths.ts";
import type { CommandContext } from "../project/command-context.ts";
import { catchRefusals, respond } from "../project/respond.ts";

const runsMax = 1_000;

type DamagedRun = { readonly run_id: string; readonly why: string };

/**
 * Sums up the claims of every run here. A run whose journal cannot be read is named and left out.
 */
export function truth(context: CommandContext): Promise<CommandResponse> {
  return catchRefusals(async () => {
    await Promise.resolve(); // everything below is synchronous, and a refusal is caught only from a promise
    const paths = findProject(context.cwd);
    const runs = paths === null ? [] : listRuns(paths);
    const { readable, damaged } = readTruths(paths, runs.slice(-runsMax));
    const rows = sumTruth(readable);

    const warnings = damaged.map(({ run_id, why }) => `${run_id} is left out: ${why}`);
    const omittedCount = Math.max(0, runs.length - runsMax);
    if (omittedCount > 0) warnings.push(`The ${omittedCount} oldest runs are left out.`);

    return respond("ok", {
      message: describeTruth(rows, readable.length),
      warnings,
      page: truthPage(rows),
      data: { truth: rows, runs: readable.length, damaged },
    });
  });
}

function readTruths(paths: ProjectPaths | null, runs: readonly string[]) {
  const readable: RunTruth[] = [];
  const damaged: DamagedRun[] = [];
  if (paths === null) return { readable, damaged };

  for (const run of runs) {
    const runTruth = openRunTruth();
    try {
      readJournal(runFolder(paths, run), { startAt: "start", onEntry: runTruth.read });
      readable.push(runTruth);
    } catch (error) {
      if (!(error instanceof JournalFailure)) throw error;
      damaged.push({ run_id: run, why: error.message });
    }
  }

  return { readable, damaged };
}

function describeTruth(rows: ReturnType<typeof sumTruth>, runCount: number): string {
  let trueCount = 0;
  let decidedCount = 0;
  for (const row of rows) {
    trueCount += row.true;
    decidedCount += row.true + row.false;
  }

  if (decidedCount === 0) return "Nothing that an agent said here could be decided yet.";
  const runs = `${runCount} ${runCount === 1 ? "run" : "runs"}`;
  return `${trueCount} of ${decidedCount} claims that could be decided were true, in ${runs}.`;
}
