// mcp-server: answers the messages of the Model Context Protocol that a server of tools must know,
// in every revision of the protocol. Up to revision 2025-11-25 a client opens a session with
// `initialize`; from 2026-07-28 on every request names its revision and client.
//
// Invariants:
//   S1. Every request gets exactly one answer with its own id; a notification or an answer gets
//       none.
//   S2. Tools are called one after the other, in the order of their requests; nothing else waits
//       for them.
//   S3. A failing tool says so in its result; a protocol error is only for a request that isn't a
//       call of one of our tools.
//   S4. A request that names its revision is answered by that revision alone.

/** Newest first. The shapes used here are the same in all of these. */
export const sessionVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
export const statelessVersion = "2026-07-28";
const supportedVersions: readonly string[] = [statelessVersion, ...sessionVersions];
/** The one revision in which several messages may come in one line. */
const batchVersion = "2025-03-26";
const batchMax = 50;

export type ToolDescription = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations?: object;
};
export type ServerDescription = {
  readonly name: string;
  readonly version: string;
  readonly instructions: string;
  readonly tools: readonly ToolDescription[];
};
/** `client`: what the client calls itself; nothing may depend on it. */
export type CallTool = (
  name: string,
  value: unknown,
  client: string | null,
) => Promise<{ readonly ok: boolean; readonly text: string }>;

type Id = string | number;
type Params = Readonly<Record<string, unknown>>;
type Problem = { readonly code: number; readonly message: string; readonly data?: object };
type Reply = { readonly result: object } | { readonly error: Problem };
type Response = { readonly jsonrpc: "2.0"; readonly id: Id | null } & Reply;
/** Who asks, and in which revision. */
type Caller = { readonly isStateless: boolean; readonly client: string | null };

const errorCodes = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  version: -32022,
} as const;
const metaKeys = {
  version: "io.modelcontextprotocol/protocolVersion",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  client: "io.modelcontextprotocol/clientInfo",
  server: "io.modelcontextprotocol/serverInfo",
} as const;

/**
 * Returns a function that handles one line of input: its result is the line to answer with, or
 * null.
 */
