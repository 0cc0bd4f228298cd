// refusal: writes a refusal in the format of each provider, so that an agent understands it, shows
// it, and retries only what may succeed later.

import type { ServerResponse } from "node:http";
import type { ModelApi } from "../contracts/model-api.ts";

/** An HTTP status, and what the agent is told. */
export type Refusal = { readonly status: number; readonly sentence: string };

const anthropicTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
};
const openaiCodes: Readonly<Record<number, string>> = {
  401: "invalid_api_key",
  402: "insufficient_quota",
  429: "rate_limit_exceeded",
};
const googleStates: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  402: "FAILED_PRECONDITION",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  413: "INVALID_ARGUMENT",
  429: "RESOURCE_EXHAUSTED",
};

export function composeErrorBody(api: ModelApi | null, { status, sentence }: Refusal): object {
  switch (api) {
    case "anthropic":
      return {
        type: "error",
        error: { type: anthropicTypes[status] ?? "api_error", message: sentence },
      };
    case "openai-responses":
    case "openai-chat":
      return { error: composeOpenaiError(status, sentence) };
    case "gemini":
      return {
        error: { code: status, message: sentence, status: googleStates[status] ?? "INTERNAL" },
      };
    case null:
      return { error: { message: sentence } };
  }
}

function composeOpenaiError(status: number, message: string): object {
  return { message, type: toOpenaiType(status), param: null, code: openaiCodes[status] ?? null };
}

function toOpenaiType(status: number): string {
  if (status === 402) return "insufficient_quota";
  return status >= 500 ? "api_error" : "invalid_request_error";
}

/** The last event of a cut stream, as the provider itself would report an error. */
export function composeLastEvent(api: ModelApi, refusal: Refusal): string {
  const body = composeErrorBody(api, refusal);
  switch (api) {
    case "anthropic":
      return `event: error\ndata: ${JSON.stringify(body)}\n\n`;
    case "openai-responses": {
      const error = {
        code: openaiCodes[refusal.status] ?? "server_error",
        message: refusal.sentence,
      };

      const response = {
        id: "resp_cut",
        object: "response",
        status: "failed",
        error,
        output: [],
        usage: null,
      };
      return `event: response.failed\ndata: ${JSON.stringify({ type: "response.failed", sequence_number: 0, response })}\n\n`;
    }
    case "openai-chat":
    case "gemini":
      return `data: ${JSON.stringify(body)}\n\n`;
  }
}

/** Answers with a refusal; if the answer has begun, only the connection can be ended. */
export function refuse(response: ServerResponse, api: ModelApi | null, refusal: Refusal): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const body = Buffer.from(JSON.stringify(composeErrorBody(api, refusal)));
  // The SDKs of Anthropic and OpenAI check this header before they retry. The unread rest of the
  // request dies with the connection.
  const isFinal = refusal.status !== 429 && refusal.status < 500;
  response.writeHead(refusal.status, {
    "content-type": "application/json",
    "content-length": body.length,
    ...(isFinal ? { "x-should-retry": "false" } : {}),
    ...(response.req.complete ? {} : { connection: "close" }),
  });

  response.end(body);
  // Further data is read and dropped, so that the answer is not lost to a reset.
  response.req.resume();
}
