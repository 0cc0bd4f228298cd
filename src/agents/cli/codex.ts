// codex: the lines of `codex exec --json`.

import { asArray, type JsonObject, asRecord, asString } from "../acp/untrusted-json.ts";
import { type PromptRequest, type Dialect, type ReadLine, isTooLong, messageUpdate, thoughtUpdate } from "./dialect.ts";

export const codexDialect: Dialect = {
  namesSession: false,
  command: (asked) => {
    const isLong = isTooLong(asked.prompt);
    const { session } = asked;
    // `exec resume` comes before every option of `exec`.
    const index = asked.argv.indexOf("exec") + 1;
    const isResumed = session?.isResumed === true && index > 0;
    const argv = isResumed ? [...asked.argv.slice(0, index), "resume", ...asked.argv.slice(index)] : asked.argv;
    const words = [...toolsOf(asked.tools), ...(isResumed ? [session.name] : []), isLong ? "-" : asked.prompt];
    return { argv: [...argv, ...words], input: isLong ? asked.prompt : null };
  },
  readLine,
  unknownSession: /no (?:rollout|session|thread|conversation)[^.\n]{0,80} found|(?:session|thread|rollout)[^.\n]{0,80} not found/i,
};

/** As overrides of its config, whose values are TOML; a JSON string is valid TOML. */
function toolsOf(tools: PromptRequest["tools"]): readonly string[] {
  if (tools === null) return [];
  const at = `mcp_servers.${tools.name}`;
  const env = tools.env.map(({ name, value }) => `${name} = ${JSON.stringify(value)}`).join(", ");
  const values = [`command=${JSON.stringify(tools.command)}`, `args=${JSON.stringify(tools.args)}`, `env={ ${env} }`];
  return values.flatMap((value) => ["-c", `${at}.${value}`]);
}

function readLine(line: JsonObject): ReadLine {
  switch (line["type"]) {
    case "thread.started": {
      const session = asString(line["thread_id"]);
      return session === null ? {} : { session };
    }
    case "item.started":
    case "item.updated":
    case "item.completed":
      return ofItem(asRecord(line["item"]), line["type"] === "item.completed");
    case "turn.completed":
      return { usage: asRecord(line["usage"]), end: { by: "stop", stop: "end_turn" } };
    case "turn.failed":
      return { end: { by: "error", code: -32603, message: parseMessage(line["error"]), data: null } };
    case "error":
      return { errorText: parseMessage(line) };
    default:
      return {};
  }
}

const parseMessage = (value: unknown): string => asString(asRecord(value)["message"]) ?? asString(value) ?? "it failed without a word";

function ofItem(item: JsonObject, isDone: boolean): ReadLine {
  const text = asString(item["text"]) ?? "";
  switch (item["type"]) {
    case "agent_message":
      return isDone ? { updates: [messageUpdate(text)] } : {};
    case "reasoning":
      return isDone ? { updates: [thoughtUpdate(text)] } : {};
    case "error":
      return { warnings: [parseMessage(item)] };
    case "command_execution":
      return tool(item, isDone, "execute", asString(item["command"]) ?? "", []);
    case "file_change": {
      const paths = asArray(item["changes"]).flatMap((change) => asString(asRecord(change)["path"]) ?? []);
      return tool(item, isDone, "edit", `change ${paths.join(", ")}`, paths);
    }
    case "mcp_tool_call":
      return tool(item, isDone, "other", `${asString(item["server"]) ?? ""} ${asString(item["tool"]) ?? ""}`.trim(), []);
    case "web_search":
      return tool(item, isDone, "fetch", asString(item["query"]) ?? "", []);
    default:
      return {};
  }
}

/** A tool's input and output; not every item carries them. */
function textsOf(item: JsonObject): JsonObject {
  const given = item["command"] ?? item["arguments"] ?? item["changes"];
  const answered = item["aggregated_output"] ?? item["result"] ?? item["error"];
  return { ...(given == null ? {} : { rawInput: given }), ...(answered == null ? {} : { rawOutput: answered }) };
}

function tool(item: JsonObject, isDone: boolean, kind: string, title: string, paths: readonly string[]): ReadLine {
  const hasFailed = item["status"] === "failed" || item["status"] === "declined";
  const status = !isDone ? "in_progress" : hasFailed ? "failed" : "completed";
  const locations = paths.map((path) => ({ path }));
  return { updates: [{ sessionUpdate: "tool_call", toolCallId: item["id"], title, kind, status, locations, ...textsOf(item) }] };
}
