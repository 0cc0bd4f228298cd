// roadmap-documents: reads all documents of a roadmap: the roadmap itself, the planning config, the
// specification and existing plans. Their faults are reported together, each with its line.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Plan, PlanningConfig, RoadmapPhase } from "../../../contracts/roadmap.ts";
import { parsePhaseId } from "../../../documents/phase-id.ts";
import { lintPlan } from "../documents/plan-lint.ts";
import { parsePlan } from "../documents/plan.ts";
import { planningConfigPath, parsePlanningConfig } from "../documents/planning-config.ts";
import { parseRoadmap } from "../documents/roadmap.ts";
import { chooseSpec, listSpecCandidates } from "./spec.ts";
import type { Finding } from "../../../kit/finding.ts";
import { phasesFolder, roadmapFile } from "../../../contracts/roadmap-places.ts";
import { readDocument } from "../../contract/read-document.ts";

/** Possible paths of a roadmap; the first that exists counts. */
export const roadmapPaths = [roadmapFile, "ROADMAP.md"] as const;

/**
 * The unchanged bytes, including a byte order mark, so that the hash equals that of `sha256sum`.
 */
export type DocumentBytes = { readonly path: string; readonly bytes: Buffer };
export type PlanFile = {
  readonly path: string;
  readonly plan: Plan | null;
  readonly findings: readonly Finding[];
};

export type RoadmapDocuments = {
  readonly path: string;
  /** In execution order. */
  readonly phases: readonly RoadmapPhase[];
  /** Faults of roadmap, config and specification; plans have their own findings. */
  readonly findings: readonly Finding[];
  readonly config: PlanningConfig;
  /** By phase. */
  readonly plans: ReadonlyMap<string, PlanFile>;
  readonly specPath: string | null;
  /** Roadmap, specification (if it is another file) and config, as far as they could be read. */
  readonly originals: readonly DocumentBytes[];
};

/** Null if there is no roadmap. Plans of phases that are done are not read. */
export function readRoadmapDocuments(
  root: string,
  isDone: (phase: RoadmapPhase) => boolean,
): RoadmapDocuments | null {
  const path = roadmapPaths.find((roadmapPath) => readDocument(root, roadmapPath) !== null);
  if (path === undefined) return null;
  const originals: DocumentBytes[] = [];
  const findings: Finding[] = [];

  /** Reads a document, and keeps its bytes or its findings. */
  const readText = (documentPath: string): string | null => {
    const result = readDocument(root, documentPath);
    if (result === null) return null;
    if ("findings" in result) {
      findings.push(...result.findings);
      return null;
    }

    if (!originals.some((original) => original.path === documentPath)) {
      originals.push({ path: documentPath, bytes: result.bytes });
    }

    return result.text;
  };
  const text = readText(path);
  const parsed = text === null ? { phases: [], findings: [] } : parseRoadmap(path, text);
  findings.push(...parsed.findings);
  const config = parseConfig(readText(planningConfigPath), findings);
  const specPath = chooseSpec(
    listSpecCandidates(config, path),
    (candidate) => readDocument(root, candidate) !== null,
  );
  if (specPath !== null && specPath !== path) readText(specPath);

  return {
    path,
    phases: parsed.phases,
    findings,
    config,
    plans: readPlans(root, parsed.phases, isDone),
    specPath,
    originals,
  };
}

/** Adds its faults to `findings`; a config with faults has no effect. */
function parseConfig(text: string | null, findings: Finding[]): PlanningConfig {
  if (text === null) return {};
  const parsed = parsePlanningConfig(planningConfigPath, text);
  if (!("findings" in parsed)) return parsed.config;
  findings.push(...parsed.findings);

  return {};
}

function readPlans(
  root: string,
  phases: readonly RoadmapPhase[],
  isDone: (phase: RoadmapPhase) => boolean,
): ReadonlyMap<string, PlanFile> {
  const folders = findPhaseFolders(root);
  const plans = new Map<string, PlanFile>();

  for (const phase of phases) {
    const folder = folders.get(phase.id);
    const planFile =
      folder === undefined || isDone(phase)
        ? null
        : readPlan(root, `${phasesFolder}/${folder}/PLAN.md`, phase);
    if (planFile !== null) plans.set(phase.id, planFile);
  }

  return plans;
}

/**
 * The folder of each phase by its id: one with the id as its name, else the first whose name begins
 * with it, as `03-login`.
 */
function findPhaseFolders(root: string): ReadonlyMap<string, string> {
  const folders = new Map<string, string>();
  for (const name of listNames(join(root, phasesFolder))) {
    const id = parsePhaseId(/^[\d.]+(?=-|$)/.exec(name)?.[0] ?? "");
    if (id !== null && (!folders.has(id) || name === id)) folders.set(id, name);
  }

  return folders;
}

/** Null if there is no plan. */
function readPlan(root: string, path: string, { requirements }: RoadmapPhase): PlanFile | null {
  const document = readDocument(root, path);
  if (document === null) return null;
  if ("findings" in document) return { path, plan: null, findings: document.findings };
  const { plan, findings } = parsePlan(path, document.text);

  return { path, plan, findings: [...findings, ...lintPlan(path, plan, { requirements })] };
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return []; // there are no plans yet
  }
}

/**
 * The phase that a finding of the roadmap is about, by its path: `phase_1.2.goal`; null if it is
 * about the whole.
 */
export const findPhaseOfFinding = ({ path }: Finding): string | null =>
  /^phase_(\d+(?:\.\d+)*)(?:\.|$)/.exec(path)?.[1] ?? null;
