// tool: defines an MCP tool: its description, its input, and the use case behind it, which is the
// same as a command's.

import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import type { ToolDescription } from "../../agents/mcp-server.ts";
import type { CommandResponse } from "../../contracts/command-response.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { respond } from "../../project/respond.ts";

/**
 * `read` changes nothing; `propose` drafts, proposes or pauses; `grant` gives authority or ends
 * work, and is a person's.
 */
export type ToolKind = "read" | "propose" | "grant";

export type McpTool = {
  readonly name: string;
  readonly kind: ToolKind;
  readonly description: ToolDescription;
  readonly call: (context: CommandContext, value: unknown) => Promise<CommandResponse>;
};

type ToolSpec<Schema extends v.GenericSchema> = {
  readonly name: string;
  readonly kind: ToolKind;
  readonly about: string;
  readonly inputSchema: Schema;
  readonly run: (context: CommandContext, input: v.InferOutput<Schema>) => Promise<CommandResponse>;
};

/** `call` validates what a client sends before it runs the use case. */
export function defineTool<Schema extends v.GenericSchema>({
  name,
  kind,
  about,
  inputSchema,
  run,
}: ToolSpec<Schema>): McpTool {
  const { $schema: _, ...jsonSchema } = toJsonSchema(inputSchema, { errorMode: "ignore" });
  const annotations = {
    readOnlyHint: kind === "read",
    destructiveHint: kind === "grant",
    openWorldHint: false,
  };

  return {
    name,
    kind,
    description: { name, description: about, inputSchema: jsonSchema, annotations },
    call: async (context, value) => {
      const parsed = v.safeParse(inputSchema, value);
      if (parsed.success) return run(context, parsed.output);
      const [issue] = parsed.issues;

      return respond("usage", {
        message: `${name}: ${v.getDotPath(issue) ?? "arguments"}: ${issue.message}`,
        remediation: [`tools/list shows what ${name} takes`],
      });
    },
  };
}

export const textField = (about: string, charsMax = 2_000) =>
  v.pipe(v.string(), v.maxLength(charsMax, `at most ${charsMax} characters`), v.description(about));
export const textListField = (about: string, itemsMax = 50) =>
  v.pipe(v.array(textField(about)), v.maxLength(itemsMax, `at most ${itemsMax}`));
/** Left out: the run that a bare command means. */
export const runField = v.optional(textField("the run's id; without it the current one", 200));
