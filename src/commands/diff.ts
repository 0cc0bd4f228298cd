// diff: shows what a run changed, from its base commit to the tip of its branch.

import type { CommandResponse } from "../contracts/command-response.ts";
import { didYouMean } from "../kit/suggest.ts";
import { renderFileRows, describeDiffStat } from "../views/diff-page.ts";
import { describeAttempt, firstFew, oneLine } from "../views/wording.ts";
import { readFileChanges, readFilePatch, hasCommits, readPatch } from "../workspace/git/diff.ts";
import { readCommitSummary } from "../workspace/git/commit-summary.ts";
import { requireRepository } from "../project/runs/require-repository.ts";
import type { CommandContext } from "../project/command-context.ts";
import { catchRefusals, refuse, respond } from "../project/respond.ts";
import { loadRun } from "../project/runs/loaded-run.ts";

const filesShownMax = 26;

type Input = {
  readonly run?: string | undefined;
  readonly file?: string | undefined;
  readonly turn?: number | undefined;
  readonly stat: boolean;
};

/** Which agents' turns are under way; a step without a role runs no agent. */
const describeOpenTurns = (
  open: Readonly<Record<string, { readonly role: string | null; readonly attempt: string }>>,
): readonly string[] =>
  Object.values(open)
    .filter(({ role }) => role !== null)
    .map(({ attempt }) => describeAttempt(attempt));

/**
 * Shows the files or the patch of a run's change. The work of an unfinished turn isn't included.
 */
export function diff(context: CommandContext, input: Input): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const { paths, run, view, owner } = await loadRun(context, input.run);
    const [base, tip] = [view.drafted.base.commit, view.tip.commit];
    const runFields = { run_id: run, state: view.status };

    if (input.turn !== undefined) {
      return (await import("./turn-diff.ts")).turnDiff(paths, run, view, input.turn);
    }

    const repository = await requireRepository(paths.root);
    if (!(await hasCommits(repository, [base, tip]))) {
      return refuse("work_missing", {
        ...runFields,
        message: `The commits of ${run} are no longer in this repository: its branch was deleted.`,
        remediation: [
          `git reflog may still know ${tip.slice(0, 12)}`,
          `autopilot transcript ${run}`,
        ],
      });
    }

    const { file } = input;
    const [allFiles, { commits }] = await Promise.all([
      readFileChanges(repository, base, tip),
      readCommitSummary(repository, base, tip),
    ]);
    const files = file === undefined ? allFiles : allFiles.filter(({ path }) => path === file);
    if (file !== undefined && files.length === 0) {
      const changedPaths = allFiles.map(({ path }) => path);
      return refuse("usage", {
        ...runFields,
        message: `${run} did not change ${oneLine(file)}.${didYouMean(file, changedPaths)}`,
        remediation: ["autopilot diff --stat"],
      });
    }

    const openTurns = owner === null ? [] : describeOpenTurns(view.open);
    const message =
      files.length === 0 && openTurns.length > 0
        ? `${run}: nothing is committed yet. ${firstFew(openTurns)} is working; its changes show here once the turn has ended.`
        : `${run}: ${describeDiffStat(files, commits.length)}.`;

    const data = { base, tip, files, commits };
    if (input.stat || files.length === 0) {
      const runArgument = input.run === undefined ? "" : ` ${run}`;
      const page = [
        message,
        ...renderFileRows(files, filesShownMax).map((row) => `  ${row}`),
        ...(files.length === 0 ? [] : ["", `→ autopilot diff${runArgument}`]),
      ];

      return respond("ok", { ...runFields, message, page, data });
    }

    const { text, isCut } = await (file === undefined
      ? readPatch(repository, base, tip)
      : readFilePatch(repository, base, tip, file));

    return respond("ok", {
      ...runFields,
      message,
      page: text.replace(/\n$/, "").split("\n"),
      data: { ...data, patch: text },
      warnings: isCut
        ? [
            `The patch is too large and was cut: git diff ${base.slice(0, 12)} ${tip.slice(0, 12)} shows all of it.`,
          ]
        : [],
    });
  });
}
