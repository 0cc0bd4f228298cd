// codex-dialect: how `codex exec --json` is called, and what its lines mean. (Its tokens:
// turn/reported-usage.ts; whether they are a turn's or all of a session's: profiles/codex.ts.)

import { asArray, type JsonObject, asRecord, asString } from "../turn/untrusted-json.ts";
import {
  type PromptRequest,
  type Dialect,
  type ParsedLine,
  internalErrorCode,
  isTooLongForArgument,
  toMessageUpdate,
  toThoughtUpdate,
} from "./dialect.ts";

export const codexDialect: Dialect = {
  runnerNamesSession: false,
  composeCommand: (request) => {
    const isLong = isTooLongForArgument(request.prompt);
    const { session } = request;
    // `exec resume` comes before every option of `exec`.
    const index = request.argv.indexOf("exec") + 1;
    const isResumed = session?.isResumed === true && index > 0;
    const argv = isResumed
      ? [...request.argv.slice(0, index), "resume", ...request.argv.slice(index)]
      : request.argv;

    const words = [
      ...composeToolArguments(request.tools),
      ...(isResumed ? [session.name] : []),
      isLong ? "-" : request.prompt,
    ];

    return { argv: [...argv, ...words], input: isLong ? request.prompt : null };
  },
  parseLine,
  unknownSessionPattern:
    /no (?:rollout|session|thread|conversation)[^.\n]{0,80} found|(?:session|thread|rollout)[^.\n]{0,80} not found/i,
};

/**
 * The tools' server as overrides of codex's config. Its values are TOML; a JSON string is valid
 * TOML.
 */
function composeToolArguments(tools: PromptRequest["tools"]): readonly string[] {
  if (tools === null) return [];
  const prefix = `mcp_servers.${tools.name}`;
  const env = tools.env.map(({ name, value }) => `${name} = ${JSON.stringify(value)}`).join(", ");

  const values = [
    `command=${JSON.stringify(tools.command)}`,
    `args=${JSON.stringify(tools.args)}`,
    `env={ ${env} }`,
  ];
  return values.flatMap((value) => ["-c", `${prefix}.${value}`]);
}

function parseLine(line: JsonObject): ParsedLine {
  switch (line["type"]) {
    case "thread.started": {
      const session = asString(line["thread_id"]);
      return session === null ? {} : { session };
    }
    case "item.started":
    case "item.updated":
    case "item.completed":
      return parseItem(asRecord(line["item"]), line["type"] === "item.completed");
    case "turn.completed":
      return { usage: asRecord(line["usage"]), end: { by: "stop", stop: "end_turn" } };
    case "turn.failed":
      return {
        end: {
          by: "error",
          code: internalErrorCode,
          message: parseMessage(line["error"]),
          data: null,
        },
      };
    case "error":
      return { errorText: parseMessage(line) };
    default:
      return {};
  }
}

const parseMessage = (value: unknown): string =>
  asString(asRecord(value)["message"]) ?? asString(value) ?? "it failed without a word";

function parseItem(item: JsonObject, isDone: boolean): ParsedLine {
  const text = asString(item["text"]) ?? "";
  switch (item["type"]) {
    case "agent_message":
      return isDone ? { updates: [toMessageUpdate(text)] } : {};
    case "reasoning":
      return isDone ? { updates: [toThoughtUpdate(text)] } : {};
    case "error":
      return { warnings: [parseMessage(item)] };
    case "command_execution":
      return toToolUpdate(item, isDone, "execute", asString(item["command"]) ?? "", []);
    case "file_change": {
      const paths = asArray(item["changes"]).flatMap(
        (change) => asString(asRecord(change)["path"]) ?? [],
      );

      return toToolUpdate(item, isDone, "edit", `change ${paths.join(", ")}`, paths);
    }
    case "mcp_tool_call":
      return toToolUpdate(
        item,
        isDone,
        "other",
        `${asString(item["server"]) ?? ""} ${asString(item["tool"]) ?? ""}`.trim(),
        [],
      );
    case "web_search":
      return toToolUpdate(item, isDone, "fetch", asString(item["query"]) ?? "", []);
    default:
      return {};
  }
}

/** A tool's input and output; not every item carries them. */
function readRawTexts(item: JsonObject): JsonObject {
  const input = item["command"] ?? item["arguments"] ?? item["changes"];
  const output = item["aggregated_output"] ?? item["result"] ?? item["error"];
  return {
    ...(input == null ? {} : { rawInput: input }),
    ...(output == null ? {} : { rawOutput: output }),
  };
}

function toToolUpdate(
  item: JsonObject,
  isDone: boolean,
  kind: string,
  title: string,
  paths: readonly string[],
): ParsedLine {
  const hasFailed = item["status"] === "failed" || item["status"] === "declined";
  const doneStatus = hasFailed ? "failed" : "completed";
  const status = isDone ? doneStatus : "in_progress";
  const locations = paths.map((path) => ({ path }));

  return {
    updates: [
      {
        sessionUpdate: "tool_call",
        toolCallId: item["id"],
        title,
        kind,
        status,
        locations,
        ...readRawTexts(item),
      },
    ],
  };
}