export function createMcpServer(
  offer: ServerDescription,
  callTool: CallTool,
): (line: string) => Promise<string | null> {
  const { name: serverName, version, instructions, tools } = offer;
  const serverInfo = { name: serverName, version };
  const capabilities = { tools: {} };
  let lastCall: Promise<unknown> = Promise.resolve();
  let session: { readonly version: string; readonly client: string | null } | null = null;

  const callOffered = (params: Params, client: string | null): Promise<Reply> => {
    const name = params["name"];
    if (typeof name !== "string" || !tools.some((tool) => tool.name === name)) {
      return Promise.resolve(createErrorReply(errorCodes.params, `Unknown tool: ${String(name)}`));
    } // S3

    const toolInput = params["arguments"] ?? {};
    if (!isRecord(toolInput)) {
      return Promise.resolve(createErrorReply(errorCodes.params, "arguments is an object"));
    }

    const toolResult = lastCall.then(() => callTool(name, toolInput, client)); // S2
    lastCall = toolResult.catch(() => undefined);
    return toolResult.then(
      ({ ok, text }) => ({ result: { content: [{ type: "text", text }], isError: !ok } }),
      (error: unknown) => ({
        result: { content: [{ type: "text", text: describeError(error) }], isError: true },
      }), // S3
    );
  };

  const initialize = (params: Params): Reply => {
    const negotiated =
      sessionVersions.find((sessionVersion) => sessionVersion === params["protocolVersion"]) ??
      sessionVersions[0];

    session = { version: negotiated, client: readClientName(params["clientInfo"]) };
    return { result: { protocolVersion: negotiated, capabilities, serverInfo, instructions } };
  };

  const answer = (
    method: string,
    params: Params,
    { isStateless, client }: Caller,
  ): Promise<Reply> | Reply => {
    if (method === "server/discover") {
      return { result: { supportedVersions, capabilities, instructions, ...cacheHint } };
    }

    if (method === "tools/list") return { result: { tools, ...(isStateless ? cacheHint : {}) } };
    if (method === "tools/call") return callOffered(params, client);
    if (method === "initialize" && !isStateless) return initialize(params);
    if (method === "ping" && !isStateless) return { result: {} };

    return createErrorReply(errorCodes.method, `Method not found: ${method}`);
  };

  /** S4: by the request itself where it names a revision; otherwise by the session. */
  const identifyCaller = (method: string, params: Params): Caller | { readonly error: Problem } => {
    const requestMeta = isRecord(params["_meta"]) ? params["_meta"] : {};
    const requested = requestMeta[metaKeys.version];
    if (requested === undefined) {
      return { isStateless: method === "server/discover", client: session?.client ?? null };
    }

    if (requested !== statelessVersion) {
      return createErrorReply(errorCodes.version, "Unsupported protocol version", {
        supported: supportedVersions,
        requested: toText(requested),
      });
    }

    if (!isRecord(requestMeta[metaKeys.capabilities])) {
      return createErrorReply(errorCodes.params, `_meta lacks ${metaKeys.capabilities}`);
    }

    return { isStateless: true, client: readClientName(requestMeta[metaKeys.client]) };
  };

  const answerMessage = async (message: unknown): Promise<Response | null> => {
    if (!isRecord(message) || message["jsonrpc"] !== "2.0") {
      return createResponse(null, createErrorReply(errorCodes.request, "Invalid Request"));
    }

    const { id, method } = message;
    const isAnswer = method === undefined && ("result" in message || "error" in message);
    if (isAnswer || (id === undefined && typeof method === "string")) return null; // S1
    const isId = typeof id === "string" || typeof id === "number";
    if (typeof method !== "string" || !isId) {
      return createResponse(
        isId ? id : null,
        createErrorReply(errorCodes.request, "Invalid Request"),
      );
    }

    const params = isRecord(message["params"]) ? message["params"] : {};
    const caller = identifyCaller(method, params);
    if ("error" in caller) return createResponse(id, caller);
    const reply = await answer(method, params, caller);
    if (!caller.isStateless || "error" in reply) return createResponse(id, reply);

    return createResponse(id, {
      result: { resultType: "complete", ...reply.result, _meta: { [metaKeys.server]: serverInfo } },
    });
  };

  return async (line) => {
    if (line.trim() === "") return null;
    let message: unknown;

    try {
      message = JSON.parse(line);
    } catch {
      return JSON.stringify(
        createResponse(null, createErrorReply(errorCodes.parse, "Parse error")),
      );
    }

    if (
      !Array.isArray(message) ||
      session?.version !== batchVersion ||
      message.length === 0 ||
      message.length > batchMax
    ) {
      return serialize(await answerMessage(message));
    }

    const answers = (await Promise.all(message.map(answerMessage))).filter(
      (response) => response !== null,
    );
    return answers.length === 0 ? null : JSON.stringify(answers);
  };
}

/**
 * How long a list may be cached: it never changes while the server runs, and contains nothing of
 * the user's.
 */
const cacheHint = { ttlMs: 3_600_000, cacheScope: "private" } as const;

const createResponse = (id: Id | null, reply: Reply): Response => ({
  jsonrpc: "2.0",
  id,
  ...reply,
});
const serialize = (answer: Response | null): string | null =>
  answer === null ? null : JSON.stringify(answer);
const createErrorReply = (
  code: number,
  message: string,
  data?: object,
): { readonly error: Problem } => ({
  error: { code, message, ...(data === undefined ? {} : { data }) },
});
const describeError = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
const toText = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");
const readClientName = (info: unknown): string | null =>
  isRecord(info) && typeof info["name"] === "string" ? info["name"] : null;

function isRecord(value: unknown): value is Params {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
