// chat: OpenAI's Chat Completions, which half the field speaks.

import { type Answer, piecesOf } from "./answer.ts";
import type { Asked, Said, Tool } from "./conversation.ts";
import { type Json, type JsonObject, listOf, objectOf, textOf } from "./json.ts";
import { openaiError, openaiRefused } from "./openai-errors.ts";
import type { Usage } from "./script.ts";
import { data, type Vendor } from "./vendor.ts";

export const chat: Vendor = {
  read: (body) => {
    const messages = listOf(body["messages"]).map(objectOf);
    const isInstruction = ({ role }: JsonObject): boolean =>
      role === "system" || role === "developer";
    return {
      api: "chat",
      model: textOf(body["model"]),
      isStream: body["stream"] === true,
      isUsageAsked: objectOf(body["stream_options"])["include_usage"] === true,
      system: messages
        .filter(isInstruction)
        .map(({ content }) => textIn(content))
        .join("\n"),
      tools: listOf(body["tools"]).map((tool) => toolOf(objectOf(tool))),
      said: messages.filter((message) => !isInstruction(message)).map(saidOf),
      fixedChars: JSON.stringify([messages.filter(isInstruction), body["tools"] ?? []]).length,
    };
  },
  frames: framesOf,
  whole: (answer) => {
    const { text, thinking } = answer;
    const message = {
      role: "assistant",
      content: text === "" ? null : text,
      ...(thinking === "" ? {} : { reasoning_content: thinking }),
      ...(answer.call === null ? {} : { tool_calls: [callOf(answer, inputOf(answer))] }),
    };

    return {
      ...headOf(answer, "chat.completion"),
      choices: [{ index: 0, message, finish_reason: stopOf(answer) }],
      usage: usageOf(answer.usage),
    };
  },
  refused: openaiRefused,
  brokenFrame: (refusal, nowMs) => data({ error: openaiError(refusal, nowMs) }),
};

function toolOf(tool: JsonObject): Tool {
  const isCustom = tool["type"] === "custom";
  const { name, parameters } = objectOf(tool[isCustom ? "custom" : "function"]);
  const schema = objectOf(parameters);

  return {
    name: textOf(name),
    kind: isCustom ? "custom" : "function",
    group: null,
    properties: objectOf(schema["properties"]),
    required: listOf(schema["required"]).map(textOf),
  };
}

function textIn(content: Json | undefined): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map((part) => textOf(objectOf(part)["text"]))
    .join("\n");
}

function saidOf(message: JsonObject): Said {
  const { role, content, tool_calls } = message;
  const chars = JSON.stringify(message).length;

  if (role === "assistant") {
    return { by: "model", text: textIn(content), calls: listOf(tool_calls).length, chars };
  }

  return {
    by: "user",
    text: textIn(content),
    isResult: role === "tool" || role === "function",
    chars,
  };
}

const headOf = ({ id, model }: Answer, object: string): JsonObject => ({
  id: `chatcmpl-${id}`,
  object,
  created: 1_790_000_000,
  model,
});
const stopOf = ({ call }: Answer): string => (call === null ? "stop" : "tool_calls");

/** The call with as much of its input as is given: a stream brings it piece by piece. */
function callOf({ id, call }: Answer, input: string): JsonObject {
  const name = call?.name ?? "";
  if (typeof call?.input === "string") {
    return { id: `call_${id}`, type: "custom", custom: { name, input } };
  }

  return { id: `call_${id}`, type: "function", function: { name, arguments: input } };
}
const inputOf = ({ call }: Answer): string =>
  typeof call?.input === "string" ? call.input : JSON.stringify(call?.input ?? {});

const usageOf = (usage: Usage): JsonObject => {
  const prompt = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.outputTokens,
    total_tokens: prompt + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens },
    completion_tokens_details: { reasoning_tokens: usage.thinkingTokens },
  };
};

function* framesOf(answer: Answer, { isUsageAsked }: Asked): Generator<string> {
  const chunk = (delta: JsonObject, finish_reason: string | null = null): string =>
    data({
      ...headOf(answer, "chat.completion.chunk"),
      choices: [{ index: 0, delta, finish_reason }],
      ...(isUsageAsked ? { usage: null } : {}),
    });
  yield chunk({ role: "assistant", content: "" });
  for (const reasoning_content of piecesOf(answer.thinking)) yield chunk({ reasoning_content });
  for (const content of piecesOf(answer.text)) yield chunk({ content });
  if (answer.call !== null) {
    yield chunk({ tool_calls: [{ index: 0, ...callOf(answer, "") }] });
    const isCustom = typeof answer.call.input === "string";

    for (const text of piecesOf(inputOf(answer))) {
      yield chunk({
        tool_calls: [
          {
            index: 0,
            ...(isCustom ? { custom: { input: text } } : { function: { arguments: text } }),
          },
        ],
      });
    }
  }

  yield chunk({}, stopOf(answer));
  if (isUsageAsked) {
    yield data({
      ...headOf(answer, "chat.completion.chunk"),
      choices: [],
      usage: usageOf(answer.usage),
    });
  }

  yield "data: [DONE]\n\n";
}
