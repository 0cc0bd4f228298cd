// serve-protocol: the agent's side of the Agent Client Protocol, as far as the embedded agent needs
// it: JSON-RPC 2.0, one message per line. It does without the SDK, which takes three times as long
// to load as everything else here, because this program starts with every turn. The SDK's types are
// used.

import type { Readable, Writable } from "node:stream";
import type {
  InitializeResponse,
  NewSessionRequest,
  NewSessionResponse,
  PromptRequest,
  PromptResponse,
  ResumeSessionRequest,
  SessionNotification,
} from "@agentclientprotocol/sdk";
import { createLineSplitter } from "../process/line-splitter.ts";

export type SendUpdate = (update: SessionNotification) => Promise<void>;
export type RequestHandlers = {
  readonly initialize: () => InitializeResponse;
  readonly "session/new": (params: NewSessionRequest) => NewSessionResponse;
  readonly "session/resume": (params: ResumeSessionRequest) => object;
  readonly "session/prompt": (params: PromptRequest) => Promise<PromptResponse>;
  readonly "session/cancel": () => void;
};

/** Thrown by a handler: the requester gets this code and message. */
export class Refusal extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const lineBytesMax = 64 * 1024 * 1024;
const codes = { parse: -32700, unknownMethod: -32601, internal: -32603 } as const;
type Message = { readonly id?: unknown; readonly method?: unknown; readonly params?: unknown };

/** Answers requests until the input ends; returns a function that sends updates to the client. */
export function serveProtocol(
  input: Readable,
  output: Writable,
  answers: RequestHandlers,
  onEnd: () => void,
): SendUpdate {
  const send = (message: object): Promise<void> =>
    new Promise((resolve) =>
      output.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`, () => resolve()),
    );

  const handlers = answers as unknown as Readonly<Record<string, (params: unknown) => unknown>>;
  const handleMessage = async ({ id, method, params }: Message): Promise<void> => {
    if (typeof method !== "string") return; // an answer; but this side sends no requests
    try {
      const answer = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
      if (answer === undefined) {
        throw new Refusal(codes.unknownMethod, `"Method not found": ${method}`);
      }

      const result = await answer(params);
      if (id !== undefined) await send({ id, result: result ?? null });
    } catch (error) {
      const code = error instanceof Refusal ? error.code : codes.internal;
      if (id !== undefined) {
        await send({
          id,
          error: { code, message: error instanceof Error ? error.message : String(error) },
        });
      }
    }
  };

  const onLine = (line: Buffer): void => {
    const message = parseMessage(line.toString("utf8"));
    void (message === null
      ? send({ id: null, error: { code: codes.parse, message: "Parse error" } })
      : handleMessage(message));
  };
  const lines = createLineSplitter(lineBytesMax, onLine, onEnd);
  input.on("data", (chunk: Buffer) => lines.push(chunk)).once("close", onEnd);

  return (update) => send({ method: "session/update", params: update });
}

function parseMessage(line: string): Message | null {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === "object" && message !== null ? message : null;
  } catch {
    return null;
  }
}
