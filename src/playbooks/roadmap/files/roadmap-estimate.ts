// roadmap-estimate: what phases of a roadmap will probably use: from what earlier phases here used, else from the constants.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { PhaseRecord, RoadmapState } from "../../../contracts/roadmap-state.ts";
import { readRoadmapState } from "../views/roadmap-state-read.ts";
import type { CostEstimation } from "../../../insight/cost.ts";
import { phaseEstimate, type RoadmapEstimate, type Workers } from "../../../insight/estimate.ts";
import { type Case, type ForecastRecord, historyRecord } from "../../../insight/forecast.ts";
import { minutesBetween } from "../../../insight/metrics.ts";
import { buildPhaseType } from "../../../insight/phase-type.ts";
import { aboutPhase } from "../steps/about.ts";
import { type ProjectPaths, listRuns } from "../../../project/runs/project-paths.ts";
import { readOwnFile } from "../../../project/own-file.ts";
import { readRun } from "../../../project/runs/read-run.ts";
import { Refusal } from "../../../project/reply.ts";
import type { RoadmapDocuments } from "./roadmap-documents.ts";

const archivesMax = 20;
const archiveBytesMax = 16 * 1_048_576;

/** `ids`: those that would be run. */
export async function estimateRoadmap(
  paths: ProjectPaths,
  { phases, plans, config }: Pick<RoadmapDocuments, "phases" | "plans" | "config">,
  ids: readonly string[],
  constants: CostEstimation,
  workers: Workers = { agent: null, model: null },
): Promise<RoadmapEstimate & { readonly record: ForecastRecord | null }> {
  const uiFolder = config.project?.ui?.source_dir ?? undefined;
  const planned = ids.map((id) => {
    const tasks = plans.get(id)?.plan?.tasks ?? null;
    const files = (tasks ?? []).flatMap((task) => task.files);
    const phase = phases.find((candidate) => candidate.id === id);
    return {
      id,
      phaseType: buildPhaseType({ files, says: phase === undefined ? "" : aboutPhase(phase), uiFolder }),
      tasks: tasks?.map((task) => ({ files: task.files, complexity: task.complexity ?? undefined })) ?? null,
    };
  });
  const history = await readHistory(paths);
  return { ...rounded(phaseEstimate(planned, history, constants, workers)), record: historyRecord(history) };
}

/** Estimates are not precise to a fraction of a token. */
function rounded(estimate: RoadmapEstimate): RoadmapEstimate {
  const whole = ({ p50, p90 }: RoadmapEstimate["tokens"]): RoadmapEstimate["tokens"] => ({ p50: Math.round(p50), p90: Math.round(p90) });
  return {
    ...estimate,
    tokens: whole(estimate.tokens),
    phases: estimate.phases.map((phase) => ({ ...phase, tokens: whole(phase.tokens) })),
  };
}

/** Usage and results of phases in earlier runs: the archived states, with prices and agents if the run's own journal still exists. */
async function readHistory(paths: ProjectPaths): Promise<readonly Case[]> {
  const samples: Case[] = [];
  const runs = new Set(listRuns(paths));
  for (const state of archived(join(paths.folder, "archive"))) {
    const { run_id } = state._meta;
    const { spent, agent, model } = runs.has(run_id) ? await readJournal(paths, run_id) : nothing;
    for (const [key, phase] of Object.entries(state.phases)) {
      if (!isSample(phase)) continue;
      const known = spent[key.replace(/^phase_/, "")];
      const tasks = Object.keys(phase.steps.execute?.tasks ?? {}).length;
      samples.push({
        run: run_id,
        flow: "roadmap",
        step: phase.phase_type,
        complexity: null, // the state does not keep it
        agent,
        model,
        size: tasks === 0 ? null : tasks,
        isDone: phase.status === "completed",
        tokens: phase.tokens_used,
        minutes: known?.minutes ?? minutesBetween(phase.started_at ?? "", phase.completed_at ?? ""),
        usd: known?.usd ?? 0,
      });
    }
  }
  return samples;
}

const isSample = ({ status, tokens_used, started_at, completed_at }: PhaseRecord): boolean =>
  (status === "completed" && tokens_used > 0 && started_at !== null && completed_at !== null) ||
  (status === "failed" && started_at !== null);

type Journal = Workers & { readonly spent: Readonly<Record<string, { readonly minutes: number; readonly usd: number }>> };
const nothing: Journal = { spent: {}, agent: null, model: null };

async function readJournal(paths: ProjectPaths, run: string): Promise<Journal> {
  try {
    const { ledger, drafted } = (await readRun(paths, run)).view;
    const cast = drafted.cast["executor"] ?? Object.values(drafted.cast)[0];
    return { spent: ledger.phase, agent: cast?.agent ?? null, model: cast?.override?.model ?? null };
  } catch (error) {
    if (error instanceof Refusal) return nothing; // a journal that cannot be read prices nothing
    throw error;
  }
}

function archived(folder: string): readonly RoadmapState[] {
  return readNames(folder).flatMap((name) => {
    try {
      const text = readOwnFile(join(folder, name), archiveBytesMax);
      const read = text === null ? null : readRoadmapState(text, name).state;
      return read === null ? [] : [read];
    } catch {
      return []; // it teaches nothing
    }
  });
}

function readNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^run-.*\.json$/.test(name))
      .toSorted()
      .slice(-archivesMax);
  } catch {
    return [];
  }
}
