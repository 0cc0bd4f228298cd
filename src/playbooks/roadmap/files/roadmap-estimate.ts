// roadmap-estimate: estimates the cost of phases from that of earlier phases in this project, else
// from constants.

import { basename, join } from "node:path";
import type { PhaseRecord, RoadmapState } from "../../../contracts/roadmap-state.ts";
import { parseRoadmapState } from "../views/parse-roadmap-state.ts";
import type { CostConstants } from "../../../insight/roadmap-cost-formula.ts";
import {
  estimatePhases,
  type RoadmapEstimate,
  type PlannedWorkers,
} from "../../../insight/estimate-roadmap-phases.ts";
import {
  type PastCase,
  type ForecastRecord,
  computeForecastRecord,
} from "../../../insight/forecast.ts";
import { computeMinutes } from "../../../insight/metrics.ts";
import { choosePhaseType } from "../../../insight/phase-type.ts";
import { describePhase } from "../steps/describe-phase.ts";
import { type ProjectPaths, listRuns } from "../../../project/runs/project-paths.ts";
import { readOwnFile } from "../../../project/own-file.ts";
import { readRun } from "../../../project/runs/read-run.ts";
import { Refusal } from "../../../project/respond.ts";
import { listArchives } from "./read-state-files.ts";
import type { RoadmapDocuments } from "./roadmap-documents.ts";

/** Only the newest runs are compared with. */
const archivesMax = 20;
const archiveBytesMax = 16 * 1_048_576;

/** `ids` are the phases that would run. */
export async function estimateRoadmap(
  paths: ProjectPaths,
  { phases, plans, config }: Pick<RoadmapDocuments, "phases" | "plans" | "config">,
  ids: readonly string[],
  constants: CostConstants,
  workers: PlannedWorkers = { agent: null, model: null },
): Promise<RoadmapEstimate & { readonly record: ForecastRecord | null }> {
  const uiFolder = config.project?.ui?.source_dir ?? undefined;
  const phasesToRun = ids.map((id) => {
    const tasks = plans.get(id)?.plan?.tasks ?? null;
    const files = (tasks ?? []).flatMap((task) => task.files);
    const phase = phases.find((candidate) => candidate.id === id);

    return {
      id,
      phaseType: choosePhaseType({
        files,
        statedText: phase === undefined ? "" : describePhase(phase),
        uiFolder,
      }),
      tasks:
        tasks?.map((task) => ({ files: task.files, complexity: task.complexity ?? undefined })) ??
        null,
    };
  });

  const history = await loadHistory(paths);
  return {
    ...roundEstimate(estimatePhases(phasesToRun, history, constants, workers)),
    record: computeForecastRecord(history),
  };
}

/** Estimates are not precise to a fraction of a token. */
function roundEstimate(estimate: RoadmapEstimate): RoadmapEstimate {
  const roundTokens = ({ p50, p90 }: RoadmapEstimate["tokens"]): RoadmapEstimate["tokens"] => ({
    p50: Math.round(p50),
    p90: Math.round(p90),
  });

  return {
    ...estimate,
    tokens: roundTokens(estimate.tokens),
    phases: estimate.phases.map((phase) => ({ ...phase, tokens: roundTokens(phase.tokens) })),
  };
}

/**
 * Usage and results of phases in earlier runs: the archived states, with prices and agents if the
 * run's own journal still exists.
 */
async function loadHistory(paths: ProjectPaths): Promise<readonly PastCase[]> {
  const samples: PastCase[] = [];
  const runIds = new Set(listRuns(paths));

  for (const state of loadArchivedStates(join(paths.folder, "archive"))) {
    const { run_id } = state._meta;
    const { spent, agent, model } = runIds.has(run_id)
      ? await readUsage(paths, run_id)
      : unknownUsage;

    for (const [key, phase] of Object.entries(state.phases)) {
      if (!isSample(phase)) continue;
      const usage = spent[key.replace(/^phase_/, "")];
      const taskCount = Object.keys(phase.steps.execute?.tasks ?? {}).length;
      samples.push({
        run: run_id,
        flow: "roadmap",
        step: phase.phase_type,
        complexity: null, // the state does not keep it
        agent,
        model,
        size: taskCount === 0 ? null : taskCount,
        isDone: phase.status === "completed",
        tokens: phase.tokens_used,
        minutes: usage?.minutes ?? computeMinutes(phase.started_at ?? "", phase.completed_at ?? ""),
        usd: usage?.usd ?? 0, // 0: the price is unknown
      });
    }
  }

  return samples;
}

/**
 * Whether a phase tells what one costs: it was completed and its use is recorded, or it failed,
 * which counts whatever it used.
 */
const isSample = ({ status, tokens_used, started_at, completed_at }: PhaseRecord): boolean =>
  (status === "completed" && tokens_used > 0 && started_at !== null && completed_at !== null) ||
  (status === "failed" && started_at !== null);

/** `spent` is by phase. */
type RunUsage = PlannedWorkers & {
  readonly spent: Readonly<Record<string, { readonly minutes: number; readonly usd: number }>>;
};
const unknownUsage: RunUsage = { spent: {}, agent: null, model: null };

async function readUsage(paths: ProjectPaths, run: string): Promise<RunUsage> {
  try {
    const { ledger, drafted } = (await readRun(paths, run)).view;
    const assignment = drafted.cast["executor"] ?? Object.values(drafted.cast)[0];
    return {
      spent: ledger.phase,
      agent: assignment?.agent ?? null,
      model: assignment?.override?.model ?? null,
    };
  } catch (error) {
    if (error instanceof Refusal) return unknownUsage; // without a readable journal the usage is unknown
    throw error;
  }
}

function loadArchivedStates(folder: string): readonly RoadmapState[] {
  const states = listArchives(folder, archivesMax).map((name) =>
    loadArchivedState(join(folder, name)),
  );
  return states.filter((state) => state !== null);
}

/** Null if it cannot be read. */
function loadArchivedState(path: string): RoadmapState | null {
  try {
    const text = readOwnFile(path, archiveBytesMax);
    return text === null ? null : parseRoadmapState(text, basename(path)).state;
  } catch {
    return null;
  }
}
