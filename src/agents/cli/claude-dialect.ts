// claude-dialect: how `claude -p --output-format stream-json --verbose` is called, and what its
// lines mean.
//
// Invariant:
//   L1. Neither the exit code nor `subtype` alone means success: it exits with 0 when it is
//       interrupted, and reports an error of the provider as success. `is_error` is checked first.

import type { TurnEnd } from "../turn/outcome.ts";
import {
  asNonNegativeNumber,
  asArray,
  type JsonObject,
  asRecord,
  asString,
} from "../turn/untrusted-json.ts";
import { toMcpConfigJson, serverName } from "../answer-tools/tools.ts";
import {
  type PromptRequest,
  type Dialect,
  type ParsedLine,
  internalErrorCode,
  isTooLongForArgument,
  toMessageUpdate,
  toThoughtUpdate,
} from "./dialect.ts";

/** The least that `--max-budget-usd` is given: it takes no zero. */
const usdMin = 0.0001;
const shownToolsMax = 10;

export const claudeDialect: Dialect = {
  runnerNamesSession: true,
  composeCommand: (request) => {
    const isLong = isTooLongForArgument(request.prompt);
    return {
      argv: [
        ...request.argv,
        ...composePromptArguments(request),
        ...(isLong ? [] : ["--", request.prompt]),
      ],
      input: isLong ? request.prompt : null,
    };
  },
  parseLine,
  unknownSessionPattern: /no conversation found|session .{0,80}not found/i,
};

function composePromptArguments({
  session,
  allowanceLeft,
  tools,
}: PromptRequest): readonly string[] {
  const isNew = session?.isResumed !== true;
  return [
    ...(session === null ? [] : [isNew ? "--session-id" : "--resume", session.name]),
    ...(Number.isFinite(allowanceLeft.calls)
      ? ["--max-turns", String(Math.max(1, Math.floor(allowanceLeft.calls)))]
      : []),
    // Its cost limit covers the whole session, so it is not usable for a resumed one.
    ...(Number.isFinite(allowanceLeft.usd) && isNew
      ? ["--max-budget-usd", Math.max(usdMin, allowanceLeft.usd).toFixed(4)]
      : []),
    ...(tools === null
      ? []
      : [
          "--mcp-config",
          toMcpConfigJson(tools),
          "--strict-mcp-config",
          "--allowedTools",
          `mcp__${serverName}`,
        ]),
  ];
}

function parseLine(line: JsonObject): ParsedLine {
  const session = asString(line["session_id"]);
  const sessionField = session === null || session === "" ? {} : { session };

  switch (line["type"]) {
    case "assistant":
      return { ...sessionField, updates: toAssistantUpdates(line) };
    case "user":
      return { ...sessionField, updates: toToolResultUpdates(line) };
    case "result":
      return { ...sessionField, ...parseResult(line) };
    default:
      return sessionField;
  }
}

function toAssistantUpdates(line: JsonObject): readonly JsonObject[] {
  const message = asRecord(line["message"]);
  const isSubagent = asString(line["parent_tool_use_id"]) !== null;
  // Each message is a model call; several lines may share one message's id.
  const call = { sessionUpdate: "usage_update", messageId: message["id"] };

  const parts = asArray(message["content"])
    .map(asRecord)
    .flatMap((part): readonly JsonObject[] => {
      if (part["type"] === "tool_use") return [toToolCall(part)];
      if (part["type"] === "thinking") return [toThoughtUpdate(asString(part["thinking"]) ?? "")];
      // A subagent's text is not part of the agent's answer.
      return part["type"] === "text" && !isSubagent
        ? [toMessageUpdate(asString(part["text"]) ?? "")]
        : [];
    });
  return [call, ...parts];
}

const toolKinds: Readonly<Record<string, string>> = {
  Bash: "execute",
  Edit: "edit",
  MultiEdit: "edit",
  NotebookEdit: "edit",
  Write: "edit",
  Read: "read",
  Glob: "search",
  Grep: "search",
  WebFetch: "fetch",
  WebSearch: "fetch",
};

function toToolCall(part: JsonObject): JsonObject {
  const input = asRecord(part["input"]);
  const name = asString(part["name"]) ?? "";
  const path = asString(input["file_path"]) ?? asString(input["notebook_path"]);
  const subject = path ?? asString(input["command"]) ?? "";

  return {
    sessionUpdate: "tool_call",
    toolCallId: part["id"],
    title: `${name} ${subject}`.trim(),
    kind: Object.hasOwn(toolKinds, name) ? toolKinds[name] : "other",
    status: "in_progress",
    locations: path === null ? [] : [{ path }],
    rawInput: input,
  };
}

function toToolResultUpdates(line: JsonObject): readonly JsonObject[] {
  return asArray(asRecord(line["message"])["content"])
    .map(asRecord)
    .filter((part) => part["type"] === "tool_result")
    .map((part) => ({
      sessionUpdate: "tool_call_update",
      toolCallId: part["tool_use_id"],
      status: part["is_error"] === true ? "failed" : "completed",
      rawOutput: part["content"],
    }));
}

function parseResult(line: JsonObject): ParsedLine {
  const deniedTools = asArray(line["permission_denials"]).map(
    (denial) => asString(asRecord(denial)["tool_name"]) ?? "a tool",
  );

  const costUsd = asNonNegativeNumber(line["total_cost_usd"]);
  return {
    usage: asRecord(line["usage"]),
    ...(costUsd === null ? {} : { costUsd }),
    ...(deniedTools.length === 0
      ? {}
      : {
          warnings: [
            `${deniedTools.length} of its tool calls were denied: ${[...new Set(deniedTools)].slice(0, shownToolsMax).join(", ")}`,
          ],
        }),
    end: parseEnd(line),
  };
}

function parseEnd(line: JsonObject): TurnEnd {
  const subtype = asString(line["subtype"]) ?? "";
  const text =
    asString(line["result"]) ??
    asArray(line["errors"])
      .filter((item) => typeof item === "string")
      .join("; ");

  if (subtype === "error_max_turns") return { by: "stop", stop: "max_turn_requests" };
  if (subtype === "error_max_budget_usd") {
    return { by: "budget", says: "The agent stopped at the budget it was given." };
  }

  if (line["is_error"] !== true && subtype === "success") return { by: "stop", stop: "end_turn" }; // L1
  const status = asNonNegativeNumber(line["api_error_status"]);
  return {
    by: "error",
    code: status ?? internalErrorCode,
    message: text === "" ? `it ended with ${subtype}` : text,
    data: null,
  };
}
