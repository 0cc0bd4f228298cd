// report: reports on a run: what was asked, what was done, the evidence, what is open and what to
// do next.

import type { CommandResponse } from "../contracts/command-response.ts";
import type { RunView } from "../core/state.ts";
import { plural } from "../views/wording.ts";
import { reportDetails, reportPage } from "../views/report-page.ts";
import { buildReportView, type ChangeSummary } from "../views/report.ts";
import { readFileChanges } from "../workspace/git/diff.ts";
import { findRepository } from "../workspace/git/repository.ts";
import { readCommitSummary } from "../workspace/git/commit-summary.ts";
import { readEntries } from "../project/runs/read-entries.ts";
import { openBlobReader } from "../playbooks/contract/run-journal.ts";
import { openClaimReader } from "../project/runs/run-blobs.ts";
import { runFolder, type ProjectPaths } from "../project/runs/project-paths.ts";
import type { CommandContext } from "../project/command-context.ts";
import { catchRefusals, respond, screenRows } from "../project/respond.ts";
import { readEvidence } from "../project/runs/read-evidence.ts";
import { loadRun } from "../project/runs/loaded-run.ts";

/** Shows the report; the details and the journal's head only with `-v`. */
export function report(
  context: CommandContext,
  input: { readonly run?: string | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const { paths: projectPaths, run, view, owner } = await loadRun(context, input.run);
    const { entries, head } = await readEntries(projectPaths, run);
    const changes = await readChanges(projectPaths, view);
    const claimOf = openClaimReader(openBlobReader(runFolder(projectPaths, run)));

    const reportData = buildReportView(view, entries, {
      owner,
      ...(changes === null ? {} : { changes }),
      excerpts: readExcerpts(projectPaths, run, view),
      claimOf,
    });

    const { run_id: _id, state: _state, reason_code, ...data } = reportData;
    const page = reportPage(reportData);
    return respond(reason_code, {
      result: "PASS",
      run_id: run,
      state: view.status,
      message: reportData.summary,
      rowsMax: screenRows,
      page,
      whole: [
        ...page,
        ...reportDetails(reportData),
        "",
        `Journal: ${plural(entries.length, "event")}, head ${head}`,
      ],
      data: { ...data, journal: { events: entries.length, head } },
    });
  });
}

async function readChanges(
  projectPaths: ProjectPaths,
  view: RunView,
): Promise<ChangeSummary | null> {
  const lookup = await findRepository(projectPaths.root);
  if ("failure" in lookup) return null;
  const [base, tip] = [view.drafted.base.commit, view.tip.commit];

  return Promise.all([
    readCommitSummary(lookup.repository, base, tip),
    readFileChanges(lookup.repository, base, tip),
  ])
    .then(([summary, paths]) => ({ ...summary, paths }))
    .catch(() => null); // the run's commits may be gone; the rest of the report is still worth showing
}

/** The end of each deciding check's output. */
function readExcerpts(
  projectPaths: ProjectPaths,
  run: string,
  view: RunView,
): Record<string, string> {
  const excerpts: Record<string, string> = {};
  for (const { latest } of Object.values(view.checks)) {
    const evidence = readEvidence(runFolder(projectPaths, run), latest.evidence);
    if (evidence !== null) excerpts[latest.evidence] = evidence.output_excerpt;
  }

  return excerpts;
}
