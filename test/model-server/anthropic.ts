// anthropic: the Messages API.

import { type Answer, piecesOf } from "./answer.ts";
import type { Said } from "./conversation.ts";
import { type Json, type JsonObject, listOf, objectOf, textOf } from "./json.ts";
import type { Refusal, Usage } from "./script.ts";
import { event, type Refused, type Vendor } from "./vendor.ts";

export const anthropic: Vendor = {
  read: (body) => ({
    api: "anthropic",
    model: textOf(body["model"]),
    isStream: body["stream"] === true,
    isUsageAsked: true,
    system: [
      body["system"],
      ...listOf(body["messages"])
        .filter(isInstruction)
        .map((message) => objectOf(message)["content"]),
    ]
      .map(textIn)
      .join("\n"),
    tools: listOf(body["tools"]).map((tool) => {
      const { name, input_schema } = objectOf(tool);
      const schema = objectOf(input_schema);
      return {
        name: textOf(name),
        kind: "function",
        group: null,
        properties: objectOf(schema["properties"]),
        required: listOf(schema["required"]).map(textOf),
      };
    }),
    said: listOf(body["messages"]).flatMap(saidIn),
    fixedChars: JSON.stringify([body["system"] ?? "", body["tools"] ?? []]).length,
  }),
  frames: framesOf,
  whole: (answer) => ({
    ...headOf(answer),
    content: blocksOf(answer),
    stop_reason: stopOf(answer),
    usage: usageOf(answer.usage),
  }),
  refused: refusedOf,
  brokenFrame: (refusal, nowMs) => event("error", refusedOf(refusal, nowMs).body),
};

function textIn(content: Json | undefined): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map((block) => textOf(objectOf(block)["text"]))
    .join("\n");
}

/** To newer models Claude Code speaks as the system in the middle of a conversation too. */
const isInstruction = (message: Json): boolean => objectOf(message)["role"] === "system";

/** Clients put what a tool gave back and what a person says after it into one message. */
function saidIn(message: Json): readonly Said[] {
  const { role, content } = objectOf(message);
  const kindOf = (block: Json): string => textOf(objectOf(block)["type"]);
  const blocks = listOf(content);

  if (role === "assistant") {
    const calls = blocks.filter((block) => kindOf(block) === "tool_use").length;
    return [{ by: "model", text: textIn(content), calls, chars: JSON.stringify(message).length }];
  }

  const results = blocks.filter((block) => kindOf(block) === "tool_result");
  const others = blocks.filter((block) => kindOf(block) !== "tool_result");
  const spoken: Json = results.length === 0 ? (content ?? "") : others;

  return [
    ...(results.length === 0
      ? []
      : [{ by: "user", text: "", isResult: true, chars: JSON.stringify(results).length } as const]),
    {
      by: "user",
      text: textIn(spoken),
      isResult: isInstruction(message),
      chars: JSON.stringify(spoken).length,
    },
  ];
}

const headOf = ({ id, model }: Answer): JsonObject => ({
  id: `msg_${id}`,
  type: "message",
  role: "assistant",
  model,
  stop_sequence: null,
});
const stopOf = ({ call }: Answer): string => (call === null ? "end_turn" : "tool_use");

const usageOf = (usage: Usage): JsonObject => ({
  input_tokens: usage.inputTokens,
  cache_creation_input_tokens: usage.cacheWriteTokens,
  cache_read_input_tokens: usage.cacheReadTokens,
  cache_creation: {
    ephemeral_5m_input_tokens: usage.cacheWriteTokens,
    ephemeral_1h_input_tokens: 0,
  },
  output_tokens: usage.outputTokens,
  service_tier: "standard",
});

function blocksOf({ id, thinking, text, call }: Answer): readonly JsonObject[] {
  return [
    ...(thinking === "" ? [] : [{ type: "thinking", thinking, signature: `sig-${id}` }]),
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...(call === null
      ? []
      : [{ type: "tool_use", id: `toolu_${id}`, name: call.name, input: call.input }]),
  ];
}

