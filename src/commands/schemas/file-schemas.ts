// file-schemas: the JSON Schemas of the files that people write, with a description for every key, and where `init` puts them.

import { toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import { Config } from "../../contracts/config.ts";
import { Count, Flow, Gate, Human, Limits, Option, Phase, PhaseRow, Row, Step, Want } from "../../contracts/flow.ts";
import { PlanningConfig } from "../../contracts/roadmap.ts";
import { Script } from "../../contracts/script.ts";
import { described } from "./described.ts";
import { flowKeys } from "./flow-key-descriptions.ts";
import { configKeys, planningKeys, scriptKeys } from "./key-descriptions.ts";

export const fileSchemaNames = ["config", "flow", "script", "planning-config"] as const;
export type FileSchemaName = (typeof fileSchemaNames)[number];

type Written = {
  readonly title: string;
  readonly schema: GenericSchema;
  readonly parts?: Record<string, GenericSchema>;
  readonly keys: Readonly<Record<string, string>>;
};

const written: Readonly<Record<FileSchemaName, Written>> = {
  config: { title: "autopilot config (.autopilot/config.yaml)", schema: Config, keys: configKeys },
  flow: {
    title: "autopilot flow (flow.yaml)",
    schema: Flow,
    parts: { Count, Gate, Human, Limits, Option, Phase, PhaseRow, Row, Step, Want },
    keys: flowKeys,
  },
  script: { title: "script of autopilot's embedded agent", schema: Script, keys: scriptKeys },
  "planning-config": {
    title: "roadmap config (.planning/config.json), as far as autopilot reads it",
    schema: PlanningConfig,
    keys: planningKeys,
  },
};

/** Generated from the schema that reads the file, so that editor and reader never disagree. */
export function fileSchema(name: FileSchemaName, report?: (place: string, about: string | null) => void): object {
  const { title, schema, parts, keys } = written[name];
  const drawn = toJsonSchema(schema, { errorMode: "ignore", ...(parts === undefined ? {} : { definitions: parts }) });
  return { title, ...described(drawn, keys, report) };
}

/** Beside the files that refer to them, by a path that is valid on every machine. */
export const schemaFile = (name: FileSchemaName): string => `.autopilot/schemas/${name}.json`;
export const schemaText = (name: FileSchemaName): string => `${JSON.stringify(fileSchema(name), null, 2)}\n`;

export const keysOf = (name: FileSchemaName): readonly string[] => Object.keys(written[name].keys);
