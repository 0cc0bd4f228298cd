// clean: frees disk. Folders of agents and checks are deleted at once for finished runs; whole runs only by age or number. Branches with
// unmerged work always stay.

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

type Input = { readonly olderThan?: string | undefined; readonly keep?: number | undefined; readonly yes: boolean };

export function clean(context: CommandContext, input: Input): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = findProject(context.cwd);
    if (paths === null)
      return respond("ok", { message: "Nothing to clean.", page: ["Nothing to clean."], data: { freed_bytes: 0, removed: [] } });
    const repository = await requireRepository(paths.root);
    const before = await measureDiskBytes(paths.folder);
    await finishRemovals(context, paths, repository);
    await sweepTemporaryFolders();
    const removable = (await listRunRows(context, paths)).filter(isRemovable);
    const toRemove = selectRuns(removable, input, systemClock.now());
    const isAgreed = toRemove.length === 0 || input.yes || (await askToRemove(context, toRemove));
    for (const { run_id } of removable) await whileNobodyWorks(runFolder(paths, run_id), () => freeRun(runFolder(paths, run_id)));
    const { removed, kept } = isAgreed ? await removeRuns(context, paths, repository, toRemove) : { removed: [], kept: [] };
    const freed = Math.max(0, before - (await measureDiskBytes(paths.folder)));
    const data = { freed_bytes: freed, removed, branches_kept: kept };
    if (!isAgreed)
      return refuse("confirmation_needed", {
        message: `Freed ${formatBytes(freed)}. ${plural(toRemove.length, "run")} would be removed: ${toRemove.map(({ run_id }) => run_id).join(", ")}.`,
        remediation: [`autopilot clean ${describeFilter(input)} --yes`],
        data: { ...data, would_remove: toRemove.map(({ run_id }) => run_id) },
      });
    const message = `Freed ${formatBytes(freed)}${removed.length === 0 ? "" : `, removed ${plural(removed.length, "run")}`}.`;
    return respond("ok", {
      message: message,
      page: [`✓ ${message}`, ...kept.map((name) => `  ${name} stays: its work is on no other branch (git merge ${name})`)],
      data,
    });
  });
}

type Row = Awaited<ReturnType<typeof listRunRows>>[number];

/** The runs to remove: older than the given age, and not among the newest to keep. */
function selectRuns(removable: readonly Row[], { olderThan, keep }: Input, now: string): readonly Row[] {
  if (olderThan === undefined && keep === undefined) return [];
  const ageMs = olderThan === undefined ? 0 : parseAgeMs(olderThan);
  const before = (parseIsoTime(now) ?? 0) - ageMs;
  return removable
    .slice(0, Math.max(0, removable.length - (keep ?? 0)))
    .filter(({ updated_at }) => (parseIsoTime(updated_at ?? "") ?? Infinity) <= before);
}

const unitsMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };
const parseAgeMs = (text: string): number => Number.parseInt(text, 10) * (unitsMs[text.slice(-1)] ?? 0);

const describeFilter = ({ olderThan, keep }: Input): string =>
  [...(olderThan === undefined ? [] : [`--older-than ${olderThan}`]), ...(keep === undefined ? [] : [`--keep ${keep}`])].join(" ");

async function askToRemove(context: CommandContext, doomed: readonly Row[]): Promise<boolean> {
  for (const { run_id, state, goal } of doomed) context.show(`! ${run_id} (${state}): ${goal ?? ""}`);
  return (await context.ask(`Remove ${plural(doomed.length, "run")} with journal and transcripts?`, ["y", "n"])) === "y";
}
