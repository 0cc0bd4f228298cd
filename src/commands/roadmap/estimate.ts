// estimate: estimates what roadmap phases will cost; runs and writes nothing.

import { type Threshold, thresholdDefaults } from "../../contracts/tunable-limits.ts";
import type { Config } from "../../contracts/config.ts";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { type EstimateRow, estimatePage } from "../../views/estimate-page.ts";
import { selectPhases } from "../../playbooks/roadmap/documents/order.ts";
import { describeCostWarning } from "../../insight/roadmap-cost-formula.ts";
import { readCostConstants } from "../../project/config/cost-constants.ts";
import { withoutLoosenedLimits } from "../../project/config/without-loosening.ts";
import { requireProject, type ProjectPaths } from "../../project/runs/project-paths.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";
import { estimateRoadmap } from "../../playbooks/roadmap/files/roadmap-estimate.ts";
import {
  judgeFindings,
  refuseRoadmap,
  loadRoadmap,
} from "../../playbooks/roadmap/files/load-roadmap.ts";
import { requireSettings } from "../../project/config/settings.ts";

/**
 * Forecasts the named phases, by default all that are not completed, and warns of those beyond a
 * limit.
 */
export function estimate(
  context: CommandContext,
  input: { readonly phases?: string | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = await requireProject(context.cwd);
    const roadmap = requireRoadmap(paths);
    const { documents } = roadmap;
    const ids = choosePhases(roadmap, input.phases ?? "all");
    if (ids.length === 0) {
      return respond("roadmap_completed", {
        message: "Nothing is left to do, so nothing will be used.",
        data: { roadmap: documents.path, phases: [] },
      });
    }

    const { config } = requireSettings(context, paths);
    const limits = applyRoadmapLimits(config.limits ?? {}, documents);
    const constants = readCostConstants(limits);
    const caps = {
      phase: readLimit(limits, "cost_cap_tokens_per_phase"),
      run: readLimit(limits, "cost_cap_tokens_total"),
    };

    const forecast = await estimateRoadmap(paths, documents, ids, constants, chooseWorkers(config));
    const { phases, record, ...total } = forecast;
    const rows = phases.map((phase): EstimateRow => ({
      ...phase,
      name: documents.phases.find(({ id }) => id === phase.id)?.name ?? phase.id,
      planned: hasPlan(documents, phase.id),
      warning: describeCostWarning(phase.id, Math.round(phase.tokens.p90), caps.phase, constants),
    }));

    return respond("ok", {
      message: `${ids.length} ${ids.length === 1 ? "phase" : "phases"} of ${documents.path}.`,
      warnings: listWarnings(rows, total.tokens.p90, caps.run),
      page: estimatePage({ roadmap: documents.path, rows, total, caps, record }),
      data: {
        roadmap: documents.path,
        phases: rows,
        total,
        caps: { tokens_per_phase: caps.phase, tokens_total: caps.run },
        constants,
        record,
      },
    });
  });
}

type Roadmap = ReturnType<typeof loadRoadmap>;
type Documents = Roadmap["documents"];
type Limits = Readonly<Record<string, number>>;

/** Refuses a roadmap with errors: an estimate of it would mislead. */
function requireRoadmap(paths: ProjectPaths): Roadmap {
  const roadmap = loadRoadmap(paths, [
    "autopilot estimate --flow objective estimates a run without a roadmap",
  ]);

  const findings = judgeFindings(roadmap.documents, new Set(), roadmap.completed);
  const errors = findings.filter(({ severity }) => severity === "error");
  if (errors.length > 0) refuseRoadmap(roadmap.documents, errors, new Set());
  return roadmap;
}

/** The chosen phases that are not completed. */
function choosePhases({ documents, completed }: Roadmap, choice: string): readonly string[] {
  const selection = selectPhases(choice, documents.phases, completed);
  if ("problem" in selection) {
    return refuse("usage", {
      message: `PHASES: ${selection.problem}.`,
      remediation: ["autopilot roadmap list shows the phases there are"],
    });
  }

  return selection.ids.filter((id) => !completed.has(id));
}

/** The limits of the config, which the roadmap may only make stricter. */
function applyRoadmapLimits(configLimits: Limits, documents: Documents): Limits {
  const roadmapLimits = pickNumbers(documents.config.circuit_breaker_config);
  const [stricterLimits] = withoutLoosenedLimits(roadmapLimits, configLimits);
  return { ...configLimits, ...stricterLimits };
}

/** The entries that are numbers: another tool may keep more there. */
function pickNumbers(config: Readonly<Record<string, unknown>> | undefined): Limits {
  const numbers: Record<string, number> = {};
  for (const [name, value] of Object.entries(config ?? {})) {
    if (typeof value === "number") numbers[name] = value;
  }

  return numbers;
}

const readLimit = (limits: Limits, name: Threshold): number =>
  limits[name] ?? thresholdDefaults[name];

function chooseWorkers(config: Config) {
  const agent = config.roles?.["executor"] ?? config.agent ?? null;
  const model = agent === null ? null : (config.agents?.[agent]?.model ?? null);
  return { agent, model };
}

function hasPlan({ plans }: Documents, phaseId: string): boolean {
  const plan = plans.get(phaseId)?.plan;
  return plan !== undefined && plan !== null;
}

function listWarnings(
  rows: readonly EstimateRow[],
  totalTokens: number,
  runCap: number,
): readonly string[] {
  const warnings = rows.flatMap(({ warning }) => warning ?? []);
  if (totalTokens <= runCap) return warnings;

  return [
    ...warnings,
    `All of it may take more than a run may use: ${Math.round(totalTokens)} of ${runCap} tokens.`,
  ];
}
