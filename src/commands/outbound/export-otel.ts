// export-otel: sends the trace of a run to an OpenTelemetry collector, or writes it to a file. Ids
// follow from the run, so that sending it twice gives the same spans.

import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { describeInvalidConfig, readSettings } from "../../project/config/settings.ts";
import { resolveCollector, postTraces } from "../../project/otel/collector.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";
import { readEntries } from "../../project/runs/read-entries.ts";
import {
  findCurrentRun,
  findProject,
  resolveRun,
  type ProjectPaths,
} from "../../project/runs/project-paths.ts";
import { version } from "../../project/runs/product.ts";
import { requireOutsideRun } from "../../runner/require-may-grant.ts";
import { hashPrefix } from "../../runner/live-trace.ts";
import {
  type TraceOrigin,
  buildOtlpBody,
  parseTraceparent,
  getTraceId,
} from "../../views/outbound/otlp.ts";
import { collectSpans } from "../../views/outbound/spans.ts";
import { plural } from "../../views/wording.ts";
import { requireWritable } from "../html-file.ts";

const batchSpansMax = 500;

type Input = {
  readonly run?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly file?: string | undefined;
};

/** Sends the trace, or writes it to a file if one is named. */
export function exportOtel(context: CommandContext, input: Input): Promise<CommandResponse> {
  return catchRefusals(async () => {
    requireOutsideRun(context); // a trace leaves the machine
    const { paths, run } = requireRun(context, input.run);
    const collector = requireCollector(context, paths, run, input.endpoint);
    const { entries } = await readEntries(paths, run);
    const spans = collectSpans(entries, collector.isGenAi);
    const origin: TraceOrigin = {
      run,
      hash: hashPrefix,
      resource: collector.resource,
      version,
      caller: parseTraceparent(context.env["TRACEPARENT"]),
    };

    return input.file === undefined
      ? sendTrace(context, collector, spans, origin)
      : writeTrace(resolve(context.cwd, input.file), input.file, spans, origin);
  });
}

type Collector = Exclude<ReturnType<typeof resolveCollector>, { readonly problem: string }>;
type Spans = ReturnType<typeof collectSpans>;

function requireCollector(
  context: CommandContext,
  paths: ProjectPaths,
  run: string,
  endpoint: string | undefined,
): Collector {
  const settings = readSettings(context, paths.root);
  if (settings.kind === "invalid") {
    return refuse("config_invalid", describeInvalidConfig(settings.findings));
  }

  const collector = resolveCollector(context.env, settings.config.otel, endpoint);
  if ("problem" in collector) {
    return refuse("usage", {
      run_id: run,
      message: `${collector.problem}.`,
      remediation: ["autopilot help export otel"],
    });
  }

  return collector;
}

function writeTrace(
  path: string,
  typedPath: string,
  spans: Spans,
  origin: TraceOrigin,
): CommandResponse {
  requireWritable(path);
  const body = JSON.stringify(buildOtlpBody(spans, origin));
  writeFileSync(path, `${body}\n`, { mode: 0o600 });

  return respond("ok", {
    run_id: origin.run,
    message: `${plural(spans.length, "span")} of ${origin.run} written to ${typedPath}.`,
    data: { spans: spans.length, trace_id: getTraceId(origin) },
  });
}

/** Sends all spans in batches; says how far it got if the collector refuses one. */
async function sendTrace(
  context: CommandContext,
  collector: Collector,
  spans: Spans,
  origin: TraceOrigin,
): Promise<CommandResponse> {
  const { run } = origin;
  const data = { spans: spans.length, trace_id: getTraceId(origin) };
  let rejected = 0;

  for (let index = 0; index < spans.length; index += batchSpansMax) {
    const body = buildOtlpBody(spans.slice(index, index + batchSpansMax), origin);
    const delivery = await postTraces(collector, body, context.interrupted);
    if (delivery.kind !== "sent") {
      return refuse("collector_unreachable", {
        run_id: run,
        message: `The collector at ${collector.origin} didn't take the trace of ${run}: ${delivery.detail}. ${plural(index, "span")} of ${spans.length} were taken.`,
        data: { ...data, sent: index },
      });
    }

    rejected += delivery.rejected;
  }

  return respond("ok", {
    run_id: run,
    message: `${plural(spans.length, "span")} of ${run} sent to ${collector.origin}.`,
    warnings: rejected === 0 ? [] : [`The collector rejected ${plural(rejected, "span")}.`],
    data: { ...data, rejected },
  });
}

/** The named run, or the current one. */
function requireRun(
  context: CommandContext,
  name: string | undefined,
): { readonly paths: ProjectPaths; readonly run: string } {
  const paths = findProject(context.cwd);
  const findRun = (project: ProjectPaths): string | null =>
    name === undefined ? findCurrentRun(project) : resolveRun(project, name);
  const run = paths === null ? null : findRun(paths);
  if (paths === null || run === null) {
    return refuse("run_idle", {
      result: "FAIL",
      message: "There is no run here whose trace could be sent.",
      remediation: ["autopilot runs"],
    });
  }

  return { paths, run };
}
