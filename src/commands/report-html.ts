// report-html: writes a run's or a portfolio's report as one self-contained HTML file.

import { basename, resolve } from "node:path";
import type { CommandResponse } from "../contracts/command-response.ts";
import type { CommandContext } from "../project/command-context.ts";
import { backtest } from "../insight/forecast.ts";
import { product } from "../project/runs/product.ts";
import { catchRefusals, refuse } from "../project/respond.ts";
import { readEntries } from "../project/runs/read-entries.ts";
import { loadRun, type LoadedRun } from "../project/runs/loaded-run.ts";
import { readRunCases } from "../project/runs/past-runs.ts";
import { systemClock } from "../project/runs/system-clock.ts";
import { parseHunks } from "../views/facts/hunks.ts";
import { renderPortfolioFile } from "../views/web/portfolio-file.ts";
import { renderReportFile } from "../views/web/report-file.ts";
import type { ReportFileInput } from "../views/web/report-sections.ts";
import { readFileChanges, hasCommits, readFilePatch } from "../workspace/git/diff.ts";
import { findRepository } from "../workspace/git/repository.ts";
import { readCommitSummary } from "../workspace/git/commit-summary.ts";
import { requireWritable, writeHtml } from "./html-file.ts";
import { openFacts } from "./dashboard/facts.ts";
import { followRuns, isReadable } from "./dashboard/followed-runs.ts";
import { buildRunPage } from "./dashboard/run-page.ts";
import { isPortfolioMeant } from "./portfolio/is-portfolio-meant.ts";

const filesShownMax = 60;
const diffLinesMax = 8_000;

type Input = { readonly run?: string | undefined; readonly file: string };

/** Writes the report as a file that opens anywhere and loads nothing. */
export function reportHtml(context: CommandContext, input: Input): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const path = resolve(context.callerFolder ?? context.cwd, input.file);
    requireWritable(path);

    if (isPortfolioMeant(context.cwd, { run: input.run })) {
      return writeHtml(path, await renderPortfolioHtml(context), null);
    }

    const loaded = await loadRun(context, input.run);
    return writeHtml(path, await renderRunHtml(context, loaded), loaded.run);
  });
}

async function renderRunHtml(
  context: CommandContext,
  { paths, run, view }: LoadedRun,
): Promise<string> {
  const { entries, head } = await readEntries(paths, run);
  const source = { key: run, paths, run, project: basename(paths.root), task: null };
  const followed = followRuns(context).follow(source);
  if (followed === null || !isReadable(followed)) {
    return refuse("journal_damaged", {
      run_id: run,
      message: `The journal of ${run} cannot be read.`,
    });
  }

  const { base, flow } = view.drafted;
  const { files, more, changes } = await readChange(paths.root, base.commit, view.tip.commit);
  const page = buildRunPage(followed, entries, {
    now: systemClock.now(),
    isAll: true,
    isCurrent: true,
    ...(changes === null ? {} : { changes }),
  });

  const journal = { events: entries.length, head };
  const forecasts = backtest(await readRunCases(paths, flow.flow));
  return renderReportFile({ ...page, product, files, more, journal, forecasts });
}

async function renderPortfolioHtml(context: CommandContext): Promise<string> {
  const facts = openFacts(context);
  const portfolio = await facts.portfolio();
  const overview = await facts.overview();
  if (portfolio === null) {
    return refuse("portfolio_missing", { message: `There is no portfolio in ${context.cwd}.` });
  }

  return renderPortfolioFile({ ...portfolio, product, runs: overview.runs });
}

type Change = Pick<ReportFileInput, "files" | "more"> & {
  readonly changes: ReportFileInput["report"]["changes"] | null;
};

/**
 * The changed files with their diffs, up to the limits above; without the run's commits there is
 * nothing to show.
 */
async function readChange(root: string, base: string, tip: string): Promise<Change> {
  const noChange = { files: [], more: 0, changes: null };
  const lookup = await findRepository(root);
  if ("failure" in lookup || !(await hasCommits(lookup.repository, [base, tip]))) return noChange;
  const { repository } = lookup;
  const [summary, paths] = await Promise.all([
    readCommitSummary(repository, base, tip),
    readFileChanges(repository, base, tip),
  ]);

  const files: ReportFileInput["files"][number][] = [];
  let linesLeft = diffLinesMax;

  for (const file of paths.slice(0, filesShownMax)) {
    const { text, isCut } =
      linesLeft > 0
        ? await readFilePatch(repository, base, tip, file.path)
        : { text: "", isCut: true };
    const diff = text === "" ? null : parseHunks(text, Math.max(1, linesLeft));
    linesLeft -= diff?.lines.length ?? 0;
    files.push({ ...file, diff: diff === null ? null : { ...diff, cut: diff.cut || isCut } });
  }

  return { files, more: Math.max(0, paths.length - filesShownMax), changes: { ...summary, paths } };
}
