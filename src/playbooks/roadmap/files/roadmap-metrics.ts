// roadmap-metrics: `.autopilot/archive/metrics.json` as it is there: the figures of the runs before this one.

import * as v from "valibot";
import { RunMetrics } from "../../../contracts/roadmap-reports.ts";
import { stateMetrics } from "../../../insight/metrics.ts";
import { archivedIn, readState } from "./roadmap-states.ts";
import { archiveFolder, metricsFile } from "../../../contracts/roadmap-places.ts";
import { setAside } from "../../contract/generated-files.ts";
import { readBounded } from "../../contract/whole-file.ts";

const metricsBytesMax = 16 * 1024 * 1024;

/**
 * The runs in the order they were recorded. A file that cannot be read is moved into the run's folder, and what it held is made up for
 * from the archived states; an entry that is none is left out.
 */
export async function readMetrics(root: string, folder: string): Promise<readonly RunMetrics[]> {
  const read = await readBounded(root, metricsFile, metricsBytesMax);
  if (read.kind === "absent") return [];
  const list = read.kind === "read" ? findList(read.bytes) : null;
  const runs = (list ?? []).flatMap((entry) => {
    const parsed = v.safeParse(RunMetrics, entry);
    return parsed.success ? [parsed.output] : [];
  });
  if (list !== null && runs.length === list.length) return runs;
  await setAside(root, metricsFile, folder);
  return list === null ? fromArchive(root) : runs;
}

function findList(bytes: Buffer): readonly unknown[] | null {
  try {
    const value = JSON.parse(bytes.toString("utf8")) as unknown;
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

async function fromArchive(root: string): Promise<readonly RunMetrics[]> {
  const runs: RunMetrics[] = [];
  for (const name of archivedIn(root)) {
    const state = (await readState(root, `${archiveFolder}/${name}`))?.state ?? null;
    if (state !== null) runs.push(stateMetrics(state, state._meta.last_checkpoint));
  }
  return runs;
}
