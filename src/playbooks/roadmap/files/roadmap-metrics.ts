// roadmap-metrics: loads the metrics of earlier runs from `.autopilot/archive/metrics.json`.

import { join } from "node:path";
import * as v from "valibot";
import { RunMetrics } from "../../../contracts/roadmap-reports.ts";
import { buildMetrics } from "../../../insight/metrics.ts";
import { listArchives, readStateFile } from "./read-state-files.ts";
import { archiveFolder, metricsFile } from "../../../contracts/roadmap-places.ts";
import { setAside } from "../../contract/generated-files.ts";
import { readBounded } from "../../contract/whole-file.ts";

const metricsBytesMax = 16 * 1024 * 1024;

/**
 * The runs in the order they were recorded; invalid entries are left out. A file that is unreadable
 * or has invalid entries is moved into the run's folder; in place of an unreadable one the metrics
 * are recomputed from the archived states.
 */
export async function loadMetrics(root: string, folder: string): Promise<readonly RunMetrics[]> {
  const file = await readBounded(root, metricsFile, metricsBytesMax);
  if (file.kind === "absent") return [];
  const records = file.kind === "read" ? parseList(file.bytes) : null;
  const runs = (records ?? []).flatMap((record) => {
    const parsed = v.safeParse(RunMetrics, record);
    return parsed.success ? [parsed.output] : [];
  });
  if (records !== null && runs.length === records.length) return runs;
  await setAside(root, metricsFile, folder); // so that the invalid entries are not lost when the caller writes the file again

  return records === null ? metricsFromArchive(root) : runs;
}

/** Null if the file isn't a JSON list. */
function parseList(bytes: Buffer): readonly unknown[] | null {
  try {
    const value = JSON.parse(bytes.toString("utf8")) as unknown;
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

async function metricsFromArchive(root: string): Promise<readonly RunMetrics[]> {
  const runs: RunMetrics[] = [];
  for (const name of listArchives(join(root, archiveFolder))) {
    const state = (await readStateFile(root, `${archiveFolder}/${name}`))?.state ?? null;
    if (state !== null) runs.push(buildMetrics(state, state._meta.last_checkpoint));
  }

  return runs;
}
