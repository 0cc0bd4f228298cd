// server: answers the messages of the Model Context Protocol that a server of a few tools must know. It holds no state but the tools.
//
// Invariants:
//   S1. Every request gets exactly one answer with its own id; a notification or an answer gets none.
//   S2. Tools are called one after the other, in the order they were asked for; nothing else waits for them.
//   S3. A tool that fails says so in its result; an error of the protocol is for what is no call of a tool of ours.

import { serverName, type ToolShown } from "./tools.ts";

/** Newest first. The shapes used here are the same in all of them. */
export const protocolVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

export type CallTool = (name: string, value: unknown) => Promise<{ readonly ok: boolean; readonly text: string }>;

type Id = string | number;
type Params = Readonly<Record<string, unknown>>;
type Reply = { readonly result: object } | { readonly error: { readonly code: number; readonly message: string } };

const codes = { parse: -32700, request: -32600, method: -32601, params: -32602 } as const;

/** Takes one line, and gives the line to answer with, or null where nothing is to be said. */
export function mcpServer(version: string, tools: readonly ToolShown[], callTool: CallTool): (line: string) => Promise<string | null> {
  let calls: Promise<unknown> = Promise.resolve();

  const call = (params: Params): Promise<Reply> => {
    const name = params["name"];
    if (typeof name !== "string" || !tools.some((tool) => tool.name === name))
      return Promise.resolve(problem(codes.params, `Unknown tool: ${String(name)}`)); // S3
    const answered = calls.then(() => callTool(name, params["arguments"] ?? {})); // S2
    calls = answered.catch(() => undefined);
    return answered.then(
      ({ ok, text }) => ({ result: { content: [{ type: "text", text }], isError: !ok } }),
      (error: unknown) => ({ result: { content: [{ type: "text", text: wordsOf(error) }], isError: true } }), // S3
    );
  };

  const answer = (method: string, params: Params): Promise<Reply> | Reply => {
    switch (method) {
      case "initialize":
        return {
          result: {
            protocolVersion: protocolVersions.find((known) => known === params["protocolVersion"]) ?? protocolVersions[0],
            capabilities: { tools: {} },
            serverInfo: { name: serverName, version },
            instructions: "Tools of the runner that drives this session: hand in the result, ask the person in charge, leave a note.",
          },
        };
      case "ping":
        return { result: {} };
      case "tools/list":
        return { result: { tools } };
      case "tools/call":
        return call(params);
      default:
        return problem(codes.method, `Method not found: ${method}`);
    }
  };

  return async (line) => {
    if (line.trim() === "") return null;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return written(null, problem(codes.parse, "Parse error"));
    }
    if (!isRecord(message) || message["jsonrpc"] !== "2.0") return written(null, problem(codes.request, "Invalid Request"));
    const { id, method } = message;
    if (typeof method !== "string" || (typeof id !== "string" && typeof id !== "number")) return null; // S1
    return written(id, await answer(method, isRecord(message["params"]) ? message["params"] : {}));
  };
}

const written = (id: Id | null, reply: Reply): string => JSON.stringify({ jsonrpc: "2.0", id, ...reply });
const problem = (code: number, message: string): Reply => ({ error: { code, message } });
const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function isRecord(value: unknown): value is Params {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
