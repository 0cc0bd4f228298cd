// roadmap-estimate: what phases of a roadmap will probably use: from what earlier phases here used, else from the constants.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { PhaseRecord, RoadmapState } from "../../../contracts/roadmap-state.ts";
import { readRoadmapState } from "../views/roadmap-state-read.ts";
import type { CostEstimation } from "../../../insight/cost.ts";
import { estimateOf, type PhaseSample, type RoadmapEstimate } from "../../../insight/estimate.ts";
import { minutesBetween } from "../../../insight/metrics.ts";
import { phaseTypeOf } from "../../../insight/phase-type.ts";
import { aboutPhase } from "../steps/about.ts";
import { type ProjectPaths, listRuns } from "../../../project/runs/project-paths.ts";
import { readOwnFile } from "../../../project/own-file.ts";
import { readRun } from "../../../project/runs/read-run.ts";
import { Refusal } from "../../../project/reply.ts";
import type { RoadmapDocuments } from "./roadmap-documents.ts";

const archivesMax = 20;
const archiveBytesMax = 16 * 1_048_576;

/** `ids`: those that would be walked. */
export async function estimateRoadmap(
  home: ProjectPaths,
  { phases, plans, config }: Pick<RoadmapDocuments, "phases" | "plans" | "config">,
  ids: readonly string[],
  constants: CostEstimation,
): Promise<RoadmapEstimate> {
  const uiFolder = config.project?.ui?.source_dir ?? undefined;
  const planned = ids.map((id) => {
    const tasks = plans.get(id)?.plan?.tasks ?? null;
    const files = (tasks ?? []).flatMap((task) => task.files);
    const phase = phases.find((one) => one.id === id);
    return {
      id,
      phaseType: phaseTypeOf({ files, says: phase === undefined ? "" : aboutPhase(phase), uiFolder }),
      tasks: tasks?.map((task) => ({ files: task.files, complexity: task.complexity ?? undefined })) ?? null,
    };
  });
  const estimate = estimateOf(planned, await historyOf(home), constants);
  return withoutPrices(rounded(estimate));
}

/** Nobody estimates to the fraction of a token. */
function rounded(estimate: RoadmapEstimate): RoadmapEstimate {
  const whole = ({ p50, p90 }: RoadmapEstimate["tokens"]): RoadmapEstimate["tokens"] => ({ p50: Math.round(p50), p90: Math.round(p90) });
  return {
    ...estimate,
    tokens: whole(estimate.tokens),
    phases: estimate.phases.map((phase) => ({ ...phase, tokens: whole(phase.tokens) })),
  };
}

/** Phases that cost nothing in the past were not priced; that is no estimate of a price. */
function withoutPrices(estimate: RoadmapEstimate): RoadmapEstimate {
  const priced = (usd: RoadmapEstimate["usd"]): RoadmapEstimate["usd"] => (usd === null || usd.p90 <= 0 ? null : usd);
  return { ...estimate, usd: priced(estimate.usd), phases: estimate.phases.map((phase) => ({ ...phase, usd: priced(phase.usd) })) };
}

/** What finished phases of earlier runs used: the archived states, with prices where the run's own journal is still there. */
async function historyOf(home: ProjectPaths): Promise<readonly PhaseSample[]> {
  const samples: PhaseSample[] = [];
  const runs = new Set(listRuns(home));
  for (const state of archived(join(home.folder, "archive"))) {
    const { run_id } = state._meta;
    const spent = runs.has(run_id) ? await spentIn(home, run_id) : {};
    for (const [key, phase] of Object.entries(state.phases)) {
      if (!isSample(phase)) continue;
      const known = spent[key.replace(/^phase_/, "")];
      samples.push({
        phaseType: phase.phase_type,
        tokens: phase.tokens_used,
        minutes: known?.minutes ?? minutesBetween(phase.started_at ?? "", phase.completed_at ?? ""),
        usd: known?.usd ?? 0,
      });
    }
  }
  return samples;
}

const isSample = ({ status, tokens_used, started_at, completed_at }: PhaseRecord): boolean =>
  status === "completed" && tokens_used > 0 && started_at !== null && completed_at !== null;

async function spentIn(
  home: ProjectPaths,
  run: string,
): Promise<Readonly<Record<string, { readonly minutes: number; readonly usd: number }>>> {
  try {
    return (await readRun(home, run)).view.ledger.phase;
  } catch (error) {
    if (error instanceof Refusal) return {}; // a journal that cannot be read prices nothing
    throw error;
  }
}

function archived(folder: string): readonly RoadmapState[] {
  return namesIn(folder).flatMap((name) => {
    try {
      const text = readOwnFile(join(folder, name), archiveBytesMax);
      const read = text === null ? null : readRoadmapState(text, name).state;
      return read === null ? [] : [read];
    } catch {
      return []; // it teaches nothing
    }
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^run-.*\.json$/.test(name))
      .toSorted()
      .slice(-archivesMax);
  } catch {
    return [];
  }
}
