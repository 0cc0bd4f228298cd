// schema: command-line spec of `schema`, which prints JSON Schemas and the reason codes.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";

export const schema: Command = {
  name: "schema",
  summary: "The JSON Schema of every file and JSON output; the table of reason codes.",
  usage: "[NAME]",
  details: [
    "Without NAME it lists the names. `autopilot schema reason-codes` lists every code with its meaning, result and hint.",
  ],
  arguments: [{ name: "NAME", about: "which one", isOptional: true, names: "schemas" }],
  flags: [],
  takesRun: false,
  run: async (context, input) =>
    (await import("../../../commands/schemas/schemas.ts")).printSchema(
      context,
      omitUndefined({ name: input.words[0] }),
    ),
};
