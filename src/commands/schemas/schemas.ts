// schemas: prints the JSON Schema of every file, event and command response, and the table of
// reason codes.

import { toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import * as v from "valibot";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { eventNames, eventSchemas } from "../../contracts/event.ts";
import { journalVersion } from "../../contracts/journal-version.ts";
import { Evidence } from "../../contracts/evidence.ts";
import { Objective } from "../../contracts/objective.ts";
import { reasons } from "../../contracts/reason.ts";
import { PortfolioCheckpoint, PortfolioEvent, PortfolioProjectSnapshot, PortfolioTaskSnapshot } from "../../contracts/portfolio/portfolio.ts";
import { CalibrationCycleEvent, QualityRunEvent } from "../../contracts/quality/quality-run.ts";
import { CompletionFile, MetricsFile, PostMortem, TraceSpan, TriageFile } from "../../contracts/roadmap-reports.ts";
import { RoadmapState } from "../../contracts/roadmap-state.ts";
import { TurnMeta } from "../../contracts/script.ts";
import { StagedState } from "../../contracts/staged-state.ts";
import { returnSchemas } from "../../flows/returns.ts";
import { didYouMean } from "../../kit/suggest.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";
import { fileSchema } from "./file-schemas.ts";
import {
  diffSchema,
  estimateSchema,
  reportSchema,
  roadmapListSchema,
  runsSchema,
  statusSchema,
  transcriptSchema,
} from "./response-schemas.ts";

/** The fields of a journal line beside its event. */
const envelope = {
  seq: v.number(),
  journal: v.optional(v.literal(journalVersion)),
  epoch: v.number(),
  ts: v.string(),
  active_ms: v.number(),
  prev: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  crc: v.pipe(v.string(), v.regex(/^[0-9a-f]{8}$/)),
};

/** By name; built only when asked for. */
const schemas: Readonly<Record<string, () => object>> = {
  flow: () => fileSchema("flow"),
  objective: () => toSchema(Objective),
  config: () => fileSchema("config"),
  script: () => fileSchema("script"),
  "planning-config": () => fileSchema("planning-config"),
  "turn-meta": () => toSchema(TurnMeta),
  evidence: () => toSchema(Evidence),
  status: () => toSchema(statusSchema),
  report: () => toSchema(reportSchema),
  "roadmap-list": () => toSchema(roadmapListSchema),
  estimate: () => toSchema(estimateSchema),
  transcript: () => toSchema(transcriptSchema),
  diff: () => toSchema(diffSchema),
  runs: () => toSchema(runsSchema),
  "roadmap-state": () => toSchema(RoadmapState),
  "staged-state": () => ({ title: "what _docs/_autopilot_state.md says, read from its Markdown", ...toSchema(StagedState) }),
  "post-mortem": () => toSchema(PostMortem),
  metrics: () => toSchema(MetricsFile),
  "completion-report": () => toSchema(CompletionFile),
  "trace-span": () => toSchema(TraceSpan),
  triage: () => toSchema(TriageFile),
  "quality-run": () => ({ title: "one line of a quality run's run_state.jsonl", ...toSchema(QualityRunEvent) }),
  "calibration-cycle": () => ({ title: "one line of a calibration cycle's run_state.jsonl", ...toSchema(CalibrationCycleEvent) }),
  "portfolio-event": () => toSchema(PortfolioEvent),
  "portfolio-checkpoint": () => toSchema(PortfolioCheckpoint),
  "portfolio-project": () => toSchema(PortfolioProjectSnapshot),
  "portfolio-task": () => toSchema(PortfolioTaskSnapshot),
  "agent-returns": () => ({
    title: "what agents hand back, by the name that `returns` of a step has",
    type: "object",
    properties: Object.fromEntries(Object.entries(returnSchemas).map(([name, schema]) => [name, toSchema(schema)])),
  }),
  // Generated as one: each kind of line by itself would bring definitions that nothing at the root
  // refers to.
  journal: () => ({
    title: "one line of a journal",
    ...toSchema(v.union(eventNames.map((name) => v.strictObject({ ...eventSchemas[name].entries, ...envelope })))),
  }),
  "reason-codes": () => reasons,
};

/** Prints the schema with this name; without one lists the names. */
export function printSchema(_context: CommandContext, input: { readonly name?: string | undefined }): Promise<CommandResponse> {
  return catchRefusals(() => {
    const names = Object.keys(schemas);
    if (input.name === undefined)
      { return Promise.resolve(respond("ok", { message: `Schemas: ${names.join(", ")}`, page: names, data: { schemas: names } })); }

    const buildSchema = Object.hasOwn(schemas, input.name) ? schemas[input.name] : undefined;
    if (buildSchema === undefined)
      { return refuse("usage", {
        message: `There is no schema called ${input.name}.${didYouMean(input.name, names)}`,
        remediation: ["autopilot schema lists the names there are"],
      }); }

    const jsonSchema = buildSchema();
    return Promise.resolve(
      respond("ok", { message: `Schema ${input.name}.`, page: JSON.stringify(jsonSchema, null, 2).split("\n"), data: { schema: jsonSchema } }),
    );
  });
}

function toSchema(schema: GenericSchema): object {
  return toJsonSchema(schema, { errorMode: "ignore" });
}
