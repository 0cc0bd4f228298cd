// diff: shows what a run changed, from its base commit to the tip of its branch.

import type { CommandResponse } from "../contracts/command-response.ts";
import type { RunView } from "../core/state.ts";
import type { Repository } from "../workspace/git/repository.ts";
import { didYouMean } from "../kit/suggest.ts";
import { renderFileRows, describeDiffStat } from "../views/diff-page.ts";
import { describeAttempt, firstFew, oneLine } from "../views/wording.ts";
import { readFileChanges, readFilePatch, hasCommits, readPatch } from "../workspace/git/diff.ts";
import { readCommitSummary } from "../workspace/git/commit-summary.ts";
import { requireRepository } from "../project/runs/require-repository.ts";
import type { CommandContext } from "../project/command-context.ts";
import { catchRefusals, refuse, respond } from "../project/respond.ts";
import { loadRun, type LoadedRun } from "../project/runs/loaded-run.ts";

const filesShownMax = 26;

type Input = {
  readonly run?: string | undefined;
  readonly file?: string | undefined;
  readonly turn?: number | undefined;
  readonly stat: boolean;
};

/**
 * Shows the files or the patch of a run's change. The work of an unfinished turn isn't included.
 */
export function diff(context: CommandContext, input: Input): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const loaded = await loadRun(context, input.run);
    const { paths, run, view } = loaded;
    if (input.turn !== undefined) {
      return (await import("./turn-diff.ts")).turnDiff(paths, run, view, input.turn);
    }

    const runFields = { run_id: run, state: view.status };
    const repository = await requireRepository(paths.root);
    const base = view.drafted.base.commit;
    const tip = view.tip.commit;
    await requireCommits(repository, loaded, [base, tip]);

    const [allFiles, { commits }] = await Promise.all([
      readFileChanges(repository, base, tip),
      readCommitSummary(repository, base, tip),
    ]);
    const files = chooseFiles(allFiles, input.file, loaded);
    const message = describeChange(loaded, files, commits.length);
    const data = { base, tip, files, commits };

    if (input.stat || files.length === 0) {
      const page = renderFilesPage(message, files, input, run);
      return respond("ok", { ...runFields, message, page, data });
    }

    const { text, isCut } = await (input.file === undefined
      ? readPatch(repository, base, tip)
      : readFilePatch(repository, base, tip, input.file));
    const cutWarning = `The patch is too large and was cut: git diff ${base.slice(0, 12)} ${tip.slice(0, 12)} shows all of it.`;

    return respond("ok", {
      ...runFields,
      message,
      page: text.replace(/\n$/, "").split("\n"),
      data: { ...data, patch: text },
      warnings: isCut ? [cutWarning] : [],
    });
  });
}

type FileChanges = Awaited<ReturnType<typeof readFileChanges>>;

async function requireCommits(
  repository: Repository,
  { run, view }: LoadedRun,
  commits: readonly [base: string, tip: string],
): Promise<void> {
  if (await hasCommits(repository, commits)) return;

  const [, tip] = commits;
  refuse("work_missing", {
    run_id: run,
    state: view.status,
    message: `The commits of ${run} are no longer in this repository: its branch was deleted.`,
    remediation: [`git reflog may still know ${tip.slice(0, 12)}`, `autopilot transcript ${run}`],
  });
}

/** All files, or the one that is named. */
function chooseFiles(
  allFiles: FileChanges,
  file: string | undefined,
  { run, view }: LoadedRun,
): FileChanges {
  if (file === undefined) return allFiles;

  const files = allFiles.filter(({ path }) => path === file);
  if (files.length === 0) {
    const changedPaths = allFiles.map(({ path }) => path);
    refuse("usage", {
      run_id: run,
      state: view.status,
      message: `${run} did not change ${oneLine(file)}.${didYouMean(file, changedPaths)}`,
      remediation: ["autopilot diff --stat"],
    });
  }

  return files;
}

function describeChange(
  { run, view, owner }: LoadedRun,
  files: FileChanges,
  commitCount: number,
): string {
  const openTurns = owner === null ? [] : listOpenTurns(view);
  if (files.length === 0 && openTurns.length > 0) {
    return `${run}: nothing is committed yet. ${firstFew(openTurns)} is working; its changes show here once the turn has ended.`;
  }

  return `${run}: ${describeDiffStat(files, commitCount)}.`;
}

/** Which agents' turns are under way; a step without a role runs no agent. */
function listOpenTurns({ open }: RunView): readonly string[] {
  const turns = Object.values(open).filter(({ role }) => role !== null);
  return turns.map(({ attempt }) => describeAttempt(attempt));
}

function renderFilesPage(
  message: string,
  files: FileChanges,
  input: Input,
  run: string,
): readonly string[] {
  if (files.length === 0) return [message];

  const rows = renderFileRows(files, filesShownMax).map((row) => `  ${row}`);
  const runArgument = input.run === undefined ? "" : ` ${run}`;
  return [message, ...rows, "", `→ autopilot diff${runArgument}`];
}
