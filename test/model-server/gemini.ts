// gemini: Google's generateContent, whole and streamed. Its thinking is reported beside the
// candidates, not in them.

import { type Answer, piecesOf } from "./answer.ts";
import type { Said } from "./conversation.ts";
import { type Json, type JsonObject, listOf, objectOf, textOf } from "./json.ts";
import type { Refusal, Usage } from "./script.ts";
import { data, type Refused, type Vendor } from "./vendor.ts";

export const gemini: Vendor = {
  read: (body, url) => ({
    api: "gemini",
    model: /models\/([^/:]+):/.exec(url.pathname)?.[1] ?? "",
    isStream: url.pathname.includes(":streamGenerateContent"),
    isUsageAsked: true,
    system: textIn(body["systemInstruction"] ?? body["system_instruction"]),
    tools: listOf(body["tools"])
      .flatMap((tool) =>
        listOf(objectOf(tool)["functionDeclarations"] ?? objectOf(tool)["function_declarations"]),
      )
      .map((tool) => {
        const { name, parameters, parametersJsonSchema } = objectOf(tool);
        const schema = objectOf(parametersJsonSchema ?? parameters);
        return {
          name: textOf(name),
          kind: "function",
          group: null,
          properties: Object.fromEntries(
            Object.entries(objectOf(schema["properties"])).map(([key, value]) => [
              key,
              lowered(value),
            ]),
          ),
          required: listOf(schema["required"]).map(textOf),
        };
      }),
    said: listOf(body["contents"]).map(saidOf),
    fixedChars: JSON.stringify([body["systemInstruction"] ?? "", body["tools"] ?? []]).length,
  }),
  frames: (answer, _asked, url) =>
    url.searchParams.get("alt") === "sse" ? sseFrames(answer) : listFrames(answer),
  whole: (answer) => chunkOf(answer, partsOf(answer), "STOP"),
  refused: refusedOf,
  brokenFrame: (refusal) => data(refusedOf(refusal).body),
};

/** Google writes the names of types in capitals. */
const lowered = (value: Json): Json => {
  const property = objectOf(value);
  return typeof property["type"] === "string"
    ? { ...property, type: property["type"].toLowerCase() }
    : property;
};

const textIn = (content: Json | undefined): string =>
  listOf(objectOf(content)["parts"])
    .map((part) => textOf(objectOf(part)["text"]))
    .join("\n");

function saidOf(content: Json): Said {
  const parts = listOf(objectOf(content)["parts"]).map(objectOf);
  const chars = JSON.stringify(content).length;
  const text = textIn(content);

  if (objectOf(content)["role"] === "model") {
    return {
      by: "model",
      text,
      calls: parts.filter((part) => Object.hasOwn(part, "functionCall")).length,
      chars,
    };
  }

  return {
    by: "user",
    text,
    isResult: parts.some((part) => Object.hasOwn(part, "functionResponse")),
    chars,
  };
}

function partsOf({ id, thinking, text, call }: Answer): readonly JsonObject[] {
  return [
    ...[...piecesOf(thinking)].map((piece) => ({ text: piece, thought: true })),
    ...[...piecesOf(text)].map((piece) => ({ text: piece })),
    ...(call === null
      ? []
      : [
          {
            functionCall: { name: call.name, args: call.input },
            thoughtSignature: Buffer.from(id).toString("base64"),
          },
        ]),
  ];
}

const usageOf = (usage: Usage, isLast: boolean): JsonObject => {
  const prompt = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const spoken = isLast ? usage.outputTokens - usage.thinkingTokens : 0;
  return {
    promptTokenCount: prompt,
    ...(usage.cacheReadTokens === 0 ? {} : { cachedContentTokenCount: usage.cacheReadTokens }),
    ...(isLast ? { candidatesTokenCount: spoken } : {}),
    ...(usage.thinkingTokens === 0 ? {} : { thoughtsTokenCount: usage.thinkingTokens }),
    totalTokenCount: prompt + spoken + usage.thinkingTokens,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: prompt }],
  };
};

const chunkOf = (
  answer: Answer,
  parts: readonly JsonObject[],
  finishReason: string | null,
): JsonObject => ({
  candidates: [
    {
      content: { role: "model", parts },
      ...(finishReason === null ? {} : { finishReason }),
      index: 0,
    },
  ],
  usageMetadata: usageOf(answer.usage, finishReason !== null),
  modelVersion: answer.model,
  responseId: answer.id,
});

function* chunksOf(answer: Answer): Generator<JsonObject> {
  const parts = partsOf(answer);
  for (const [at, part] of parts.entries()) {
    yield chunkOf(answer, [part], at === parts.length - 1 ? "STOP" : null);
  }
}

function* sseFrames(answer: Answer): Generator<string> {
  for (const chunk of chunksOf(answer)) yield data(chunk).replace(/\n\n$/, "\r\n\r\n");
}

function* listFrames(answer: Answer): Generator<string> {
  let before = "[";
  for (const chunk of chunksOf(answer)) {
    yield `${before}${JSON.stringify(chunk)}`;
    before = ",\r\n";
  }

  yield "]";
}

const statuses: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
};

function refusedOf({ status, retryAfterS, limit }: Refusal): Refused {
  const what = limit === "usage" ? "PerDay" : "PerMinute";
  const exhausted = {
    message: `You exceeded your current quota, please check your plan and billing details. Please retry in ${retryAfterS}s.`,
    details: [
      {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        violations: [{ quotaId: `GenerateRequests${what}PerProjectPerModel`, quotaValue: "1" }],
      },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${retryAfterS}s` },
    ],
  };
  const more = status === 429 ? exhausted : { message: `scripted refusal ${status}` };

  return {
    headers: {},
    body: { error: { code: status, status: statuses[status] ?? "UNKNOWN", ...more } },
  };
}
