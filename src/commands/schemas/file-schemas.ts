// file-schemas: the JSON Schemas of the files that people write, with a description for every key,
// and where `init` puts them.

import { toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import { Config } from "../../contracts/config.ts";
import { Count, Flow, Gate, Human, Limits, Option, Phase, PhaseRow, Row, Step, Want } from "../../contracts/flow.ts";
import { PlanningConfig } from "../../contracts/roadmap.ts";
import { Script } from "../../contracts/script.ts";
import { describeSchema } from "./describe-schema.ts";
import { flowKeyDescriptions } from "./flow-key-descriptions.ts";
import { configKeyDescriptions, planningKeyDescriptions, scriptKeyDescriptions } from "./key-descriptions.ts";

export const fileSchemaNames = ["config", "flow", "script", "planning-config"] as const;
export type FileSchemaName = (typeof fileSchemaNames)[number];

/**
 * What a schema is made from. `parts`: schemas that refer to themselves or are used often, and
 * become `$defs`.
 */
type SchemaSource = {
  readonly title: string;
  readonly schema: GenericSchema;
  readonly parts?: Record<string, GenericSchema>;
  readonly keys: Readonly<Record<string, string>>;
};

const sources: Readonly<Record<FileSchemaName, SchemaSource>> = {
  config: { title: "autopilot config (.autopilot/config.yaml)", schema: Config, keys: configKeyDescriptions },
  flow: {
    title: "autopilot flow (flow.yaml)",
    schema: Flow,
    parts: { Count, Gate, Human, Limits, Option, Phase, PhaseRow, Row, Step, Want },
    keys: flowKeyDescriptions,
  },
  script: { title: "script of autopilot's embedded agent", schema: Script, keys: scriptKeyDescriptions },
  "planning-config": {
    title: "roadmap config (.planning/config.json), as far as autopilot reads it",
    schema: PlanningConfig,
    keys: planningKeyDescriptions,
  },
};

/** Generated from the schema that reads the file, so that editor and reader never disagree. */
export function fileSchema(name: FileSchemaName, report?: (path: string, about: string | null) => void): object {
  const { title, schema, parts, keys } = sources[name];
  const jsonSchema = toJsonSchema(schema, { errorMode: "ignore", ...(parts === undefined ? {} : { definitions: parts }) });
  return { title, ...describeSchema(jsonSchema, keys, report) };
}

/**
 * Where `init` puts it: beside the files that refer to it, by a path that is valid on every
 * machine.
 */
export const schemaFile = (name: FileSchemaName): string => `.autopilot/schemas/${name}.json`;
export const schemaText = (name: FileSchemaName): string => `${JSON.stringify(fileSchema(name), null, 2)}\n`;

/** The paths that the table describes. */
export const listDescribedKeys = (name: FileSchemaName): readonly string[] => Object.keys(sources[name].keys);
