// roadmap-documents: the documents by which a roadmap is run, read at once: the roadmap itself, the planning config, the specification and
// the plans that are there. Whatever is wrong with any of them is reported together, each with its line.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Plan, PlanningConfig, RoadmapPhase } from "../../../contracts/roadmap.ts";
import { parsePhaseId } from "../../../documents/phase-id.ts";
import { lintPlan } from "../documents/plan-lint.ts";
import { readPlan } from "../documents/plan.ts";
import { planningConfigPath, readPlanningConfig } from "../documents/planning-config.ts";
import { readRoadmap } from "../documents/roadmap.ts";
import { chosenSpec, specCandidates } from "./spec.ts";
import type { Finding } from "../../../kit/finding.ts";
import { phasesFolder } from "../../../contracts/roadmap-places.ts";
import { type DocumentResult, readDocument } from "../../contract/read-document.ts";

/** Possible paths of a roadmap; the first that exists counts. */
export const roadmapPaths = [".planning/ROADMAP.md", "ROADMAP.md"] as const;

/** A document as it is, byte order mark and all, so that its hash is the one that `sha256sum` says. */
export type Kept = { readonly path: string; readonly bytes: Buffer };
export type PlanFound = { readonly path: string; readonly plan: Plan | null; readonly findings: readonly Finding[] };

export type RoadmapDocuments = {
  readonly path: string;
  /** In execution order. */
  readonly phases: readonly RoadmapPhase[];
  /** What is wrong with roadmap, config and specification; of the plans each knows its own. */
  readonly findings: readonly Finding[];
  readonly config: PlanningConfig;
  /** By phase. */
  readonly plans: ReadonlyMap<string, PlanFound>;
  readonly specPath: string | null;
  /** Roadmap, specification (if it is another file) and config, as far as they could be read. */
  readonly kept: readonly Kept[];
};

/** Null if there is no roadmap. Plans of phases for which `isDone` holds are history, and are not inspected. */
export function readRoadmapDocuments(root: string, isDone: (phase: RoadmapPhase) => boolean): RoadmapDocuments | null {
  const path = roadmapPaths.find((roadmapPath) => readDocument(root, roadmapPath) !== null);
  if (path === undefined) return null;
  const kept: Kept[] = [];
  const findings: Finding[] = [];
  const take = (where: string, read: DocumentResult | null): string | null => {
    if (read === null) return null;
    if ("findings" in read) {
      findings.push(...read.findings);
      return null;
    }
    if (!kept.some((one) => one.path === where)) kept.push({ path: where, bytes: read.bytes });
    return read.text;
  };
  const text = take(path, readDocument(root, path));
  const read = text === null ? { phases: [], findings: [] } : readRoadmap(path, text);
  findings.push(...read.findings);
  const config = textConfig(take(planningConfigPath, readDocument(root, planningConfigPath)), findings);
  const specPath = chosenSpec(specCandidates(config, path), (candidate) => readDocument(root, candidate) !== null);
  if (specPath !== null && specPath !== path) take(specPath, readDocument(root, specPath));
  return { path, phases: read.phases, findings, config, plans: plansOf(root, read.phases, isDone), specPath, kept };
}

function textConfig(text: string | null, findings: Finding[]): PlanningConfig {
  if (text === null) return {};
  const read = readPlanningConfig(planningConfigPath, text);
  if (!("findings" in read)) return read.config;
  findings.push(...read.findings);
  return {};
}

function plansOf(root: string, phases: readonly RoadmapPhase[], isDone: (phase: RoadmapPhase) => boolean): ReadonlyMap<string, PlanFound> {
  const folders = new Map<string, string>();
  for (const name of readNames(join(root, phasesFolder))) {
    const id = parsePhaseId(/^[\d.]+(?=-|$)/.exec(name)?.[0] ?? "");
    if (id !== null && (!folders.has(id) || name === id)) folders.set(id, name);
  }
  const plans = new Map<string, PlanFound>();
  for (const phase of phases) {
    const folder = folders.get(phase.id);
    if (folder === undefined || isDone(phase)) continue;
    const path = `${phasesFolder}/${folder}/PLAN.md`;
    const read = readDocument(root, path);
    if (read === null) continue;
    plans.set(phase.id, "findings" in read ? { path, plan: null, findings: read.findings } : pathPlan(path, read.text, phase));
  }
  return plans;
}

function pathPlan(path: string, text: string, { requirements }: RoadmapPhase): PlanFound {
  const { plan, findings } = readPlan(path, text);
  return { path, plan, findings: [...findings, ...lintPlan(path, plan, { requirements })] };
}

function readNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return []; // there are no plans yet
  }
}

/** The phase that a finding of the roadmap is about; null if it is about the whole. */
export const phaseOfFinding = ({ path }: Finding): string | null => /^phase_(\d+(?:\.\d+)*)(?:\.|$)/.exec(path)?.[1] ?? null;
