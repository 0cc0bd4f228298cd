// clean: frees disk space. The folders in which agents and checks of finished runs worked are
// always deleted, whole runs only if they are older or more than asked for. Branches with unmerged
// work stay.

import type { CommandResponse } from "../contracts/command-response.ts";
import { formatBytes } from "../views/runs-page.ts";
import { plural } from "../views/wording.ts";
import { parseIsoTime } from "../kit/iso-time.ts";
import { freeRun } from "../project/runs/ended-folders.ts";
import { findProject, runFolder } from "../project/runs/project-paths.ts";
import { isRemovable, listRunRows } from "../project/runs/run-rows.ts";
import { requireRepository } from "../project/runs/require-repository.ts";
import type { CommandContext } from "../project/command-context.ts";
import { finishRemovals, removeRuns, whileNobodyWorks } from "../project/runs/remove-run.ts";
import { catchRefusals, refuse, respond } from "../project/respond.ts";
import { measureDiskBytes } from "../project/runs/run-disk.ts";
import { sweepTemporaryFolders } from "../project/runs/sweep-temporary.ts";
import { systemClock } from "../project/runs/system-clock.ts";

type Input = {
  readonly olderThan?: string | undefined;
  readonly keep?: number | undefined;
  readonly yes: boolean;
};

/** Asks before whole runs are removed; what needs no consent is freed in any case. */
export function clean(context: CommandContext, input: Input): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = findProject(context.cwd);
    if (paths === null) {
      return respond("ok", {
        message: "Nothing to clean.",
        page: ["Nothing to clean."],
        data: { freed_bytes: 0, removed: [] },
      });
    }

    const repository = await requireRepository(paths.root);
    const bytesBefore = await measureDiskBytes(paths.folder);
    await finishRemovals(context, paths, repository);
    await sweepTemporaryFolders();
    const removable = (await listRunRows(context, paths)).filter(isRemovable);
    const toRemove = selectRuns(removable, input, systemClock.now());
    const isAgreed = toRemove.length === 0 || input.yes || (await askToRemove(context, toRemove));

    for (const { run_id } of removable) {
      const folder = runFolder(paths, run_id);
      await whileNobodyWorks(folder, () => freeRun(folder));
    }

    const { removed, kept: keptBranches } = isAgreed
      ? await removeRuns(context, paths, repository, toRemove)
      : { removed: [], kept: [] };

    const freedBytes = Math.max(0, bytesBefore - (await measureDiskBytes(paths.folder)));
    const data = { freed_bytes: freedBytes, removed, branches_kept: keptBranches };

    if (!isAgreed) {
      const runIds = toRemove.map(({ run_id }) => run_id);
      return refuse("confirmation_needed", {
        message: `Freed ${formatBytes(freedBytes)}. ${plural(runIds.length, "run")} would be removed: ${runIds.join(", ")}.`,
        remediation: [`autopilot clean ${describeFilter(input)} --yes`],
        data: { ...data, would_remove: runIds },
      });
    }

    const removedText = removed.length === 0 ? "" : `, removed ${plural(removed.length, "run")}`;
    const message = `Freed ${formatBytes(freedBytes)}${removedText}.`;
    const keptLines = keptBranches.map(
      (name) => `  ${name} stays: its work is on no other branch (git merge ${name})`,
    );
    return respond("ok", { message, page: [`✓ ${message}`, ...keptLines], data });
  });
}

type RunRow = Awaited<ReturnType<typeof listRunRows>>[number];

/**
 * The runs to remove: older than `olderThan` and not among the newest `keep`. Without either
 * nothing is removed.
 */
function selectRuns(
  removable: readonly RunRow[],
  { olderThan, keep }: Input,
  now: string,
): readonly RunRow[] {
  if (olderThan === undefined && keep === undefined) return [];
  const ageMs = olderThan === undefined ? 0 : parseAgeMs(olderThan);
  const newestRemovedMs = (parseIsoTime(now) ?? 0) - ageMs;
  const beyondKept = removable.slice(0, Math.max(0, removable.length - (keep ?? 0)));

  return beyondKept.filter(({ updated_at }) => {
    const updatedMs = parseIsoTime(updated_at ?? "");
    return updatedMs !== null && updatedMs <= newestRemovedMs; // a run of unknown age stays
  });
}

const unitsMs: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};
/** `30d` in milliseconds; the command line has checked the form. */
const parseAgeMs = (text: string): number =>
  Number.parseInt(text, 10) * (unitsMs[text.slice(-1)] ?? 0);

function describeFilter({ olderThan, keep }: Input): string {
  const flags: string[] = [];
  if (olderThan !== undefined) flags.push(`--older-than ${olderThan}`);
  if (keep !== undefined) flags.push(`--keep ${keep}`);
  return flags.join(" ");
}

async function askToRemove(
  context: CommandContext,
  runsToRemove: readonly RunRow[],
): Promise<boolean> {
  for (const { run_id, state, goal } of runsToRemove) {
    context.show(`! ${run_id} (${state}): ${goal ?? ""}`);
  }

  const question = `Remove ${plural(runsToRemove.length, "run")} with journal and transcripts?`;
  return (await context.ask(question, ["y", "n"])) === "y";
}
