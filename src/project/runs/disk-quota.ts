// disk-quota: removes the oldest finished runs to stay within the user's disk quota.

import { formatBytes } from "../../views/runs-page.ts";
import { freeRun } from "./ended-folders.ts";
import { type ProjectPaths, runFolder } from "./project-paths.ts";
import { isRemovable, listRunRows } from "./run-rows.ts";
import { requireRepository } from "./require-repository.ts";
import type { CommandContext } from "../command-context.ts";
import { removeRuns, whileNobodyWorks } from "./remove-run.ts";

const bytesInMb = 1_000_000;

/**
 * Keeps all runs together within the user's quota. First the working folders of all finished runs
 * and drafts are freed; if that is not enough, they are deleted, the oldest first (the order of
 * `listRunRows`), never an open run or the current one. Returns what it deleted, and whether the
 * rest still takes more.
 */
export async function keepWithinQuota(
  context: Pick<CommandContext, "env">,
  paths: ProjectPaths,
  quotaMb: number | undefined,
): Promise<readonly string[]> {
  if (quotaMb === undefined) return [];
  const quota = quotaMb * bytesInMb;
  const totalBytes = async (): Promise<number> =>
    (await listRunRows(context, paths)).reduce((bytes, { disk_bytes }) => bytes + disk_bytes, 0);
  if ((await totalBytes()) <= quota) return [];
  const finished = (await listRunRows(context, paths)).filter(
    (row) => isRemovable(row) && !row.current,
  );

  for (const { run_id } of finished) {
    await whileNobodyWorks(runFolder(paths, run_id), () => freeRun(runFolder(paths, run_id)));
  }

  const repository = await requireRepository(paths.root);
  const reported: string[] = [];

  for (const row of finished) {
    if ((await totalBytes()) <= quota) return reported;
    const { removed, kept } = await removeRuns(context, paths, repository, [row]);
    reported.push(
      ...removed.map(
        (run) =>
          `Removed ${run} to stay within disk_quota (${quotaMb} MB)${kept.length === 0 ? "" : `; ${kept.join(", ")} stays`}.`,
      ),
    );
  }

  const remainingBytes = await totalBytes();
  return remainingBytes <= quota
    ? reported
    : [
        ...reported,
        `Runs take ${formatBytes(remainingBytes)}, more than disk_quota (${quotaMb} MB): autopilot runs`,
      ];
}
