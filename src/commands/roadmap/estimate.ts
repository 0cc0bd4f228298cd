// estimate: estimates what roadmap phases will cost; runs and writes nothing.

import type { CommandResponse } from "../../contracts/command-response.ts";
import { type EstimateRow, estimatePage } from "../../views/estimate-page.ts";
import { selectPhases } from "../../playbooks/roadmap/documents/order.ts";
import { describeCostWarning } from "../../insight/planned-cost.ts";
import { readCostConstants } from "../../project/config/cost-constants.ts";
import { limitDefaults } from "../../project/config/config-defaults.ts";
import { withoutLoosenedLimits } from "../../project/config/without-loosening.ts";
import { requireProject } from "../../project/runs/project-paths.ts";
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
    const { documents, completed } = loadRoadmap(paths, [
      "autopilot estimate --flow objective estimates a run without a roadmap",
    ]);
    const errors = judgeFindings(documents, new Set(), completed).filter(
      ({ severity }) => severity === "error",
    );
    if (errors.length > 0) refuseRoadmap(documents, errors, new Set());
    const phasesText = input.phases ?? "all";
    const selection = selectPhases(phasesText, documents.phases, completed);
    if ("problem" in selection) {
      return refuse("usage", {
        message: `PHASES: ${selection.problem}.`,
        remediation: ["autopilot roadmap list shows the phases there are"],
      });
    }

    const ids = selection.ids.filter((id) => !completed.has(id));
    if (ids.length === 0) {
      return respond("roadmap_completed", {
        message: "Nothing is left to do, so nothing will be used.",
        data: { roadmap: documents.path, phases: [] },
      });
    }

    const configLimits = requireSettings(context, paths).config.limits ?? {};
    const limits = {
      ...configLimits,
      ...withoutLoosenedLimits(
        pickNumbers(documents.config.circuit_breaker_config),
        configLimits,
      )[0],
    };
    const constants = readCostConstants(limits);
    const limitOf = (name: string): number =>
      limits[name] ?? limitDefaults[name]?.value ?? Number.POSITIVE_INFINITY;
    const caps = {
      phase: limitOf("cost_cap_tokens_per_phase"),
      run: limitOf("cost_cap_tokens_total"),
    };

    const { config } = requireSettings(context, paths);
    const agent = config.roles?.["executor"] ?? config.agent ?? null;
    const workers = {
      agent,
      model: agent === null ? null : (config.agents?.[agent]?.model ?? null),
    };

    const { phases, record, ...total } = await estimateRoadmap(
      paths,
      documents,
      ids,
      constants,
      workers,
    );
    const rows: readonly EstimateRow[] = phases.map((phase) => ({
      ...phase,
      name: documents.phases.find(({ id }) => id === phase.id)?.name ?? phase.id,
      planned:
        documents.plans.get(phase.id)?.plan !== undefined &&
        documents.plans.get(phase.id)?.plan !== null,
      warning: describeCostWarning(phase.id, Math.round(phase.tokens.p90), caps.phase, constants),
    }));

    const budgetWarnings =
      total.tokens.p90 > caps.run
        ? [
            `All of it may take more than a run may use: ${Math.round(total.tokens.p90)} of ${caps.run} tokens.`,
          ]
        : [];

    return respond("ok", {
      message: `${ids.length} ${ids.length === 1 ? "phase" : "phases"} of ${documents.path}.`,
      warnings: [...rows.flatMap(({ warning }) => warning ?? []), ...budgetWarnings],
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

/** The entries that are numbers: another tool may keep more there. */
const pickNumbers = (
  config: Readonly<Record<string, unknown>> | undefined,
): Record<string, number> =>
  Object.fromEntries(
    Object.entries(config ?? {}).flatMap(([name, value]) =>
      typeof value === "number" ? [[name, value]] : [],
    ),
  );
