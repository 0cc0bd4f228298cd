// tools: describes the runner's own tools (submit a result, ask a person, leave a note) as an agent
// sees them, and how the program that offers them is started.

import type { Account } from "../../ports/meter.ts";
import type { ServerDescription, ToolDescription } from "../mcp-server.ts";

export const toolNames = { submit: "submit_result", ask: "ask_human", note: "note" } as const;
/** The server's name, which agents put before a tool's. */
export const serverName = "autopilot";

export const toolVariables = {
  url: "AUTOPILOT_TOOLS_URL",
  token: "AUTOPILOT_TOOLS_TOKEN",
  schema: "AUTOPILOT_TOOLS_SCHEMA",
} as const;

/**
 * The tools that the program offers. `schema` is the JSON Schema of the value to return; null if
 * the step returns nothing.
 */
export const describeReturnsOffer = (schema: object | null): ServerDescription => ({
  name: serverName,
  version: "1",
  instructions:
    "Tools of the runner that drives this session: hand in the result, ask the person in charge, leave a note.",
  tools: describeTools(schema),
});

/** `schema`: what must be handed back, or null if nothing is asked for. */
export function describeTools(schema: object | null): readonly ToolDescription[] {
  const submit: ToolDescription[] =
    schema === null
      ? []
      : [
          {
            name: toolNames.submit,
            description:
              "Hand in the result of this task. It is checked at once: if it does not fit, the answer says why, and you hand it in again. The last accepted one counts.",
            inputSchema: schema,
          },
        ];
  return [
    ...submit,
    {
      name: toolNames.ask,
      description:
        "Ask the person in charge a question that nobody else can answer and without which you cannot go on. Nobody answers at once: end your turn after it.",
      inputSchema: {
        type: "object",
        properties: {
          question: {
            type: "string",
            description: "the question, with all that is needed to answer it",
          },
          options: {
            type: "array",
            items: { type: "string" },
            description: "possible answers, where there are a few",
          },
        },
        required: ["question"],
      },
    },
    {
      name: toolNames.note,
      description:
        "Leave a short note for whoever reads the log of this run: a decision, a risk, something found on the way.",
      inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    },
  ];
}

/** A program an agent starts and talks to over its stdin and stdout. */
export type StdioServer = {
  readonly name: string;
  readonly command: string;
  readonly args: string[];
  readonly env: { readonly name: string; readonly value: string }[];
};

/** The system refuses a longer environment variable, and the agent would not even start. */
const schemaCharsMax = 100_000;

/** How the agent starts the runner's tools; their program talks to the turn's account alone. */
export function describeReturnsServer(
  program: { readonly node: string; readonly entry: string },
  account: Pick<Account, "toolsUrl" | "token">,
  schema: object | null,
): StdioServer {
  const text = isObjectSchema(schema) ? JSON.stringify(schema) : "";
  return {
    name: serverName,
    command: program.node,
    args: [program.entry],
    env: [
      { name: toolVariables.url, value: account.toolsUrl },
      { name: toolVariables.token, value: account.token },
      ...(text === "" || text.length > schemaCharsMax
        ? []
        : [{ name: toolVariables.schema, value: text }]),
    ],
  };
}

/** The server as JSON, for agents that get it by a flag or a file. */
export const toMcpConfigJson = ({ name, command, args, env }: StdioServer): string =>
  JSON.stringify({
    mcpServers: {
      [name]: {
        type: "stdio",
        command,
        args,
        env: Object.fromEntries(env.map((variable) => [variable.name, variable.value])),
        tools: ["*"],
      },
    },
  });

/** Whether a schema can be that of a tool: a tool's arguments are always an object. */
const isObjectSchema = (schema: object | null): schema is object =>
  schema !== null && "type" in schema && schema.type === "object";
