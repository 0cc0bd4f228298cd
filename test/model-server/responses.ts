// responses: OpenAI's Responses API, with its three kinds of call: functions, functions in a group,
// and custom tools that take free text.

import { type Answer, piecesOf } from "./answer.ts";
import type { Said, Tool } from "./conversation.ts";
import { type Json, type JsonObject, listOf, objectOf, textOf } from "./json.ts";
import { openaiError, openaiRefused } from "./openai-errors.ts";
import type { Usage } from "./script.ts";
import { event, type Vendor } from "./vendor.ts";

export const responses: Vendor = {
  read: (body) => ({
    api: "responses",
    model: textOf(body["model"]),
    isStream: body["stream"] === true,
    isUsageAsked: true,
    system: [textOf(body["instructions"]), ...itemsOf(body).filter(isInstruction).map(textIn)].join(
      "\n",
    ),
    tools: listOf(body["tools"]).flatMap((tool) => toolsOf(objectOf(tool), null)),
    said: itemsOf(body)
      .filter((item) => !isInstruction(item))
      .map(saidOf),
    fixedChars: JSON.stringify([body["instructions"] ?? "", body["tools"] ?? []]).length,
  }),
  frames: framesOf,
  whole: (answer) => responseOf(answer, "completed"),
  refused: openaiRefused,
  brokenFrame: (refusal, nowMs) => {
    const { code, type, message } = openaiError(refusal, nowMs);
    const error = { code: code ?? type ?? null, message: message ?? "" };
    return event("response.failed", {
      type: "response.failed",
      response: { id: "resp_failed", object: "response", status: "failed", error, output: [] },
    });
  },
};

const itemsOf = (body: JsonObject): readonly JsonObject[] =>
  typeof body["input"] === "string"
    ? [{ type: "message", role: "user", content: body["input"] }]
    : listOf(body["input"]).map(objectOf);
const isInstruction = ({ role }: JsonObject): boolean => role === "system" || role === "developer";

function textIn({ content }: JsonObject): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map((part) => textOf(objectOf(part)["text"]))
    .join("\n");
}

function toolsOf(tool: JsonObject, group: string | null): readonly Tool[] {
  if (tool["type"] === "namespace") {
    return listOf(tool["tools"]).flatMap((inner) => toolsOf(objectOf(inner), textOf(tool["name"])));
  }

  const schema = objectOf(tool["parameters"]);
  const name = textOf(tool["name"]) || textOf(tool["type"]);
  return [
    {
      name,
      kind: tool["type"] === "custom" ? "custom" : "function",
      group,
      properties: objectOf(schema["properties"]),
      required: listOf(schema["required"]).map(textOf),
    },
  ];
}

function saidOf(item: JsonObject): Said {
  const type = textOf(item["type"]);
  const chars = JSON.stringify(item).length;

  if (type.endsWith("_call_output") || type.endsWith("_output")) {
    return { by: "user", text: "", isResult: true, chars };
  }

  if (type.endsWith("_call")) return { by: "model", text: "", calls: 1, chars };
  if (item["role"] === "user") return { by: "user", text: textIn(item), isResult: false, chars };
  return { by: "model", text: textIn(item), calls: 0, chars };
}

const usageOf = (usage: Usage): JsonObject => {
  const input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheReadTokens },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.thinkingTokens },
    total_tokens: input + usage.outputTokens,
  };
};

function responseOf(answer: Answer, status: "in_progress" | "completed"): JsonObject {
  const isDone = status === "completed";
  return {
    id: `resp_${answer.id}`,
    object: "response",
    created_at: 1_790_000_000,
    status,
    error: null,
    incomplete_details: null,
    model: answer.model,
    output: isDone ? itemsIn(answer) : [],
    parallel_tool_calls: true,
    usage: isDone ? usageOf(answer.usage) : null,
  };
}

