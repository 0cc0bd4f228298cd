// truth: reports how often agents' claims were true across the runs of this repository.

import type { CommandResponse } from "../contracts/command-response.ts";
import { sumTruth, type RunTruth, openRunTruth, truthPage } from "../views/truth.ts";
import { JournalFailure } from "../journal/failure.ts";
import { readJournal } from "../journal/read.ts";
import { findProject, listRuns, runFolder } from "../project/runs/project-paths.ts";
import type { CommandContext } from "../project/command-context.ts";
import { catchRefusals, respond } from "../project/respond.ts";

const runsMax = 1_000;

/**
 * Sums up the claims of every run here. A run whose journal cannot be read is named and left out.
 */
export function truth(context: CommandContext): Promise<CommandResponse> {
  return catchRefusals(async () => {
    await Promise.resolve(); // everything below is synchronous, and a refusal is caught only from a promise
    const paths = findProject(context.cwd);
    const runs = paths === null ? [] : listRuns(paths);
    const folders =
      paths === null
        ? []
        : runs.slice(-runsMax).map((run) => ({ run, folder: runFolder(paths, run) }));

    const readable: RunTruth[] = [];
    const damaged: { run_id: string; why: string }[] = [];

    for (const { run, folder } of folders) {
      const runTruth = openRunTruth();
      try {
        readJournal(folder, { from: "start", onEntry: runTruth.read });
        readable.push(runTruth);
      } catch (error) {
        if (!(error instanceof JournalFailure)) throw error;
        damaged.push({ run_id: run, why: error.message });
      }
    }

    const rows = sumTruth(readable);
    const falseClaims = rows.reduce((sum, row) => sum + row.false, 0);
    const trueClaims = rows.reduce((sum, row) => sum + row.true, 0);
    const runCount = `${readable.length} ${readable.length === 1 ? "run" : "runs"}`;
    const message =
      trueClaims + falseClaims === 0
        ? "Nothing that an agent said here could be decided yet."
        : `${trueClaims} of ${trueClaims + falseClaims} claims that could be decided were true, in ${runCount}.`;

    const omittedRuns = runs.length - Math.min(runs.length, runsMax);
    return respond("ok", {
      message,
      warnings: [
        ...damaged.map(({ run_id, why }) => `${run_id} is left out: ${why}`),
        ...(omittedRuns === 0 ? [] : [`The ${omittedRuns} oldest runs are left out.`]),
      ],
      page: truthPage(rows),
      data: { truth: rows, runs: readable.length, damaged },
    });
  });
}