function* framesOf(answer: Answer): Generator<string> {
  const begun = usageOf({ ...answer.usage, outputTokens: 1 });
  yield event("message_start", {
    type: "message_start",
    message: { ...headOf(answer), content: [], stop_reason: null, usage: begun },
  });

  yield event("ping", { type: "ping" });
  for (const [index, block] of blocksOf(answer).entries()) {
    const empty = emptied[textOf(block["type"])]?.(block) ?? block;
    yield event("content_block_start", {
      type: "content_block_start",
      index,
      content_block: empty,
    });

    for (const delta of deltasOf(block)) {
      yield event("content_block_delta", { type: "content_block_delta", index, delta });
    }

    yield event("content_block_stop", { type: "content_block_stop", index });
  }

  const delta = { stop_reason: stopOf(answer), stop_sequence: null };
  const { service_tier: _, cache_creation: __, ...usage } = usageOf(answer.usage);
  yield event("message_delta", { type: "message_delta", delta, usage });
  yield event("message_stop", { type: "message_stop" });
}

const emptied: Readonly<Record<string, (block: JsonObject) => JsonObject>> = {
  thinking: () => ({ type: "thinking", thinking: "", signature: "" }),
  text: () => ({ type: "text", text: "" }),
  tool_use: (block) => ({ ...block, input: {} }),
};

function* deltasOf(block: JsonObject): Generator<JsonObject> {
  for (const text of piecesOf(textOf(block["text"]))) yield { type: "text_delta", text };
  for (const thinking of piecesOf(textOf(block["thinking"]))) {
    yield { type: "thinking_delta", thinking };
  }

  if (block["type"] === "thinking") {
    yield { type: "signature_delta", signature: textOf(block["signature"]) };
  }

  if (block["type"] === "tool_use") {
    for (const partial_json of piecesOf(JSON.stringify(block["input"]))) {
      yield { type: "input_json_delta", partial_json };
    }
  }
}

const errorKinds: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  529: "overloaded_error",
};

function refusedOf({ status, retryAfterS, limit }: Refusal, nowMs: number): Refused {
  const type = errorKinds[status] ?? "api_error";
  const messages: Readonly<Record<number, string>> = {
    401: "invalid x-api-key",
    429:
      limit === "usage"
        ? "This request would exceed your account's rate limit. Please try again later."
        : "Number of request tokens has exceeded your per-minute rate limit",
    529: "Overloaded",
  };

  const requestId = `req_${nowMs.toString(36)}`;
  const body = {
    type: "error",
    error: { type, message: messages[status] ?? `scripted refusal ${status}` },
    request_id: requestId,
  };

  if (status !== 429) {
    return {
      headers: {
        "request-id": requestId,
        ...(status === 529 ? { "retry-after": String(retryAfterS) } : {}),
      },
      body,
    };
  }

  const resetMs = nowMs + retryAfterS * 1000;
  const limits = ["requests", "tokens", "input-tokens", "output-tokens"].flatMap((what) => [
    [`anthropic-ratelimit-${what}-limit`, "1000"],
    [`anthropic-ratelimit-${what}-remaining`, "0"],
    [`anthropic-ratelimit-${what}-reset`, new Date(resetMs).toISOString().replace(/\.\d+/, "")],
  ]);

  const plan = [
    ["anthropic-ratelimit-unified-status", "rejected"],
    ["anthropic-ratelimit-unified-reset", String(Math.ceil(resetMs / 1000))],
    ["anthropic-ratelimit-unified-representative-claim", "five_hour"],
  ];

  return {
    headers: {
      "request-id": requestId,
      "retry-after": String(retryAfterS),
      ...(Object.fromEntries(limit === "usage" ? plan : limits) as Record<string, string>),
    },
    body,
  };
}