function itemsIn({ id, thinking, text, call }: Answer): readonly JsonObject[] {
  const items: JsonObject[] = [];
  if (thinking !== "") {
    items.push({
      type: "reasoning",
      id: `rs_${id}`,
      summary: [{ type: "summary_text", text: thinking }],
      encrypted_content: `enc-${id}`,
    });
  }

  if (text !== "") {
    items.push({
      type: "message",
      id: `msg_${id}`,
      status: "completed",
      role: "assistant",
      content: [{ type: "output_text", text, annotations: [] }],
    });
  }

  if (call === null) return items;
  const head = { id: `fc_${id}`, status: "completed", call_id: `call_${id}`, name: call.name };

  if (typeof call.input === "string") {
    items.push({ ...head, type: "custom_tool_call", id: `ctc_${id}`, input: call.input });
  } else {
    items.push({
      ...head,
      type: "function_call",
      arguments: JSON.stringify(call.input),
      ...(call.group === null ? {} : { namespace: call.group }),
    });
  }

  return items;
}

function* framesOf(answer: Answer): Generator<string> {
  let sequence_number = 0;
  const frame = (type: string, more: JsonObject): string =>
    event(type, { type, sequence_number: sequence_number++, ...more });
  yield frame("response.created", { response: responseOf(answer, "in_progress") });
  yield frame("response.in_progress", { response: responseOf(answer, "in_progress") });

  for (const [output_index, item] of itemsIn(answer).entries()) {
    const place = { output_index, item_id: textOf(item["id"]) };
    yield frame("response.output_item.added", {
      output_index,
      item: { ...item, status: "in_progress", ...emptied[textOf(item["type"])] },
    });

    for (const [type, more] of innerFrames(item)) yield frame(type, { ...place, ...more });
    yield frame("response.output_item.done", { output_index, item });
  }

  yield frame("response.completed", { response: responseOf(answer, "completed") });
}

const emptied: Readonly<Record<string, JsonObject>> = {
  reasoning: { summary: [] },
  message: { content: [] },
  function_call: { arguments: "" },
  custom_tool_call: { input: "" },
};

function* innerFrames(item: JsonObject): Generator<readonly [string, JsonObject]> {
  const first = (value: Json | undefined): string => textOf(objectOf(listOf(value)[0])["text"]);
  if (item["type"] === "message") {
    const text = first(item["content"]);
    const part = (text: string): JsonObject => ({
      content_index: 0,
      part: { type: "output_text", text, annotations: [] },
    });
    yield ["response.content_part.added", part("")];

    for (const delta of piecesOf(text)) {
      yield ["response.output_text.delta", { content_index: 0, delta, logprobs: [] }];
    }

    yield ["response.output_text.done", { content_index: 0, text, logprobs: [] }];
    yield ["response.content_part.done", part(text)];
  }

  if (item["type"] === "reasoning") {
    const text = first(item["summary"]);
    const part = (text: string): JsonObject => ({
      summary_index: 0,
      part: { type: "summary_text", text },
    });
    yield ["response.reasoning_summary_part.added", part("")];

    for (const delta of piecesOf(text)) {
      yield ["response.reasoning_summary_text.delta", { summary_index: 0, delta }];
    }

    yield ["response.reasoning_summary_text.done", { summary_index: 0, text }];
    yield ["response.reasoning_summary_part.done", part(text)];
  }

  if (item["type"] === "function_call") {
    const text = textOf(item["arguments"]);
    for (const delta of piecesOf(text)) yield ["response.function_call_arguments.delta", { delta }];
    yield [
      "response.function_call_arguments.done",
      { arguments: text, name: textOf(item["name"]) },
    ];
  }

  if (item["type"] === "custom_tool_call") {
    const text = textOf(item["input"]);
    for (const delta of piecesOf(text)) yield ["response.custom_tool_call_input.delta", { delta }];
    yield ["response.custom_tool_call_input.done", { input: text }];
  }
}
