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
type ErrorReply = { readonly error: Problem };
type Reply = { readonly result: object } | ErrorReply;
type Response = { readonly jsonrpc: "2.0"; readonly id: Id | null } & Reply;
type Request = { readonly id: Id; readonly method: string; readonly params: Params };
/** What `initialize` agreed upon. */
type Session = { readonly version: string; readonly client: string | null };
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
const capabilities = { tools: {} };
/**
 * How long a list may be cached: it never changes while the server runs, and contains nothing of
 * the user's.
 */
const cacheHint = { ttlMs: 3_600_000, cacheScope: "private" } as const;

/**
 * Returns a function that handles one line of input: its result is the line to answer with, or
 * null.
 */
export function createMcpServer(
  offer: ServerDescription,
  callTool: CallTool,
): (line: string) => Promise<string | null> {
  const { tools, instructions } = offer;
  const serverInfo = { name: offer.name, version: offer.version };
  const callToolInTurn = openToolQueue(tools, callTool);
  let session: Session | null = null;

  const initialize = (params: Params): Reply => {
    const requested = params["protocolVersion"];
    const version = sessionVersions.find((known) => known === requested) ?? sessionVersions[0];
    session = { version, client: readClientName(params["clientInfo"]) };

    return { result: { protocolVersion: version, capabilities, serverInfo, instructions } };
  };

  const answerMethod = (
    method: string,
    params: Params,
    { isStateless, client }: Caller,
  ): Promise<Reply> | Reply => {
    if (method === "server/discover") {
      return { result: { supportedVersions, capabilities, instructions, ...cacheHint } };
    }

    if (method === "tools/list") return { result: { tools, ...(isStateless ? cacheHint : {}) } };
    if (method === "tools/call") return callToolInTurn(params, client);
    if (method === "initialize" && !isStateless) return initialize(params);
    if (method === "ping" && !isStateless) return { result: {} };

    return createErrorReply(errorCodes.method, `Method not found: ${method}`);
  };

  const answerRequest = async ({ method, params }: Request): Promise<Reply> => {
    const caller = identifyCaller(method, params, session);
    if ("error" in caller) return caller;

    const reply = await answerMethod(method, params, caller);
    if (!caller.isStateless || "error" in reply) return reply;

    return {
      result: { resultType: "complete", ...reply.result, _meta: { [metaKeys.server]: serverInfo } },
    };
  };

  const answerMessage = async (message: unknown): Promise<Response | null> => {
    if (!isRecord(message) || message["jsonrpc"] !== "2.0") return createInvalidRequest(null);
    if (isUnanswered(message)) return null; // S1

    const { id, method, params } = message;
    if (!isId(id)) return createInvalidRequest(null);
    if (typeof method !== "string") return createInvalidRequest(id);

    const request = { id, method, params: isRecord(params) ? params : {} };
    return createResponse(id, await answerRequest(request));
  };

  const answerBatch = async (messages: readonly unknown[]): Promise<string | null> => {
    const responses = await Promise.all(messages.map(answerMessage));
    const answers = responses.filter((response) => response !== null);
    return answers.length === 0 ? null : JSON.stringify(answers);
  };

  return async (line) => {
    if (line.trim() === "") return null;

    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      const reply = createErrorReply(errorCodes.parse, "Parse error");
      return JSON.stringify(createResponse(null, reply));
    }

    if (session?.version === batchVersion && isBatch(message)) return answerBatch(message);

    const response = await answerMessage(message);
    return response === null ? null : JSON.stringify(response);
  };
}

/** Returns a function that answers `tools/call`: each call waits for the one before. */
function openToolQueue(
  tools: readonly ToolDescription[],
  callTool: CallTool,
): (params: Params, client: string | null) => Promise<Reply> {
  let lastCall: Promise<unknown> = Promise.resolve();

  return async (params, client) => {
    const name = params["name"];
    const toolInput = params["arguments"] ?? {};

    // S3: neither is a call of one of our tools.
    if (typeof name !== "string" || !tools.some((tool) => tool.name === name)) {
      return createErrorReply(errorCodes.params, `Unknown tool: ${String(name)}`);
    }

    if (!isRecord(toolInput)) {
      return createErrorReply(errorCodes.params, "arguments is an object");
    }

    const call = lastCall.then(() => callTool(name, toolInput, client)); // S2
    lastCall = call.catch(() => undefined);

    try {
      const { ok, text } = await call;
      return createToolReply(text, !ok);
    } catch (error) {
      return createToolReply(describeError(error), true); // S3
    }
  };
}

/** S4: by the request itself where it names a revision; otherwise by the session. */
function identifyCaller(
  method: string,
  params: Params,
  session: Session | null,
): Caller | ErrorReply {
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
}

/** Whether a message is an answer of the client's, or a notification. */
function isUnanswered(message: Params): boolean {
  const { id, method } = message;
  const isAnswer = method === undefined && ("result" in message || "error" in message);
  const isNotification = id === undefined && typeof method === "string";

  return isAnswer || isNotification;
}

const isId = (value: unknown): value is Id =>
  typeof value === "string" || typeof value === "number";

const isBatch = (message: unknown): message is readonly unknown[] =>
  Array.isArray(message) && message.length > 0 && message.length <= batchMax;

const createResponse = (id: Id | null, reply: Reply): Response => ({
  jsonrpc: "2.0",
  id,
  ...reply,
});

const createInvalidRequest = (id: Id | null): Response =>
  createResponse(id, createErrorReply(errorCodes.request, "Invalid Request"));

const createErrorReply = (code: number, message: string, data?: object): ErrorReply => ({
  error: { code, message, ...(data === undefined ? {} : { data }) },
});

const createToolReply = (text: string, isError: boolean): Reply => ({
  result: { content: [{ type: "text", text }], isError },
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
