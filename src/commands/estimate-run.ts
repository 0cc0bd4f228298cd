// estimate-run: forecasts the usage of a whole run of a flow, from earlier runs of it here. Nothing
// runs and nothing is written.

import type { CommandResponse } from "../contracts/command-response.ts";
import { loadFlow } from "../flows/load.ts";
import { findingText } from "../kit/finding.ts";
import type { Flow } from "../contracts/flow.ts";
import {
  type CaseFeatures,
  forecastCase,
  type ForecastRange,
  computeForecastRecord,
  samplesMin,
} from "../insight/forecast.ts";
import type { CommandContext } from "../project/command-context.ts";
import { computeFlowBudget, estimateFlowTokens } from "../project/config/flow-budget.ts";
import { requireSettings } from "../project/config/settings.ts";
import { catchRefusals, refuse, respond } from "../project/respond.ts";
import { requireProject } from "../project/runs/project-paths.ts";
import { readRunCases } from "../project/runs/past-runs.ts";
import { describeForecastRecord } from "../views/estimate-page.ts";
import { formatAmount, formatNumber, formatMoney, plural } from "../views/wording.ts";

/**
 * Forecasts by earlier runs; while there are too few of them, shows the flow's own figures and
 * limits.
 */
export function estimateRun(
  context: CommandContext,
  input: { readonly flow: string },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = await requireProject(context.cwd);
    const { flow } = input;
    const loadedFlow = await requireFlow(paths.root, flow);
    const { config } = requireSettings(context, paths);
    const history = await readRunCases(paths, flow);
    const agent = config.agent ?? null;

    const features: CaseFeatures = {
      flow,
      step: "run",
      complexity: null,
      agent,
      model: agent === null ? null : (config.agents?.[agent]?.model ?? null),
      size: null,
    };
    const forecast = forecastCase(features, history);
    const record = computeForecastRecord(history);
    if (forecast === null) {
      return respondWithoutForecast(loadedFlow, { name: flow, runs: history.length, record });
    }

    const hasSameAgent = forecast.alike.includes("agent") && agent !== null;
    return respond("ok", {
      message: `Based on ${forecast.samples} earlier runs of ${flow}.`,
      page: [...renderForecast(flow, forecast, hasSameAgent), ...describeForecastRecord(record)],
      data: { flow, forecast, record, runs: history.length },
    });
  });
}

async function requireFlow(root: string, name: string): Promise<Flow> {
  const loaded = await loadFlow(root, name);
  if (loaded.kind === "missing") {
    return refuse("usage", { message: loaded.message, remediation: ["autopilot flow list"] });
  }

  if (loaded.kind === "invalid") {
    return refuse("file_invalid", { message: loaded.findings.map(findingText).join("; ") });
  }

  return loaded.flow;
}

function renderForecast(
  flow: string,
  { tokens, minutes, usd, success, samples }: NonNullable<ReturnType<typeof forecastCase>>,
  hasSameAgent: boolean,
): readonly string[] {
  const costLines = usd === null ? [] : [rangeLine("cost", usd, formatMoney)];

  return [
    `What a run of ${flow} will probably use`,
    rangeLine("tokens", tokens, (value) => formatNumber(Math.round(value))),
    rangeLine("time", minutes, describeMinutes),
    ...costLines,
    `  success: ${Math.round(success * 100)} %`,
    "",
    `  Based on ${samples} earlier runs${hasSameAgent ? " with the same agent" : ""}.`,
  ];
}

type FlowHistory = {
  readonly name: string;
  readonly runs: number;
  readonly record: ReturnType<typeof computeForecastRecord>;
};

/**
 * Too few runs have completed to forecast by: shows what the flow itself says that a run of it
 * uses.
 */
function respondWithoutForecast(flow: Flow, { name, runs, record }: FlowHistory): CommandResponse {
  const tokens = estimateFlowTokens(flow);
  const { limits } = computeFlowBudget(flow);
  const page = [`What a run of ${name} may use, while earlier runs say nothing`];

  if (tokens !== null) {
    const amount = formatAmount("tokens", tokens);
    page.push(`  by the flow's own figures: ${amount}, if nothing is done twice`);
  }

  const caps = (["tokens", "minutes"] as const).flatMap((dimension) =>
    limits[dimension] === undefined ? [] : [formatAmount(dimension, limits[dimension])],
  );
  if (caps.length > 0) {
    page.push(`  at most, unless you say otherwise with --max-budget: ${caps.join(", ")}`);
  }

  const nextStep =
    name === "roadmap"
      ? "autopilot estimate tells what each phase will probably use"
      : `autopilot flow show ${name}`;
  return respond("ok", {
    result: "WARN",
    message: `Too little is known of ${name} runs here: ${plural(runs, "run")} ended, ${samplesMin} completed ones are needed.`,
    page,
    remediation: [nextStep],
    data: { flow: name, forecast: null, record, runs, constants: { tokens, limits } },
  });
}

const rangeLine = (
  label: string,
  { p50, p90 }: ForecastRange,
  format: (value: number) => string,
): string => `  ${label}: ${format(p50)} likely, at most ${format(p90)} in 9 of 10`;

const describeMinutes = (minutes: number): string =>
  minutes < 1
    ? `${formatNumber(Math.ceil(minutes * 60))} s`
    : `${formatNumber(Math.round(minutes * 10) / 10)} min`;
