// samples: whole streams as the four providers send them, all with the same meaning.

import type { ModelApi } from "../contracts/model-api.ts";

export type Sample = {
  readonly api: ModelApi;
  readonly events: string;
  readonly whole: string;
  readonly used: { readonly input: number; readonly output: number; readonly cached: number };
  /** The bytes of text in the events. */
  readonly textBytes: number;
};

const event = (name: string | null, data: object): string =>
  `${name === null ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
/** Text that looks like figures, an end, and an error, and is none of them. */
const trap =
  '"usage":{"output_tokens":999999},"finish_reason":"stop","error":{"message":"no"} \\" \\n';
const trapBytes = JSON.stringify(trap).length - 2;

export const samples: readonly Sample[] = [
  {
    api: "anthropic",
    events: [
      event("message_start", {
        type: "message_start",
        message: {
          id: "msg_1",
          model: "claude-opus-5",
          stop_reason: null,
          usage: {
            input_tokens: 100,
            cache_creation_input_tokens: 20,
            cache_read_input_tokens: 300,
            output_tokens: 1,
          },
        },
      }),
      event("ping", { type: "ping" }),
      event("content_block_delta", {
        type: "content_block_delta",
        index: 0,
        delta: { type: "thinking_delta", thinking: "hm" },
      }),
      event("content_block_delta", {
        type: "content_block_delta",
        index: 1,
        delta: { type: "text_delta", text: trap },
      }),
      event("content_block_delta", {
        type: "content_block_delta",
        index: 2,
        delta: { type: "input_json_delta", partial_json: "{" },
      }),
      event("message_delta", {
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: 55 },
      }),
      event("message_stop", { type: "message_stop" }),
    ].join(""),
    whole: JSON.stringify({
      id: "msg_1",
      content: [{ type: "tool_use", input: { usage: { output_tokens: 7 } } }],
      stop_reason: "end_turn",
      usage: {
        input_tokens: 100,
        cache_creation_input_tokens: 20,
        cache_read_input_tokens: 300,
        output_tokens: 55,
      },
    }),
    used: { input: 420, output: 55, cached: 300 },
    textBytes: 2 + trapBytes + 1,
  },
  {
    api: "openai-responses",
    events: [
      event("response.created", {
        type: "response.created",
        response: { id: "resp_1", status: "in_progress", error: null, usage: null },
      }),
      event("response.output_text.delta", {
        type: "response.output_text.delta",
        delta: trap,
        obfuscation: "xxxxxxxx",
      }),
      event("response.function_call_arguments.delta", {
        type: "response.function_call_arguments.delta",
        delta: "{}",
      }),
      event("response.output_text.done", { type: "response.output_text.done", text: trap }),
      event("response.completed", {
        type: "response.completed",
        response: {
          id: "resp_1",
          error: null,
          output: [{ type: "message", content: [{ type: "output_text", text: trap }] }],
          usage: {
            input_tokens: 420,
            input_tokens_details: { cached_tokens: 300 },
            output_tokens: 55,
            output_tokens_details: { reasoning_tokens: 40 },
            total_tokens: 475,
          },
        },
      }),
    ].join(""),
    whole: JSON.stringify({
      id: "resp_1",
      error: null,
      output: [{ arguments: trap }],
      usage: {
        input_tokens: 420,
        input_tokens_details: { cached_tokens: 300 },
        output_tokens: 55,
        total_tokens: 475,
      },
    }),
    used: { input: 420, output: 55, cached: 300 },
    textBytes: trapBytes + 2,
  },
  {
    api: "openai-chat",
    events: [
      event(null, {
        id: "c",
        choices: [{ index: 0, delta: { role: "assistant", content: trap }, finish_reason: null }],
        usage: null,
      }),
      event(null, {
        id: "c",
        choices: [{ index: 0, delta: { reasoning_content: "hm" }, finish_reason: null }],
        usage: null,
      }),
      event(null, {
        id: "c",
        choices: [
          {
            index: 0,
            delta: { tool_calls: [{ function: { arguments: "{}" } }] },
            finish_reason: "stop",
          },
        ],
      }),
      event(null, {
        id: "c",
        choices: [],
        usage: {
          prompt_tokens: 420,
          completion_tokens: 55,
          total_tokens: 475,
          prompt_tokens_details: { cached_tokens: 300 },
        },
      }),
      "data: [DONE]\n\n",
    ].join(""),
    whole: JSON.stringify({
      choices: [{ message: { content: trap }, finish_reason: "stop" }],
      usage: {
        prompt_tokens: 420,
        completion_tokens: 55,
        total_tokens: 475,
        prompt_tokens_details: { cached_tokens: 300 },
      },
    }),
    used: { input: 420, output: 55, cached: 300 },
    textBytes: trapBytes + 4,
  },
  {
    api: "gemini",
    events: [
      event(null, {
        candidates: [{ content: { parts: [{ text: trap }], role: "model" }, index: 0 }],
        usageMetadata: {
          promptTokenCount: 420,
          cachedContentTokenCount: 300,
          candidatesTokenCount: 4,
          thoughtsTokenCount: 10,
        },
      }),
      event(null, {
        candidates: [
          {
            content: {
              parts: [
                {
                  functionCall: {
                    name: "f",
                    args: { usageMetadata: { promptTokenCount: 9 }, list: ["usageMetadata", {}] },
                  },
                },
              ],
            },
            finishReason: "STOP",
          },
        ],
        usageMetadata: {
          promptTokenCount: 420,
          cachedContentTokenCount: 300,
          candidatesTokenCount: 15,
          thoughtsTokenCount: 40,
        },
      }),
    ].join(""),
    whole: `[${JSON.stringify({
      candidates: [{ content: { parts: [{ text: "a" }] } }],
      usageMetadata: {
        promptTokenCount: 420,
        cachedContentTokenCount: 300,
        candidatesTokenCount: 2,
      },
    })},\n${JSON.stringify({
      candidates: [{ finishReason: "STOP" }],
      usageMetadata: {
        promptTokenCount: 420,
        cachedContentTokenCount: 300,
        candidatesTokenCount: 15,
        thoughtsTokenCount: 40,
      },
    })}]`,
    used: { input: 420, output: 55, cached: 300 },
    textBytes: trapBytes,
  },
];
